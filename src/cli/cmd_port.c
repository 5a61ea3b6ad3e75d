#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/ports.h"
#include "cli/say.h"
#include "cli/session.h"
#include "jail/userns.h"
#include "runtime/control.h"

static int list(struct context *c, const struct task *t, bool json)
{
	auto_buf text = BUF_SMALL;

	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t->name), "ports", ports_json(c, t)));
	ports_text(c, t, &text);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == ' ')
			text.data[i] = '\n';
	if (text.len)
		puts(text.data);
	else
		say_state("no port of task '%s' is open", t->name);
	return 0;
}

int cmd_port(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "port", opts, 1, 2, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	uint16_t inside, outside;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	if (l.words == 1)
		return list(&c, &t, json);
	if (backend_of(&t)->landlock_only && !userns_works()) {
		err_set(&e, ERR_REFUSED,
			"a port of the task's own needs namespaces, which cannot be made here");
		return say_error(&e);
	}
	if (ports_parse(argv[1], &inside, &e) < 0 || control_port(&c, &t, inside, &outside, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(json_pack("{s:o, s:[{s:i, s:i}]}", "task", json_text(t.name), "ports",
			"inside", inside, "outside", outside));
	printf("127.0.0.1:%d\n", outside);
	return 0;
}
