#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "runtime/gateway_client.h"
#include "cli/json.h"
#include "cli/say.h"
#include "task/life.h"

int cmd_pause(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "pause", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	json_t *answer = NULL;
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	/* checked here, so that no keeper is started just to refuse */
	if (strcmp(t.state, STATE_RUNNING)) {
		err_set(&e, ERR_REFUSED, "task '%s' is not running, it is %s", t.name, t.state);
		return say_error(&e);
	}
	if (gateway_ask(&c, &t, "/user/v1/pause", json_object(), &answer, &e) < 0)
		return say_error(&e);
	json_decref(answer);
	if (json)
		return json_print(json_pack("{s:o, s:s}", "task", json_text(t.name), "state", STATE_PAUSED));
	if (say_is_heard()) {
		say_done("task '%s' is paused", t.name);
		say_hint("garth resume %s", t.name);
	}
	return 0;
}
