#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/session.h"
#include "runtime/control.h"

int cmd_attach(int argc, char **argv)
{
	const struct opt opts[] = { OPT_END };
	struct cmd_line l = { "attach", opts, 1, 1, false, 0, 0 };
	struct terminal_result r = { .end = TERMINAL_EXIT };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	context_close_store(&c);
	if (say_is_heard())
		say_state("task '%s'; detach with %s", t.name, TERMINAL_DETACH_KEYS);
	if (session_attach(&c, &t, &r, &e) < 0)
		return say_error(&e);
	session_report(&c, t.name, &r, false);
	return r.end == TERMINAL_DETACHED ? 0 : r.exit_code;
}

int cmd_cancel(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "cancel", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	context_close_store(&c);
	if (control_cancel(&c, &t, &e) < 0)
		return say_error(&e);
	if (json)
		return json_task_now(&c, t.name);
	if (say_is_heard()) {
		say_done("task '%s' is cancelled; its workspace is kept", t.name);
		say_hint("garth diff %s", t.name);
	}
	return 0;
}
