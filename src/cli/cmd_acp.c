#include "acp/acp.h"
#include "cli/cmd.h"
#include "cli/say.h"

struct acp_line {
	struct acp_opts o;
	struct strvec allow, env, secrets;
};

static void acp_line_release(struct acp_line *l)
{
	strvec_release(&l->allow);
	strvec_release(&l->env);
	strvec_release(&l->secrets);
}

/* Some editors show everything on standard error as an error, so other messages are shown in the session. */
static void tell(bool warning, const char *text, void *arg)
{
	auto_buf clean = BUF_SMALL;

	(void)arg;
	if (warning)
		say_warning("%s", say_one_line(&clean, text));
	else if (say_is_heard())
		say_state("%s", say_one_line(&clean, text));
}

int cmd_acp(int argc, char **argv)
{
	__attribute__((cleanup(acp_line_release))) struct acp_line a = { .o.tell = tell };
	const struct opt opts[] = {
		{ 't', "task", OPT_STR, &a.o.task, "TASK",
			"work in this task, which is made if it is missing (default: a new one for each session)",
			WORD_TASK },
		{ 'b', "base", OPT_STR, &a.o.base, "REV", "start new tasks from this commit, not from HEAD",
			WORD_REVISION },
		{ 0, "backend", OPT_STR, &a.o.backend, "NAME",
			"kind of workspace: worktree (default), overlay or clone", WORD_BACKEND },
		{ 0, "net", OPT_STR, &a.o.net, "MODE", "network: none, allow (only listed hosts) or host",
			WORD_NETWORK },
		{ 0, "allow", OPT_LIST, &a.allow, "HOST",
			"let the agent reach this host, such as *.crates.io", WORD_TEXT },
		{ 0, "agent", OPT_STR, &a.o.agent, "NAME", "use this agent's log-in, hosts and variables",
			WORD_AGENT },
		{ 'e', "env", OPT_LIST, &a.env, "VAR[=VAL]", "set a variable, or pass in its current value",
			WORD_VARIABLE },
		{ 0, "mcp-secrets", OPT_LIST, &a.secrets, "SERVER",
			"pass in the variables and headers of this MCP server of the editor; * for all",
			WORD_TEXT },
		{ 0, "with-changes", OPT_FLAG, &a.o.with_changes, NULL,
			"copy the checkout's uncommitted changes into new tasks" },
		{ 0, "on-dirty", OPT_STR, &a.o.on_dirty, "WHAT",
			"what to do with uncommitted files at the end: fail, commit or keep", WORD_ON_DIRTY },
		{ 'q', "quiet", OPT_FLAG, &a.o.quiet, NULL, "say nothing in sessions; print warnings only" },
		{ 0, "strict-isolation", OPT_FLAG, &a.o.strict, NULL,
			"borrow no git objects, never run in a weaker jail" },
		{ 0, "allow-weaker", OPT_FLAG, &a.o.weaker, NULL,
			"run even if a part of the jail is missing" },
		OPT_END,
	};
	struct cmd_line l = { "acp", opts, 1, -1, true, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (a.o.quiet)
		say_quietly();
	a.o.allow = &a.allow;
	a.o.env = &a.env;
	a.o.mcp_secrets = &a.secrets;
	a.o.argv = argv + l.rest;
	return acp_serve(&a.o, &e) < 0 ? say_error(&e) : 0;
}
