#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/fifo_wait.h"
#include "sys/linux.h"
#include "sys/owner.h"

/* So long a child may be silent before it is asked whether it waits for a FIFO. */
#define FIFO_LOOK_MS 500

int proc_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Changes to the inside's uid and gid, but keeps root's right to read every file, also across exec. */
static int become_inside(void)
{
	struct owner o = owner_inside();
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { 0 };

	caps[0].permitted = caps[0].inheritable = caps[0].effective = 1u << CAP_DAC_READ_SEARCH;
	/* NO_SETUID_FIXUP keeps the capabilities when the uid changes, and makes access(2), which git uses,
	 * respect them */
	if (setgroups(0, NULL) < 0 || setresgid(o.gid, o.gid, o.gid) < 0 ||
		prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0 || setresuid(o.uid, o.uid, o.uid) < 0 ||
		syscall(SYS_capset, &head, caps) < 0)
		return -1;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0);
}

static int place(int fd, int at)
{
	if (fd == at)
		return fcntl(fd, F_SETFD, 0);
	return dup2(fd, at);
}

/* The child shares the parent's memory, so no handler of the parent may run in it. Ignored signals stay
 * ignored, except for SIGPIPE. */
static void reset_signals(void)
{
	struct sigaction act, dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig == SIGPIPE || (!sigaction(sig, NULL, &act) && act.sa_handler != SIG_IGN &&
					      act.sa_handler != SIG_DFL))
			sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* After every change of ids, which would undo it. A parent may be killed while it waits for vfork. */
static int bind_to(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -1;
	return getppid() == parent ? 0 : (errno = ESRCH, -1);
}

/* Runs in the child, which shares the parent's memory until exec; never returns. `fds` are stdin, stdout and
 * stderr. Reports errno through `tell`. */
static void __attribute__((noreturn))
child(const struct proc_spec *p, const int fds[3], int tell, pid_t parent)
{
	static const char *const dirs[] = { "/usr/local/bin", "/usr/bin", "/bin" };
	int error;

	reset_signals();
	if (place(fds[0], 0) < 0 || place(fds[1], 1) < 0 || place(fds[2], 2) < 0)
		goto fail;
	/* the child inherits no descriptor that this process was started with */
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		goto fail;
	if (p->keep_fd > 2 && fcntl(p->keep_fd, F_SETFD, 0) < 0)
		goto fail;
	if (p->own_group && setpgid(0, 0) < 0)
		goto fail;
	if (p->cwd && chdir(p->cwd) < 0)
		goto fail;
	if (p->as_inside && owner_is_other() && become_inside() < 0)
		goto fail;
	if (p->bound && bind_to(parent) < 0)
		goto fail;
	if (strchr(p->argv[0], '/')) {
		execve(p->argv[0], p->argv, p->env);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", dirs[i], p->argv[0]);
			execve(path, p->argv, p->env);
			if (errno != ENOENT)
				break;
		}
	}
fail:
	error = errno;
	(void)!write(tell, &error, sizeof(error));
	_exit(127);
}

/* The child's side of a stream without a pipe: a copy of the caller's descriptor, or /dev/null. */
static int open_end(int fd, int flags)
{
	return fd > 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : open("/dev/null", flags | O_CLOEXEC);
}

/* The parent's ends of the pipes. */
struct streams {
	int in, out, err, tell;
};

static void streams_close(struct streams *s)
{
	fd_closep(&s->in);
	fd_closep(&s->out);
	fd_closep(&s->err);
	fd_closep(&s->tell);
}

/* vfork: copying the address space would take longer than git needs to start. */
static pid_t start_child(const struct proc_spec *p, const int fds[3], int tell)
{
	sigset_t all, before;
	pid_t pid, parent = getpid();

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (!pid)
		child(p, fds, tell, parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int start(
	const struct proc_spec *p, bool feed, bool take, bool take_err, struct streams *s, pid_t *ret_pid)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, er[2] = { -1, -1 }, tell[2] = { -1, -1 };
	pid_t pid = -1;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return -1;
	if (feed ? pipe2(in, O_CLOEXEC) < 0 : (in[0] = open_end(p->stdin_fd, O_RDONLY)) < 0)
		goto out;
	if (take ? pipe2(out, O_CLOEXEC) < 0 : (out[1] = open_end(p->stdout_fd, O_WRONLY)) < 0)
		goto out;
	if (take_err ? pipe2(er, O_CLOEXEC) < 0 : (er[1] = open_end(p->stderr_fd, O_WRONLY)) < 0)
		goto out;
	pid = start_child(p, (int[3]){ in[0], out[1], er[1] }, tell[1]);
out:
	fd_closep(&in[0]);
	fd_closep(&out[1]);
	fd_closep(&er[1]);
	fd_closep(&tell[1]);
	*s = (struct streams){ in[1], out[0], er[0], tell[0] };
	*ret_pid = pid;
	if (pid < 0)
		streams_close(s);
	return pid < 0 ? -1 : 0;
}

/* Reads once into b and closes the descriptor at its end. Beyond the limit: an error (strict), or the rest is
 * dropped. */
static int take_some(int *fd, struct buf *b, bool strict)
{
	char chunk[65536];
	ssize_t n = read(*fd, chunk, sizeof(chunk));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -1;
	if (!n) {
		fd_closep(fd);
		*fd = -1;
		return 0;
	}
	if (!buf_add(b, chunk, (size_t)n) && strict) {
		errno = EFBIG;
		return -1;
	}
	return 0;
}

/* What is waited for. */
struct wait {
	pid_t pid;
	bool no_fifo;
	struct deadline until;
	struct buf fifo;
};

/* The next time to look, in ms; 0: too late. */
static int wait_ms(const struct wait *w)
{
	int left = deadline_left(&w->until);

	return w->no_fifo && left > FIFO_LOOK_MS ? FIFO_LOOK_MS : left;
}

/* After nothing happened for that long. */
static bool is_stuck(struct wait *w)
{
	if (!w->no_fifo || !fifo_wait_find(w->pid, &w->fifo))
		return false;
	errno = EDEADLK;
	return true;
}

static int pump(
	struct streams *s, const struct buf *input, struct buf *out, struct buf *errtext, struct wait *w)
{
	size_t fed = 0;

	if (s->in >= 0)
		fd_nonblock(s->in);
	while (s->in >= 0 || s->out >= 0 || s->err >= 0) {
		struct pollfd fds[3] = { { s->in, POLLOUT, 0 }, { s->out, POLLIN, 0 },
			{ s->err, POLLIN, 0 } };
		int left = wait_ms(w), ready;

		if (!left) {
			errno = ETIMEDOUT;
			return -1;
		}
		ready = poll(fds, 3, left);
		if ((ready < 0 && errno != EINTR) || (!ready && is_stuck(w)))
			return -1;
		if (ready <= 0)
			continue;
		if (fds[0].revents) {
			ssize_t n = fed < input->len ? write(s->in, input->data + fed, input->len - fed) : 0;

			if (n > 0)
				fed += (size_t)n;
			if (fed == input->len || (n < 0 && errno != EAGAIN && errno != EINTR)) {
				fd_closep(&s->in);
				s->in = -1;
			}
		}
		if (fds[1].revents && take_some(&s->out, out, true) < 0)
			return -1;
		if (fds[2].revents && take_some(&s->err, errtext, false) < 0)
			return -1;
	}
	return 0;
}

/* Waits on a pidfd, so it wakes when the child ends. */
static int wait_until(struct wait *w, int *status)
{
	auto_fd end = (int)syscall(SYS_pidfd_open, w->pid, 0);
	struct pollfd p = { end, POLLIN, 0 };

	for (;;) {
		int left = wait_ms(w);
		pid_t got;

		if (!left) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (end < 0)
			deadline_sleep(&w->until, 1);
		else if (!poll(&p, 1, left) && is_stuck(w))
			return -1;
		got = waitpid(w->pid, status, WNOHANG);
		if (got == w->pid)
			return 0;
		if (got < 0 && errno != EINTR)
			return -1;
	}
}

static void end_child(pid_t pid, int *status)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* Writes to the child and reads from it until it ends. If something fails, the child is killed. */
static int attend(const struct proc_spec *p, pid_t pid, struct streams *s, const struct buf *input,
	struct buf *out, struct buf *errtext, int *ret_status, struct err *e)
{
	unsigned seconds = p->seconds ? p->seconds : 600;
	struct wait w = { pid, p->no_fifo, deadline_in(1000L * seconds), BUF_SMALL };

	if (!pump(s, input, out, errtext, &w) && !wait_until(&w, ret_status))
		return buf_release(&w.fifo), 0;
	err_sys(e, "%s", p->argv[0]);
	if (e->sys == EDEADLK) {
		err_set(e, ERR_FAILED, "%s waits for '%s', which is a FIFO", p->argv[0], buf_str(&w.fifo));
		e->sys = EDEADLK;
	} else if (e->sys == ETIMEDOUT) {
		err_set(e, ERR_FAILED, "%s took longer than %u seconds", p->argv[0], seconds);
		e->sys = ETIMEDOUT;
	} else if (e->sys == EFBIG) {
		err_set(e, ERR_FAILED, "%s printed more than %zu bytes", p->argv[0], out->max);
		e->sys = EFBIG;
	}
	buf_release(&w.fifo);
	end_child(pid, ret_status);
	return -1;
}

/* Starts the child and returns after its exec has succeeded or failed. */
static int launch(const struct proc_spec *p, bool feed, bool take, bool take_err, struct streams *s,
	pid_t *ret_pid, struct err *e)
{
	int error = 0;

	if (start(p, feed, take, take_err, s, ret_pid) < 0)
		return err_sys(e, "cannot start %s", p->argv[0]);
	if (read_full(s->tell, &error, sizeof(error)) != sizeof(error))
		return 0;
	end_child(*ret_pid, NULL);
	streams_close(s);
	errno = error;
	return err_sys(e, "cannot start %s", p->argv[0]);
}

int proc_start(const struct proc_spec *p, int *ret_out, pid_t *ret_pid, struct err *e)
{
	struct streams s;

	if (launch(p, false, ret_out != NULL, false, &s, ret_pid, e) < 0)
		return -1;
	if (ret_out)
		*ret_out = fd_steal(&s.out);
	streams_close(&s);
	return 0;
}

int proc_run(const struct proc_spec *p, const struct buf *input, struct buf *out, struct buf *errtext,
	int *ret_status, struct err *e)
{
	sigset_t pipe_set, old;
	struct streams s;
	pid_t pid;
	int rc;

	if (launch(p, input != NULL, out != NULL, errtext != NULL, &s, &pid, e) < 0)
		return -1;
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_set, &old);
	rc = attend(p, pid, &s, input, out, errtext, ret_status, e);
	streams_close(&s);
	/* takes a pending SIGPIPE, so that it is not delivered when the mask is restored */
	while (sigtimedwait(&pipe_set, NULL, &(struct timespec){ 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}

char *proc_own_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n < 0)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash && slash != path)
		*slash = '\0';
	return xstrdup(path);
}

int proc_find_part(const char *name, char **ret, struct err *e)
{
	auto_str own = proc_own_dir();
	const char *const dirs[] = { own, GARTH_LIBEXEC };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_str path = dirs[i] ? path_join(dirs[i], name) : NULL;

		if (path && !access(path, X_OK)) {
			*ret = steal_ptr(path);
			return 0;
		}
	}
	return err_set(e, ERR_START, "cannot find %s beside garth or in %s", name, GARTH_LIBEXEC);
}
