#include <jansson.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "history/rollback.h"
#include "history/snapshot.h"
#include "inside/inside.h"
#include "publish/publish.h"
#include "sys/fault.h"
#include "workspace/aside.h"

/* The path in hexadecimal: it may not be UTF-8. */
static char *hex_of(const char *path)
{
	auto_buf hex = BUF_INIT(1 << 17);

	for (; *path; path++)
		buf_printf(&hex, "%02x", (unsigned char)*path);
	return buf_steal(&hex);
}

/* Whether the commit has the path, as a file or as a directory. */
static int has_path(struct inside *in, const char *commit, const char *path, bool *ret, struct err *e)
{
	auto_buf out = BUF_INIT(1 << 20);

	if (inside_do(in, &out, NULL, e, "--literal-pathspecs", "ls-tree", "-z", "--name-only", commit, "--",
		    path, NULL) < 0)
		return -1;
	*ret = out.len > 0;
	return 0;
}

/* A directory that was set aside is not in the snapshot's commit; it can only be restored as a whole. */
static int not_there(struct inside *in, const struct rollback_spec *s, struct err *e)
{
	auto_strvec kept = STRVEC_INIT;

	if (s->snapshot && aside_kept(&in->at.ws, s->snapshot, &kept, e) < 0)
		return -1;
	for (size_t i = 0; i < kept.n; i++)
		if (rollback_paths_meet(s->file, kept.v[i])) {
			err_set(e, ERR_NOTFOUND, "snapshot %lld has '%s' only as a whole",
				(long long)s->snapshot, kept.v[i]);
			return err_hint(e, "garth rollback %s --to-snapshot %lld", in->task.name,
				(long long)s->snapshot);
		}
	return err_set(e, ERR_NOTFOUND, "'%s' is not in %s", s->file,
		s->snapshot ? "that snapshot" : "the task's last commit");
}

/* Only this path is changed, so files elsewhere that the snapshot could not hold do not matter. */
static int check_held(const struct inside *in, const char *path, struct review_left *left, struct err *e)
{
	const struct strvec *lists[] = { &left->stays, &left->bars };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			if (rollback_paths_meet(path, lists[l]->v[i])) {
				err_set(e, ERR_REFUSED, "no snapshot can hold '%s'; -f removes it for good",
					lists[l]->v[i]);
				return err_hint(e, "garth export %s DIR", in->task.name);
			}
	return 0;
}

/* An undo first removes what git tracks at the path: the rollback may have created a file that was not there
 * before. */
static int put_back(
	struct inside *in, const struct rollback_spec *s, const char *commit, bool there, struct err *e)
{
	if (s->undo && inside_do(in, NULL, NULL, e, "--literal-pathspecs", "rm", "-r", "-f", "-q",
			       "--ignore-unmatch", "--", s->file, NULL) < 0)
		return -1;
	if (there && inside_do(in, NULL, NULL, e, "--literal-pathspecs", "checkout", "-f", "-q", commit, "--",
			     s->file, NULL) < 0)
		return -1;
	return inside_do(in, NULL, NULL, e, "--literal-pathspecs", "reset", "-q", "--", s->file, NULL);
}

int rollback_file(struct inside *in, const struct rollback_spec *s, const struct snapshot *from,
	int64_t *ret_before, struct review_left *left, struct err *e)
{
	auto_str hex = hex_of(s->file), data = NULL;
	const char *commit;
	int64_t deed;
	char tip[OID_SIZE];
	bool there;

	if (publish_find_tip(in, tip, e) < 0)
		return -1;
	commit = !s->snapshot ? tip : *from->state ? from->state : from->commit;
	if ((s->snapshot && *from->state && snapshot_send_state(in, from->number, e) < 0) ||
		has_path(in, commit, s->file, &there, e) < 0)
		return -1;
	if (!there && !s->undo)
		return not_there(in, s, e);
	if (snapshot_take(in, "rollback", "", ret_before, left, e) < 0 ||
		(!s->force && check_held(in, s->file, left, e) < 0))
		return -1;
	review_left_release(left);
	fault("rollback-snapshot");
	data = xasprintf("{\"snapshot\":%lld,\"file_hex\":\"%s\"}", (long long)*ret_before, hex);
	/* from here on the rollback can be undone, even if it fails */
	if (audit_add(in->audit, "rollback-file", &in->task,
		    json_pack("{s:o, s:s}", "path", audit_text(s->file), "from", commit), e) < 0 ||
		(!s->undo && store_deed_add(in->context.store, in->task.id, "rollback", data, &deed, e) < 0))
		return -1;
	return put_back(in, s, commit, there, e);
}
