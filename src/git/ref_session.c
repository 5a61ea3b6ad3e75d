#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"

#define ANSWER_SECONDS 60

struct ref_session {
	const struct repo *repo;
	pid_t pid; /* 0: not started */
	int in;    /* a socket, because writing to it after git has died must not raise SIGPIPE */
	int out;   /* git's answers and errors, in one stream */
};

static int start(struct ref_session *s, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_fd in = -1, theirs = -1, out = -1, their_out = -1;
	struct git g = repo_git(s->repo);
	int pair[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "cannot make a socket");
	in = pair[0];
	theirs = pair[1];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	out = pipes[0];
	their_out = pipes[1];
	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	if (git_start(&g, &args, (int[3]){ theirs, their_out, their_out }, &s->pid, e) < 0) {
		s->pid = 0;
		return -1;
	}
	s->in = fd_steal(&in);
	s->out = fd_steal(&out);
	return 0;
}

static void stop(struct ref_session *s)
{
	fd_closep(&s->in);
	fd_closep(&s->out);
	s->in = s->out = -1;
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	s->pid = 0;
}

int ref_session_open(const struct repo *r, struct ref_session **ret, struct err *e)
{
	struct ref_session *s = xcalloc(1, sizeof(*s));

	*s = (struct ref_session){ .repo = r, .in = -1, .out = -1 };
	if (start(s, e) < 0) {
		free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void ref_session_close(struct ref_session *s)
{
	if (!s)
		return;
	stop(s);
	free(s);
}

static int say(struct ref_session *s, const struct buf *text)
{
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = send(s->in, text->data + done, text->len - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* Reads until the last answer, or until git has ended: then answer has its error message. */
static int hear(struct ref_session *s, struct buf *answer)
{
	static const char last[] = "commit: ok\n";
	char chunk[4096];

	while (!strstr(buf_str(answer), last)) {
		struct pollfd p = { s->out, POLLIN, 0 };
		int ready = poll(&p, 1, ANSWER_SECONDS * 1000);
		ssize_t n = ready > 0 ? read(s->out, chunk, sizeof(chunk)) : -1;

		if (ready < 0 || (ready && n < 0)) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (!ready)
			errno = ETIMEDOUT;
		if (n <= 0)
			return -1;
		buf_add(answer, chunk, (size_t)n);
		if (answer->overflow)
			return -1;
	}
	return 0;
}

static int judge(const struct buf *answer, struct err *e)
{
	static const char *const conflicts[] = { "but expected", "reference already exists",
		"unable to resolve reference", "reference is missing" };
	const char *words = strstr(buf_str(answer), "fatal: ");
	enum err_kind kind = ERR_FAILED;

	if (!words)
		return err_set(e, ERR_FAILED, "git update-ref ended without a word");
	words += strlen("fatal: ");
	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++)
		if (strstr(words, conflicts[i]))
			kind = ERR_CONFLICT;
	return err_set(e, kind, "git update-ref: %.*s", (int)strcspn(words, "\n"), words);
}

static bool is_alive(const struct ref_session *s)
{
	struct pollfd p = { s->out, POLLIN, 0 };

	return s->pid > 0 && poll(&p, 1, 0) == 0;
}

static int attempt(struct ref_session *s, const struct buf *text, struct err *e)
{
	auto_buf answer = BUF_SMALL;

	/* if writing fails, the answer says why */
	say(s, text);
	if (!hear(s, &answer))
		return 0;
	judge(&answer, e);
	stop(s);
	return -1;
}

int ref_session_commit(struct ref_session *s, const struct ref_txn *t, struct err *e)
{
	auto_buf text = BUF_INIT(t->text.max + 64);

	if (!t->text.len)
		return 0;
	if (t->text.overflow)
		return err_set(e, ERR_FAILED, "too many refs for one step");
	if (ref_check_places(s->repo, t, e) < 0)
		return -1;
	buf_addstr(&text, "start\n");
	buf_add(&text, t->text.data, t->text.len);
	buf_addstr(&text, "prepare\ncommit\n");
	/* a git that has died, or that has printed something unasked, cannot be used any more */
	if (is_alive(s)) {
		if (!attempt(s, &text, e))
			return 0;
		/* the old process may know only the packed refs from before a `git gc`: a new one reads them
		 * again */
		if (e->kind != ERR_CONFLICT)
			return -1;
	}
	stop(s);
	return start(s, e) < 0 ? -1 : attempt(s, &text, e);
}
