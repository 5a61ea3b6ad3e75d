/*
 * Starting git outside a jail: one function, one fixed environment. No hooks, no fsmonitor, no external diff,
 * no prompts, no transports, no system or global configuration, no replacement objects, whatever a repository
 * or a working tree says. Nothing is fetched that is missing, and nothing of the directory that Garth was
 * started in counts. The exceptions are fields of struct git.
 *
 * Verbs are functions of their own in this room; user input goes behind "--end-of-options" or "--".
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
	const char *dir;               /* GIT_DIR; NULL to let git look for it from cwd */
	const char *work_tree;         /* GIT_WORK_TREE or NULL */
	const char *index;             /* GIT_INDEX_FILE or NULL */
	const char *objects;           /* GIT_OBJECT_DIRECTORY or NULL */
	const struct strvec *settings; /* "key=value" each, beside the fixed ones; NULL for none */
	const char *cwd;               /* NULL: the root directory, where nobody's .gitattributes are */
	const char *fsmonitor;         /* core.fsmonitor for this run; NULL: off */
	bool writes_index; /* a command that only looks may write what it learned into the index */
	bool user_config;  /* the user's global and system configuration count, but for what could run */
	bool shows_config; /* the same for `git config`, which must show all settings as they are */
	bool remote;       /* it speaks to a remote: with the user's configuration and credentials */
	bool as_inside;    /* started by root: as the inside's owner, see proc_spec */
	int stdin_fd;      /* input from a descriptor; 0 for none */
	int stdout_fd;     /* output to a descriptor; 0 for none */
	unsigned seconds;
};

/* Runs `git ARGS…`; args is consumed as it is (without "git"). input and out may be NULL. A non-zero exit is
 * ERR_FAILED with git's last words. */
int git_run(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct err *e);
/* The same, but the exit code is the caller's to judge, as are git's words on stderr (errtext may be NULL).
 */
int git_try(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, int *ret_code, struct err *e);
/* What git_run says of an exit that is not 0: ERR_FAILED with the last of these words, which may be none. */
int git_failed(const struct strvec *args, struct buf *errtext, struct err *e);
/* git_run with the arguments up to a NULL. */
int git_do(const struct git *g, struct buf *out, struct err *e, ...) __attribute__((sentinel));
/* Starts one that stays, with these as its stdin, stdout and stderr; they stay the caller's. as_inside and
 * the limit of time do not count. *ret is to be waited for. */
int git_start(const struct git *g, const struct strvec *args, const int fds[3], pid_t *ret, struct err *e);

#endif
