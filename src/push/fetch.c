#include "push/fetch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "git/ref.h"
#include "git/remote.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"

/* A file in the task's directory with the ref's name. */
#define FETCHED_TO "fetched-to"

static const char heads[] = "refs/heads/";

void fetch_result_release(struct fetch_result *r)
{
	free(r->remote);
	free(r->branch);
	free(r->ref);
	*r = (struct fetch_result){ 0 };
}

static int record(struct context *c, const struct task *t, const struct fetch_result *r, const char *event,
	const struct err *why, struct err *e)
{
	auto_audit a = NULL;
	json_t *o = json_pack("{s:o, s:o}", "remote", audit_text(r->remote ? r->remote : ""), "branch",
		audit_text(r->branch));

	if (why)
		json_object_set_new(o, "error", audit_text(why->msg));
	else
		json_object_set_new(o, "new", json_string(r->new_oid));
	if (audit_open(c->home.fd, c->store, &a, e) < 0)
		return json_decref(o), -1;
	return audit_add(a, event, t, o, e);
}

static int choose(const struct repo *r, struct fetch_result *ret, struct err *e)
{
	if (remote_require(r, NULL, &ret->remote, e) < 0)
		return -1;
	ret->ref = xasprintf("refs/remotes/%s/%s", ret->remote, ret->branch);
	return ref_read(r, ret->ref, ret->old, e);
}

/* Fetches to a ref of this process first, so that the audit line is written before the user's ref moves. */
static int take(struct context *c, const struct repo *r, struct task *t, int task_dir,
	struct fetch_result *ret, struct err *e)
{
	auto_str fetched = refs_fetched(&c->home);
	auto_ref_txn move = REF_TXN_INIT, drop = REF_TXN_INIT;
	struct err ignored = ERR_INIT;
	int rc = -1;

	if (remote_fetch(r, ret->remote, ret->branch, fetched, ret->new_oid, e) < 0)
		return -1;
	if (!*ret->new_oid)
		return err_set(e, ERR_NOTFOUND, "'%s' has no branch '%s'", ret->remote, ret->branch);
	fault("fetch-taken");
	ref_set(&move, ret->ref, ret->new_oid);
	if (!record(c, t, ret, "fetch", NULL, e) &&
		(!strcmp(ret->old, ret->new_oid) || !ref_commit(r, &move, e)))
		rc = write_file(task_dir, FETCHED_TO, ret->ref, strlen(ret->ref), 0600, e);
	ref_remove(&drop, fetched, NULL);
	ref_commit(r, &drop, &ignored);
	return rc;
}

int fetch_target(struct context *c, struct task *t, struct fetch_result *ret, struct err *e)
{
	auto_project project = { 0 };
	auto_repo r = { 0 };
	auto_fd dir = -1;
	struct err ignored = ERR_INIT;

	*ret = (struct fetch_result){ 0 };
	if (strncmp(t->target, heads, strlen(heads)) != 0)
		return err_set(
			e, ERR_USAGE, "task '%s' was started from no branch: it has no target", t->name);
	ret->branch = xstrdup(t->target + strlen(heads));
	if (context_store(c, e) < 0 || store_project_by_id(c->store, t->project_id, &project, e) < 0 ||
		repo_open_git_dir(project.git_dir, project.path, (unsigned)strlen(t->base) / 2, &r, e) < 0 ||
		home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (!choose(&r, ret, e) && !take(c, &r, t, dir, ret, e))
		return 0;
	record(c, t, ret, "fetch-failed", e, &ignored);
	return -1;
}

char *fetch_shown(const struct context *c, int task_dir)
{
	auto_buf name = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (!c->config.fetch || read_file(task_dir, FETCHED_TO, &name, &ignored) < 0)
		return NULL;
	return xstrdup(buf_str(&name));
}
