#include "merge/ref_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "git/ref.h"
#include "git/run.h"
#include "sys/fd.h"

#define ANSWER_SECONDS 60

struct ref_lock {
	pid_t pid;
	int in;  /* a socket, so that writing to a dead git raises no SIGPIPE */
	int out; /* git's answers and error messages */
	struct buf answer;
};

static int start(struct ref_lock *h, const struct ref_lock_spec *s, struct err *e)
{
	struct git g = { .dir = s->git_dir, .cwd = s->git_dir };
	auto_strvec args = STRVEC_INIT;
	auto_fd theirs = -1, their_out = -1;
	int pair[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "cannot make a socket");
	h->in = pair[0];
	theirs = pair[1];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	h->out = pipes[0];
	their_out = pipes[1];
	strvec_pushl(&args, "update-ref", "-m", s->reason, "--stdin", NULL);
	return git_start(&g, &args, (int[3]){ theirs, their_out, their_out }, &h->pid, e);
}

static int send_order(struct ref_lock *h, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = send(h->in, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Reads until the answer arrives; -1 if git has exited or does not answer in time. */
static int read_answer(struct ref_lock *h, const char *until)
{
	while (!strstr(buf_str(&h->answer), until)) {
		struct pollfd p = { h->out, POLLIN, 0 };
		int ready = poll(&p, 1, ANSWER_SECONDS * 1000);
		char chunk[1024];
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		n = ready > 0 ? read(h->out, chunk, sizeof(chunk)) : -1;
		if (n <= 0 || !buf_add(&h->answer, chunk, (size_t)n))
			return -1;
	}
	return 0;
}

/* Reports git's error message without "fatal: ". */
static int failed(const struct ref_lock *h, const struct ref_lock_spec *s, struct err *e)
{
	const char *text = strstr(buf_str(&h->answer), "fatal: ");

	text = text ? text + 7 : "git gave no answer";
	return err_set(e, ERR_BUSY, "cannot hold '%s': %.*s", s->ref, (int)strcspn(text, "\n"), text);
}

int ref_lock_take(const struct ref_lock_spec *s, struct ref_lock **ret, struct err *e)
{
	auto_ref_lock h = xcalloc(1, sizeof(*h));
	auto_str order = xasprintf("start\n%supdate %s %s %s\nprepare\n",
		s->no_deref ? "option no-deref\n" : "", s->ref, s->to, s->from);

	*h = (struct ref_lock){ .in = -1, .out = -1, .answer = BUF_SMALL };
	/* git logs the move of the checkout's HEAD, too */
	if (ref_check_place(s->refs_in ? s->refs_in : s->git_dir, s->ref, e) < 0 ||
		ref_check_place(s->git_dir, "HEAD", e) < 0)
		return -1;
	if (start(h, s, e) < 0)
		return -1;
	if (send_order(h, order) < 0 || read_answer(h, "prepare: ok\n") < 0)
		return failed(h, s, e);
	*ret = steal_ptr(h);
	return 0;
}

int ref_lock_commit(struct ref_lock *h, struct err *e)
{
	if (!send_order(h, "commit\n") && !read_answer(h, "commit: ok\n"))
		return 0;
	return err_set(e, ERR_FAILED, "git did not move the branch");
}

void ref_lock_drop(struct ref_lock *h)
{
	if (!h)
		return;
	/* git unlocks the ref at the end of its input; if it were killed, its lock would stay */
	fd_closep(&h->in);
	while (h->pid > 0 && waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	fd_closep(&h->out);
	buf_release(&h->answer);
	free(h);
}

void ref_lock_dropp(struct ref_lock **h)
{
	ref_lock_drop(*h);
}
