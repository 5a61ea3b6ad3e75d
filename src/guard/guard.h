/*
 * garth-guard: the pre-tool hook of the agents' clients. It reads the client's JSON about a tool call from the
 * standard input and decides from the text whether the call can work in this task. It cannot if it leads out of the
 * workspace, to state files, or to a network that is not there. Then the agent is told at once what to do instead,
 * before it wastes a turn.
 *
 *	garth-guard --client claude|codex|gemini|opencode|goose            before a tool: exit 0, or 2 and three lines
 *	garth-guard --client … --after                                     after a tool: a line about a wall, or nothing
 *	garth-shell -c COMMAND                                              the same program, as the shell of a client that
 *	                                                                    tells its model nothing of what such a hook says
 *
 * It runs inside, and only gives advice: an agent that avoids it can do no harm, because the kernel decides. So what it
 * cannot decide passes. Facts about the task come from the shim's files (shim/facts.h), not from the environment.
 *
 *	main.c       options, input, facts, output
 *	call.c       a client's JSON → a tool call: a command for a shell, or paths to read or write
 *	shell_words.c  the text of a shell: quotes and expansions → words
 *	shell.c      redirections, subshells, blocks, here-documents → commands
 *	command.c    a command and its words → which of them are paths, and whether they are read or written
 *	git.c        the same for git
 *	place.c      a path → whether this task can do anything there
 *	after.c      a tool's result → whether a wall is the reason
 *	client_shell.c  a command's output, passed on, and the same line after it
 *
 * Everything is bounded: the input, the nesting, the number of commands and words. Beyond a bound it decides nothing.
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json_read.h"
#include "shim/facts.h"

#define GUARD_INPUT_MAX (8u << 20)
#define GUARD_PATH_MAX  4096
#define GUARD_SHELL     "garth-shell"

/* What is known about the task. `dir` is where the shim's files are; the task's own repository is in the workspace. */
struct guard {
	const struct facts *facts;
	const char *dir;        /* /run/garth, or another directory in a Landlock-only jail */
	const char *operations; /* the user's changes of the shim's table, shim/shim.h */
};

/* Why a call cannot work. */
struct refusal {
	char reason[700], tried[1100], instead[1300];
};

/* call.c: what a tool call does. */
enum call_kind { CALL_OTHER, CALL_SHELL, CALL_READ, CALL_WRITE, CALL_PATCH };
/* Decides about the JSON of a pre-tool hook. CALL_MALFORMED: it is not what a client sends. */
enum decision { DECISION_PASS, DECISION_REFUSE, DECISION_MALFORMED };
enum decision guard_decide(const struct guard *g, const char *json, size_t len, struct refusal *ret);

/* shell.c: decides about a text for a shell that runs in cwd. True if it is refused. */
bool shell_refused(const struct guard *g, const char *text, size_t len, const char *cwd, struct refusal *ret);

/* A word of a command, after quotes and expansions. */
struct word {
	char *text;
	/* How many bytes of the text are known: after them comes a wildcard, or an expansion that only the shell knows. */
	size_t known;
	bool wildcard; /* the rest is a name, without slashes */
};
static inline bool word_is_known(const struct word *w)
{
	return !w->text[w->known];
}

/* The state in which a command is judged. cwd is "" if it is not known; cd changes it. */
struct setting {
	const struct guard *g;
	char *cwd; /* GUARD_PATH_MAX bytes */
	struct refusal *ret;
	/* For `sh -c TEXT` and `eval TEXT`: the shell's state, and a function that reads more text in it. */
	void *shell;
	bool (*more)(void *shell, const char *text);
};

/* command.c: decides about a simple command. `words` begin with the program. True if it is refused. */
bool command_refused(struct setting *s, const struct word *words, size_t n);
/* git.c: the same; words[0] is git. */
bool git_refused(struct setting *s, const struct word *words, size_t n);
/* Decides about a variable that leads git elsewhere, such as GIT_DIR. */
bool git_variable_refused(struct setting *s, const char *name, size_t len, const struct word *value);

/* place.c */
enum want { WANT_READ, WANT_WRITE };
/* Decides about a path in cwd ("" if unknown). `sure`: the path certainly is one. If not, it may be any text, and only
 * what is plainly elsewhere is refused: a path that leaves the workspace by "..", other workspaces, the user's
 * checkout. Fills in reason and instead; the caller fills in what was tried. */
bool place_refused(const struct guard *g, const char *cwd, const char *path, enum want want, bool sure,
	struct refusal *ret);
/* The same for a word; if its end is not known, for as much of it as is. */
bool word_refused(const struct setting *s, const struct word *w, enum want want, bool sure);
/* An absolute path without "." and "..", with links resolved as far as they exist. False if it is too long, or if path is
 * relative and cwd is "". *ret_exists may be NULL. */
bool place_resolve(const char *cwd, const char *path, char out[GUARD_PATH_MAX], bool *ret_exists);

/* after.c: finds in the JSON of a post-tool hook an error message about a path or a host that a wall has caused.
 * True if there is one; `out` is a line about it. */
bool after_explain(const struct guard *g, const char *json, size_t len, struct buf *out);
/* The same for the output of a command that ran in cwd. */
bool after_look(const struct guard *g, const char *cwd, const char *text, size_t len, struct buf *out);

/* client_shell.c: runs the real shell with argv, adds such a line to its output, and ends as it does. */
int client_shell(const struct guard *g, char **argv);

#endif
