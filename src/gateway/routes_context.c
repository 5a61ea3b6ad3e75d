/* GET /api/v1/context: where a session works, and within which limits (A3). */
#include <string.h>
#include <sys/stat.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/path.h"
#include "gateway/routes_parts.h"
#include "git/ref.h"
#include "task/disk_limit.h"
#include "task/sessions.h"
#include "workspace/submodules.h"

static int refuse_session(struct request *q, struct err *e, bool missing)
{
	refuse(&q->no, e, missing ? "no_session" : "unknown_session", "",
		missing ? "the request names no session" : "this task has no such session");
	e->kind = missing ? ERR_USAGE : ERR_NOTFOUND;
	return refusal_say(&q->no, "look at a session's context",
		"send the header 'Garth-Session' with what $GARTH_SESSION has");
}

/* Its files can be gone: the user may remove a worktree by hand. */
static int check_workspace(struct request *q, struct err *e)
{
	struct inside *in = &q->gateway->in;
	auto_str dir = workspace_host_dir(&in->context.home, &in->task);
	struct stat st;

	if (!dir || (!stat(dir, &st) && S_ISDIR(st.st_mode)))
		return 0;
	refuse(&q->no, e, "no_workspace", in->task.workspace, "the task's workspace is not there");
	e->kind = ERR_NOTFOUND;
	return -1;
}

static int list_submodules(struct request *q, json_t **ret, struct err *e)
{
	const struct inside *in = &q->gateway->in;
	auto_submodules all = { 0 };

	if (submodules_load(in->at.ws.dir, &all, e) < 0)
		return -1;
	*ret = json_array();
	for (size_t i = 0; i < all.n; i++) {
		auto_str path = path_join(in->task.workspace, all.v[i].path);

		if (submodule_is_here(&all.v[i]))
			json_array_append_new(*ret,
				json_pack("{s:o, s:s}", "path", audit_text(path), "commit", all.v[i].commit));
	}
	return 0;
}

static json_t *show_limits(const struct inside *in)
{
	const struct config *c = &in->context.config;

	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "max_worktree_size", (json_int_t)c->policy.max_size,
		"max_file_size", (json_int_t)c->policy.max_file_size, "max_files",
		(json_int_t)c->policy.max_files, "max_commits", (json_int_t)c->policy.max_commits, "max_disk",
		(json_int_t)disk_max(c, in->at.ws.dir, (uint64_t)in->task.disk));
}

int route_context(struct request *q, struct err *e)
{
	struct inside *in = &q->gateway->in;
	const struct task *t = &in->task;
	json_t *submodules = NULL;
	char first[37];
	bool own;

	if (!q->session || !*q->session)
		return refuse_session(q, e, true);
	if (!sessions_has(t, in->at.ws.dir, q->session, &own))
		return refuse_session(q, e, false);
	if (check_workspace(q, e) < 0 || sessions_main(t, in->at.ws.dir, first, e) < 0 ||
		list_submodules(q, &submodules, e) < 0)
		return -1;
	q->out = json_pack("{s:s, s:s, s:b, s:{s:o, s:o}, s:s, s:s, s:o, s:s, s:o}", "session", q->session,
		"task", t->name, "main_session", !own, "worktree", "main", audit_text(t->workspace),
		"submodules", submodules, "branch", t->branch + strlen("refs/heads/"), "base", t->base,
		"target", audit_text(ref_short(t->target)), "state", t->state, "limits", show_limits(in));
	if (own)
		json_object_set_new(q->out, "parent", json_string(first));
	return 0;
}
