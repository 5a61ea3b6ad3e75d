#include "cli/cmd.h"

#include <malloc.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/terminal.h"
#include "sys/fd.h"
#include "task/empty.h"

#define HEAP_STEP (512 << 10)
#define HEAP_KEPT (8 << 20)

const struct cmd commands[] = {
	{ "run", cmd_run, "[OPTIONS] [--] CMD... | FILE", "make a task and run CMD in it" },
	{ "new", cmd_new, "[OPTIONS] NAME", "make a task, run nothing" },
	{ "exec", cmd_exec, "[OPTIONS] TASK [--] CMD...", "run CMD in a task" },
	{ "shell", cmd_shell, "TASK", "open a shell in a task" },
	{ "attach", cmd_attach, "TASK", "connect to a running task's terminal" },
	{ "pause", cmd_pause, "TASK", "let a running task stand still" },
	{ "resume", cmd_resume, "TASK", "let a task go on that stands still or has ended" },
	{ "answer", cmd_answer, "TASK TEXT", "answer a task's question and let it go on" },
	{ "cancel", cmd_cancel, "TASK", "stop a running task" },
	{ "ls", cmd_ls, "[--all]", "list tasks" },
	{ "show", cmd_show, "TASK", "show a task, or its walls" },
	{ "path", cmd_path, "TASK", "print where a task's files are on the host" },
	{ "diff", cmd_diff, "TASK [PATH...]", "show what a task changed" },
	{ "publish", cmd_publish, "TASK", "publish a task's drafts now" },
	{ "allow", cmd_allow, "TASK [PATH...]", "let a task publish protected paths, or reach a host" },
	{ "snapshot", cmd_snapshot, "TASK", "keep a task's state, to come back to" },
	{ "rollback", cmd_rollback, "TASK", "take a task back to its start, a snapshot, or one file" },
	{ "sync", cmd_sync, "TASK", "bring the target's new commits into a task" },
	{ "merge", cmd_merge, "TASK", "bring a task's commits to the branch they are meant for" },
	{ "push", cmd_push, "TASK [BRANCH]", "push a task's commits to the remote" },
	{ "port", cmd_port, "TASK [PORT]", "reach what a running task listens on" },
	{ "log", cmd_log, "TASK", "print a task's output" },
	{ "export", cmd_export, "TASK DIR", "copy a task's workspace to plain files" },
	{ "archive", cmd_archive, "TASK", "pack a task away; undo brings it back" },
	{ "discard", cmd_discard, "TASK", "throw a task away" },
	{ "cleanup", cmd_cleanup, "--FORM", "throw many tasks away" },
	{ "gc", cmd_gc, "", "remove what nobody needs any more, and tell what takes room" },
	{ "undo", cmd_undo, "[TASK]", "take the last rollback, discard or merge back" },
	{ "serve", cmd_serve, "[--port PORT] [--once]", "clean up by the clock, and answer on 127.0.0.1" },
	{ "doctor", cmd_doctor, "[--repair]", "tell what is missing or broken, and mend it" },
	{ "config", cmd_config, "", "print the configuration in force" },
	{ "audit", cmd_audit, "[TASK]", "show the audit log, or check that it is whole" },
	{ "completion", cmd_completion, "SHELL", "print completions for bash, zsh or fish" },
	{ "help", cmd_help, "[COMMAND]", "explain a command" },
	{ "version", cmd_version, "", "print the version" },
	{ 0 },
};

static const struct cmd *find(const char *name)
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

static void print_options(const struct opt *o)
{
	for (; o->name; o++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : "",
			o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name, o->arg ? " " : "",
			o->arg ? o->arg : "");
		printf("  %-26s %s\n", left, o->help);
	}
}

int cmd_parse(struct cmd_line *l, int argc, char **argv, struct err *e)
{
	const struct cmd *c = find(l->name);

	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			printf("garth %s %s: %s\n", c->name, c->usage, c->brief);
			print_options(l->opts);
			return 1;
		}
		if (!strcmp(argv[i], "--json"))
			say_errors_as_json();
		if (l->stop && argv[i][0] != '-')
			break;
	}
	if (opt_parse(l->opts, argc, argv, l->stop, &l->words, &l->rest, e) < 0)
		return err_hint(e, "garth %s --help", l->name);
	/* what stands behind "--" are words too, where no program follows */
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

int cmd_open_task(
	enum cmd_purpose purpose, const char *name, struct context *c, struct task *t, struct err *e)
{
	if ((purpose == CMD_LOOKS ? context_open_to_look(c, e) : context_open(c, e)) < 0 ||
		task_find(c, name, t, e) < 0)
		return -1;
	return purpose == CMD_NEEDS_GIT ? empty_refuse(t, e) : 0;
}

int cmd_help(int argc, char **argv)
{
	struct err e = ERR_INIT;
	const struct cmd *c = argc ? find(argv[0]) : NULL;

	if (c && c->run != cmd_help)
		return c->run(1, (char *[]){ "--help", NULL });
	if (argc && !c)
		return err_set(&e, ERR_USAGE, "there is no command '%s'", argv[0]),
		       err_hint(&e, "garth help"), say_error(&e);
	puts("Run coding agents in walled git workspaces.\n\nusage: garth COMMAND ...\n");
	for (c = commands; c->name; c++)
		printf("  %-10s %-26s %s\n", c->name, c->usage, c->brief);
	puts("\nA first look: garth run -- bash");
	return 0;
}

int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
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
	/* Commands are short: memory that was given back would be asked for again at once. The keeper has its
	 * own rule. */
	mallopt(M_TOP_PAD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	if (argc < 2) {
		cmd_help(0, NULL);
		return 2;
	}
	c = find(argv[1]);
	if (!c) {
		err_set(&e, ERR_USAGE, "there is no command '%s'", argv[1]);
		err_hint(&e, "garth help");
		return say_error(&e);
	}
	code = c->run(argc - 2, argv + 2);
	/* an answer that could not be written is no answer */
	if (fflush(stdout) && !code)
		return 1;
	return code;
}
