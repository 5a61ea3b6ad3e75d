#include "cli/cmd.h"
#include "cli/each_task.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/session.h"
#include "plan/tickets.h"
#include "runtime/control.h"
#include "task/planned.h"

int cmd_attach(int argc, char **argv)
{
	const char *asked = NULL;
	const struct opt opts[] = { SESSION_DETACH_KEYS(&asked), OPT_END };
	struct cmd_line l = { "attach", opts, 1, 1, false, 0, 0 };
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	struct keys keys;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0 || session_keys(&c, asked, &keys, &e) < 0)
		return say_error(&e);
	context_close_store(&c);
	if (session_attach(&c, &t, &keys, &r, &e) < 0)
		return say_error(&e);
	session_report(&c, &t, &r, false);
	return r.end == TERMINAL_DETACHED ? 0 : r.exit_code;
}

static void cancel_tickets(struct context *c, const struct task *t, size_t *sum)
{
	struct err why = ERR_INIT;
	size_t n = 0;

	if (tickets_cancel(c, t->id, &n, &why) < 0)
		say_warning("its tickets are not cancelled: %s", why.msg);
	*sum += n;
}

/* In a plan's own task nothing runs: the plan is meant. */
static int hint_plan(struct context *c, const struct task *t, struct err *e)
{
	struct err plan = ERR_INIT;

	if (planned_refuse(c, t, true, &plan) < 0 && *plan.hint)
		err_hint(e, "%s", plan.hint);
	return -1;
}

/* Its tickets are cancelled before it, so that its end does not speak of tickets that still run, and after it: until then it
 * can ask for more. */
static int cancel_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e)
{
	auto_task now = { 0 };
	bool withdrawn = false;
	size_t tickets = 0;
	int rc;

	(void)data;
	progress_begin("waiting for its processes to end");
	cancel_tickets(c, t, &tickets);
	rc = ticket_withdraw(c, t->id, &withdrawn, e);
	context_close_store(c);
	if (!rc && !withdrawn)
		rc = control_cancel(c, t, e);
	cancel_tickets(c, t, &tickets);
	progress_end();
	if (rc < 0 && !tickets)
		return hint_plan(c, t, e);
	if (tickets)
		say_state("%zu of its tickets %s cancelled", tickets, tickets == 1 ? "is" : "are");
	if (say_is_json()) {
		if (task_find_id(c, t->id, &now, e) < 0)
			return -1;
		*ret = json_task(&now);
	}
	say_done("task '%s' is cancelled; its workspace is kept", t->name);
	say_hint("garth diff %s", t->name);
	return 0;
}

int cmd_cancel(int argc, char **argv)
{
	struct each_task m = { .one = cancel_one };
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &m.json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "cancel", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return each_task_run(&m, argv, l.words);
}
