#include "jail/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/deadline.h"
#include "sys/fd.h"
#include "sys/proc.h"
#include "sys/sock.h"

#define SEND_SECONDS 20

static struct runner_run *find(struct runner *c, uint32_t id)
{
	for (size_t i = 0; id && i < RUNNER_RUNS_MAX; i++)
		if (c->runs[i].id == id)
			return &c->runs[i];
	return NULL;
}

/* A free slot, else that of a killed command whose end was never reported. */
static struct runner_run *new_run(struct runner *c)
{
	struct runner_run *r = NULL;

	for (size_t i = 0; i < RUNNER_RUNS_MAX; i++)
		if (!c->runs[i].id || (!r && c->runs[i].forgotten))
			r = &c->runs[i];
	if (!r)
		return NULL;
	do
		c->last_id++;
	while (!c->last_id || find(c, c->last_id));
	*r = (struct runner_run){ .id = c->last_id };
	return r;
}

static int send_order(struct runner *c, const struct order_msg *m, const int *fds, size_t nfds)
{
	struct deadline d = deadline_in(SEND_SECONDS * 1000);

	while (sock_send(c->orders, m, sizeof(*m), fds, nfds) < 0) {
		struct pollfd p = { c->orders, POLLOUT, 0 };
		int left = deadline_left(&d);

		if (errno != EAGAIN || !left)
			return -1;
		if (poll(&p, 1, left) < 0 && errno != EINTR)
			return -1;
	}
	return 0;
}

static void note_reason(struct runner_run *r, const struct order_msg *m)
{
	auto_buf text = BUF_SMALL;

	clean_text(&text, m->err.msg, strnlen(m->err.msg, sizeof(m->err.msg)), false);
	snprintf(r->why, sizeof(r->why), "%.199s", text.len ? text.data : "the command could not be started");
}

static void hear(struct runner *c, const struct order_msg *m)
{
	struct runner_run *r = find(c, m->id);

	if (m->type == ORDER_JOB && m->value >= 0 && m->value < 32)
		c->jobs |= 1u << m->value;
	if (!r || r->over || (m->type != ORDER_NOT_STARTED && m->type != ORDER_EXITED))
		return;
	r->over = true;
	r->status = m->value;
	if (m->type == ORDER_NOT_STARTED)
		note_reason(r, m);
	if (r->forgotten)
		r->id = 0;
}

/* Takes one message, if there is one; -1 and errno if none will come any more. */
static int listen_once(struct runner *c)
{
	int fds[4];
	size_t nfds = ARRAY_SIZE(fds);
	struct order_msg m;
	struct pollfd p = { c->orders, POLLIN, 0 };
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = sock_recv(c->orders, &m, sizeof(m), fds, &nfds);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
	if (!n) {
		errno = EPIPE;
		return -1;
	}
	if ((size_t)n == sizeof(m))
		hear(c, &m);
	return 0;
}

int runner_listen(struct runner *c)
{
	struct pollfd p = { c->orders, POLLIN, 0 };

	while (poll(&p, 1, 0) > 0)
		if (listen_once(c) < 0)
			return -1;
	return 0;
}

int runner_start(
	struct runner *c, const struct order_cmd *cmd, const int fds[3], uint32_t *ret_id, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_fd order = -1;
	struct runner_run *r = new_run(c);
	struct order_msg m = { .type = ORDER_START };

	if (!r)
		return err_set(e, ERR_BUSY, "too many commands at once");
	m.id = r->id;
	order_cmd_pack(cmd, &packed);
	if (packed.overflow) {
		r->id = 0;
		return err_set(e, ERR_FAILED, "the command is too long");
	}
	order = fd_of_bytes("command", packed.data, packed.len);
	if (order < 0 || send_order(c, &m, (int[4]){ order, fds[0], fds[1], fds[2] }, 4) < 0) {
		r->id = 0;
		return err_sys(e, "cannot start '%s' in the jail", cmd->argv.v[0]);
	}
	*ret_id = m.id;
	return 0;
}

void runner_kill(struct runner *c, uint32_t id)
{
	struct order_msg m = { .type = ORDER_SIGNAL, .id = id, .value = SIGKILL };
	struct runner_run *r = find(c, id);

	if (!r)
		return;
	if (r->over) {
		r->id = 0;
		return;
	}
	r->forgotten = true;
	send_order(c, &m, NULL, 0);
}

/* The result of a run that is over. */
static int finish(struct runner_run *r, int *ret_code, struct err *e)
{
	if (*r->why)
		err_set(e, ERR_FAILED, "%s", r->why);
	else
		*ret_code = proc_exit_code(r->status);
	r->id = 0;
	return *r->why ? -1 : 0;
}

static int late(struct runner *c, uint32_t id, unsigned seconds, struct err *e)
{
	runner_kill(c, id);
	err_set(e, ERR_FAILED, "the command took longer than %u seconds", seconds);
	e->sys = ETIMEDOUT;
	return -1;
}

/* Whether the other side is closed completely. One that is only shut down for writing still reads. */
bool runner_is_unwanted(const struct runner *c)
{
	struct pollfd p = { c->caller, 0, 0 };

	return c->caller >= 0 && poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

static int unwanted(struct runner *c, uint32_t id, struct err *e)
{
	runner_kill(c, id);
	err_set(e, ERR_FAILED, "the client that asked for it has gone");
	e->sys = ECANCELED;
	return -1;
}

static int gone(struct runner *c, uint32_t id, struct err *e)
{
	struct runner_run *r = find(c, id);

	err_sys(e, "the jail is gone");
	if (r)
		r->id = 0;
	return -1;
}

int runner_wait(struct runner *c, uint32_t id, unsigned seconds, int *ret_code, struct err *e)
{
	struct deadline d = deadline_in((int64_t)seconds * 1000);
	struct runner_run *r = find(c, id);

	if (!r || r->forgotten)
		return err_set(e, ERR_FAILED, "there is no such command");
	while (!r->over) {
		struct pollfd p[2] = { { c->orders, POLLIN, 0 }, { c->caller, 0, 0 } };
		int left = deadline_left(&d);

		if (!left)
			return late(c, id, seconds, e);
		if (poll(p, 2, left) < 0 && errno != EINTR)
			return gone(c, id, e);
		if (p[0].revents && listen_once(c) < 0)
			return gone(c, id, e);
		if (!r->over && runner_is_unwanted(c))
			return unwanted(c, id, e);
	}
	return finish(r, ret_code, e);
}

/* A pipe: one end ours, the other the command's. */
static int make_pipe(bool to_us, int *ret_ours, int *ret_theirs)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	*ret_ours = pair[to_us ? 0 : 1];
	*ret_theirs = pair[to_us ? 1 : 0];
	return fd_nonblock(*ret_ours);
}

/* A pipe if the output is wanted, else /dev/null. */
static int make_sink(bool wanted, int *ret_ours, int *ret_theirs)
{
	if (wanted)
		return make_pipe(true, ret_ours, ret_theirs);
	*ret_theirs = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return *ret_theirs;
}

static void close_pipe(int *fd)
{
	fd_closep(fd);
	*fd = -1;
}

static void close_pipes(struct runner_piped *p)
{
	close_pipe(&p->in);
	close_pipe(&p->out);
	close_pipe(&p->err);
}
#define auto_piped __attribute__((cleanup(close_pipes))) struct runner_piped

int runner_start_piped(struct runner *c, const struct order_cmd *cmd, int in, bool out, bool err,
	struct runner_piped *ret, struct err *e)
{
	auto_piped p = RUNNER_PIPED_INIT;
	auto_fd their_in = -1, their_out = -1, their_err = -1;

	if ((in < 0 && make_pipe(false, &p.in, &their_in) < 0) || make_sink(out, &p.out, &their_out) < 0 ||
		make_sink(err, &p.err, &their_err) < 0)
		return err_sys(e, "cannot make pipes");
	if (runner_start(c, cmd, (int[3]){ in < 0 ? their_in : in, their_out, their_err }, &p.id, e) < 0)
		return -1;
	*ret = p;
	p = (struct runner_piped)RUNNER_PIPED_INIT;
	return 0;
}

void runner_drop_piped(struct runner *c, struct runner_piped *p)
{
	if (p->id)
		runner_kill(c, p->id);
	close_pipes(p);
	p->id = 0;
}

bool runner_is_waiting(struct runner *c, const struct runner_piped *p)
{
	struct runner_run *r = find(c, p->id);

	return r && !runner_listen(c) && !r->over;
}

/* Reads what is there now, at most as much as a pipe holds: a command that never stops writing must not delay
 * the time limit. Closes the descriptor at its end. False if `whole` is set and b cannot hold it all. */
static bool take_all(int *fd, struct buf *b, bool whole)
{
	char chunk[16384];
	ssize_t n = 1;

	for (size_t i = 0; i < (1u << 20) / sizeof(chunk) && *fd >= 0 && n > 0; i++) {
		n = read(*fd, chunk, sizeof(chunk));
		if (n > 0 && !buf_add(b, chunk, (size_t)n) && whole)
			return false;
		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
			close_pipe(fd);
	}
	return true;
}

/* Forwards input. *full means that the command must read some of it first. When either side ends, the
 * command's input ends. */
static void feed(struct runner_piped *p, int from, bool *full)
{
	ssize_t n = splice(from, NULL, p->in, NULL, 1u << 20, SPLICE_F_NONBLOCK);

	*full = n < 0 && errno == EAGAIN && !*full;
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_pipe(&p->in);
}

/* Blocks until something happens; -1 if the jail is gone. */
static int wait_piped(struct runner *c, struct runner_piped *p, int from, bool *full, int left)
{
	bool feeding = from >= 0 && p->in >= 0;
	struct pollfd fds[] = { { c->orders, POLLIN, 0 }, { p->out, POLLIN, 0 }, { p->err, POLLIN, 0 },
		{ !feeding      ? -1
			: *full ? p->in
				: from,
			*full ? POLLOUT : POLLIN, 0 },
		{ c->caller, 0, 0 } };

	if (poll(fds, ARRAY_SIZE(fds), left) < 0)
		return errno == EINTR ? 0 : -1;
	if (fds[3].revents)
		feed(p, from, full);
	return fds[0].revents ? listen_once(c) : 0;
}

static int attend(struct runner *c, struct runner_piped *p, int from, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e)
{
	struct deadline d = deadline_in((int64_t)seconds * 1000);
	bool over = false, fits = true, full = false;
	struct runner_run *r = find(c, p->id);

	if (!r)
		return err_set(e, ERR_FAILED, "there is no such command");
	if (from < 0)
		close_pipe(&p->in);
	/* reads once more after the end, because the last output is in the pipes then */
	while (!over && fits) {
		int left = deadline_left(&d);

		over = r->over;
		if (!over && !left)
			return late(c, r->id, seconds, e);
		if (!over && wait_piped(c, p, from, &full, left) < 0)
			return gone(c, r->id, e);
		if (!over && !r->over && runner_is_unwanted(c))
			return unwanted(c, r->id, e);
		fits = !out || take_all(&p->out, out, true);
		if (errtext)
			take_all(&p->err, errtext, false);
	}
	if (fits)
		return finish(r, ret_code, e);
	runner_kill(c, r->id);
	err_set(e, ERR_FAILED, "the command printed more than %zu bytes", out->max);
	e->sys = EFBIG;
	return -1;
}

int runner_attend(struct runner *c, struct runner_piped *p, int from, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e)
{
	int rc = attend(c, p, from, out, errtext, seconds, ret_code, e);

	close_pipes(p);
	p->id = 0;
	return rc;
}

int runner_run_from(struct runner *c, const struct order_cmd *cmd, int in, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e)
{
	struct runner_piped p;

	if (runner_start_piped(c, cmd, in, out != NULL, errtext != NULL, &p, e) < 0)
		return -1;
	return runner_attend(c, &p, -1, out, errtext, seconds, ret_code, e);
}

int runner_run(struct runner *c, const struct order_cmd *cmd, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e)
{
	/* a memfd, so that nobody has to write to a pipe */
	auto_fd in = input ? fd_of_bytes("input", buf_str(input), input->len)
			   : open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (in < 0)
		return err_sys(e, "cannot hand over the input");
	return runner_run_from(c, cmd, in, out, errtext, seconds, ret_code, e);
}
