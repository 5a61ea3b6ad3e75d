#include <string.h>

#include "base/alloc.h"
#include "publish/walk_parts.h"

/* A merge with more parents is compared with its first ones only. An entry that only another parent has then
 * causes doubt, at worst. */
#define COMPARE_MAX 4
/* The weight of a tree that was skipped because a parent has the same one. */
#define UNSEEN_WEIGHT 100

struct known_commit {
	unsigned char tree[32];
	bool fresh;
	char (*parents)[OID_SIZE]; /* of a fresh one */
	size_t nparents;
};

/* An object that must exist with this type. */
struct expected {
	enum object_type type;
	bool fresh;
	char *path;
};

struct looker {
	struct walker *w;
	struct known_commit *commits;
	size_t ncommits;
	struct oidset commit_at; /* marks are indexes into commits */
	struct oidset trees;     /* read already; marks are weights (the number of paths beneath a tree) */
	struct oidset blobs;     /* blobs that were asked for */
	struct strvec ask;
	struct expected expected[WALK_BATCH];
};

/* Trees of the parents, to compare with. */
struct others {
	unsigned char oid[COMPARE_MAX][32];
	size_t n;
};

static void add_other(struct others *o, const unsigned char *oid)
{
	for (size_t i = 0; i < o->n; i++)
		if (!memcmp(o->oid[i], oid, 32))
			return;
	if (o->n < COMPARE_MAX)
		memcpy(o->oid[o->n++], oid, 32);
}

/* Every received object counts, commits and trees too: each stays in the shared repository. */
static int weigh(struct walker *w, uint64_t size, struct err *e)
{
	w->ret->bytes += size;
	return policy_counts(w->spec->policy, 0, 0, w->spec->bytes_before + w->ret->bytes, w->no, e);
}

static int check_expected(struct looker *l, size_t i, enum object_type type, uint64_t size, struct err *e)
{
	struct walker *w = l->w;
	const struct expected *x = &l->expected[i];

	if (type != x->type)
		return walk_incomplete(w, e, "object %s at '%s' is %s%s, not a %s", l->ask.v[i], x->path,
			type == OBJECT_MISSING ? "" : "a ", objects_type_name(type),
			objects_type_name(x->type));
	if (!x->fresh)
		return 0;
	if (policy_size(w->spec->policy, x->path, size, w->no, e) < 0)
		return -1;
	return weigh(w, size, e);
}

static int flush(struct looker *l, struct err *e)
{
	enum object_type types[WALK_BATCH];
	uint64_t sizes[WALK_BATCH];
	size_t n = l->ask.n;
	int rc = objects_info_many(l->w->spec->objects, l->ask.v, n, types, sizes, e);

	for (size_t i = 0; !rc && i < n; i++)
		rc = check_expected(l, i, types[i], sizes[i], e);
	for (size_t i = 0; i < n; i++)
		free(l->expected[i].path);
	strvec_release(&l->ask);
	return rc;
}

static int expect(
	struct looker *l, const unsigned char *oid, enum object_type type, bool fresh, struct err *e)
{
	char hex[OID_SIZE];

	if (!oidset_add_raw(type == OBJECT_TREE ? &l->trees : &l->blobs, oid))
		return 0;
	if (fresh)
		oidset_add_raw(&l->w->ret->reached, oid);
	oid_to_hex(oid, l->w->spec->hash_len, hex);
	l->expected[l->ask.n] = (struct expected){ type, fresh, xstrdup(buf_str(&l->w->path)) };
	strvec_push(&l->ask, hex);
	return l->ask.n == WALK_BATCH ? flush(l, e) : 0;
}

/* Several sorted trees that are read in parallel. */
struct worker {
	struct tree tree[COMPARE_MAX];
	size_t at[COMPARE_MAX];
	size_t n;
};

/* Whether one of them has the same entry; *inner are their directories of that name. */
static bool has_same_entry(
	struct worker *b, const struct tree_entry *t, unsigned hash_len, struct others *inner)
{
	bool same = false;

	inner->n = 0;
	for (size_t i = 0; i < b->n; i++) {
		const struct tree *k = &b->tree[i];
		const struct tree_entry *x = NULL;
		unsigned char oid[32] = { 0 };

		while (b->at[i] < k->n && strcmp(k->v[b->at[i]].name, t->name) < 0)
			b->at[i]++;
		if (b->at[i] < k->n)
			x = &k->v[b->at[i]];
		if (!x || strcmp(x->name, t->name))
			continue;
		same |= tree_entry_is_dir(x) == tree_entry_is_dir(t) &&
			tree_entry_is_gitlink(x) == tree_entry_is_gitlink(t) &&
			!memcmp(x->oid, t->oid, hash_len);
		memcpy(oid, x->oid, hash_len);
		if (tree_entry_is_dir(x))
			add_other(inner, oid);
	}
	return same;
}

static int look_at_tree(struct looker *l, const unsigned char *oid, const struct others *others,
	unsigned depth, uint64_t *ret_weight, struct err *e);

static int look_at_dir(struct looker *l, const struct tree_entry *t, const struct others *inner,
	unsigned depth, uint64_t *weight, struct err *e)
{
	unsigned char oid[32] = { 0 };
	uint64_t *seen, beneath = 0;

	memcpy(oid, t->oid, l->w->spec->hash_len);
	if (!oidset_has_raw(l->w->spec->fresh, oid)) {
		*weight += UNSEEN_WEIGHT;
		l->w->ret->doubt = true;
		return expect(l, oid, OBJECT_TREE, false, e);
	}
	seen = oidset_mark(&l->trees, oid);
	if (seen) {
		*weight += *seen;
		return 0;
	}
	if (look_at_tree(l, oid, inner, depth + 1, &beneath, e) < 0)
		return -1;
	*weight += beneath;
	return 0;
}

static int look_at_entry(struct looker *l, const struct tree_entry *t, const struct others *inner,
	unsigned depth, uint64_t *weight, struct err *e)
{
	struct walker *w = l->w;
	size_t before;
	int rc = 0;

	if (walk_enter(w, t->name, &before, e) < 0)
		return -1;
	if (tree_entry_is_dir(t)) {
		rc = look_at_dir(l, t, inner, depth, weight, e);
	} else {
		++*weight;
		if (!tree_entry_is_gitlink(t))
			rc = expect(l, t->oid, OBJECT_BLOB, oidset_has_raw(w->spec->fresh, t->oid), e);
	}
	/* trees that contain the same trees many times: a few objects, but more paths than any git can
	 * walk */
	if (!rc && *weight > WALK_PATHS_MAX + w->spec->policy->rules->max_files)
		rc = walk_too_large(w, e, "a commit unfolds into more files than can be looked at");
	if (!rc)
		buf_cut(&w->path, before);
	return rc;
}

static int look_at_entries(struct looker *l, const struct tree *t, struct worker *b, unsigned depth,
	uint64_t *weight, bool *unseen, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		struct others inner;

		if (has_same_entry(b, &t->v[i], l->w->spec->hash_len, &inner))
			*unseen |= tree_entry_is_dir(&t->v[i]);
		else if (look_at_entry(l, &t->v[i], &inner, depth, weight, e) < 0)
			return -1;
	}
	return 0;
}

static int look_at_tree(struct looker *l, const unsigned char *oid, const struct others *others,
	unsigned depth, uint64_t *ret_weight, struct err *e)
{
	struct worker b = { 0 };
	auto_tree t = { 0 };
	uint64_t weight = 1;
	bool unseen = false;
	int rc = 0;

	if (depth > WALK_DEPTH_MAX)
		return walk_too_large(l->w, e, "directories are nested too deeply");
	oidset_add_raw(&l->trees, oid);
	oidset_add_raw(&l->w->ret->reached, oid);
	if (walk_read_tree(l->w, oid, false, &t, e) < 0)
		return -1;
	rc = weigh(l->w, t.data.len, e);
	for (; !rc && b.n < others->n; b.n += !rc)
		rc = walk_read_tree(l->w, others->oid[b.n], false, &b.tree[b.n], e);
	if (!rc)
		rc = look_at_entries(l, &t, &b, depth, &weight, &unseen, e);
	for (size_t i = 0; i < b.n; i++)
		walk_drop_tree(l->w, &b.tree[i]);
	walk_drop_tree(l->w, &t);
	if (rc < 0)
		return -1;
	*ret_weight = weight;
	/* elsewhere in the tree, the entries that were skipped here count as well */
	*oidset_mark(&l->trees, oid) = unseen ? weight + UNSEEN_WEIGHT : weight;
	return 0;
}

static void note_commit(struct looker *l, const char *oid, const struct commit *c, bool fresh)
{
	struct known_commit *k;
	unsigned char raw[32];

	if (!(l->ncommits & (l->ncommits - 1)))
		l->commits = xrealloc(l->commits, l->ncommits ? l->ncommits * 2 : 1, sizeof(*l->commits));
	k = &l->commits[l->ncommits];
	*k = (struct known_commit){ .fresh = fresh, .nparents = fresh ? c->nparents : 0 };
	oid_from_hex(c->tree, l->w->spec->hash_len, k->tree);
	if (k->nparents) {
		k->parents = xcalloc(k->nparents, sizeof(*k->parents));
		memcpy(k->parents, c->parents, k->nparents * sizeof(*k->parents));
	}
	oid_from_hex(oid, l->w->spec->hash_len, raw);
	if (fresh)
		oidset_add_raw(&l->w->ret->reached, raw);
	if (fresh && !strvec_has(&l->w->trees, c->tree))
		strvec_push(&l->w->trees, c->tree);
	oidset_add_raw(&l->commit_at, raw);
	*oidset_mark(&l->commit_at, raw) = l->ncommits++;
}

static int check_commit(struct looker *l, const char *oid, const struct commit *c, struct err *e)
{
	struct walker *w = l->w;

	if (c->odd)
		return walk_incomplete(w, e, "commit %s has an author, committer, parent or tree twice", oid);
	w->ret->commits++;
	if (policy_commit(w->spec->policy, oid, c->author, c->committer, c->message, w->no, e) < 0)
		return -1;
	return policy_counts(
		w->spec->policy, w->spec->commits_before + (int64_t)w->ret->commits, 0, 0, w->no, e);
}

/* Reads a commit unless it is known. */
static int meet_commit(struct looker *l, const char *oid, size_t *ret, struct err *e)
{
	auto_buf data = BUF_INIT(WALK_OBJECT_MAX);
	auto_commit c = { 0 };
	unsigned char raw[32];
	const uint64_t *known;
	bool fresh;

	if (!oid_from_hex(oid, l->w->spec->hash_len, raw))
		return walk_incomplete(l->w, e, "'%.64s' is not an object's name", oid);
	known = oidset_mark(&l->commit_at, raw);
	if (known) {
		*ret = *known;
		return 0;
	}
	fresh = oidset_has_raw(l->w->spec->fresh, raw);
	if (walk_read_commit(l->w, oid, false, &data, &c, e) < 0)
		return -1;
	if (fresh && (weigh(l->w, data.len, e) < 0 || check_commit(l, oid, &c, e) < 0))
		return -1;
	if (!fresh)
		strvec_push(&l->w->ret->stops, oid);
	*ret = l->ncommits;
	note_commit(l, oid, &c, fresh);
	return 0;
}

/* Reads its parents, and what is fresh in its tree and not in theirs. */
static int look_at_commit(struct looker *l, size_t at, struct err *e)
{
	struct others others = { .n = 0 };
	unsigned char tree[32];
	struct tree_entry root = { .name = "", .oid = tree, .mode = 0040000 };
	uint64_t weight = 0;

	for (size_t i = 0; i < l->commits[at].nparents; i++) {
		size_t parent;

		if (meet_commit(l, l->commits[at].parents[i], &parent, e) < 0)
			return -1;
		add_other(&others, l->commits[parent].tree);
	}
	memcpy(tree, l->commits[at].tree, sizeof(tree));
	for (size_t i = 0; i < others.n; i++)
		if (!memcmp(others.oid[i], tree, sizeof(tree)))
			return 0;
	return look_at_dir(l, &root, &others, 0, &weight, e);
}

static int look(struct looker *l, char tip_tree[OID_SIZE], struct err *e)
{
	size_t tip;

	if (meet_commit(l, l->w->spec->tip, &tip, e) < 0)
		return -1;
	oid_to_hex(l->commits[tip].tree, l->w->spec->hash_len, tip_tree);
	for (size_t i = 0; i < l->ncommits; i++)
		if (l->commits[i].fresh && look_at_commit(l, i, e) < 0)
			return -1;
	return flush(l, e);
}

int walk_fresh(struct walker *w, char tip_tree[OID_SIZE], struct err *e)
{
	struct looker *l = xcalloc(1, sizeof(*l));
	int rc;

	l->w = w;
	l->trees.hash_len = l->blobs.hash_len = l->commit_at.hash_len = w->spec->hash_len;
	rc = look(l, tip_tree, e);
	for (size_t i = 0; i < l->ncommits; i++)
		free(l->commits[i].parents);
	free(l->commits);
	for (size_t i = 0; i < l->ask.n; i++)
		free(l->expected[i].path);
	strvec_release(&l->ask);
	oidset_release(&l->trees);
	oidset_release(&l->blobs);
	oidset_release(&l->commit_at);
	free(l);
	return rc;
}
