#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"

int cmd_path(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "path", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	auto_str host = NULL;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	if (backend_of(&t)->landlock_only) {
		err_set(&e, ERR_REFUSED,
			"task '%s' has no namespaces around it: git among its files would run what the agent configured",
			t.name);
		err_hint(&e, "garth export %s DIR", t.name);
		return say_error(&e);
	}
	host = workspace_host_dir(&c.home, &t);
	if (json)
		return json_print(json_pack("{s:o, s:o, s:o, s:b}", "task", json_text(t.name),
			"host_directory", host ? json_text(host) : json_null(), "workspace",
			json_text(t.workspace), "visible_on_host", host != NULL));
	if (!host) {
		/* do not print the path inside: on the host it is the user's own checkout */
		err_set(&e, ERR_REFUSED, "task '%s' has no files on the host; inside they are at %s", t.name,
			t.workspace);
		err_hint(&e, "garth shell %s    # or, for a copy: garth export %s DIR", argv[0], argv[0]);
		return say_error(&e);
	}
	puts(host);
	return 0;
}
