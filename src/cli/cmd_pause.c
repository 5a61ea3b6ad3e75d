#include "cli/cmd.h"
#include "cli/each_task.h"
#include "cli/json.h"
#include "cli/say.h"
#include "runtime/gateway_client.h"
#include "task/life.h"

static int pause_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e)
{
	json_t *answer = NULL;

	(void)data;
	/* checked here, so that no keeper is started just to refuse */
	if (strcmp(t->state, STATE_RUNNING))
		return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
	if (gateway_ask(c, t, "/user/v1/pause", json_object(), &answer, e) < 0)
		return -1;
	json_decref(answer);
	*ret = json_pack("{s:o, s:s}", "task", json_text(t->name), "state", STATE_PAUSED);
	say_done("task '%s' is paused", t->name);
	say_hint("garth resume %s", t->name);
	return 0;
}

int cmd_pause(int argc, char **argv)
{
	struct each_task m = { .one = pause_one };
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &m.json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "pause", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	return each_task_run(&m, argv, l.words);
}
