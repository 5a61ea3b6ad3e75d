#include "runtime/try.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "keeper/wire.h"
#include "runtime/control.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/remove.h"

/* How long a keeper may take to end after its last command. */
#define LEAVE_MS 30000

void runtime_try_drop(struct context *c, struct task *t, bool cancel)
{
	struct deadline d = deadline_in(LEAVE_MS);
	struct err ignored = ERR_INIT;
	auto_lock lock = -1;
	auto_fd dir = -1;

	if (context_store(c, &ignored) < 0 || home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	if (cancel && lock_is_held(dir, "lock"))
		control_cancel(c, t, &ignored);
	while (lock_is_held(dir, "lock") && deadline_sleep(&d, 5))
		;
	if (!context_store(c, &ignored) && !lock_take(dir, "lock", false, &lock, &ignored))
		remove_for_good(c, t, &ignored);
}

/* Makes the task, and fills in what it is run with. */
static int make(
	struct context *c, const struct try_spec *s, struct task *t, struct run_opts *o, struct err *e)
{
	const struct task_spec spec = { .program = "agent-test", .empty = true, .weaker = s->weaker };

	*o = (struct run_opts){ .agent = s->agent,
		.argv = s->argv,
		.env = s->env,
		.timeout = s->seconds,
		.quiet = true,
		.walls.allow_weaker = s->weaker };
	if (task_create(c, &spec, t, e) < 0)
		return -1;
	if (s->net) {
		o->net = *s->net;
		*s->net = (struct network){ 0 };
	} else {
		o->net.mode = xstrdup(NETWORK_NONE);
	}
	return 0;
}

int runtime_try(struct context *c, const struct try_spec *s, int *ret_code, struct err *e)
{
	struct run_opts o;
	auto_task t = { 0 };
	int rc;

	if (make(c, s, &t, &o, e) < 0)
		return -1;
	rc = runtime_wait_output(c, &t, &o, s->argv, s->fn, s->arg, ret_code, e);
	network_release(&o.net);
	runtime_try_drop(c, &t, false);
	return rc;
}

static bool send_all(int conn, const struct buf *input)
{
	/* a client may send so much at once without asking */
	if (input->len > WIRE_WINDOW_BYTES)
		return false;
	for (size_t at = 0; at < input->len; at += WIRE_DATA_MAX) {
		size_t n = input->len - at;

		if (wire_send(conn, WIRE_STDIN, input->data + at, n < WIRE_DATA_MAX ? n : WIRE_DATA_MAX) < 0)
			return false;
	}
	return true;
}

/* Until it has said enough, or has ended. */
static int listen(int conn, const struct try_spec *s, try_talk_fn *fn, int *ret_code, struct err *e)
{
	struct deadline d = deadline_in(1000 * (int64_t)s->seconds);
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;

	for (;;) {
		struct pollfd p[2] = { { .fd = conn, .events = POLLIN },
			{ .fd = s->stop, .events = POLLIN } };
		int32_t code;

		if (!deadline_left(&d))
			return err_set(e, ERR_FAILED, "it took longer than %u seconds", s->seconds);
		if (poll(p, 2, deadline_left(&d)) <= 0)
			continue;
		if (p[1].revents)
			return err_set(e, ERR_FAILED, "nobody waits for its answer");
		if (wire_recv(conn, &type, &body) <= 0)
			return err_set(e, ERR_FAILED, "the task's keeper is gone");
		if (type == WIRE_FAIL) {
			memcpy(e, body.data, sizeof(*e));
			return -1;
		}
		if (type == WIRE_EXIT) {
			memcpy(&code, body.data, sizeof(code));
			*ret_code = code;
			return 0;
		}
		if ((type == WIRE_OUT || type == WIRE_ERR) &&
			fn(type == WIRE_OUT ? 1 : 2, body.data, body.len, s->arg)) {
			*ret_code = -1;
			return 0;
		}
	}
}

int runtime_try_talk(struct context *c, const struct try_spec *s, const struct buf *input, try_talk_fn *fn,
	int *ret_code, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	const int32_t kill = SIGKILL;
	struct run_opts o;
	auto_task t = { 0 };
	int conn = -1, rc;

	if (make(c, s, &t, &o, e) < 0)
		return -1;
	rc = runtime_pack(c, &t, &o, s->argv, &packed, e);
	/* nobody else knows of the task: no keeper can be leaving or starting */
	if (!rc)
		rc = runtime_exec(c, &t, &o, &packed, &conn, e);
	if (!rc && !send_all(conn, input))
		rc = err_set(e, ERR_FAILED, "cannot tell it anything");
	if (!rc)
		rc = listen(conn, s, fn, ret_code, e);
	/* closing it hangs up on the command, which may take its time */
	if (conn >= 0)
		wire_send(conn, WIRE_SIGNAL, &kill, sizeof(kill));
	fd_closep(&conn);
	network_release(&o.net);
	runtime_try_drop(c, &t, false);
	return rc ? -1 : 0;
}
