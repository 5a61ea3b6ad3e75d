/* The commands. Each has a file and a row in `commands`. A command parses, calls, prints, and returns the
 * exit code. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <stdbool.h>

#include "cli/opt.h"
#include "task/context.h"
#include "task/task.h"

/* The purpose of a command; `garth help` groups commands by it (help.c). */
enum cmd_group {
	CMD_START,
	CMD_WORK,
	CMD_CONTROL,
	CMD_LOOK,
	CMD_TAKE,
	CMD_BACK,
	CMD_CLEAN,
	CMD_CARE,
};

/* A subcommand: the command's first argument. */
struct cmd_part {
	const char *name;
	const char *words;   /* "PLAN [STAGE]" */
	const char *options; /* of the command's, those that it has, with a blank before and after each */
	const char *brief;
};

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv without the command's name */
	enum cmd_group group;
	const char *usage; /* what follows the command's name */
	const char *brief;
	enum word words[3];  /* kinds of the arguments; the last one applies to all further arguments */
	const char *example; /* what follows "garth " */
	const struct cmd_part *parts; /* ends in one without a name; NULL: it has none */
};

extern const struct cmd commands[];
extern const struct cmd_part plan_parts[];
/* Finds a command by name, or NULL. "--help", "-h" and "--version" are names too. */
const struct cmd *cmd_find(const char *name);
/* Sets the error for a name that no command has, with the command that was probably meant. */
int cmd_refuse_unknown(const char *name, struct err *e);

int cmd_run(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_mcp(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_shell(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_cancel(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_brief(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_publish(int argc, char **argv);
int cmd_allow(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_rollback(int argc, char **argv);
int cmd_sync(int argc, char **argv);
int cmd_acp(int argc, char **argv);
int cmd_pause(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_answer(int argc, char **argv);
int cmd_review(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_rename(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_port(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_cleanup(int argc, char **argv);
int cmd_discard(int argc, char **argv);
int cmd_undo(int argc, char **argv);
int cmd_warm(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_gc(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_trust(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_version(int argc, char **argv);
/* Commands that only processes of Garth run, and no list names. -1 if the name is none of them. */
int cmd_ticket_internal(const char *name, int argc, char **argv);

/* Parses a command's options. Returns 1 if it has shown --help, -1 with *e for wrong options or a wrong
 * number of words. max_words is -1 for any number. stop: the words belong to another program, so options end
 * at the first word. */
struct cmd_line {
	const char *name;
	const struct opt *opts;
	int min_words, max_words;
	bool stop;
	int words, rest; /* as from opt_parse */
};
/* Calls `look` with a command's options. The options are local data of the command, so cmd_look runs the
 * command, and cmd_parse passes them to `look` and ends it before it does anything. */
typedef void cmd_look_fn(const struct cmd *c, const struct cmd_line *l, void *data);
void cmd_look(const struct cmd *c, cmd_look_fn *look, void *data);
int cmd_parse(struct cmd_line *l, int argc, char **argv, struct err *e);
/* opt_parse with the options that every command has, of which there is --quiet (--help: cmd_parse). A command
 * may have its own row for --quiet, if it silences more. */
int cmd_parse_options(const struct opt *opts, int argc, char **argv, bool stop, int *ret_words, int *ret_rest,
	struct err *e);
/* All options of a command: its own and the common ones. Ends with OPT_END; the caller frees it. */
struct opt *cmd_options(const struct opt *own);

/* How a command uses its task. */
enum cmd_purpose {
	CMD_LOOKS,     /* it only reads; that is allowed in a copy of a Garth home too */
	CMD_CHANGES,   /* it may change something */
	CMD_NEEDS_GIT, /* the same, and the task must have a repository */
};
/* The beginning of nearly every command: opens the user's context and finds the task, after cleaning up what
 * a crash left of it (task_find). It takes no locks; the functions that the command calls do. */
int cmd_open_task(
	enum cmd_purpose purpose, const char *name, struct context *c, struct task *t, struct err *e);

/* The second half of it: finds the task. Hints then name the task as the user did (say_task_as). */
int cmd_find_task(struct context *c, const char *name, struct task *t, struct err *e);
/* For a task that was just made: hints name it so that the commands work in the current directory. */
void cmd_made_task(struct context *c, const struct task *t);

/* Parses, prints errors with say_error, and returns from the command if there is nothing more to do. */
#define CMD_PARSE(line, argc, argv)                                                                          \
	do {                                                                                                 \
		int cmd_parsed_ = cmd_parse(line, argc, argv, &e);                                           \
		if (cmd_parsed_ < 0)                                                                         \
			return say_error(&e);                                                                \
		if (cmd_parsed_ > 0)                                                                         \
			return 0;                                                                            \
	} while (0)

#endif
