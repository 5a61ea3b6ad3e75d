#include "history/tickets.h"

#include <string.h>

#include "base/alloc.h"
#include "git/run.h"
#include "history/sync_parts.h"
#include "inside/inside.h"
#include "publish/publish.h"
#include "store/ticket.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/tickets.h"

/* Sends the objects of the tickets in that the task's own commits do not have. */
static int send_objects(struct inside *in, const struct ticket_ref *v, size_t n, struct err *e)
{
	auto_buf revs = BUF_INIT(1 << 20);

	if (workspace_borrows(&in->at.ws))
		return 0;
	for (size_t i = 0; i < n; i++)
		buf_printf(&revs, "%s\n", v[i].tip);
	buf_printf(&revs, "^%s\n", in->task.base);
	if (*in->task.published)
		buf_printf(&revs, "^%s\n", in->task.published);
	return inside_send_objects(in, &revs, e);
}

int tickets_show(struct inside *in, const struct ticket_ref *v, size_t n, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf lines = BUF_INIT(1 << 20);
	int code;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		buf_printf(&lines, "update %s %s\n", v[i].ref, v[i].tip);
	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	if (send_objects(in, v, n, e) < 0 ||
		inside_git(in, &args, &lines, NULL, NULL, INSIDE_SECONDS, &code, e) < 0)
		return -1;
	if (code)
		return err_set(e, ERR_FAILED, "git inside could not take the results of tickets");
	fault("ticket-shown");
	for (size_t i = 0; i < n; i++)
		if (context_store(&in->context, e) < 0 ||
			store_ticket_set_shown(in->context.store, v[i].ticket, v[i].tip, e) < 0)
			return -1;
	return 0;
}

/* A merge that the agent has begun must be ended by the agent. */
static int check_ready(struct publisher *pub, struct err *e)
{
	int code;

	if (sync_check_inside(pub, e) < 0)
		return e->kind = ERR_CONFLICT, -1;
	if (inside_ask(pub->in, NULL, &code, e, "rev-parse", "-q", "--verify", "MERGE_HEAD", NULL) < 0)
		return -1;
	return code ? 0 : err_set(e, ERR_CONFLICT, "a merge is in progress already");
}

/* 1: in conflict; the merge is taken back. */
static int try_merge(struct publisher *pub, const char *ref, struct strvec *conflicts, struct err *e)
{
	int code;

	if (inside_do(pub->in, NULL, &code, e, "merge", "-q", "--no-edit", "--no-stat", ref, NULL) < 0)
		return -1;
	if (!code)
		return 0;
	if (sync_conflicts(pub, conflicts, e) < 0 ||
		inside_do(pub->in, NULL, &code, e, "merge", "--abort", NULL) < 0)
		return -1;
	if (conflicts->n)
		return 1;
	return err_set(e, ERR_CONFLICT, "uncommitted files are in the way of the merge: commit them first");
}

/* The branch inside goes back to what it was. */
static void take_back(struct publisher *pub, const char *was)
{
	struct err ignored = ERR_INIT;
	int code;

	inside_do(pub->in, NULL, &code, &ignored, "reset", "-q", "--keep", was, NULL);
}

int tickets_merge(
	struct publisher *pub, const char *ref, struct strvec *conflicts, struct refusal *no, struct err *e)
{
	char was[OID_SIZE], tip[OID_SIZE];
	struct publish_result r = { 0 };
	int rc;

	if (check_ready(pub, e) < 0 || publish_find_tip(pub->in, was, e) < 0)
		return -1;
	rc = try_merge(pub, ref, conflicts, e);
	if (rc)
		return rc;
	fault("ticket-merging");
	if (publish_find_tip(pub->in, tip, e) < 0)
		return -1;
	if (publish_offered(pub, tip, "ticket", -1, &r, no, e) < 0) {
		take_back(pub, was);
		return -1;
	}
	if (inside_refresh(pub->in, e) < 0)
		return -1;
	tickets_tell(pub->in->at.ws.dir);
	return tickets_settle(&pub->in->context, &pub->in->at.repo, &pub->in->task, NULL, e);
}
