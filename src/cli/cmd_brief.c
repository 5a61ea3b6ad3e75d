#include <stdio.h>

#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "task/brief.h"
#include "task/own_config.h"

int cmd_brief(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "brief", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_at at = { .ws.dir = -1 };
	auto_buf text = BUF_INIT(64 << 10);
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0 || task_open(&c, &t, &at, &e) < 0 ||
		own_config_apply(&c.config, at.ws.dir, &e) < 0 || brief_write(&c, &at, NULL, &text, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(json_pack(
			"{s:o, s:o}", "task", json_text(t.name), "brief", json_text(buf_str(&text))));
	fputs(buf_str(&text), stdout);
	return 0;
}
