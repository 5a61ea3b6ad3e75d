#include "merge/compose.h"

#include "base/alloc.h"
#include "base/clean.h"

#define MESSAGE_MAX (16u << 20)

/* A parsed commit. The members point into the text and end at a line break, except the message. */
struct parts {
	struct buf text;
	char tree[OID_SIZE], parent[OID_SIZE]; /* of the first parent; "" if there is none */
	const char *author, *encoding;         /* encoding may be NULL */
	const char *message;
};

static void parts_release(struct parts *p)
{
	buf_release(&p->text);
}
#define auto_parts __attribute__((cleanup(parts_release))) struct parts

static void take_id(const char *line, size_t skip, char out[OID_SIZE])
{
	size_t n = strcspn(line + skip, "\n");

	if (!*out && n < OID_SIZE) {
		memcpy(out, line + skip, n);
		out[n] = '\0';
	}
}

static int take_apart(const struct repo *r, const char *oid, struct parts *p, struct err *e)
{
	*p = (struct parts){ .text = BUF_INIT(MESSAGE_MAX) };
	if (verb_read_commit(r, oid, &p->text, e) < 0)
		return -1;
	for (const char *l = buf_str(&p->text); *l && *l != '\n'; l += strcspn(l, "\n") + 1) {
		if (!strncmp(l, "tree ", 5))
			take_id(l, 5, p->tree);
		else if (!strncmp(l, "parent ", 7))
			take_id(l, 7, p->parent);
		else if (!strncmp(l, "author ", 7))
			p->author = l;
		else if (!strncmp(l, "encoding ", 9))
			p->encoding = l;
		if (!strchr(l, '\n'))
			break;
	}
	p->message = strstr(buf_str(&p->text), "\n\n");
	if (!*p->tree || !p->author || !p->message || strlen(p->text.data) != p->text.len)
		return err_set(e, ERR_FAILED, "commit %.12s cannot be parsed", oid);
	p->message += 2;
	return 0;
}

/* Makes a commit by the user, now. */
static int write_own(const struct repo *r, const char *committer, const char *tree,
	const char *const *parents, const char *message, char oid[OID_SIZE], struct err *e)
{
	auto_buf text = BUF_INIT(MESSAGE_MAX);

	buf_printf(&text, "tree %s\n", tree);
	for (; *parents; parents++)
		buf_printf(&text, "parent %s\n", *parents);
	buf_printf(&text, "author %s\ncommitter %s\n\n%s", committer, committer, message);
	if (text.len && text.data[text.len - 1] != '\n')
		buf_addch(&text, '\n');
	return verb_write_commit(r, &text, oid, e);
}

/* Copies a commit to another parent: author, date and message stay. */
static int write_copy(const struct repo *r, const char *committer, const struct parts *p, const char *tree,
	const char *parent, char oid[OID_SIZE], struct err *e)
{
	auto_buf text = BUF_INIT(MESSAGE_MAX);

	buf_printf(&text, "tree %s\nparent %s\n%.*s\ncommitter %s\n", tree, parent,
		(int)strcspn(p->author, "\n"), p->author, committer);
	if (p->encoding)
		buf_printf(&text, "%.*s\n", (int)strcspn(p->encoding, "\n"), p->encoding);
	buf_printf(&text, "\n%s", p->message);
	return verb_write_commit(r, &text, oid, e);
}

static int conflict(const struct strvec *conflicts, struct err *e)
{
	return err_set(
		e, ERR_CONFLICT, "%zu file%s", conflicts->n, conflicts->n == 1 ? " conflicts" : "s conflict");
}

static int squash_message(struct compose *c, struct buf *out, struct err *e)
{
	auto_strvec subjects = STRVEC_INIT;

	if (verb_subjects(c->repo, c->old, c->tip, &subjects, e) < 0)
		return -1;
	buf_printf(out, "Merge task '%s' (squashed)\n\n", c->task);
	for (size_t i = 0; i < subjects.n; i++) {
		buf_addstr(out, "* ");
		clean_text(out, subjects.v[i], strlen(subjects.v[i]), false);
		buf_addch(out, '\n');
	}
	buf_printf(out, "\nGarth-Task: %s\n", c->task);
	return 0;
}

static int tree_of(const struct repo *r, const char *commit, char tree[OID_SIZE], struct err *e)
{
	auto_parts p = { 0 };

	if (take_apart(r, commit, &p, e) < 0)
		return -1;
	memcpy(tree, p.tree, OID_SIZE);
	return 0;
}

static int compose_commit(struct compose *c, const char *committer, struct strvec *conflicts, struct err *e)
{
	bool squash = c->spec->kind == MERGE_SQUASH;
	const char *parents[] = { c->old, squash ? NULL : c->tip, NULL };
	char tree[OID_SIZE], before[OID_SIZE];
	auto_buf message = BUF_INIT(MESSAGE_MAX);
	int got = verb_merge_tree(c->repo, c->old, c->tip, tree, conflicts, e);

	if (got)
		return got < 0 ? -1 : conflict(conflicts, e);
	if (squash) {
		if (tree_of(c->repo, c->old, before, e) < 0)
			return -1;
		if (!strcmp(tree, before))
			return 0;
	}
	if (c->spec->message)
		buf_addstr(&message, c->spec->message);
	else if (!squash)
		buf_printf(&message, "Merge task '%s'\n", c->task);
	else if (squash_message(c, &message, e) < 0)
		return -1;
	return write_own(c->repo, committer, tree, parents, buf_str(&message), c->new_oid, e);
}

/*
 * Applies one commit to c->new_oid, whose tree is `tree`. git merges two commits by their common ancestor,
 * which must be the picked commit's parent. So a temporary commit stands for the target: it has the target's
 * tree and that parent. (merge-tree --merge-base needs git 2.40.)
 */
static int pick(struct compose *c, const char *committer, const char *oid, char tree[OID_SIZE],
	struct strvec *conflicts, struct err *e)
{
	char sibling[OID_SIZE], merged[OID_SIZE];
	auto_parts p = { 0 };
	int got;

	if (take_apart(c->repo, oid, &p, e) < 0)
		return -1;
	if (!*p.parent)
		return err_set(e, ERR_FAILED, "commit %.12s has no parent: it cannot be rebased", oid);
	if (!strcmp(p.parent, c->new_oid)) {
		memcpy(tree, p.tree, OID_SIZE);
		snprintf(c->new_oid, OID_SIZE, "%s", oid);
		return 0;
	}
	if (write_own(c->repo, committer, tree, (const char *[]){ p.parent, NULL }, "sibling", sibling, e) <
		0)
		return -1;
	got = verb_merge_tree(c->repo, sibling, oid, merged, conflicts, e);
	if (got)
		return got < 0 ? -1 : conflict(conflicts, e);
	if (!strcmp(merged, tree))
		return 0;
	memcpy(tree, merged, OID_SIZE);
	return write_copy(c->repo, committer, &p, merged, c->new_oid, c->new_oid, e);
}

/* The user reviewed, and the policy checked, the difference that a merge makes. Applying commits one by one
 * may make a different one: merge commits are left out, and so is what the target has already. */
static int compare_with_merge(struct compose *c, const char *tree, struct strvec *conflicts, struct err *e)
{
	char merged[OID_SIZE];
	int got = verb_merge_tree(c->repo, c->old, c->tip, merged, conflicts, e);

	if (got < 0)
		return -1;
	if (!got && !strcmp(merged, tree))
		return 0;
	strvec_release(conflicts);
	err_set(e, ERR_REFUSED,
		"the commits of task '%s', applied one by one, give another result than all of them together",
		c->task);
	return err_hint(e, "garth merge --squash %s", c->task);
}

static int compose_rebase(struct compose *c, const char *committer, struct strvec *conflicts, struct err *e)
{
	auto_strvec commits = STRVEC_INIT;
	char tree[OID_SIZE];

	if (verb_commits(c->repo, c->old, c->tip, &commits, e) < 0 || tree_of(c->repo, c->old, tree, e) < 0)
		return -1;
	for (size_t i = 0; i < commits.n; i++)
		if (pick(c, committer, commits.v[i], tree, conflicts, e) < 0)
			return err_wrap(e, "commit %.12s", commits.v[i]);
	return compare_with_merge(c, tree, conflicts, e);
}

int compose_run(struct compose *c, struct strvec *conflicts, struct err *e)
{
	const struct merge_spec *s = c->spec;
	size_t behind, ahead;
	auto_str committer = NULL;

	snprintf(c->new_oid, OID_SIZE, "%s", c->old);
	c->fast_forward = c->nothing = false;
	if (verb_divergence(c->repo, c->old, c->tip, &behind, &ahead, e) < 0)
		return -1;
	c->nothing = !ahead;
	c->fast_forward = ahead && !behind && s->kind != MERGE_SQUASH && !s->no_ff;
	if (c->fast_forward)
		snprintf(c->new_oid, OID_SIZE, "%s", c->tip);
	if (c->nothing || c->fast_forward)
		return 0;
	if (verb_committer(c->repo, &committer, e) < 0 ||
		(s->kind == MERGE_REBASE ? compose_rebase(c, committer, conflicts, e)
					 : compose_commit(c, committer, conflicts, e)) < 0)
		return -1;
	c->nothing = !strcmp(c->new_oid, c->old);
	return 0;
}
