/*
 * The one door to other programs: absolute path or a name looked up in a fixed PATH, argv array, complete
 * environment, no shell. A run has a limit on what it prints and on how long it takes.
 *
 *	struct proc_spec p = { .argv = argv, .env = env, .cwd = -1, .out_max = 1 << 20, .seconds = 60 };
 *	if (proc_run(&p, NULL, &out, &status, e) < 0) …
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
	char *const *env; /* complete; PATH of the parent is not used for the look-up, PROC_PATH is */
	const char *cwd;  /* NULL: as it is */
	int stdin_fd;     /* used when no input is given to proc_run; 0 means /dev/null */
	int stdout_fd;    /* used when no output buffer is given; 0 means /dev/null */
	int stderr_fd;    /* used when no buffer for it is given; 0 means /dev/null */
	int keep_fd;      /* one more descriptor that the child keeps at its number; 0 means none */
	unsigned seconds; /* time limit, 0 means 600 */
	bool own_group;   /* leads a process group, by which it can be ended with all that it started */
	bool as_inside; /* started by root: run as owner_inside(), able to read what root can read, no more */
};

/* Runs to the end. input (may be NULL) is fed to stdin; stdout goes to out (may be NULL), what it prints on
 * stderr to errtext (may be NULL: thrown away; both bounded by their own limits). *ret_status is as from
 * wait(2). Fails where the program cannot be started, takes too long, or prints more than out holds. */
int proc_run(const struct proc_spec *p, const struct buf *input, struct buf *out, struct buf *errtext,
	int *ret_status, struct err *e);

/* Starts it and does not wait: *ret_pid is the caller's to wait for, and its time to limit. *ret_out reads
 * what it prints; NULL: stdout_fd. */
int proc_start(const struct proc_spec *p, int *ret_out, pid_t *ret_pid, struct err *e);

/* The exit code as a shell gives it: 128 + signal where it was killed. */
int proc_exit_code(int status);

/* The directory of the running program's own file, where its parts lie, on the heap; NULL and errno. */
char *proc_own_dir(void);
/* The path of a part (such as "garth-launch"): beside the program, else in the installed libexec directory.
 */
int proc_find_part(const char *name, char **ret, struct err *e);

#endif
