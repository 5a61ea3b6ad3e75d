#include "runtime/control.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/deadline.h"
#include "keeper/keeper.h"
#include "sys/fd.h"
#include "sys/sock.h"
#include "task/life.h"

/* longer than REVIEW_SECONDS: scanning the workspace at the end of a run */
#define CANCEL_MS 30000

static int connect_to(
	const struct context *c, const struct task *t, const char *name, int *ret, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	return sock_connect(dir, name, ret, e);
}

int control_connect(const struct context *c, const struct task *t, int *ret_conn, struct err *e)
{
	return connect_to(c, t, KEEPER_CONTROL_SOCKET, ret_conn, e);
}

int control_attach(
	struct context *c, struct task *t, const struct wire_size *size, int *ret_conn, struct err *e)
{
	auto_fd conn = -1;

	if (!life_is_running(t))
		return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state),
		       err_hint(e, t->started ? "garth log %s" : "garth shell %s", t->name);
	if (control_connect(c, t, &conn, e) < 0)
		return err_wrap(e, "cannot reach the keeper of task '%s'", t->name);
	if (wire_send(conn, WIRE_ATTACH, size, sizeof(*size)) < 0)
		return err_sys(e, "cannot reach the keeper of task '%s'", t->name);
	*ret_conn = fd_steal(&conn);
	return 0;
}

/* Sends the keeper a request with a port; it answers with a port. */
static int ask_port(struct context *c, struct task *t, enum wire_type question, uint16_t port, uint16_t *ret,
	struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	uint32_t number = port;
	enum wire_type type;
	auto_fd conn = -1;

	if (control_connect(c, t, &conn, e) < 0 && e->kind == ERR_NOTFOUND)
		return -1;
	if (conn < 0 || wire_send(conn, question, &number, sizeof(number)) < 0 ||
		wire_recv(conn, &type, &body) <= 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	if (type == WIRE_FAIL) {
		memcpy(e, body.data, sizeof(*e));
		return -1;
	}
	if (type != question)
		return err_set(
			e, ERR_FAILED, "the keeper of task '%s' gave an answer that makes no sense", t->name);
	memcpy(&number, body.data, sizeof(number));
	*ret = (uint16_t)number;
	return 0;
}

int control_port(struct context *c, struct task *t, uint16_t inside, uint16_t *ret, struct err *e)
{
	if (ask_port(c, t, WIRE_PORT, inside, ret, e) == 0)
		return 0;
	if (e->kind == ERR_NOTFOUND)
		err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
	return -1;
}

int control_forward(struct context *c, struct task *t, uint16_t port, struct err *e)
{
	uint16_t same;

	return ask_port(c, t, WIRE_FORWARD, port, &same, e);
}

static int not_running(const struct task *t, struct err *e)
{
	return err_set(e, ERR_REFUSED, "task '%s' is not running, it is %s", t->name, t->state);
}

int control_cancel(struct context *c, struct task *t, struct err *e)
{
	struct deadline d = deadline_in(CANCEL_MS);
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;
	auto_fd conn = -1;
	int got;

	/* commands of `garth exec` may run in a stopped task; they end too */
	if (!life_is_running(t) && !task_is_busy(c, t))
		return not_running(t, e);
	/* a keeper that was just started does not listen yet */
	while (control_connect(c, t, &conn, e) < 0 && connect_to(c, t, KEEPER_ENDING_SOCKET, &conn, e) < 0) {
		/* it has ended meanwhile, or the task was only being made */
		if (e->kind == ERR_NOTFOUND && !task_is_busy(c, t))
			return life_is_running(t) ? 0 : not_running(t, e);
		if (e->kind != ERR_NOTFOUND || !deadline_sleep(&d, 5))
			return err_wrap(e, "cannot reach the keeper of task '%s'", t->name);
	}
	if (wire_send(conn, WIRE_CANCEL, NULL, 0) < 0)
		return err_set(e, ERR_BUSY, "cannot reach the keeper of task '%s'", t->name);
	while ((got = wire_recv(conn, &type, &body)) > 0)
		if (type == WIRE_EXIT || type == WIRE_FAIL)
			return 0;
	return got < 0 ? err_sys(e, "lost the keeper of task '%s'", t->name) : 0;
}
