#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "publish/walk_parts.h"

/* The base and the targets. More targets are ignored, which can only cause more refusals. */
#define REFS_MAX  16
#define PATHS_MAX 1000
#define LINK_MAX  4096

/* A path that differs from every reference tree. */
struct change {
	char *path;
	char oid[OID_SIZE];
	unsigned mode; /* 0: removed */
	bool added;
	bool was_gitlink;       /* in a reference tree */
	char gitlink[OID_SIZE]; /* the commit that a gitlink names; "": it is none */
	struct strvec gitlinks; /* of the reference trees */
};

struct differ {
	struct walker *w;
	bool tip; /* false: a commit before the tip */
	size_t nrefs;
	uint64_t files; /* added */
	size_t trees;   /* visited */
	uint64_t empty; /* empty directories; git writes none, and they count as files */
	uint64_t bytes;
	struct change changes[WALK_BATCH];
	size_t nchanges;
};

/* One directory in the tip and in the reference trees. */
struct dir {
	bool has_tip, has[REFS_MAX];
	struct tree tip, refs[REFS_MAX];
	size_t at[REFS_MAX], tip_at;
};

/* Ids of the directory's trees; NULL if there is no directory. */
struct dir_oids {
	const unsigned char *tip, *refs[REFS_MAX];
};

/* The entries of one name in the tip and in the reference trees; NULL for none. */
struct row {
	const char *name;
	const struct tree_entry *tip, *refs[REFS_MAX];
};

static bool is_file(const struct tree_entry *t)
{
	return t && !tree_entry_is_dir(t);
}

static bool is_dir(const struct tree_entry *t)
{
	return t && tree_entry_is_dir(t);
}

static bool is_same(const struct tree_entry *a, const struct tree_entry *b, unsigned hash_len)
{
	if (!a || !b)
		return !a && !b;
	return a->mode == b->mode && !memcmp(a->oid, b->oid, hash_len);
}

static int read_link(struct differ *d, const struct change *c, uint64_t size, struct buf *out, struct err *e)
{
	/* longer text, or text with a NUL, is not a link's target; it stays "", which is refused */
	if (size >= LINK_MAX)
		return 0;
	if (objects_read(d->w->spec->objects, c->oid, OBJECT_BLOB, out, e) < 0)
		return -1;
	if (memchr(buf_str(out), '\0', out->len))
		buf_reset(out);
	return 0;
}

static int check_change(
	struct differ *d, const struct change *c, enum object_type type, uint64_t size, struct err *e)
{
	struct walker *w = d->w;
	auto_buf link = BUF_INIT(LINK_MAX);
	struct policy_path p = { c->path, c->mode, c->added, size, NULL, c->was_gitlink,
		*c->gitlink ? c->gitlink : NULL, &c->gitlinks };

	if (*c->oid && type != OBJECT_BLOB)
		return walk_incomplete(w, e, "object %s at '%s' is %s", c->oid, c->path,
			type == OBJECT_MISSING ? "missing" : "no file");
	if (S_ISLNK(c->mode) && read_link(d, c, size, &link, e) < 0)
		return -1;
	p.link = S_ISLNK(c->mode) ? buf_str(&link) : NULL;
	d->bytes += size;
	if (policy_path(w->spec->policy, &p, w->no, e) < 0)
		return -1;
	return policy_counts(w->spec->policy, 0, 0, d->bytes, w->no, e);
}

static int check_batch(struct differ *d, const struct strvec *ask, struct err *e)
{
	enum object_type types[WALK_BATCH], none = OBJECT_MISSING;
	uint64_t sizes[WALK_BATCH];
	size_t at = 0;

	if (objects_info_many(d->w->spec->objects, ask->v, ask->n, types, sizes, e) < 0)
		return -1;
	for (size_t i = 0; i < d->nchanges; i++) {
		bool asked = *d->changes[i].oid;

		if (check_change(d, &d->changes[i], asked ? types[at] : none, asked ? sizes[at] : 0, e) < 0)
			return -1;
		at += asked;
	}
	return 0;
}

static void drop_changes(struct differ *d)
{
	for (size_t i = 0; i < d->nchanges; i++) {
		free(d->changes[i].path);
		strvec_release(&d->changes[i].gitlinks);
	}
	d->nchanges = 0;
}

static int flush(struct differ *d, struct err *e)
{
	auto_strvec ask = STRVEC_INIT;
	int rc;

	for (size_t i = 0; i < d->nchanges; i++)
		if (*d->changes[i].oid)
			strvec_push(&ask, d->changes[i].oid);
	rc = check_batch(d, &ask, e);
	drop_changes(d);
	return rc;
}

static void list_gitlinks(const struct differ *d, const struct row *r, struct strvec *ret)
{
	char hex[OID_SIZE];

	for (size_t i = 0; i < d->nrefs; i++) {
		if (!r->refs[i] || !tree_entry_is_gitlink(r->refs[i]))
			continue;
		oid_to_hex(r->refs[i]->oid, d->w->spec->hash_len, hex);
		strvec_push(ret, hex);
	}
}

/* w->path is the changed path. tip is NULL if it was removed. */
static int note_change(
	struct differ *d, const struct row *r, const struct tree_entry *tip, bool added, struct err *e)
{
	struct walker *w = d->w;
	struct change *c = &d->changes[d->nchanges++];

	*c = (struct change){
		.path = xstrdup(buf_str(&w->path)),
		.mode = tip ? tip->mode : 0,
		.added = added,
		.gitlinks = STRVEC_INIT,
	};
	list_gitlinks(d, r, &c->gitlinks);
	c->was_gitlink = c->gitlinks.n;
	if (tip)
		oid_to_hex(tip->oid, w->spec->hash_len, tree_entry_is_gitlink(tip) ? c->gitlink : c->oid);
	if (d->tip && w->ret->paths.n < PATHS_MAX)
		strvec_pushf(&w->ret->paths, "%c %s", !tip ? 'D' : added ? 'A' : 'M', c->path);
	d->files += added;
	if (policy_counts(w->spec->policy, 0, d->files + d->empty, 0, w->no, e) < 0)
		return -1;
	return d->nchanges == WALK_BATCH ? flush(d, e) : 0;
}

/* The next name in the tip's or the base's directory; false after the last one. Names only in other reference
 * trees do not count: tip and base agree that there is nothing. */
static bool next_row(const struct differ *d, struct dir *dir, struct row *r)
{
	const struct tree_entry *t = dir->tip_at < dir->tip.n ? &dir->tip.v[dir->tip_at] : NULL;
	const struct tree_entry *b = dir->at[0] < dir->refs[0].n ? &dir->refs[0].v[dir->at[0]] : NULL;
	int order = t && b ? strcmp(t->name, b->name) : t ? -1 : 1;

	if (!t && !b)
		return false;
	r->name = order <= 0 ? t->name : b->name;
	r->tip = order <= 0 ? t : NULL;
	dir->tip_at += order <= 0;
	for (size_t i = 0; i < d->nrefs; i++) {
		const struct tree *k = &dir->refs[i];

		while (dir->at[i] < k->n && strcmp(k->v[dir->at[i]].name, r->name) < 0)
			dir->at[i]++;
		r->refs[i] = dir->at[i] < k->n && !strcmp(k->v[dir->at[i]].name, r->name)
				     ? &k->v[dir->at[i]++]
				     : NULL;
	}
	return true;
}

static int differ_dir(struct differ *d, const struct dir_oids *oids, unsigned depth, struct err *e);

/* How many reference trees have a file, and how many a directory, of that name. */
static void count_refs(const struct differ *d, const struct row *r, size_t *files, size_t *dirs)
{
	*files = *dirs = 0;
	for (size_t i = 0; i < d->nrefs; i++) {
		*files += is_file(r->refs[i]);
		*dirs += is_dir(r->refs[i]);
	}
}

static int differ_row(struct differ *d, const struct row *r, unsigned depth, struct err *e)
{
	struct dir_oids inner = { 0 };
	size_t files, dirs;

	for (size_t i = 0; i < d->nrefs; i++)
		if (is_same(r->tip, r->refs[i], d->w->spec->hash_len))
			return 0;
	count_refs(d, r, &files, &dirs);
	/* the tip's file differs from all of theirs; it is added if none of them has a file */
	if (is_file(r->tip) && note_change(d, r, r->tip, !files, e) < 0)
		return -1;
	/* it is removed only if all of them had it */
	if (!is_file(r->tip) && files == d->nrefs && note_change(d, r, NULL, false, e) < 0)
		return -1;
	if (!is_dir(r->tip) && dirs < d->nrefs)
		return 0;
	inner.tip = is_dir(r->tip) ? r->tip->oid : NULL;
	for (size_t i = 0; i < d->nrefs; i++)
		inner.refs[i] = is_dir(r->refs[i]) ? r->refs[i]->oid : NULL;
	return differ_dir(d, &inner, depth + 1, e);
}

static int open_dir(struct differ *d, const struct dir_oids *oids, struct dir *dir, struct err *e)
{
	if (++d->trees > WALK_TREES_MAX)
		return walk_too_large(d->w, e, "more directories have changed than can be looked at");
	if (oids->tip && walk_read_tree(d->w, oids->tip, false, &dir->tip, e) < 0)
		return -1;
	dir->has_tip = oids->tip;
	for (size_t i = 0; i < d->nrefs; i++) {
		if (oids->refs[i] && walk_read_tree(d->w, oids->refs[i], true, &dir->refs[i], e) < 0)
			return -1;
		dir->has[i] = oids->refs[i];
	}
	return 0;
}

static void close_dir(struct differ *d, struct dir *dir)
{
	if (dir->has_tip)
		walk_drop_tree(d->w, &dir->tip);
	for (size_t i = 0; i < d->nrefs; i++)
		if (dir->has[i])
			walk_drop_tree(d->w, &dir->refs[i]);
	free(dir);
}

static int differ_rows(struct differ *d, struct dir *dir, unsigned depth, struct err *e)
{
	struct walker *w = d->w;
	struct row r;

	if (depth && dir->has_tip && !dir->tip.n) {
		d->empty++;
		if (policy_counts(w->spec->policy, 0, d->files + d->empty, 0, w->no, e) < 0)
			return -1;
	}
	while (next_row(d, dir, &r)) {
		size_t before;

		if (walk_enter(w, r.name, &before, e) < 0 || differ_row(d, &r, depth, e) < 0)
			return -1;
		buf_cut(&w->path, before);
	}
	return 0;
}

static int differ_dir(struct differ *d, const struct dir_oids *oids, unsigned depth, struct err *e)
{
	struct dir *dir;
	int rc;

	if (depth > WALK_DEPTH_MAX)
		return walk_too_large(d->w, e, "directories are nested too deeply");
	dir = xcalloc(1, sizeof(*dir));
	rc = open_dir(d, oids, dir, e);
	if (!rc)
		rc = differ_rows(d, dir, depth, e);
	close_dir(d, dir);
	return rc;
}

/* Adds a commit's tree, unless it is among them already. */
static int add_ref(struct differ *d, unsigned char trees[REFS_MAX][32], const char *commit, struct err *e)
{
	auto_buf data = BUF_INIT(WALK_OBJECT_MAX);
	auto_commit c = { 0 };

	if (d->nrefs == REFS_MAX)
		return 0;
	if (walk_read_commit(d->w, commit, true, &data, &c, e) < 0)
		return -1;
	memset(trees[d->nrefs], 0, 32);
	oid_from_hex(c.tree, d->w->spec->hash_len, trees[d->nrefs]);
	for (size_t j = 0; j < d->nrefs; j++)
		if (!memcmp(trees[j], trees[d->nrefs], 32))
			return 0;
	d->nrefs++;
	return 0;
}

/* The trees of the base and the targets. A commit before the tip may be older than the newer base, so it is
 * also compared with the task's own base. */
static int find_refs(struct differ *d, unsigned char trees[REFS_MAX][32], struct err *e)
{
	const struct walk_spec *s = d->w->spec;

	if (add_ref(d, trees, s->base, e) < 0 || (!d->tip && s->start && add_ref(d, trees, s->start, e) < 0))
		return -1;
	for (size_t i = 0; s->compare && i < s->compare->n; i++)
		if (add_ref(d, trees, s->compare->v[i], e) < 0)
			return -1;
	return 0;
}

static int differ_all(struct differ *d, const char *tip_tree, struct err *e)
{
	const struct walk_spec *s = d->w->spec;
	unsigned char tip[32] = { 0 }, trees[REFS_MAX][32];
	struct dir_oids oids = { .tip = tip };
	uint64_t bytes = s->bytes_before + d->w->ret->bytes;
	size_t commits = d->w->ret->commits;

	oid_from_hex(tip_tree, s->hash_len, tip);
	if (find_refs(d, trees, e) < 0)
		return -1;
	for (size_t i = 0; i < d->nrefs; i++) {
		if (!memcmp(tip, trees[i], 32))
			return 0;
		oids.refs[i] = trees[i];
	}
	if (differ_dir(d, &oids, 0, e) < 0 || flush(d, e) < 0)
		return -1;
	if (d->bytes > bytes)
		bytes = d->bytes;
	if (d->tip)
		d->w->ret->files = d->files;
	return policy_counts(s->policy, commits ? s->commits_before + (int64_t)commits : 0,
		d->files + d->empty, bytes, d->w->no, e);
}

int walk_net(struct walker *w, const char *tree, bool tip, struct err *e)
{
	struct differ *d = xcalloc(1, sizeof(*d));
	int rc;

	d->w = w;
	d->tip = tip;
	rc = differ_all(d, tree, e);
	drop_changes(d);
	free(d);
	return rc;
}
