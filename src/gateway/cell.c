#include "gateway/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"
#include "sys/proc.h"
#include "sys/sock.h"

#define SEND_SECONDS 20

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct cell_run *find(struct cell *c, uint32_t id)
{
	for (size_t i = 0; id && i < CELL_RUNS_MAX; i++)
		if (c->runs[i].id == id)
			return &c->runs[i];
	return NULL;
}

/* A free place; else that of a command which was killed and whose end nobody reported. */
static struct cell_run *new_run(struct cell *c)
{
	struct cell_run *r = NULL;

	for (size_t i = 0; i < CELL_RUNS_MAX; i++)
		if (!c->runs[i].id || (!r && c->runs[i].forgotten))
			r = &c->runs[i];
	if (!r)
		return NULL;
	do
		c->last_id++;
	while (!c->last_id || find(c, c->last_id));
	*r = (struct cell_run){ .id = c->last_id };
	return r;
}

static int send_order(struct cell *c, const struct order_msg *m, const int *fds, size_t nfds)
{
	int64_t deadline = now_ms() + SEND_SECONDS * 1000;

	while (sock_send(c->orders, m, sizeof(*m), fds, nfds) < 0) {
		struct pollfd p = { c->orders, POLLOUT, 0 };
		int64_t left = deadline - now_ms();

		if (errno != EAGAIN || left <= 0)
			return -1;
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return -1;
	}
	return 0;
}

static void note_reason(struct cell_run *r, const struct order_msg *m)
{
	auto_buf text = BUF_SMALL;

	clean_text(&text, m->err.msg, strnlen(m->err.msg, sizeof(m->err.msg)), false);
	snprintf(r->why, sizeof(r->why), "%.199s", text.len ? text.data : "the command could not be started");
}

static void hear(struct cell *c, const struct order_msg *m)
{
	struct cell_run *r = find(c, m->id);

	if (!r || r->over || (m->type != ORDER_NOT_STARTED && m->type != ORDER_EXITED))
		return;
	r->over = true;
	r->status = m->value;
	if (m->type == ORDER_NOT_STARTED)
		note_reason(r, m);
	if (r->forgotten)
		r->id = 0;
}

/* Takes one message, if there is one; -1 and errno where there will be none any more. */
static int listen_once(struct cell *c)
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

int cell_start(struct cell *c, const struct order_cmd *cmd, const int fds[3], uint32_t *ret_id, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_fd order = -1;
	struct cell_run *r = new_run(c);
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

void cell_kill(struct cell *c, uint32_t id)
{
	struct order_msg m = { .type = ORDER_SIGNAL, .id = id, .value = SIGKILL };
	struct cell_run *r = find(c, id);

	if (!r)
		return;
	if (r->over) {
		r->id = 0;
		return;
	}
	r->forgotten = true;
	send_order(c, &m, NULL, 0);
}

/* The answer of a run that is over. */
static int finish(struct cell_run *r, int *ret_code, struct err *e)
{
	if (*r->why)
		err_set(e, ERR_FAILED, "%s", r->why);
	else
		*ret_code = proc_exit_code(r->status);
	r->id = 0;
	return *r->why ? -1 : 0;
}

static int late(struct cell *c, uint32_t id, unsigned seconds, struct err *e)
{
	cell_kill(c, id);
	err_set(e, ERR_FAILED, "the command took longer than %u seconds", seconds);
	e->sys = ETIMEDOUT;
	return -1;
}

static int gone(struct cell *c, uint32_t id, struct err *e)
{
	struct cell_run *r = find(c, id);

	err_sys(e, "the jail is gone");
	if (r)
		r->id = 0;
	return -1;
}

int cell_wait(struct cell *c, uint32_t id, unsigned seconds, int *ret_code, struct err *e)
{
	int64_t deadline = now_ms() + (int64_t)seconds * 1000;
	struct cell_run *r = find(c, id);

	if (!r || r->forgotten)
		return err_set(e, ERR_FAILED, "there is no such command");
	while (!r->over) {
		struct pollfd p = { c->orders, POLLIN, 0 };
		int64_t left = deadline - now_ms();

		if (left <= 0)
			return late(c, id, seconds, e);
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return gone(c, id, e);
		if (p.revents && listen_once(c) < 0)
			return gone(c, id, e);
	}
	return finish(r, ret_code, e);
}

/* What cell_run reads of a command. */
struct streams {
	int out, err;
};

static void streams_close(struct streams *s)
{
	fd_closep(&s->out);
	fd_closep(&s->err);
}
#define auto_streams __attribute__((cleanup(streams_close))) struct streams

/* A pipe for what is wanted, else a place where it is lost. */
static int make_end(bool wanted, int *ret_ours, int *ret_theirs)
{
	int pair[2];

	if (!wanted)
		return (*ret_theirs = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0 ? -1 : 0;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return fd_nonblock(pair[0]);
}

static int start_piped(struct cell *c, const struct order_cmd *cmd, int in, bool take, bool take_err,
	struct streams *s, uint32_t *ret_id, struct err *e)
{
	auto_fd out = -1, err = -1;

	if (make_end(take, &s->out, &out) < 0 || make_end(take_err, &s->err, &err) < 0)
		return err_sys(e, "cannot make pipes");
	return cell_start(c, cmd, (int[3]){ in, out, err }, ret_id, e);
}

/* What is there now, up to the most that a pipe can hold: a writer that never stops must not hold up the
 * clock. Closes at the end. False where b must hold it all and cannot. */
static bool take_all(int *fd, struct buf *b, bool whole)
{
	char chunk[16384];
	ssize_t n = 1;

	for (size_t i = 0; i < (1u << 20) / sizeof(chunk) && *fd >= 0 && n > 0; i++) {
		n = read(*fd, chunk, sizeof(chunk));
		if (n > 0 && !buf_add(b, chunk, (size_t)n) && whole)
			return false;
		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			fd_closep(fd);
			*fd = -1;
		}
	}
	return true;
}

static int attend(struct cell *c, struct cell_run *r, struct streams *s, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e)
{
	int64_t deadline = now_ms() + (int64_t)seconds * 1000;
	bool over = false, fits = true;

	/* looked at once more after the end: what it wrote before is in the pipes by then */
	while (!over && fits) {
		struct pollfd p[3] = { { c->orders, POLLIN, 0 }, { s->out, POLLIN, 0 }, { s->err, POLLIN, 0 } };
		int64_t left = deadline - now_ms();

		over = r->over;
		if (!over && left <= 0)
			return late(c, r->id, seconds, e);
		if (!over && poll(p, 3, (int)left) < 0 && errno != EINTR)
			return gone(c, r->id, e);
		if (!over && p[0].revents && listen_once(c) < 0)
			return gone(c, r->id, e);
		fits = take_all(&s->out, out, true);
		take_all(&s->err, errtext, false);
	}
	if (fits)
		return finish(r, ret_code, e);
	cell_kill(c, r->id);
	err_set(e, ERR_FAILED, "the command printed more than %zu bytes", out->max);
	e->sys = EFBIG;
	return -1;
}

int cell_run_from(struct cell *c, const struct order_cmd *cmd, int in, struct buf *out, struct buf *errtext,
	unsigned seconds, int *ret_code, struct err *e)
{
	auto_streams s = { -1, -1 };
	uint32_t id;

	if (start_piped(c, cmd, in, out != NULL, errtext != NULL, &s, &id, e) < 0)
		return -1;
	return attend(c, find(c, id), &s, out, errtext, seconds, ret_code, e);
}

int cell_run(struct cell *c, const struct order_cmd *cmd, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e)
{
	/* a file, which nobody has to feed */
	auto_fd in = input ? fd_of_bytes("input", buf_str(input), input->len)
			   : open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (in < 0)
		return err_sys(e, "cannot hand over the input");
	return cell_run_from(c, cmd, in, out, errtext, seconds, ret_code, e);
}
