/*
 * garth-shim: the `git` that an agent finds in its PATH, and the hook that asks the gateway whichever git is
 * used. It is small and static, and links only libc, zlib, nettle, base and sys. It runs inside and only
 * guides: an agent that avoids it can do no harm.
 *
 * One program under three names (argv[0]):
 *
 *	DIR/bin/garth           garth.c: what an agent may do in its task, over the gateway's socket
 *	DIR/bin/git             git.c: looks the command up in the table (git_rules.c), and then runs the real git,
 *	                        asks the gateway first, or prints BLOCKED
 *	<private repository>/hooks/reference-transaction, a link to DIR/hook
 *	                        hook.c: if the task's branch moves, it asks the gateway at "prepared" to publish
 *	                        the new tip. Unless the answer is 200, it exits with 1, and git leaves HEAD, the
 *	                        index and a merge in progress as they were
 *
 * It reads facts about the task from read-only files of the jail (JAIL_DATA rows):
 *
 *	DIR/task         lines "name=fix", "branch=refs/heads/garth/fix" … (facts.h)
 *	DIR/operations   lines "rebase local": rows that the user's configuration changed
 *	DIR/gateway      the gateway's socket, HTTP/1.1
 *
 * DIR is SHIM_DIR, or another directory in a Landlock-only jail. If there is no branch (no task, or one
 * without a repository), every command goes to the real git.
 *
 * If GARTH_GATEWAY is set, the hook exits with 0 at once: the gateway itself runs that git. If an agent sets
 * it, it makes drafts, which are published when the task ends. GARTH_TOLD is "FD:INODE" of a pipe, with which
 * the hook tells the shim that it has asked the gateway.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/strvec.h"
#include "http/http_client.h"
#include "shim/facts.h"

#define SHIM_BIN        SHIM_DIR "/bin"
#define SHIM_HOOK       SHIM_DIR "/hook"
#define SHIM_SOCKET     SHIM_DIR "/gateway"
#define SHIM_TASK       SHIM_DIR "/task"
#define SHIM_OPERATIONS SHIM_DIR "/operations"

/* The paths of all these files; tests use others. */
struct shim {
	const char *bin, *hook, *socket, *task, *operations;
};

/* They return the exit status. shim_git returns only if it did not exec the real git. They may change the
 * environment. */
int shim_git(const struct shim *s, int argc, char **argv);
int shim_hook(const struct shim *s, int argc, char **argv);
int shim_garth(const struct shim *s, int argc, char **argv);

/* ticket.c: `garth ticket`; argv begins after that word. */
int shim_ticket(const struct shim *s, int argc, char **argv);

/* words.c: a parsed git command line: global options, then the verb, then its arguments. */
struct words {
	int verb;              /* index of the verb in argv, 0 for none (git --version) */
	const char *git_dir;   /* the last --git-dir, or NULL */
	const char *work_tree; /* the last --work-tree, or NULL */
	bool bare;             /* --bare: the current directory is the repository */
};
void words_parse(int argc, char *const *argv, struct words *ret);
/* The number of words that the global option at argv[i] takes, and its value, or NULL for none. 0 if argv[i]
 * is not an option that another word may follow. */
int words_option(int argc, char *const *argv, int i, const char **ret_value);

/* which_repo.c: finds out whether a command is about the task's repository. */
struct which_repo {
	int dir;        /* the directory in which git will run: after every -C */
	int git_dir;    /* the task's repository, or -1 */
	bool elsewhere; /* --git-dir, --work-tree, -C or the current directory lead to another repository */
};
#define WHICH_REPO_INIT                                                                                      \
	{                                                                                                    \
		.dir = -1, .git_dir = -1                                                                     \
	}
/* If workspace is "", every directory counts as the task's. */
void which_repo_find(
	int argc, char *const *argv, const struct words *w, const char *workspace, struct which_repo *ret);
void which_repo_release(struct which_repo *p);
#define auto_which_repo __attribute__((cleanup(which_repo_release))) struct which_repo

/* git_rules.c: the table of git commands and what happens to them. */
enum rule { RULE_LOCAL, RULE_ROUTED, RULE_GATEWAY, RULE_BLOCKED };
struct verdict {
	enum rule rule;
	bool moves;        /* may move the task's branch: the hook publishes it, and git.c checks that */
	const char *route; /* the gateway's route, "reset" for /api/v1/git/reset; NULL: only the hook asks */
	/* RULE_BLOCKED: argv[doubt] may also be a file (git checkout WORD). If git says that it is no commit,
	 * the command runs. RULE_GATEWAY: argv[doubt] may be a remote or directory that the agent made (git
	 * fetch WORD); then the command runs. 0 for no doubt. */
	int doubt;
	char message[640], instead[1200]; /* with RULE_BLOCKED */
};
/* Decides about a command line. overrides is the text of SHIM_OPERATIONS ("" for none). branch is the task's
 * branch, target the branch that it will be merged into, as short names ("garth/fix") or full ones. For some
 * verbs the arguments matter: checkout and switch to a branch that is not the task's, or to a new one
 * (blocked); checkout -- FILE (local); merge of the target (blocked). A row in the overrides applies whatever
 * the arguments are. Uses no files or processes. */
void git_rules_look(int argc, char *const *argv, const struct words *w, const char *overrides,
	const char *branch, const char *target, struct verdict *ret);

/* ask_gateway.c: one HTTP request to the gateway. */
#define ANSWER_BODY_MAX (1u << 20)
#define ANSWER_INIT     HTTP_ANSWER_INIT(ANSWER_BODY_MAX)
/* The status: 0 if nobody listens, or the answer is not HTTP (http/http_client.h). json NULL: a GET request. */
int ask(const char *socket, const char *path, const char *json, struct http_answer *ret);
/* Appends a JSON string literal for bytes that may be anything. */
void ask_quote(struct buf *out, const char *s);

/* answer.c: just enough JSON for the gateway's answers. */
/* A string member of the answer itself ("output"), unescaped into out; false if it is not there. */
bool answer_member(const struct http_answer *a, const char *member, struct buf *out);
/* A string member of {"error":{…}}. */
bool answer_error(const struct http_answer *a, const char *member, struct buf *out);

/* say.c: prints BLOCKED: / You tried to: / Instead, you should: to stderr, safe for a terminal. */
void print_refusal(const char *message, const char *tried, const char *instead);
/* Prints the gateway's refusal. If that does not say what was tried, `tried` is used. */
void print_blocked(const struct http_answer *a, const char *tried);
/* Says that the gateway does not answer, and what that means for the new commit. */
void say_draft(void);
/* A command line as one line of text. */
void say_command(struct buf *out, int argc, char *const *argv);

/* real_git.c: runs the real git. */
struct run {
	const char *git; /* its path */
	int argc;
	char *const *argv; /* the original command line */
	const struct words *w;
};
/* The first git in PATH that is neither this program nor in `bin`, else /usr/bin/git. */
void run_find(const char *bin, char *out, size_t size);
/* Execs the real git. Returns only if that fails, with an exit status. */
int run_become(const struct run *r);
/* Runs git as a child and forwards signals to it. argv NULL: the original words. quiet discards
 * git's stdout. Returns the status as from wait(2); -1 if git cannot be run. */
struct run_how {
	char *const *argv;
	bool quiet;
	bool aside; /* sets GARTH_GATEWAY, so that the hook does nothing */
};
int run_child(const struct run *r, const struct run_how *how);
/* Ends this process as the child ended: with its exit code or by its signal. */
int run_end(int status);
/* Runs a short git query with the same global options. out is its output without the line end; true if it
 * succeeded. */
bool run_ask(const struct run *r, char *out, size_t size, const char *word, ...) __attribute__((sentinel));
/* Appends "git" and the global options. */
void run_prefix(const struct run *r, struct strvec *out);

/* offer.c: makes a pack, in base64, of what the branch gains by moving from one commit to another. It reads
 * loose objects and does not run git. The gateway checks the pack; it only saves the gateway from asking git
 * for the same. Only small packs: false if it cannot be made. */
bool offer_pack(int repository, const char *from, const char *to, struct buf *ret);
/* A longer pack does not fit into a request. */
#define OFFER_MAX (800u << 10)

#endif
