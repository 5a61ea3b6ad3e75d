#include "cli/gate_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/say.h"
#include "cli/session.h"
#include "keeper/keeper.h"
#include "keeper/wire.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sock.h"
#include "task/life.h"
#include "task/set_aside.h"
#include "workspace/aside.h"

#define ANSWER_MAX     (4u << 20)
#define ANSWER_SECONDS 900
#define SOCKET_TRIES   4000
#define SOCKET_MS      2
#define ASK_TRIES      100
#define SETTLE_MS      10000

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
	struct pollfd p = { keeper, POLLIN, 0 };

	for (int tries = 0; sock_connect(dir, KEEPER_USER_SOCKET, ret, e) < 0; tries++) {
		if (e->kind != ERR_NOTFOUND || tries == SOCKET_TRIES)
			return -1;
		if (poll(&p, 1, SOCKET_MS) > 0)
			return last_word(keeper, e);
	}
	return 0;
}

static int exchange(int fd, const char *path, const char *body, struct buf *answer, struct err *e)
{
	struct timeval tv = { .tv_sec = ANSWER_SECONDS };
	auto_str head = xasprintf("POST %s HTTP/1.1\r\nHost: garth\r\nConnection: close\r\n"
				  "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
		path, strlen(body));

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (write_full(fd, head, strlen(head)) < 0 || write_full(fd, body, strlen(body)) < 0)
		return err_sys(e, "cannot speak to the task's gateway");
	return read_rest(fd, answer, "the gateway's answer", e);
}

static enum err_kind kind_of(int status)
{
	switch (status) {
	case 400:
		return ERR_USAGE;
	case 403:
		return ERR_REFUSED;
	case 404:
		return ERR_NOTFOUND;
	case 409:
		return ERR_CONFLICT;
	default:
		return ERR_FAILED;
	}
}

static int take_answer(struct buf *answer, json_t **ret, struct err *e)
{
	const char *text = buf_str(answer), *body = strstr(text, "\r\n\r\n");
	int status = !strncmp(text, "HTTP/1.1 ", 9) ? atoi(text + 9) : 0;
	json_t *o = body ? json_loads(body + 4, 0, NULL) : NULL, *error;
	const char *message, *hint;

	if (!o)
		return err_set(e, ERR_FAILED, "the task's gateway gave no answer"),
		       err_hint(e, "garth audit");
	error = json_object_get(o, "error");
	message = json_string_value(json_object_get(error, "message"));
	hint = json_string_value(json_object_get(error, "hint"));
	if (status != 200 || error) {
		err_set(e, kind_of(status), "%s", message ? message : "the gateway refused");
		if (hint && *hint)
			err_hint(e, "%s", hint);
		json_decref(o);
		return -1;
	}
	*ret = o;
	return 0;
}

struct question {
	const char *path, *body;
	bool set_aside; /* ignored directories are set aside first, if the task is stopped */
	bool stopped;   /* the task has to be: what comes back cannot come into a running one */
};

static int refuse_running(const struct task *t, struct err *e)
{
	err_set(e, ERR_REFUSED,
		"ignored directories that were set aside can come back only when task '%s' is stopped",
		t->name);
	return err_hint(e, "garth cancel %s", t->name);
}

/* 1: nobody has heard of it, because a keeper was leaving. Who ends without having read all gives a reset,
 * and who has read all an end. */
static int ask_once(
	struct context *c, struct task *t, const struct question *q, struct buf *answer, struct err *e)
{
	auto_fd keeper = -1, dir = -1, fd = -1;
	bool started;
	int rc;

	if (session_hold(c, t, q->set_aside, &started, &keeper, e) < 0 ||
		home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	if (q->stopped && !started)
		return refuse_running(t, e);
	rc = connect_gate(dir, keeper, &fd, e);
	if (rc || !exchange(fd, q->path, q->body, answer, e))
		return rc;
	return !answer->len && (e->sys == ECONNRESET || e->sys == EPIPE) ? 1 : -1;
}

static int ask(struct context *c, struct task *t, struct question *q, json_t *in, json_t **ret, struct err *e)
{
	auto_str body = json_dumps(in, JSON_COMPACT);
	auto_buf answer = BUF_INIT(ANSWER_MAX);
	int rc = 1;

	q->body = body;

	json_decref(in);
	for (int tries = 0; rc > 0 && tries < ASK_TRIES; tries++) {
		if (tries)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		*e = (struct err)ERR_INIT;
		rc = ask_once(c, t, q, &answer, e);
	}
	if (rc > 0)
		err_set(e, ERR_BUSY, "it is in use by another command");
	return rc ? err_wrap(e, "task '%s'", t->name), -1 : take_answer(&answer, ret, e);
}

int gate_ask(struct context *c, struct task *t, const char *path, json_t *in, json_t **ret, struct err *e)
{
	return ask(c, t, &(struct question){ .path = path }, in, ret, e);
}

/* When the keeper that did the rollback has left, what it set aside for nothing, or wants back, goes to its
 * place. Another command may keep the keeper: then the next start of the task does it. */
static void settle(struct context *c, struct task *t)
{
	int64_t until = clock_ms() + SETTLE_MS;
	auto_strvec stuck = STRVEC_INIT;
	struct err e = ERR_INIT;
	int rc;

	while ((rc = set_aside_settle_task(c, t, &stuck, &e)) < 0 && e.kind == ERR_BUSY &&
		clock_ms() < until) {
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		e = (struct err)ERR_INIT;
	}
	if (rc < 0 && e.kind == ERR_BUSY)
		say_warning(
			"ignored directories of task '%s' come back when its commands have ended", t->name);
	else if (rc < 0)
		say_warning("%s", e.msg);
	for (size_t i = 0; i < stuck.n; i++) {
		auto_buf line = BUF_SMALL;

		say_warning("%s", say_one_line(&line, stuck.v[i]));
	}
}

/* Which directories a rollback to the snapshot brings back, and which it cannot any more. */
static int look_aside(
	struct context *c, struct task *t, int64_t snapshot, bool undo, bool *ret_kept, struct err *e)
{
	auto_strvec kept = STRVEC_INIT, given = STRVEC_INIT;
	auto_task_at at = { .ws.dir = -1 };

	if (context_store(c, e) < 0 || task_open(c, t, &at, e) < 0 ||
		aside_kept(&at.ws, snapshot, &kept, e) < 0 || aside_given(&at.ws, snapshot, &given, e) < 0)
		return -1;
	*ret_kept = kept.n > 0;
	if (given.n && !undo) {
		auto_buf line = BUF_SMALL;

		say_warning(
			"snapshot %lld has no ignored directories any more: garth undo took them out of it: %s%s",
			(long long)snapshot, say_one_line(&line, given.v[0]), given.n > 1 ? " and more" : "");
	}
	return 0;
}

int gate_rollback(struct context *c, struct task *t, json_t *in, json_t **ret, struct err *e)
{
	struct question q = { .path = "/user/v1/rollback",
		.set_aside = !json_object_get(in, "file") && !json_object_get(in, "file_hex") };
	int64_t snapshot = json_integer_value(json_object_get(in, "snapshot"));
	struct err none = ERR_INIT;
	auto_fd dir = -1;
	int rc;

	if (q.set_aside && snapshot &&
		look_aside(c, t, snapshot, json_is_true(json_object_get(in, "undo")), &q.stopped, e) < 0) {
		json_decref(in);
		return -1;
	}
	rc = ask(c, t, &q, in, ret, e);
	if (q.set_aside && !home_task_dir(&c->home, t->id, &dir, &none) && aside_is_pending(dir))
		settle(c, t);
	return rc;
}

/* Going back is a rollback too, but no deed: who is killed in it takes the same one back again. */
int rollback_undo(struct context *c, const struct deed *d, struct err *e)
{
	/* the snapshot, and the path if only that was rolled back */
	json_t *data = json_loads(d->data, 0, NULL), *answer = NULL;
	auto_task t = { 0 };

	if (!json_integer_value(json_object_get(data, "snapshot"))) {
		json_decref(data);
		return err_set(e, ERR_FAILED, "the store does not say where task '%s' was before", d->task);
	}
	json_object_set_new(data, "undo", json_true());
	if (task_find(c, d->task, &t, e) < 0) {
		json_decref(data);
		return -1;
	}
	if (gate_rollback(c, &t, data, &answer, e) < 0)
		return -1;
	json_decref(answer);
	return 0;
}
