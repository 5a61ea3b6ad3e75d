#include "cli/cmd.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/shell_word.h"
#include "cli/alias.h"
#include "cli/help.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "sys/fd.h"
#include "task/empty.h"
#include "task/lookup.h"

#define HEAP_STEP (512 << 10)
#define HEAP_KEPT (8 << 20)

const struct cmd commands[] = {
	{ "run", cmd_run, CMD_START, "[OPTIONS] [[--] CMD... | PROMPT | FILE]",
		"make a task and run a command or an agent in it", { WORD_PROGRAM },
		"run --task fix -- claude" },
	{ "new", cmd_new, CMD_START, "[OPTIONS] NAME", "make a task and run nothing", { WORD_TEXT },
		"new --base main fix" },
	{ "plan", cmd_plan, CMD_START, "[OPTIONS] check FILE | graph FILE | run FILE | status PLAN | …",
		"run a plan: many agents towards one goal", { WORD_PART, WORD_OF_PART }, "plan run plan.md",
		plan_parts },
	{ "exec", cmd_exec, CMD_WORK, "[OPTIONS] TASK [--] CMD...", "run a command in a task",
		{ WORD_TASK, WORD_PROGRAM }, "exec fix -- git log --oneline" },
	{ "shell", cmd_shell, CMD_WORK, "[OPTIONS] TASK", "open a shell in a task", { WORD_TASK },
		"shell fix" },
	{ "attach", cmd_attach, CMD_WORK, "TASK", "connect to the terminal of a running task", { WORD_TASK },
		"attach fix" },
	{ "mcp", cmd_mcp, CMD_WORK, "[OPTIONS] [TASK]", "serve a task's files to an MCP client",
		{ WORD_TASK }, "mcp fix" },
	{ "acp", cmd_acp, CMD_WORK, "[OPTIONS] [--] AGENT...", "let an editor work with an agent, by ACP",
		{ WORD_PROGRAM }, "acp -- claude-agent-acp" },
	{ "port", cmd_port, CMD_WORK, "[OPTIONS] TASK [PORT]", "reach a port that a running task listens on",
		{ WORD_TASK, WORD_TEXT }, "port fix 3000" },
	{ "pause", cmd_pause, CMD_CONTROL, "[OPTIONS] TASK...", "pause running tasks", { WORD_TASK },
		"pause fix" },
	{ "resume", cmd_resume, CMD_CONTROL, "[OPTIONS] TASK", "continue a task that is paused or has ended",
		{ WORD_TASK }, "resume fix" },
	{ "answer", cmd_answer, CMD_CONTROL, "[OPTIONS] TASK [TEXT...]",
		"answer a task's question and continue it", { WORD_TASK, WORD_TEXT },
		"answer fix \"use the old API\"" },
	{ "cancel", cmd_cancel, CMD_CONTROL, "[OPTIONS] TASK...", "stop running tasks", { WORD_TASK },
		"cancel fix" },
	{ "rename", cmd_rename, CMD_CONTROL, "[OPTIONS] TASK NAME",
		"give a stopped task and its branch another name", { WORD_TASK, WORD_TEXT },
		"rename bash-1 login" },
	{ "ls", cmd_ls, CMD_LOOK, "[OPTIONS]", "list tasks", { WORD_NONE }, "ls" },
	{ "show", cmd_show, CMD_LOOK, "[OPTIONS] TASK", "show a task, or its jail", { WORD_TASK },
		"show fix" },
	{ "diff", cmd_diff, CMD_LOOK, "[OPTIONS] TASK [PATH...]", "show what a task changed",
		{ WORD_TASK, WORD_FILE }, "diff --stat fix" },
	{ "compare", cmd_compare, CMD_LOOK, "[OPTIONS] TASK TASK...",
		"show tasks side by side, with the result of a check in each", { WORD_TASK },
		"compare --check 'make test' fix-claude fix-codex" },
	{ "log", cmd_log, CMD_LOOK, "[OPTIONS] TASK", "print a task's output", { WORD_TASK }, "log -f fix" },
	{ "wait", cmd_wait, CMD_LOOK, "[OPTIONS] TASK...", "wait until tasks have ended", { WORD_TASK },
		"wait fix" },
	{ "path", cmd_path, CMD_LOOK, "[OPTIONS] TASK", "print where a task's files are on the host",
		{ WORD_TASK }, "path fix" },
	{ "brief", cmd_brief, CMD_LOOK, "[OPTIONS] TASK", "print what an agent is told about its boundaries",
		{ WORD_TASK }, "brief fix" },
	{ "why", cmd_why, CMD_LOOK, "[OPTIONS] TASK PATH",
		"tell whether a task may read, write and publish a path, and why", { WORD_TASK, WORD_FILE },
		"why fix docs/text" },
	{ "review", cmd_review, CMD_TAKE, "[OPTIONS] TASK",
		"comment on a task's commits, merge or reject them", { WORD_TASK }, "review fix" },
	{ "merge", cmd_merge, CMD_TAKE, "[OPTIONS] TASK...", "merge a task's commits into its target branch",
		{ WORD_TASK }, "merge --squash fix" },
	{ "push", cmd_push, CMD_TAKE, "[OPTIONS] TASK [BRANCH]", "push a task's commits to the remote",
		{ WORD_TASK, WORD_BRANCH }, "push fix" },
	{ "sync", cmd_sync, CMD_TAKE, "[OPTIONS] TASK", "bring the target's new commits into a task",
		{ WORD_TASK }, "sync fix" },
	{ "publish", cmd_publish, CMD_TAKE, "[OPTIONS] TASK", "publish a task's drafts now", { WORD_TASK },
		"publish fix" },
	{ "allow", cmd_allow, CMD_TAKE, "[OPTIONS] TASK [PATH... | HOST...]",
		"let a task publish protected paths, or reach a host", { WORD_TASK, WORD_FILE },
		"allow --host fix github.com" },
	{ "export", cmd_export, CMD_TAKE, "[OPTIONS] TASK DIR", "copy a task's files to a directory",
		{ WORD_TASK, WORD_DIRECTORY }, "export fix /tmp/fix" },
	{ "snapshot", cmd_snapshot, CMD_BACK, "[OPTIONS] TASK", "save a task's state, to return to later",
		{ WORD_TASK }, "snapshot -m \"tests pass\" fix" },
	{ "rollback", cmd_rollback, CMD_BACK, "OPTIONS TASK",
		"take a task, or one file, back to its start or a snapshot", { WORD_TASK },
		"rollback --to-snapshot 2 fix" },
	{ "undo", cmd_undo, CMD_BACK, "[OPTIONS] [TASK]",
		"undo the last merge, rollback, rename, discard or archive", { WORD_ANY_TASK }, "undo" },
	{ "discard", cmd_discard, CMD_CLEAN, "[OPTIONS] TASK...", "throw tasks away; undo brings them back",
		{ WORD_TASK }, "discard fix" },
	{ "archive", cmd_archive, CMD_CLEAN, "[OPTIONS] TASK...", "pack tasks away; undo brings them back",
		{ WORD_TASK }, "archive fix" },
	{ "cleanup", cmd_cleanup, CMD_CLEAN, "OPTIONS", "throw many tasks away", { WORD_NONE },
		"cleanup --merged" },
	{ "warm", cmd_warm, CMD_CARE, "[OPTIONS]", "run the set-up of new tasks ahead of time", { WORD_NONE },
		"warm" },
	{ "cache", cmd_cache, CMD_CLEAN, "[OPTIONS]",
		"list what is kept so that tasks start fast, with sizes and users", { WORD_NONE }, "cache" },
	{ "gc", cmd_gc, CMD_CLEAN, "[OPTIONS]",
		"remove what nothing needs any more, and tell what takes space", { WORD_NONE }, "gc" },
	{ "doctor", cmd_doctor, CMD_CARE, "[OPTIONS]", "tell what is missing or broken, and repair it",
		{ WORD_NONE }, "doctor --repair" },
	{ "config", cmd_config, CMD_CARE, "[OPTIONS] [KEY]",
		"print the configuration in force, and where each value comes from", { WORD_KEY }, "config" },
	{ "agent", cmd_agent, CMD_CARE, "[OPTIONS] ls | show NAME | test NAME",
		"tell what is known of agents, and try one inside", { WORD_TEXT, WORD_AGENT },
		"agent test claude" },
	{ "init", cmd_init, CMD_CARE, "[OPTIONS]", "write a .garth.yaml that fits the repository",
		{ WORD_NONE }, "init" },
	{ "trust", cmd_trust, CMD_CARE, "[OPTIONS]",
		"approve what the repository's .garth.yaml would run or take along", { WORD_NONE }, "trust" },
	{ "audit", cmd_audit, CMD_CARE, "[OPTIONS] [TASK]",
		"show the audit log, or check that it is complete", { WORD_ANY_TASK }, "audit --verify" },
	{ "serve", cmd_serve, CMD_CARE, "[OPTIONS]",
		"clean up regularly, and answer HTTP requests on 127.0.0.1", { WORD_NONE }, "serve" },
	{ "completion", cmd_completion, CMD_CARE, "SHELL [WORD...]",
		"print completions for bash, zsh or fish", { WORD_SHELL, WORD_TEXT }, "completion bash" },
	{ "help", cmd_help, CMD_CARE, "[COMMAND]", "explain a command", { WORD_COMMAND }, "help run" },
	{ "version", cmd_version, CMD_CARE, "", "print the version", { WORD_NONE }, "version" },
	{ 0 },
};

const struct cmd *cmd_find(const char *name)
{
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version"))
		name = "version";
	for (const struct cmd *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int cmd_refuse_unknown(const char *name, struct err *e)
{
	struct nearest near = { .typed = name };
	char meant[NEAREST_TEXT_MAX];

	if (*name == '-') {
		err_set(e, ERR_USAGE, "'%s' is not a command; options come after the command", name);
		return err_hint(e, "garth help");
	}
	for (const struct cmd *c = commands; c->name; c++)
		nearest_try(&near, c->name, strlen(c->name));
	for (const struct alias *a = aliases; a->name; a++)
		nearest_try(&near, a->name, strlen(a->name));
	err_set(e, ERR_USAGE, "there is no command '%s'%s", name, nearest_text(&near, meant));
	return near.word ? err_hint(e, "garth help %s", near.word) : err_hint(e, "garth help");
}

static struct {
	cmd_look_fn *look;
	void *data;
} looking;

void cmd_look(const struct cmd *c, cmd_look_fn *look, void *data)
{
	looking.look = look;
	looking.data = data;
	c->run(0, (char *[]){ NULL });
	looking.look = NULL;
}

static bool quiet;

static const struct opt common[] = {
	{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "print warnings and errors only" },
	OPT_END,
};

static const struct opt *find_option(const struct opt *opts, const char *name)
{
	for (; opts->name; opts++)
		if (!strcmp(opts->name, name))
			return opts;
	return NULL;
}

struct opt *cmd_options(const struct opt *own)
{
	struct opt *all;
	size_t n = 0;

	while (own[n].name)
		n++;
	all = xcalloc(n + ARRAY_SIZE(common), sizeof(*all));
	memcpy(all, own, n * sizeof(*all));
	for (const struct opt *o = common; o->name; o++)
		if (!find_option(own, o->name))
			all[n++] = *o;
	return all;
}

int cmd_parse_options(const struct opt *opts, int argc, char **argv, bool stop, int *ret_words, int *ret_rest,
	struct err *e)
{
	struct opt *all = cmd_options(opts);
	int rc = opt_parse(all, argc, argv, stop, ret_words, ret_rest, e);

	if (*(bool *)find_option(all, "quiet")->value)
		say_quietly();
	free(all);
	return rc;
}

int cmd_parse(struct cmd_line *l, int argc, char **argv, struct err *e)
{
	const struct cmd *c = cmd_find(l->name);

	if (looking.look)
		return looking.look(c, l, looking.data), 1;
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return help_command(c, l), 1;
		if (!strcmp(argv[i], "--json"))
			say_errors_as_json();
		if (l->stop && argv[i][0] != '-')
			break;
	}
	if (cmd_parse_options(l->opts, argc, argv, l->stop, &l->words, &l->rest, e) < 0)
		return err_hint(e, "garth %s --help", l->name);
	/* if no other program follows, the words after "--" are arguments too */
	for (; !l->stop && l->max_words != 0 && l->rest < argc; l->rest++)
		argv[l->words++] = argv[l->rest];
	if ((!l->stop && l->words < l->min_words) || (l->stop && argc - l->rest < l->min_words))
		return err_set(e, ERR_USAGE, "usage: garth %s %s", c->name, c->usage),
		       err_hint(e, "garth %s --help", l->name);
	if (!l->stop && l->max_words >= 0 && l->words > l->max_words)
		return err_set(e, ERR_USAGE, "'%s' is one word too many: garth %s %s", argv[l->max_words],
			       c->name, c->usage),
		       err_hint(e, "garth %s --help", l->name);
	return 0;
}

/* The command line as it was typed. */
static char **typed;

/* If another project has a task of that name: hints at the command that was typed, for that task. */
static void hint_elsewhere(struct context *c, const char *name, struct err *e)
{
	auto_str word = e->kind == ERR_NOTFOUND || e->kind == ERR_USAGE ? lookup_elsewhere(c, name) : NULL;
	auto_buf line = BUF_INIT(sizeof(e->hint) - 1);
	bool replaced = false;

	if (!word || !strcmp(word, name) || !typed)
		return;
	buf_addstr(&line, "garth");
	for (char **w = typed + 1; *w; w++) {
		bool is_task = w > typed + 1 && !replaced && !strcmp(*w, name);

		buf_addch(&line, ' ');
		shell_add_word(&line, is_task ? word : *w);
		replaced |= is_task;
	}
	if (replaced && !line.overflow)
		err_hint(e, "%s", buf_str(&line));
}

int cmd_find_task(struct context *c, const char *name, struct task *t, struct err *e)
{
	if (task_find(c, name, t, e) < 0) {
		hint_elsewhere(c, name, e);
		return -1;
	}
	if (strcmp(name, t->name) != 0)
		say_task_as(t->name, name);
	return 0;
}

void cmd_made_task(struct context *c, const struct task *t)
{
	auto_str word = lookup_word(c, t);

	if (strcmp(word, t->name) != 0)
		say_task_as(t->name, word);
}

int cmd_open_task(
	enum cmd_purpose purpose, const char *name, struct context *c, struct task *t, struct err *e)
{
	if ((purpose == CMD_LOOKS ? context_open_to_look(c, e) : context_open(c, e)) < 0 ||
		cmd_find_task(c, name, t, e) < 0)
		return -1;
	return purpose == CMD_NEEDS_GIT ? empty_refuse(t, e) : 0;
}

int cmd_version(int argc, char **argv)
{
	const struct opt opts[] = { OPT_END };
	struct cmd_line l = { "version", opts, 0, 0, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	puts("garth " GARTH_VERSION);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	const struct cmd *c;
	int code;

	terminal_fill_std();
	fd_make_room();
	/* commands are short, so memory is not given back to the kernel; the keeper has its own settings */
	mallopt(M_TOP_PAD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	if (argc < 2) {
		cmd_help(0, NULL);
		return 2;
	}
	code = cmd_ticket_internal(argv[1], argc - 2, argv + 2);
	if (code >= 0)
		return code;
	typed = xcalloc((size_t)argc + 1, sizeof(*typed));
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	c = cmd_find(argv[1]);
	if (!c)
		c = alias_find(argv[1], argc - 2, argv + 2);
	if (!c)
		return cmd_refuse_unknown(argv[1], &e), say_error(&e);
	code = c->run(argc - 2, argv + 2);
	/* if the answer cannot be written, the command has failed */
	if (fflush(stdout) && !code)
		return 1;
	return code;
}
