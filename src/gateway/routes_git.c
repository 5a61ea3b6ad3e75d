#include <nettle/base64.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/commit_staged.h"
#include "gateway/routes_parts.h"
#include "publish/from_branch.h"
#include "publish/publish.h"
#include "publish/submodules.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/tickets.h"
#include "task/verdict.h"

int route_commit(struct request *q, struct err *e)
{
	struct commit_request c = { 0 };
	struct publish_result r = { 0 };

	if (request_text(q, "repo", &c.repo, e) < 0 || request_text(q, "worktree", &c.worktree, e) < 0 ||
		request_text(q, "message", &c.message, e) < 0 ||
		request_text(q, "author", &c.author, e) < 0 ||
		commit_staged(&q->gateway->pub, &c, &r, &q->no, e) < 0)
		return -1;
	q->out = json_pack(
		"{s:s, s:s}", "sha", r.tip, "branch", q->gateway->in.task.branch + strlen("refs/heads/"));
	return 0;
}

/* Decodes the base64 pack into a file; *ret stays as it is if there is none. */
static int take_pack(struct request *q, int *ret, struct err *e)
{
	const char *text;
	struct base64_decode_ctx ctx;
	auto_str raw = NULL;
	size_t len;

	if (request_text(q, "pack", &text, e) < 0)
		return -1;
	if (!text)
		return 0;
	len = BASE64_DECODE_LENGTH(strlen(text));
	raw = xcalloc(1, len + 1);
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &len, (uint8_t *)raw, strlen(text), text) ||
		!base64_decode_final(&ctx))
		return request_bad(q, e, "\"pack\" is not in base64");
	*ret = fd_of_bytes("pack", raw, len);
	return *ret < 0 ? err_sys(e, "cannot keep the pack") : 0;
}

/* The answer after a publish. Removes the mark that the last run's end left unpublished work; while the task
 * runs, only its own end changes that mark. */
static int published(struct request *q, const struct publish_result *r)
{
	struct gateway *g = q->gateway;

	/* others may have waited for a merge */
	tickets_tell(g->in.at.ws.dir);
	if (!life_is_running(&g->in.task))
		unlinkat(g->in.at.ws.dir, TASK_UNPUBLISHED, 0);
	q->out = json_pack("{s:s, s:s, s:s, s:I}", "tip", r->tip, "old", r->old, "branch",
		g->in.task.branch + strlen("refs/heads/"), "commits", (json_int_t)r->commits);
	return 0;
}

/* The number of a submodule chooses among those of this task. */
static int publish_in_submodule(
	struct request *q, const json_t *number, const char *tip, const char *by, int pack, struct err *e)
{
	struct publish_result r = { 0 };

	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return request_bad(q, e, "\"submodule\" is not a number");
	if (publish_submodule(
		    &q->gateway->pub, (size_t)json_integer_value(number), tip, by, pack, &r, &q->no, e) < 0)
		return e->kind == ERR_USAGE ? request_bad(q, e, e->msg) : -1;
	return published(q, &r);
}

static int publish_for(struct request *q, const char *by, struct err *e)
{
	json_t *submodule = json_object_get(q->in, "submodule");
	struct publish_result r = { 0 };
	auto_fd pack = -1;
	const char *tip;
	char found[OID_SIZE];

	if (request_text(q, "tip", &tip, e) < 0 || take_pack(q, &pack, e) < 0)
		return -1;
	if (submodule)
		return publish_in_submodule(q, submodule, tip, by, pack, e);
	if (!tip) {
		if (publish_find_tip(&q->gateway->in, found, e) < 0)
			return -1;
		tip = found;
	}
	if (!*tip)
		return request_bad(q, e, "the task has no branch inside");
	if (publish_offered(&q->gateway->pub, tip, by, pack, &r, &q->no, e) < 0)
		return -1;
	return published(q, &r);
}

int route_publish(struct request *q, struct err *e)
{
	return publish_for(q, json_object_get(q->in, "tip") ? "hook" : "asked", e);
}

int route_user_publish(struct request *q, struct err *e)
{
	struct publish_result r = { 0 };
	auto_str failed = NULL;
	json_t *commits;
	const char *from;

	if (request_text(q, "from", &from, e) < 0)
		return -1;
	if (publish_submodules(&q->gateway->pub, "user", &failed, &q->no, e) < 0)
		return err_wrap(e, "submodule '%s'", failed);
	if (from ? publish_from(&q->gateway->pub, from, &r, &q->no, e) < 0 || published(q, &r) < 0
		 : publish_for(q, "user", e) < 0)
		return -1;
	/* in other answers "commits" counts all that a task has published */
	commits = json_object_get(q->out, "commits");
	json_object_set(q->out, "new_commits", commits);
	json_object_del(q->out, "commits");
	json_object_set(q->out, "old_tip", json_object_get(q->out, "old"));
	json_object_del(q->out, "old");
	return 0;
}

/* The arguments as one line, for the audit. */
static int take_args(struct request *q, struct buf *line, struct err *e)
{
	json_t *args = json_object_get(q->in, "args"), *v;
	size_t i;

	if (!json_is_array(args) || json_array_size(args) > 1000)
		return request_bad(q, e, "\"args\" is not a list of strings");
	json_array_foreach(args, i, v)
	{
		if (!json_is_string(v))
			return request_bad(q, e, "\"args\" is not a list of strings");
		buf_printf(line, "%s%.200s", i ? " " : "", json_string_value(v));
	}
	return 0;
}

static int asked(struct request *q, const char *verb, struct err *e)
{
	auto_buf line = BUF_INIT(4000);
	json_t *details;

	if (take_args(q, &line, e) < 0)
		return -1;
	details = json_pack("{s:s}", "verb", verb);
	json_object_set_new(details, "args", audit_text(buf_str(&line)));
	if (audit_add(q->gateway->in.audit, "asked", &q->gateway->in.task, details, e) < 0)
		return -1;
	q->out = json_object();
	return 0;
}

int route_reset(struct request *q, struct err *e)
{
	return asked(q, "reset", e);
}

int route_checkout(struct request *q, struct err *e)
{
	return asked(q, "checkout", e);
}

int route_merge(struct request *q, struct err *e)
{
	return asked(q, "merge", e);
}
