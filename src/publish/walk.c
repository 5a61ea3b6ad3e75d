#include "publish/walk.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "publish/walk_parts.h"
#include "sys/clock.h"

void walk_release(struct walk_result *r)
{
	strvec_release(&r->stops);
	oidset_release(&r->reached);
	strvec_release(&r->paths);
	*r = (struct walk_result){ 0 };
}

int walk_incomplete(struct walker *w, struct err *e, const char *fmt, ...)
{
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	refuse(w->no, e, "incomplete", buf_str(&w->path), "the commits are not whole: %s", msg);
	e->kind = ERR_FAILED;
	return refusal_say(w->no, "publish commits of which something is missing or malformed",
		"look with: git fsck --strict; and make the commits again from the files");
}

int walk_too_large(struct walker *w, struct err *e, const char *what)
{
	refuse(w->no, e, "too_large", buf_str(&w->path), "%s", what);
	return refusal_say(
		w->no, "publish more than can be looked at", "commit less, in fewer and flatter directories");
}

static int check_time(struct walker *w, struct err *e)
{
	return clock_ms() < w->deadline ? 0 : walk_too_large(w, e, "looking at the commits takes too long");
}

static int read_object(
	struct walker *w, const char *oid, enum object_type type, bool ours, struct buf *data, struct err *e)
{
	struct err why = ERR_INIT;

	if (check_time(w, e) < 0)
		return -1;
	if (!objects_read(w->spec->objects, oid, type, data, &why))
		return 0;
	*e = why;
	if (ours || w->spec->objects->broken)
		return -1;
	return data->overflow ? walk_too_large(w, e, why.msg) : walk_incomplete(w, e, "%s", why.msg);
}

int walk_read_commit(
	struct walker *w, const char *oid, bool ours, struct buf *data, struct commit *ret, struct err *e)
{
	const char *wrong;

	if (read_object(w, oid, OBJECT_COMMIT, ours, data, e) < 0)
		return -1;
	wrong = commit_parse(ret, data, w->spec->hash_len);
	if (wrong && ours)
		return err_set(e, ERR_FAILED, "commit %s has %s", oid, wrong);
	return wrong ? walk_incomplete(w, e, "commit %s has %s", oid, wrong) : 0;
}

static size_t tree_size(const struct tree *t)
{
	return t->data.cap + t->n * sizeof(*t->v);
}

int walk_read_tree(struct walker *w, const unsigned char *oid, bool ours, struct tree *ret, struct err *e)
{
	auto_tree t = { .data = BUF_INIT(WALK_OBJECT_MAX) };
	bool strict = oidset_has_raw(w->spec->fresh, oid);
	const char *wrong;
	char hex[OID_SIZE];

	oid_to_hex(oid, w->spec->hash_len, hex);
	if (read_object(w, hex, OBJECT_TREE, ours, &t.data, e) < 0)
		return -1;
	wrong = tree_parse(&t, w->spec->hash_len, strict);
	if (wrong && !strict)
		return err_set(e, ERR_FAILED, "tree %s has %s", hex, wrong);
	if (wrong)
		return walk_incomplete(w, e, "tree %s has %s", hex, wrong);
	w->held += tree_size(&t);
	if (w->held > WALK_HELD_MAX) {
		w->held -= tree_size(&t);
		return walk_too_large(w, e, "directories within directories are too large");
	}
	*ret = t;
	t = (struct tree){ 0 };
	return 0;
}

void walk_drop_tree(struct walker *w, struct tree *t)
{
	w->held -= tree_size(t);
	tree_release(t);
}

int walk_enter(struct walker *w, const char *name, size_t *ret_before, struct err *e)
{
	size_t before = w->path.len;

	if (before + 1 + strlen(name) > WALK_PATH_MAX)
		return walk_too_large(w, e, "a path is too long");
	if (before)
		buf_addch(&w->path, '/');
	buf_addstr(&w->path, name);
	*ret_before = before;
	return 0;
}

/* The tip may look fine, so the message says that an earlier commit is meant. */
static int on_the_way(struct walker *w, struct err *e)
{
	struct refusal *no = w->no;
	char message[sizeof(no->message)];

	if (!*no->code)
		return -1;
	snprintf(message, sizeof(message), "%s", no->message);
	snprintf(no->message, sizeof(no->message), "%.360s, in a commit before the last", message);
	snprintf(no->instead, sizeof(no->instead),
		"make one commit of it without that: git reset --soft to where the task began, then git commit");
	return err_set(e, e->kind, "%s", no->message);
}

static int run(struct walker *w, struct err *e)
{
	char tip_tree[OID_SIZE];

	if (w->spec->fresh->n > WALK_FRESH_MAX)
		return walk_too_large(w, e, "there are more new objects than can be looked at");
	if (walk_fresh(w, tip_tree, e) < 0 || walk_net(w, tip_tree, true, e) < 0)
		return -1;
	for (size_t i = 0; i < w->trees.n; i++)
		if (strcmp(w->trees.v[i], tip_tree) && walk_net(w, w->trees.v[i], false, e) < 0)
			return on_the_way(w, e);
	return 0;
}

int walk(const struct walk_spec *s, struct walk_result *ret, struct refusal *no, struct err *e)
{
	auto_walk r = { 0 };
	struct walker w = { .spec = s,
		.ret = &r,
		.no = no,
		.deadline = clock_ms() + WALK_SECONDS * 1000,
		.path = BUF_INIT(WALK_PATH_MAX) };
	int rc;

	*no = (struct refusal){ 0 };
	r.reached.hash_len = s->hash_len;
	rc = run(&w, e);
	buf_release(&w.path);
	strvec_release(&w.trees);
	if (rc < 0)
		return -1;
	*ret = r;
	r = (struct walk_result){ 0 };
	return 0;
}
