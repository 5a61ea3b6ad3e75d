#include "history/renew.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "inside/inside.h"
#include "push/fetch.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"
#include "task/shown.h"

/* If all changes together fail, at most so many are tried one by one. */
#define ONE_BY_ONE_MAX 200

/* Refs, parsed from lines "OID REFNAME". The lines must outlive the struct. */
struct refs {
	struct shown_ref {
		const char *oid; /* not terminated */
		char *name;
	} * v;
	size_t n;
};

static void refs_release(struct refs *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].name);
	free(r->v);
}
#define auto_refs __attribute__((cleanup(refs_release))) struct refs

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct shown_ref *)a)->name, ((const struct shown_ref *)b)->name);
}

static int by_oid(const void *a, const void *b)
{
	const struct shown_ref *x = a, *y = b;

	return strncmp(x->oid, y->oid, strcspn(x->oid, " "));
}

static int by_both(const void *a, const void *b)
{
	int d = by_oid(a, b);

	return d ? d : by_name(a, b);
}

static void refs_parse(struct refs *r, const struct buf *lines, int (*order)(const void *, const void *))
{
	size_t max = 0;

	for (const char *l = buf_str(lines); *l; l++)
		max += *l == '\n';
	r->v = xcalloc(max + 1, sizeof(*r->v));
	for (const char *l = buf_str(lines); r->n < max; l += strcspn(l, "\n") + 1) {
		const char *name = l + strcspn(l, " ") + 1;

		/* '~': shown earlier, but not now (shown.h) */
		name += *name == '~';
		r->v[r->n++] = (struct shown_ref){ l, xstrndup(name, strcspn(name, "\n")) };
	}
	qsort(r->v, r->n, sizeof(*r->v), order);
}

static const struct shown_ref *refs_find(
	const struct refs *r, const struct shown_ref *key, int (*order)(const void *, const void *))
{
	return bsearch(key, r->v, r->n, sizeof(*r->v), order);
}

/* A ref that the agent made itself, with the same value but another name, does not count. */
static bool was_shown(const struct inside *in, const struct refs *before, const struct shown_ref *r)
{
	const struct shown_ref nameless = { r->oid, (char *)SHOWN_NAMELESS };

	return refs_find(before, r, by_both) || refs_find(before, &nameless, by_both) ||
	       (!strcmp(r->name, in->task.target) &&
		       !strncmp(in->task.base, r->oid, in->at.repo.hash_len * 2));
}

/* Commands for update-ref. Refs that are still as they were shown follow the outside; refs that the agent
 * moved stay. */
static void make_changes(struct inside *in, const struct buf *now_lines, const struct buf *before_lines,
	const struct buf *inside_lines, struct buf *out)
{
	auto_refs now = { 0 }, before = { 0 }, inside = { 0 };
	int n = (int)(in->at.repo.hash_len * 2);

	refs_parse(&now, now_lines, by_name);
	refs_parse(&before, before_lines, by_both);
	refs_parse(&inside, inside_lines, by_name);
	for (size_t i = 0; i < now.n; i++) {
		const struct shown_ref *r = &now.v[i], *has = refs_find(&inside, r, by_name);

		if (!has)
			buf_printf(out, "create %s %.*s\n", r->name, n, r->oid);
		else if (by_oid(has, r) && was_shown(in, &before, has))
			buf_printf(out, "update %s %.*s %.*s\n", r->name, n, r->oid, n, has->oid);
	}
	for (size_t i = 0; i < inside.n; i++) {
		const struct shown_ref *r = &inside.v[i];

		if (!refs_find(&now, r, by_name) && was_shown(in, &before, r))
			buf_printf(out, "delete %s %.*s\n", r->name, n, r->oid);
	}
}

/* The task's target and tags inside. The answer is a claim, so its form is checked. */
static int list_inside(struct inside *in, const char *also, struct buf *ret, struct err *e)
{
	size_t n = in->at.repo.hash_len * 2;
	/* a pattern given twice does no harm */
	const char *target = *in->task.target ? in->task.target : "refs/tags";
	int code;

	if (inside_ask(in, ret, &code, e, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags",
		    target, also ? also : target, NULL) < 0)
		return -1;
	for (const char *l = buf_str(ret); *l; l += strcspn(l, "\n") + 1) {
		if (!oid_starts(l, in->at.repo.hash_len) || l[n] != ' ' || !strchr(l, '\n'))
			return err_set(e, ERR_FAILED, "the refs inside cannot be read");
	}
	return code ? err_set(e, ERR_FAILED, "the refs inside cannot be read") : 0;
}

/* Sends new objects in, as a pack, if the task has its own object store. Left out is what the refs inside
 * name and were shown. If the last pack could not be unpacked, its objects are sent again. A tag that is gone
 * does not count as held: its objects may be gone with it. */
static int send_objects(struct inside *in, const struct buf *now, const struct buf *before,
	const struct buf *inside_lines, struct err *e)
{
	auto_refs shown = { 0 }, held = { 0 }, inside = { 0 };
	auto_buf revs = BUF_INIT(64 << 20);
	int n = (int)(in->at.repo.hash_len * 2);

	if (workspace_borrows(&in->at.ws))
		return 0;
	for (const char *l = buf_str(now); *l; l = strchr(l, '\n') + 1)
		buf_printf(&revs, "%.*s\n", n, l);
	refs_parse(&shown, before, by_oid);
	refs_parse(&held, now, by_oid);
	refs_parse(&inside, inside_lines, by_name);
	for (size_t i = 0; i < inside.n; i++)
		if (refs_find(&held, &inside.v[i], by_oid) ||
			(strncmp(inside.v[i].name, "refs/tags/", 10) != 0 &&
				refs_find(&shown, &inside.v[i], by_oid)))
			buf_printf(&revs, "^%.*s\n", n, inside.v[i].oid);
	buf_printf(&revs, "^%s\n", in->task.base);
	return inside_send_objects(in, &revs, e);
}

/* The agent may have a tag "v1/x", which makes a new tag "v1" impossible. */
static int change_inside(struct inside *in, const struct buf *changes, int *ret_code, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	return inside_git(in, &args, changes, NULL, NULL, INSIDE_SECONDS, ret_code, e);
}

/* Makes all changes at once; if that fails, makes those that are possible, one by one. */
static int change_what_goes(struct inside *in, const struct buf *changes, struct err *e)
{
	size_t tried = 0;
	int code;

	if (change_inside(in, changes, &code, e) < 0)
		return -1;
	for (const char *l = buf_str(changes); code && *l && tried < ONE_BY_ONE_MAX; tried++) {
		auto_buf one = BUF_INIT(8192);
		size_t len = strcspn(l, "\n") + 1;
		int ignored;

		buf_add(&one, l, len);
		if (change_inside(in, &one, &ignored, e) < 0)
			return -1;
		l += len;
	}
	return 0;
}

int renew_shown(struct inside *in, struct err *e)
{
	auto_shown now = SHOWN_INIT;
	auto_buf before = BUF_INIT(SHOWN_MAX), inside = BUF_INIT(64 << 20), changes = BUF_INIT(64 << 20);
	auto_str fetched = NULL;

	if (inside_refresh(in, e) < 0)
		return -1;
	fetched = fetch_shown(&in->context, in->at.ws.dir);
	if (shown_now(&in->context, &in->at.repo, in->task.target, fetched, &now, e) < 0)
		return -1;
	if (shown_read(&in->context, in->task.id, &before, e) < 0 ||
		refs_renew(&in->context, &in->at.repo, &in->task, &now, e) < 0 ||
		list_inside(in, fetched, &inside, e) < 0)
		return -1;
	make_changes(in, &now.lines, &before, &inside, &changes);
	fault("renew-asked");
	if (changes.len && (send_objects(in, &now.lines, &before, &inside, e) < 0 ||
				   change_what_goes(in, &changes, e) < 0))
		return -1;
	return refs_renewed(&in->context, &in->task, &now, e);
}
