#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "landlock_only.h"
#include "base/alloc.h"
#include "sys/fd.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Everything that the child needs, prepared before the fork: the child shares the parent's memory until exec,
 * so it allocates nothing. It writes to the last three fields, and the parent reads them. */
struct child {
	char **argv, **env;
	char **script; /* for a file without #!: /bin/sh, the path, the arguments */
	const char *cwd, *path;
	const char *top, *at_top; /* where to start if cwd is gone, and what to say then */
	const int *stdio;
	bool tty;
	const char *volatile failed, *volatile object;
	volatile int sys;
};

static int try_exec(struct child *c, char *file)
{
	execve(file, c->argv, c->env);
	if (errno != ENOEXEC)
		return -1;
	c->script[1] = file;
	return execve("/bin/sh", c->script, c->env);
}

/* Like execvpe: EACCES does not end the search, but is the error reported at its end. */
static int search_exec(struct child *c)
{
	char file[PATH_MAX];
	int sys = ENOENT;

	for (const char *dir = c->path; dir; dir = strchr(dir, ':') ? strchr(dir, ':') + 1 : NULL) {
		int len = (int)strcspn(dir, ":");

		if ((size_t)snprintf(file, sizeof(file), "%.*s%s%s", len, dir, len ? "/" : "", c->argv[0]) >=
			sizeof(file))
			continue;
		try_exec(c, file);
		if (errno == EACCES)
			sys = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			return -1;
	}
	errno = sys;
	return -1;
}

static struct rlimit files; /* for each command; 0: unchanged */

void spawn_limit_files(uint64_t max)
{
	struct rlimit own;

	if (!max || getrlimit(RLIMIT_NOFILE, &own) < 0)
		return;
	if (max > own.rlim_max / 2)
		max = own.rlim_max / 2;
	files.rlim_cur = files.rlim_max = max;
}

static int take_stdio(const struct child *c)
{
	for (int i = 0; i < 3; i++)
		if (dup2(c->stdio[i], i) < 0)
			return -1;
	return c->tty ? ioctl(0, TIOCSCTTY, 0) : 0;
}

/* A task's directory may be gone when the task is resumed, or never have been there: its command then starts
 * at the top of the workspace. */
static int enter_dir(const struct child *c)
{
	if (!chdir(c->cwd))
		return 0;
	if (!c->top || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) || chdir(c->top) < 0)
		return -1;
	(void)!write(2, c->at_top, strlen(c->at_top));
	return 0;
}

static void __attribute__((noreturn)) run_child(struct child *c)
{
	sigset_t none;

	sigemptyset(&none);
	setsid();
	c->failed = "cannot set up standard input and output of";
	c->object = c->argv[0];
	if (take_stdio(c) < 0)
		goto fail;
	c->failed = "cannot enter directory";
	c->object = c->cwd;
	if (enter_dir(c) < 0)
		goto fail;
	c->failed = "cannot limit";
	if (files.rlim_max && setrlimit(RLIMIT_NOFILE, &files) < 0)
		goto fail;
	c->failed = "cannot run";
	c->object = c->argv[0];
	sigprocmask(SIG_SETMASK, &none, NULL);
	strchr(c->argv[0], '/') ? try_exec(c, c->argv[0]) : search_exec(c);
fail:
	c->sys = errno;
	_exit(127);
}

/* The value of a variable of the command; NULL if it is not set. */
static const char *value_of(const struct order_cmd *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < c->env.n; i++)
		if (!strncmp(c->env.v[i], name, n) && c->env.v[i][n] == '=')
			return c->env.v[i] + n + 1;
	return NULL;
}

static int open_terminal(const struct order_cmd *c, int *ret_master, int *ret_slave, struct err *e)
{
	struct winsize size = { .ws_row = c->rows, .ws_col = c->cols };
	auto_fd master = -1;
	int unlock = 0, slave;

	if (landlock_only_is()) {
		if (landlock_only_terminal(ret_master, ret_slave) < 0 ||
			ioctl(*ret_master, TIOCSWINSZ, &size) < 0)
			return err_sys(e, "cannot get a terminal");
		return 0;
	}
	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		return err_sys(e, "cannot open a terminal");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return err_sys(e, "cannot open a terminal");
	*ret_master = fd_steal(&master);
	*ret_slave = slave;
	return 0;
}

static int start(struct child *c, pid_t *ret_pid, struct err *e)
{
	pid_t pid = vfork();

	if (!pid)
		run_child(c);
	if (pid < 0)
		return err_sys(e, "cannot fork");
	if (c->sys) {
		waitpid(pid, NULL, 0);
		errno = c->sys;
		return err_sys(e, "%s '%s'", c->failed, c->object);
	}
	*ret_pid = pid;
	return 0;
}

int spawn_command(
	const struct order_cmd *c, const int stdio[3], pid_t *ret_pid, int *ret_master, struct err *e)
{
	auto_fd master = -1, slave = -1;
	struct child child = {
		.argv = c->argv.v, .cwd = c->cwd, .path = value_of(c, "PATH"), .stdio = stdio, .tty = c->tty
	};
	auto_str at_top = xasprintf(
		"garth: there is no directory '%s' in the task; this is its top directory\n", c->cwd);
	struct strvec env = c->env;
	int terminal[3], rc;

	if (!child.path)
		child.path = DEFAULT_PATH;
	child.top = value_of(c, "GARTH_WORKSPACE");
	child.at_top = at_top;
	if (c->tty && open_terminal(c, &master, &slave, e) < 0)
		return -1;
	terminal[0] = terminal[1] = terminal[2] = slave;
	if (c->tty)
		child.stdio = terminal;
	child.env = strvec_argv(&env);
	child.script = xcalloc(c->argv.n + 2, sizeof(char *));
	child.script[0] = "/bin/sh";
	for (size_t i = 1; i < c->argv.n; i++)
		child.script[i + 1] = c->argv.v[i];
	rc = start(&child, ret_pid, e);
	free(child.script);
	if (!rc)
		*ret_master = fd_steal(&master);
	return rc;
}
