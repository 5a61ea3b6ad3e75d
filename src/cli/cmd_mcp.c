#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/say.h"
#include "cli/session.h"
#include "runtime/choose_network.h"
#include "task/verdict.h"
#include "task/here.h"
#include "task/lookup.h"

/* Without a name it is the only task of the project here, on the heap. */
static char *only_task(struct context *c, struct err *e)
{
	auto_task_list all = { 0 };
	const struct task *found = NULL;
	int64_t project = 0;
	size_t n = 0;

	if (context_store(c, e) < 0 || here_project(c, ".", &project, e) < 0 ||
		store_task_list(c->store, false, &all, e) < 0)
		return NULL;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].project_id == project)
			found = &all.v[i], n++;
	if (n == 1)
		return lookup_address(found);
	err_set(e, ERR_USAGE, n ? "there are %zu tasks here: name one" : "there is no task here: name one",
		n);
	err_hint(e, "garth ls");
	return NULL;
}

/* The program inside does all the work; this is a pipe to it. */
static int serve_task(struct context *c, struct task *t, bool http, int *ret_code, struct err *e)
{
	auto_str program = workspace_inside(&c->home, t, "/mcp");
	struct run_opts o = { .piped = true, .quiet = true };
	char *const argv[] = { program, http ? "--http" : NULL, NULL };
	struct terminal_result r = { .end = TERMINAL_EXIT };
	int rc;

	if (runtime_configure(c, t, e) < 0 || runtime_network(c, t, NULL, NULL, &o, e) < 0)
		return -1;
	rc = session_exec(c, t, &o, argv, &r, e);
	network_release(&o.net);
	task_judge_again(c, t);
	*ret_code = r.exit_code;
	return rc < 0 ? err_wrap(e, "task '%s'", t->name) : 0;
}

int cmd_mcp(int argc, char **argv)
{
	bool http = false;
	const struct opt opts[] = {
		{ 0, "http", OPT_FLAG, &http, NULL,
			"answer one HTTP request, in the form that garth serve passes it on" },
		OPT_END
	};
	struct cmd_line l = { "mcp", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	auto_str name = NULL;
	int code = 0;

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0)
		return say_error(&e);
	name = l.words ? xstrdup(argv[0]) : only_task(&c, &e);
	if (!name || cmd_find_task(&c, name, &t, &e) < 0 || serve_task(&c, &t, http, &code, &e) < 0)
		return say_error(&e);
	return code;
}
