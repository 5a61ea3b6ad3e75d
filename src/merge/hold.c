#include "merge/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "git/run.h"
#include "sys/fd.h"

#define ANSWER_SECONDS 60

struct hold {
	pid_t pid;
	int in;  /* a socket, so that writing to a dead git raises no SIGPIPE */
	int out; /* git's answers and error messages */
	struct buf answer;
};

static int start(struct hold *h, const struct hold_spec *s, struct err *e)
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
	/* a fixed name for the reflogs: otherwise git would look for one, even over the network */
	strvec_pushl(&args, "-c", "user.name=Garth", "-c", "user.email=garth@localhost", "update-ref", "-m",
		s->reason, "--stdin", NULL);
	return git_start(&g, &args, (int[3]){ theirs, their_out, their_out }, &h->pid, e);
}

static int send_order(struct hold *h, const char *text)
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
static int read_answer(struct hold *h, const char *until)
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
static int failed(const struct hold *h, const struct hold_spec *s, struct err *e)
{
	const char *text = strstr(buf_str(&h->answer), "fatal: ");

	text = text ? text + 7 : "git gave no answer";
	return err_set(e, ERR_BUSY, "cannot hold '%s': %.*s", s->ref, (int)strcspn(text, "\n"), text);
}

int hold_take(const struct hold_spec *s, struct hold **ret, struct err *e)
{
	auto_hold h = xcalloc(1, sizeof(*h));
	auto_str order = xasprintf("start\nupdate %s %s %s\nprepare\n", s->ref, s->to, s->from);

	*h = (struct hold){ .in = -1, .out = -1, .answer = BUF_SMALL };
	if (start(h, s, e) < 0)
		return -1;
	if (send_order(h, order) < 0 || read_answer(h, "prepare: ok\n") < 0)
		return failed(h, s, e);
	*ret = steal_ptr(h);
	return 0;
}

int hold_commit(struct hold *h, struct err *e)
{
	if (!send_order(h, "commit\n") && !read_answer(h, "commit: ok\n"))
		return 0;
	return err_set(e, ERR_FAILED, "git did not move the branch");
}

void hold_drop(struct hold *h)
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

void hold_dropp(struct hold **h)
{
	hold_drop(*h);
}
