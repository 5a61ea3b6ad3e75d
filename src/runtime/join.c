#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "keeper/wire.h"
#include "runtime/choose_network.h"
#include "runtime/control.h"
#include "runtime/login.h"
#include "runtime/rename.h"
#include "runtime/run.h"
#include "runtime/start_keeper.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/run.h"
#include "task/sessions.h"

#define LEAVING_MS 1000

/* Connects to the keeper or starts one. 1: neither worked, because a keeper is leaving or starting; try
 * again. */
static int join_or_start(struct context *c, struct task *t, const struct run_opts *o, bool *ret_started,
	int *ret_conn, struct err *e)
{
	auto_fd dir = -1, lock = -1;

	*ret_started = false;
	if (!control_connect(c, t, ret_conn, e)) {
		if (o->net_asked)
			runtime_warn(o,
				"task '%s' is running: its network stays as it is, but for garth allow --host",
				t->name);
		return reach_for_agent(c, t, o, *ret_conn, e);
	}
	if (e->kind != ERR_NOTFOUND || home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (lock_take(dir, "lock", false, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 1 : -1;
	*ret_started = true;
	return start_keeper(c, t, o, NULL, NULL, lock, ret_conn, e);
}

/* The keeper of the last command may be about to leave. Work that has to be done before a keeper starts waits for
 * that, but not for a keeper that still has commands. */
static void wait_for_leaving(const struct context *c, const struct task *t)
{
	struct deadline d = deadline_in(LEAVING_MS);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (life_is_running(t) || home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	while (lock_is_held(dir, "lock") && deadline_sleep(&d, 2))
		;
}

int runtime_hold(
	struct context *c, struct task *t, bool set_aside, bool *ret_started, int *ret_conn, struct err *e)
{
	struct deadline d = deadline_in(RUNTIME_KEEPER_MS);
	struct run_opts o = { .set_aside = set_aside };
	int rc;

	if (runtime_configure(c, t, e) < 0 || runtime_network(c, t, NULL, NULL, &o, e) < 0)
		return -1;
	if (set_aside)
		wait_for_leaving(c, t);
	do
		rc = join_or_start(c, t, &o, ret_started, ret_conn, e);
	while (rc > 0 && deadline_sleep(&d, 10));
	network_release(&o.net);
	return rc > 0 ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name) : rc;
}

int runtime_pack(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct buf *ret, struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_outside out = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	char session[37];

	rename_inside(c, t, &ignored);
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 ||
		(o->own_session ? sessions_add(dir, session, e) : sessions_main(t, dir, session, e)) < 0)
		return -1;
	if (walls_command(c, t, o->agent, &o->net, session, o->env, argv, &cmd, e) < 0 ||
		login_open(c, t, o, task_is_busy(c, t), &out, e) < 0)
		return -1;
	outside_env(&out, &cmd.env);
	walls_enter(&cmd, t, o->cwd);
	cmd.tty = o->tty;
	cmd.rows = o->rows;
	cmd.cols = o->cols;
	order_cmd_pack(&cmd, ret);
	return ret->overflow ? err_set(e, ERR_USAGE, "the command is longer than %u bytes", ORDER_CMD_MAX)
			     : 0;
}

int runtime_exec(struct context *c, struct task *t, const struct run_opts *o, const struct buf *packed,
	int *ret_conn, struct err *e)
{
	auto_fd conn = -1;
	bool started;
	int rc = join_or_start(c, t, o, &started, &conn, e);

	if (rc)
		return rc;
	if (wire_send(conn, WIRE_EXEC, packed->data, packed->len) < 0)
		return errno == EPIPE || errno == ECONNRESET ? 1
							     : err_sys(e, "cannot reach the task's keeper");
	*ret_conn = fd_steal(&conn);
	return 0;
}

/* Waits for a frame, or the end of the connection. */
static bool is_readable(int conn, const struct deadline *d)
{
	struct pollfd p = { .fd = conn, .events = POLLIN };
	int left = deadline_left(d);

	return left && (poll(&p, 1, left) || deadline_left(d));
}

/* 1: the keeper was leaving and did nothing. */
static int wait_for_exit(
	int conn, uint64_t seconds, runtime_output_fn *fn, void *arg, int *ret_code, struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;
	struct deadline d = deadline_in(1000 * (int64_t)seconds);
	bool any = false;
	int got;

	if (wire_send(conn, WIRE_STDIN_END, NULL, 0) < 0)
		return 1;
	for (;;) {
		if (seconds && !is_readable(conn, &d))
			return err_set(e, ERR_FAILED, "it took longer than %llu seconds",
				(unsigned long long)seconds);
		got = wire_recv(conn, &type, &body);
		if (got <= 0)
			break;
		any = true;
		if (fn && (type == WIRE_OUT || type == WIRE_ERR))
			fn(type == WIRE_ERR ? 2 : 1, body.data, body.len, arg);
		if (type == WIRE_FAIL) {
			memcpy(e, body.data, sizeof(*e));
			return -1;
		}
		if (type == WIRE_EXIT) {
			int32_t code;

			memcpy(&code, body.data, sizeof(code));
			*ret_code = code;
			return 0;
		}
	}
	return any ? err_set(e, ERR_FAILED, "the task's keeper is gone") : 1;
}

int runtime_wait_output(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	runtime_output_fn *fn, void *arg, int *ret_code, struct err *e)
{
	struct deadline d = deadline_in(RUNTIME_KEEPER_MS);
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	int rc;

	if (runtime_pack(c, t, o, argv, &packed, e) < 0)
		return -1;
	do {
		auto_fd conn = -1;

		rc = runtime_exec(c, t, o, &packed, &conn, e);
		if (!rc)
			rc = wait_for_exit(conn, o->timeout, fn, arg, ret_code, e);
	} while (rc > 0 && deadline_sleep(&d, 10));
	return rc > 0 ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name) : rc;
}

int runtime_wait(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	int *ret_code, struct err *e)
{
	return runtime_wait_output(c, t, o, argv, NULL, NULL, ret_code, e);
}
