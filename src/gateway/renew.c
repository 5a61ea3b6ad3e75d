#include "gateway/renew.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "task/refs.h"

#define INSIDE_SECONDS 60

/* The value of a ref in lines "OID REFNAME", or NULL; not terminated. */
static const char *value_in(const struct buf *lines, const char *ref, size_t len)
{
	for (const char *l = buf_str(lines); *l;) {
		const char *name = l + strcspn(l, " ");

		if (*name == ' ' && strcspn(name + 1, "\n") == len && !strncmp(name + 1, ref, len))
			return l;
		l += strcspn(l, "\n");
		l += *l == '\n';
	}
	return NULL;
}

static bool was_shown(const struct gate *g, const struct buf *before, const char *oid)
{
	size_t n = g->at.repo.hash_len * 2;

	for (const char *l = buf_str(before); *l; l = strchr(l, '\n') + 1)
		if (!strncmp(l, oid, n) && l[n] == ' ')
			return true;
	return !strncmp(g->task.base, oid, n);
}

/* Commands for update-ref: what the inside still has as it was shown follows; what the agent moved itself is
 * its own. */
static void make_changes(struct gate *g, const struct buf *now, const struct buf *before,
	const struct buf *inside, struct buf *out)
{
	int n = (int)(g->at.repo.hash_len * 2);

	for (const char *l = buf_str(now); *l; l = strchr(l, '\n') + 1) {
		const char *ref = l + n + 1;
		size_t len = strcspn(ref, "\n");
		const char *has = value_in(inside, ref, len);

		if (!has)
			buf_printf(out, "create %.*s %.*s\n", (int)len, ref, n, l);
		else if (strncmp(has, l, (size_t)n) && was_shown(g, before, has))
			buf_printf(out, "update %.*s %.*s %.*s\n", (int)len, ref, n, l, n, has);
	}
	for (const char *l = buf_str(inside); strlen(l) > (size_t)n;) {
		const char *ref = l + n + 1;
		size_t len = strcspn(ref, "\n");

		if (!value_in(now, ref, len) && was_shown(g, before, l))
			buf_printf(out, "delete %.*s %.*s\n", (int)len, ref, n, l);
		l = ref + len + (ref[len] == '\n');
	}
}

/* The refs inside that the target and the tags are: a claim, whose form is checked. */
static int list_inside(struct gate *g, struct buf *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	size_t n = g->at.repo.hash_len * 2;
	int code;

	strvec_pushl(&args, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags", NULL);
	if (*g->task.target)
		strvec_push(&args, g->task.target);
	if (gate_git(g, &args, NULL, ret, NULL, INSIDE_SECONDS, &code, e) < 0)
		return -1;
	for (const char *l = buf_str(ret); *l; l += strcspn(l, "\n") + 1) {
		if (strspn(l, "0123456789abcdef") != n || l[n] != ' ' || !strchr(l, '\n'))
			return err_set(e, ERR_FAILED, "the refs inside cannot be read");
	}
	return code ? err_set(e, ERR_FAILED, "the refs inside cannot be read") : 0;
}

/* Where the task has objects of its own, the new ones are sent in as a pack. */
static int send_objects(struct gate *g, const struct buf *now, const struct buf *before, struct err *e)
{
	struct git out = repo_git(&g->at.repo);
	auto_fd pack = openat(g->at.ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	auto_buf revs = BUF_INIT(64 << 20);
	auto_strvec pack_args = STRVEC_INIT, args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	int n = (int)(g->at.repo.hash_len * 2), code;
	uint32_t id;

	if (!workspace_own_packs(&g->at.ws))
		return 0;
	if (pack < 0 || null < 0)
		return err_sys(e, "cannot make a file in the task's directory");
	for (const char *l = buf_str(now); *l; l = strchr(l, '\n') + 1)
		buf_printf(&revs, "%.*s\n", n, l);
	for (const char *l = buf_str(before); *l; l = strchr(l, '\n') + 1)
		buf_printf(&revs, "^%.*s\n", n, l);
	buf_printf(&revs, "^%s\n", g->task.base);
	out.stdout_fd = pack;
	strvec_pushl(
		&pack_args, "pack-objects", "--revs", "--delta-base-offset", "--quiet", "--stdout", NULL);
	if (git_run(&out, &pack_args, &revs, NULL, e) < 0)
		return -1;
	lseek(pack, 0, SEEK_SET);
	strvec_pushl(&args, "unpack-objects", "-q", NULL);
	gate_git_command(g, &args, &cmd);
	if (cell_start(&g->inside, &cmd, (int[3]){ pack, null, null }, &id, e) < 0 ||
		cell_wait(&g->inside, id, INSIDE_SECONDS, &code, e) < 0)
		return -1;
	return code ? err_set(e, ERR_FAILED, "the objects could not be sent in") : 0;
}

int gate_renew(struct gate *g, struct err *e)
{
	auto_buf now = BUF_INIT(64 << 20), before = BUF_INIT(64 << 20), inside = BUF_INIT(64 << 20),
		 changes = BUF_INIT(64 << 20);
	auto_strvec args = STRVEC_INIT;
	auto_str old = NULL;
	int code;

	if (gate_refresh(g, e) < 0 || ref_shown(&g->at.repo, g->task.target, &now, e) < 0)
		return -1;
	old = xasprintf("refs/garth/shown/%s/", g->task.shown);
	if (ref_list(&g->at.repo, old, &before, e) < 0 ||
		refs_renew(&g->context, &g->at.repo, &g->task, &now, e) < 0 || list_inside(g, &inside, e) < 0)
		return -1;
	make_changes(g, &now, &before, &inside, &changes);
	if (!changes.len)
		return 0;
	if (send_objects(g, &now, &before, e) < 0)
		return -1;
	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	if (gate_git(g, &args, &changes, NULL, NULL, INSIDE_SECONDS, &code, e) < 0)
		return -1;
	return code ? err_set(e, ERR_FAILED, "the refs inside could not be moved") : 0;
}
