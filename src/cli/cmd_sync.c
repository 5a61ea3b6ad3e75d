#include <stdio.h>

#include "base/alloc.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "runtime/gateway_client.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"

static int tell(const struct task *t, json_t *answer)
{
	json_t *conflicts = json_object_get(answer, "conflicts"), *path;
	auto_strvec paths = STRVEC_INIT;
	struct err e = ERR_INIT;
	char count[COUNT_TEXT_MAX];
	size_t i;

	if (json_array_size(conflicts)) {
		json_array_foreach(conflicts, i, path) strvec_push(&paths, json_string_value(path));
		err_set(&e, ERR_CONFLICT, "cannot sync task '%s': %s file%s with %s", t->name,
			count_text(paths.n, count), paths.n == 1 ? " conflicts" : "s conflict",
			t->target + strlen("refs/heads/"));
		err_hint(&e, "garth merge --resolve %s", t->name);
		err_paths(&e, &paths);
		return say_error(&e);
	}
	if (json_is_true(json_object_get(answer, "moved")))
		say_done("task '%s' has all of %s", t->name, t->target + strlen("refs/heads/"));
	else
		say_state("task '%s' has all of %s already", t->name, t->target + strlen("refs/heads/"));
	return 0;
}

int cmd_sync(int argc, char **argv)
{
	bool merge = false, json = false;
	const struct opt opts[] = {
		{ 0, "merge", OPT_FLAG, &merge, NULL, "merge instead of rebasing" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "sync", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	json_t *answer = NULL;
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_NEEDS_GIT, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	progress_begin("bringing the target in");
	rc = gateway_ask(&c, &t, "/user/v1/sync", json_pack("{s:b}", "merge", merge), &answer, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	if (json) {
		auto_strvec paths = STRVEC_INIT;
		json_t *path;
		size_t i;

		json_array_foreach(json_object_get(answer, "conflicts"), i, path)
			strvec_push(&paths, json_string_value(path));
		json_object_set_new(answer, "conflicts", json_conflicts(&paths));
		json_object_set_new(answer, "task", json_text(t.name));
		json_print(answer);
		return paths.n ? err_exit_code(ERR_CONFLICT) : 0;
	}
	rc = tell(&t, answer);
	json_decref(answer);
	return rc;
}
