#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "gateway/routes_parts.h"
#include "history/rollback.h"
#include "history/snapshot.h"
#include "history/sync.h"
#include "inside/pause.h"
#include "inside/renamed.h"
#include "task/life.h"

/* A snapshot's message is in the store. */
#define MESSAGE_MAX 1000
/* What a snapshot leaves in the store and the log, of the budget for what an agent can do at will. */
#define SNAPSHOT_COST 4096

/* The first 100 files that no snapshot can hold. */
static json_t *list_left(const struct review_left *left)
{
	auto_strvec lines = STRVEC_INIT;
	json_t *list = json_array();

	review_left_lines(left, &lines);
	for (size_t i = 0; i < lines.n && i < 100; i++)
		json_array_append_new(list, audit_text(lines.v[i]));
	return list;
}

int route_user_snapshot(struct request *q, struct err *e)
{
	auto_review_left left = { 0 };
	const char *message;
	int64_t number;

	if (request_text(q, "message", &message, e) < 0)
		return -1;
	if (message && strlen(message) > MESSAGE_MAX)
		return request_bad(q, e, "\"message\" is longer than 1000 bytes");
	if (snapshot_take(&q->gateway->in, "asked", message ? message : "", &number, &left, e) < 0)
		return -1;
	q->out = json_pack("{s:I, s:o}", "snapshot", (json_int_t)number, "left_out", list_left(&left));
	return 0;
}

int route_agent_snapshot(struct request *q, struct err *e)
{
	const struct inside *in = &q->gateway->in;
	bool may;

	if (audit_allows(in->audit, &in->task, SNAPSHOT_COST, &may, e) < 0)
		return -1;
	if (may)
		return route_user_snapshot(q, e);
	refuse(&q->no, e, "too_many_snapshots", "", "the task has taken too many snapshots");
	return refusal_say(&q->no, "take another snapshot", "wait for a minute");
}

/* A path that is not UTF-8 is sent as hex digits, because JSON strings are UTF-8. */
static int take_file(struct request *q, char **ret, struct err *e)
{
	const char *plain, *hex;
	unsigned byte;

	if (request_text(q, "file", &plain, e) < 0 || request_text(q, "file_hex", &hex, e) < 0)
		return -1;
	if (!hex) {
		*ret = plain ? xstrdup(plain) : NULL;
		return 0;
	}
	if (strlen(hex) % 2 || !hex_is(hex, strlen(hex)))
		return request_bad(q, e, "\"file_hex\" is not a list of hex digits");
	*ret = xstrndup(hex, strlen(hex) / 2);
	for (size_t i = 0; (*ret)[i]; i++)
		(*ret)[i] = sscanf(hex + 2 * i, "%2x", &byte) == 1 ? (char)byte : '\0';
	return 0;
}

int route_user_rollback(struct request *q, struct err *e)
{
	struct rollback_spec s = { .full = json_is_true(json_object_get(q->in, "full")),
		.undo = json_is_true(json_object_get(q->in, "undo")),
		.force = json_is_true(json_object_get(q->in, "force")),
		.snapshot = json_integer_value(json_object_get(q->in, "snapshot")) };
	auto_review_left left = { 0 };
	auto_strvec stashed = STRVEC_INIT;
	auto_str file = NULL;
	int64_t before = 0;

	if (take_file(q, &file, e) < 0)
		return -1;
	s.file = file;
	if (rollback(&q->gateway->in, &s, &before, &left, &stashed, e) < 0)
		return -1;
	q->out = json_pack("{s:I, s:s, s:o, s:o}", "snapshot", (json_int_t)before, "tip",
		q->gateway->in.task.published, "left_out", s.force ? json_array() : list_left(&left),
		"stashed", request_list(&stashed));
	return 0;
}

int route_user_renamed(struct request *q, struct err *e)
{
	if (inside_renamed(&q->gateway->in, e) < 0)
		return -1;
	q->out = json_object();
	return 0;
}

int route_user_sync(struct request *q, struct err *e)
{
	auto_strvec conflicts = STRVEC_INIT;
	struct sync_result r = { 0 };
	json_t *paths;
	int rc = sync_task(
		&q->gateway->pub, json_is_true(json_object_get(q->in, "merge")), &r, &conflicts, &q->no, e);

	if (rc < 0)
		return -1;
	/* the conflict that it was paused for is solved */
	if (!conflicts.n && !strcmp(q->gateway->in.task.state, STATE_PAUSED) &&
		resume_task(&q->gateway->in, e) < 0)
		return -1;
	paths = json_array();
	for (size_t i = 0; i < conflicts.n; i++)
		json_array_append_new(paths, audit_text(conflicts.v[i]));
	q->out = json_pack(
		"{s:s, s:s, s:b, s:o}", "base", r.base, "tip", r.tip, "moved", r.moved, "conflicts", paths);
	return 0;
}

int route_user_pause(struct request *q, struct err *e)
{
	q->out = json_object();
	return pause_for_user(&q->gateway->in, e);
}

int route_user_resume(struct request *q, struct err *e)
{
	q->out = json_object();
	return resume_task(&q->gateway->in, e);
}
