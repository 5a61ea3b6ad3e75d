/*
 * Runs git outside a jail, always with the same environment. Whatever a repository or a working tree says,
 * there are no hooks, no fsmonitor, no external diff, no prompts, no transports, no system or global
 * configuration, no replacement objects and no grafts. Missing objects are not fetched, and the current directory has no
 * influence. The fields of struct git allow exceptions.
 *
 * Each git command has its own function in this room. User input comes after "--end-of-options" or "--".
 */
#ifndef GIT_RUN_H
#define GIT_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

/* For the environment of any git that writes many objects: without it glibc gives the memory of zlib's state
 * back to the kernel after each of them, and four fifths of the time go into getting it again. */
#define GIT_MALLOC                                                                                           \
	"GLIBC_TUNABLES=glibc.malloc.trim_threshold=268435456:glibc.malloc.top_pad=16777216:"                \
	"glibc.malloc.mmap_threshold=33554432"

struct git {
	const char *dir;               /* GIT_DIR; NULL: git searches from cwd */
	const char *work_tree;         /* GIT_WORK_TREE or NULL */
	const char *index;             /* GIT_INDEX_FILE or NULL */
	const char *objects;           /* GIT_OBJECT_DIRECTORY or NULL */
	const char *shallow;           /* GIT_SHALLOW_FILE or NULL: the list that git finds in dir */
	const struct strvec *settings; /* more settings, "key=value" each; NULL for none */
	const char *cwd;               /* NULL: the root directory, which has no .gitattributes */
	const char *fsmonitor;         /* core.fsmonitor for this run; NULL: off */
	bool writes_index;             /* read-only commands may refresh the index */
	bool user_config;              /* use the user's global and system configuration, without programs */
	bool shows_config; /* the same for `git config`, which must print all settings as they are */
	bool remote;       /* connects to a remote: with the user's configuration and credentials */
	bool as_inside;    /* if started by root: run as the inside's owner, see proc_spec */
	int stdin_fd;      /* input from a descriptor; 0 for none */
	int stdout_fd;     /* output to a descriptor; 0 for none */
	unsigned seconds;  /* time limit; 0: a short one for commands that only look, else that of proc_run */
};

/* Runs `git ARGS…` (args is without "git"). input and out may be NULL. A non-zero exit is ERR_FAILED with
 * git's last message. */
int git_run(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct err *e);
/* The same, but the caller judges the exit code and git's messages on stderr (errtext may be NULL). */
int git_try(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, int *ret_code, struct err *e);
/* The error of git_run for a non-zero exit: ERR_FAILED with the last line of errtext, which may be empty. */
int git_failed(const struct strvec *args, struct buf *errtext, struct err *e);
/* git_run with the arguments up to a NULL. */
int git_do(const struct git *g, struct buf *out, struct err *e, ...) __attribute__((sentinel));
/* Starts a git that keeps running, with fds as its stdin, stdout and stderr; the caller still closes them.
 * as_inside and the time limit are ignored. The caller waits for *ret. */
int git_start(const struct git *g, const struct strvec *args, const int fds[3], pid_t *ret, struct err *e);

#endif
