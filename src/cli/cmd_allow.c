#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"

int cmd_allow(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "allow", opts, 1, -1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_strvec globs = STRVEC_INIT;
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || task_find(&c, argv[0], &t, &e) < 0)
		return say_error(&e);
	for (int i = 1; i < l.words; i++)
		if (!*argv[i] || argv[i][0] == '/' || strlen(argv[i]) > 400)
			return err_set(&e, ERR_USAGE,
				       "'%s' is not a path in the repository, or a pattern for one", argv[i]),
			       say_error(&e);
		else if (store_allow(c.store, t.id, argv[i], &e) < 0)
			return say_error(&e);
	if (store_allowed(c.store, t.id, &globs, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t.name), "allowed", json_list(&globs)));
	for (size_t i = 0; i < globs.n; i++)
		printf("%s\n", globs.v[i]);
	return 0;
}
