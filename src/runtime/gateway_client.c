#include "runtime/gateway_client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/deadline.h"
#include "http/http_client.h"
#include "keeper/keeper.h"
#include "keeper/wire.h"
#include "runtime/run.h"
#include "sys/fd.h"
#include "sys/sock.h"
#include "task/life.h"

#define ANSWER_MAX     (4u << 20)
#define ANSWER_SECONDS 900
#define SOCKET_MS      8000
#define ASK_MS         10000

/* What a keeper says to who only holds it is why there is no jail, or nothing: then it was leaving. */
static int last_word(int keeper, struct err *e)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;

	if (wire_recv(keeper, &type, &body) <= 0 || type != WIRE_FAIL)
		return 1;
	memcpy(e, body.data, sizeof(*e));
	return -1;
}

/* A keeper that has just been started may not listen yet. 1: it is leaving. */
static int connect_gate(int dir, int keeper, int *ret, struct err *e)
{
	struct deadline d = deadline_in(SOCKET_MS);
	struct pollfd p = { keeper, POLLIN, 0 };

	while (sock_connect(dir, KEEPER_USER_SOCKET, ret, e) < 0) {
		if (e->kind != ERR_NOTFOUND || !deadline_left(&d))
			return -1;
		if (poll(&p, 1, 2) > 0)
			return last_word(keeper, e);
	}
	return 0;
}

static int take_answer(const struct http_answer *answer, json_t **ret, struct err *e)
{
	json_t *o = json_loads(buf_str(&answer->body), 0, NULL), *error;
	const char *message, *hint;

	if (!o)
		return err_set(e, ERR_FAILED, "the task's gateway gave no answer"),
		       err_hint(e, "garth audit");
	error = json_object_get(o, "error");
	message = json_string_value(json_object_get(error, "message"));
	hint = json_string_value(json_object_get(error, "hint"));
	if (answer->status != 200 || error) {
		err_set(e, err_kind_of_http(answer->status), "%s", message ? message : "the gateway refused");
		if (hint && *hint)
			err_hint(e, "%s", hint);
		json_decref(o);
		return -1;
	}
	*ret = o;
	return 0;
}

static int refuse_running(const struct task *t, struct err *e)
{
	err_set(e, ERR_REFUSED,
		"ignored directories that were set aside can come back only when task '%s' is stopped",
		t->name);
	return err_hint(e, "garth cancel %s", t->name);
}

/* 1: nobody has heard of it, because a keeper was leaving: it closed the connection without having read all.
 * One that has read all and gives no answer may have done the work. */
static int ask_once(struct context *c, struct task *t, const struct gateway_question *q, const char *body,
	struct http_answer *answer, struct err *e)
{
	auto_fd keeper = -1, dir = -1, fd = -1;
	bool started;
	int rc;

	if (runtime_hold(c, t, q->set_aside, &started, &keeper, e) < 0 ||
		home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (q->stopped && !started)
		return refuse_running(t, e);
	rc = connect_gate(dir, keeper, &fd, e);
	if (rc)
		return rc;
	if (!http_set_time_limit(fd, ANSWER_SECONDS) && !http_post(fd, q->path, body, answer))
		return 0;
	err_sys(e, "cannot speak to the task's gateway");
	return e->sys == ECONNRESET || e->sys == EPIPE ? 1 : -1;
}

int gateway_ask_with(struct context *c, struct task *t, const struct gateway_question *q, json_t *in,
	json_t **ret, struct err *e)
{
	auto_str body = json_dumps(in, JSON_COMPACT);
	auto_http_answer answer = HTTP_ANSWER_INIT(ANSWER_MAX);
	struct deadline d = deadline_in(ASK_MS);
	int rc;

	json_decref(in);
	do {
		*e = (struct err)ERR_INIT;
		rc = ask_once(c, t, q, body, &answer, e);
	} while (rc > 0 && deadline_sleep(&d, 10));
	if (rc > 0)
		err_set(e, ERR_BUSY, "it is in use by another command");
	return rc ? err_wrap(e, "task '%s'", t->name), -1 : take_answer(&answer, ret, e);
}

int gateway_ask(struct context *c, struct task *t, const char *path, json_t *in, json_t **ret, struct err *e)
{
	return gateway_ask_with(c, t, &(struct gateway_question){ .path = path }, in, ret, e);
}
