/*
 * garth-shim: the `git` that an agent finds on its PATH, and the hook by which the gateway's word reaches
 * every other git. Small, static, links nothing but libc, base, sys and http/client. It runs inside: it
 * guides, and whoever goes past it can do no harm.
 *
 * One program under two names (argv[0]):
 *
 *	INSIDE_DIR/bin/git                 git.c: looks the command up in the table (table.c) and runs the
 * real git, asks the gateway first, or says BLOCKED <private repository>/hooks/reference-transaction ->
 * INSIDE_DIR/hook hook.c: at "prepared", where the task's branch moves, asks the gateway to publish the new
 * tip; no answer of 200 means exit 1, which leaves HEAD, index and a merge in progress as they were
 *
 * What it knows of the task it reads from read-only files of the jail (JAIL_DATA rows):
 *
 *	INSIDE_DIR/task         lines "name=fix", "branch=refs/heads/garth/fix", "target=refs/heads/main",
 *	                        "workspace=/path" (else $GARTH_WORKSPACE is used),
 *	                        "trailer=Garth-Task: fix" (where commits must carry one)
 *	INSIDE_DIR/operations   lines "rebase local": rows that the user's configuration changed
 *	INSIDE_DIR/gateway      the gateway's socket, HTTP/1.1
 *
 * Where there is no branch (no task, or one without a repository), everything is the real git's.
 *
 * The hook steps aside (exit 0 at once) where GARTH_GATEWAY is set: the gateway itself runs that git. An
 * agent that sets it makes drafts, which are published when the task ends. By GARTH_TOLD ("FD:INODE" of a
 * pipe) the hook lets the shim know that the gateway has been asked.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/strvec.h"
#include "http/client.h"

#define SHIM_DIR        "/run/garth"
#define SHIM_BIN        SHIM_DIR "/bin"
#define SHIM_HOOK       SHIM_DIR "/hook"
#define SHIM_SOCKET     SHIM_DIR "/gateway"
#define SHIM_TASK       SHIM_DIR "/task"
#define SHIM_OPERATIONS SHIM_DIR "/operations"

/* Where all of it lies: the paths above, except in tests. */
struct shim {
	const char *bin, *hook, *socket, *task, *operations;
};

/* Both give the exit status; shim_git returns only where it did not become the real git. The environment may
 * change on the way. */
int shim_git(const struct shim *s, int argc, char **argv);
int shim_hook(const struct shim *s, int argc, char **argv);

/* facts.c: what the files say. Missing files and lines are "". */
struct facts {
	char name[80], branch[512], target[512], trailer[512], workspace[4096];
};
void facts_read(const char *file, struct facts *ret);
/* "garth/fix" of "refs/heads/garth/fix". */
const char *facts_short(const char *ref);

/* words.c: a git command line taken apart: global options, then the verb, then its arguments. */
struct words {
	int verb;              /* index into argv of the command, 0 for none (git --version) */
	const char *git_dir;   /* the last --git-dir, or NULL */
	const char *work_tree; /* the last --work-tree, or NULL */
	bool bare;             /* --bare: the current directory is the repository */
};
void words_parse(int argc, char *const *argv, struct words *ret);
/* The global option at argv[i]: its value, or NULL for none, and the number of words that it takes; 0 where
 * there is no option that another word may follow. */
int words_option(int argc, char *const *argv, int i, const char **ret_value);

/* place.c: whether a command is about the task's repository. */
struct place {
	int dir;        /* where git will stand: the current directory and every -C */
	int git_dir;    /* the task's repository, or -1 */
	bool elsewhere; /* --git-dir, --work-tree, -C or the directory itself lead to another one */
};
#define PLACE_INIT                                                                                           \
	{                                                                                                    \
		.dir = -1, .git_dir = -1                                                                     \
	}
/* workspace "" counts every place as the task's. */
void place_find(int argc, char *const *argv, const struct words *w, const char *workspace, struct place *ret);
void place_release(struct place *p);
#define auto_place __attribute__((cleanup(place_release))) struct place

/* table.c: the table of G4 as data. */
enum rule { RULE_LOCAL, RULE_ROUTED, RULE_GATEWAY, RULE_BLOCKED };
struct verdict {
	enum rule rule;
	bool moves;       /* may move the task's branch: published by the hook, looked after by git.c */
	const char *door; /* whom to ask, "reset" for /api/v1/git/reset; NULL where the hook asks */
	/* With RULE_BLOCKED: argv[doubt] may as well name a file (git checkout WORD); only git knows. If it
	 * is no commit, the rule is local. With RULE_GATEWAY: argv[doubt] may be a remote or a directory of
	 * the agent's own (git fetch WORD); then the rule is local. 0 for no doubt. */
	int doubt;
	char message[640], instead[1200]; /* with RULE_BLOCKED */
};
/* overrides is the text of SHIM_OPERATIONS ("" for none). branch is the task's branch, target what it will be
 * merged into, both as short names ("garth/fix") or full ones. Looks at the verb's arguments where the table
 * says so: checkout and switch to another branch than the task's, or to a new one (blocked); checkout -- FILE
 * (local); merge of the target (blocked). A row that the overrides name is what they say, whatever the
 * arguments. Pure: no files, no processes. */
void table_look(int argc, char *const *argv, const struct words *w, const char *overrides, const char *branch,
	const char *target, struct verdict *ret);

/* ask.c: one HTTP request to the gateway. */
#define ANSWER_BODY_MAX (1u << 20)
#define ANSWER_INIT     HTTP_ANSWER_INIT(ANSWER_BODY_MAX)
/* The status: 0 if nobody listens, or what came back is no HTTP (http/client.h). */
int ask(const char *socket, const char *path, const char *json, struct http_answer *ret);
/* Appends a JSON string literal for bytes that may be anything. */
void ask_quote(struct buf *out, const char *s);

/* answer.c: just enough JSON for what the gateway says. */
/* A string member of the answer itself ("output"), unescaped into out; false where it is not there. */
bool answer_member(const struct http_answer *a, const char *member, struct buf *out);
/* A string member of {"error":{…}}. */
bool answer_error(const struct http_answer *a, const char *member, struct buf *out);

/* say.c: prints BLOCKED: / You tried to: / Instead, you should: to stderr, fit for a terminal. */
void print_refusal(const char *message, const char *tried, const char *instead);
/* The gateway's words; where it has none for what was tried, `tried`. */
void print_blocked(const struct http_answer *a, const char *tried);
/* That the gateway does not answer, and what that means for what was just committed. */
void say_draft(void);
/* A command line as one line of text. */
void say_command(struct buf *out, int argc, char *const *argv);

/* run.c: the real git. */
struct run {
	const char *git; /* its path */
	int argc;
	char *const *argv; /* the command line as it was given */
	const struct words *w;
};
/* The first git in PATH that is not this program and not in `bin`, else /usr/bin/git. */
void run_find(const char *bin, char *out, size_t size);
/* Becomes the real git; returns only where that fails, with an exit status. */
int run_become(const struct run *r);
/* Runs it as a child with these words (NULL: as given), signals passed on. stderr_fd replaces its stderr
 * where it is not -1, and quiet throws its stdout away. The status is as from wait(2); -1 where it cannot be
 * run. */
struct run_how {
	char *const *argv;
	int stderr_fd;
	bool quiet;
	bool aside; /* with GARTH_GATEWAY: the hook steps aside */
};
int run_child(const struct run *r, const struct run_how *how);
/* Ends as the child did: its code, or its signal. */
int run_end(int status);
/* A short question to git, with the same global options: its output without the line's end, true where it
 * succeeded. */
bool run_ask(const struct run *r, char *out, size_t size, const char *word, ...) __attribute__((sentinel));
/* "git", the global options. */
void run_prefix(const struct run *r, struct strvec *out);

/* offer.c: a pack of what the branch gains by moving from one commit to another, in base64, made from the
 * loose objects of the repository without a git. Small ones only, and nothing is checked: it is an offer,
 * which spares the gateway to ask git for the same. False where it cannot be made. */
bool offer_pack(int repository, const char *from, const char *to, struct buf *ret);
/* Longer than this it does not fit into a request. */
#define OFFER_MAX (800u << 10)

/* move.c: git mv, in an overlay. A directory that comes from a lower layer cannot be renamed (EXDEV); it is
 * copied up first. */
/* Whether move_run has anything to do for this command. */
bool move_wanted(const struct run *r, const struct place *p);
int move_run(const struct run *r, const struct place *p);
/* move_up.c: replaces the directory by a copy of itself; 0, or -1 and errno with things as they were. git_dir
 * (-1 for none) gets a note of it, by which move_recover finishes what a git left that was killed at it. */
int move_copy_up(int dir, const char *path, int git_dir);
void move_recover(int git_dir);
/* On the heap. */
char *move_without_slash(const char *path);

#endif
