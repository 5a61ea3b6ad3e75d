#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "shim/shim.h"
#include "sys/fd.h"

#define LAST_RESORT "/usr/bin/git"

static bool is_git(const char *path, const struct stat *self)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK) &&
	       (st.st_dev != self->st_dev || st.st_ino != self->st_ino);
}

void run_find(const char *bin, char *out, size_t size)
{
	const char *path = getenv("PATH");
	struct stat self = { 0 };

	stat("/proc/self/exe", &self);
	for (const char *dir = path; dir;) {
		size_t len = strcspn(dir, ":"), n = len;

		while (n > 1 && dir[n - 1] == '/')
			n--;
		if (n < size && (n != strlen(bin) || strncmp(dir, bin, n) != 0)) {
			int used = snprintf(out, size, "%.*s%sgit", (int)n, dir, n ? "/" : "");

			if (used > 0 && (size_t)used < size && is_git(out, &self))
				return;
		}
		dir = dir[len] ? dir + len + 1 : NULL;
	}
	snprintf(out, size, "%s", LAST_RESORT);
}

static int cannot_run(const char *git)
{
	fprintf(stderr, "garth: cannot run %s: %s\n", git, strerror(errno));
	return 127;
}

int run_become(const struct run *r)
{
	execv(r->git, r->argv);
	return cannot_run(r->git);
}

void run_prefix(const struct run *r, struct strvec *out)
{
	strvec_push(out, "git");
	for (int i = 1; i < r->w->verb; i++)
		strvec_push(out, r->argv[i]);
}

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
static volatile sig_atomic_t child;

/* Signals from the terminal reach git directly; those that another process sent to this one must be
 * forwarded. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill(child, sig);
}

/* Signals that were ignored before (nohup) stay ignored. */
static void catch_signals(struct sigaction old[ARRAY_SIZE(passed)])
{
	struct sigaction act = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
		sigaction(passed[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &act, NULL);
	}
}

static void release_signals(const struct sigaction old[ARRAY_SIZE(passed)])
{
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		sigaction(passed[i], &old[i], NULL);
}

static void to_null(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		dup2(null, fd);
}

static void become_child(const struct run *r, const struct run_how *how, pid_t parent)
{
	/* if this process is killed, git must not keep running; at SIGTERM it cleans up */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (how->quiet)
		to_null(STDOUT_FILENO);
	if (how->aside)
		setenv("GARTH_GATEWAY", "1", 1);
	execv(r->git, how->argv ? how->argv : r->argv);
	_exit(cannot_run(r->git));
}

static int wait_for(pid_t pid)
{
	int status, r;

	do
		r = waitpid(pid, &status, 0);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -1 : status;
}

int run_child(const struct run *r, const struct run_how *how)
{
	struct sigaction old[ARRAY_SIZE(passed)];
	pid_t self = getpid(), pid;
	sigset_t all, before;
	int status;

	/* no signal may arrive between fork and storing the child's pid */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	catch_signals(old);
	pid = fork();
	if (!pid) {
		release_signals(old);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_child(r, how, self);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	status = pid < 0 ? -1 : wait_for(pid);
	child = 0;
	release_signals(old);
	if (pid < 0)
		cannot_run(r->git);
	return status;
}

int run_end(int status)
{
	struct rlimit none = { 0 };
	sigset_t set;

	if (status < 0)
		return 127;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* Reads all output. What does not fit is dropped, so that git can end. */
static bool read_short(int fd, char *out, size_t size)
{
	ssize_t n = read_full(fd, out, size - 1);
	char rest[512];
	bool whole = n >= 0;

	out[n < 0 ? 0 : n] = '\0';
	while (whole && read_full(fd, rest, sizeof(rest)) > 0)
		whole = false;
	out[strcspn(out, "\n")] = '\0';
	return whole;
}

bool run_ask(const struct run *r, char *out, size_t size, const char *word, ...)
{
	auto_strvec argv = STRVEC_INIT;
	va_list ap;
	int fds[2], status;
	bool whole;
	pid_t pid;

	run_prefix(r, &argv);
	va_start(ap, word);
	for (const char *w = word; w; w = va_arg(ap, const char *))
		strvec_push(&argv, w);
	va_end(ap);
	out[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (!pid) {
		to_null(STDIN_FILENO);
		to_null(STDERR_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		execv(r->git, strvec_argv(&argv));
		_exit(127);
	}
	close(fds[1]);
	whole = pid > 0 && read_short(fds[0], out, size);
	close(fds[0]);
	status = pid > 0 ? wait_for(pid) : -1;
	return whole && status == 0;
}
