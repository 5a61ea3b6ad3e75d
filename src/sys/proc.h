/*
 * Runs other programs: an absolute path or a name that is looked up in a fixed PATH, an argv array, a
 * complete environment, no shell. Each run has a limit on its output and on its time.
 *
 *	struct proc_spec p = { .argv = argv, .env = env, .seconds = 60 };
 *	if (proc_run(&p, NULL, &out, NULL, &status, e) < 0) …
 */
#ifndef SYS_PROC_H
#define SYS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define PROC_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct proc_spec {
	char *const *argv;
	char *const *env; /* complete; programs are looked up in PROC_PATH, not in the parent's PATH */
	const char *cwd;  /* NULL: the current directory */
	int stdin_fd;     /* if proc_run gets no input; 0 means /dev/null */
	int stdout_fd;    /* if there is no output buffer; 0 means /dev/null */
	int stderr_fd;    /* if there is no buffer for stderr; 0 means /dev/null */
	int keep_fd;      /* one more descriptor that the child keeps, with its number; 0 means none */
	unsigned seconds; /* time limit, 0 means 600 */
	bool own_group;   /* leads a process group, so that it can be killed with its children */
	bool as_inside;   /* root only: run as owner_inside(), but with the right to read every file */
	bool no_fifo;     /* fails if it waits for a FIFO to be opened, with e->sys EDEADLK (fifo_wait.h) */
	bool bound;       /* is killed if this process dies: its answer would be for nobody */
};

/* Runs a program and blocks until it ends. `input` (may be NULL) goes to its stdin, its stdout to `out` (may
 * be NULL), its stderr to `errtext` (may be NULL: see stderr_fd). *ret_status is as from wait(2). Fails if
 * the program cannot be started, takes too long, or prints more than `out` holds. */
int proc_run(const struct proc_spec *p, const struct buf *input, struct buf *out, struct buf *errtext,
	int *ret_status, struct err *e);

/* Starts a program and does not wait. The caller waits for *ret_pid and limits its time. *ret_out reads its
 * stdout; if ret_out is NULL, stdout_fd is used. */
int proc_start(const struct proc_spec *p, int *ret_out, pid_t *ret_pid, struct err *e);

/* The exit code as a shell reports it: 128 + signal if it was killed. */
int proc_exit_code(int status);

/* The directory of the running program's file; the caller frees it. NULL and errno. */
char *proc_own_dir(void);
/* The path of one of Garth's own programs ("garth-launch"): beside this program, else in the libexec
 * directory. */
int proc_find_part(const char *name, char **ret, struct err *e);

#endif
