#include "audit/flood.h"

#include <string.h>
#include <time.h>

#include "audit/line.h"
#include "base/alloc.h"
#include "base/buf.h"

/* Bytes of a line apart from its details. */
#define LINE_REST 350

static const char *const often[] = { "asked", "connect", "connect-refused", "note", "output",
	"publish-failed", "question", "refused", "stage-complete", "ticket" };

bool flood_is_often(const char *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(often); i++)
		if (!strcmp(event, often[i]))
			return true;
	return false;
}

/* Identical events have the same key. (Events that are counted together have the event's name as their
 * key.) */
static void make_key(const char *event, const char *details, char ret[LINE_HASH_LEN + 1])
{
	auto_buf text = BUF_INIT(LINE_MAX_LEN * 2);

	buf_printf(&text, "%s\n%s", event, details);
	line_hash(buf_str(&text), text.len, ret);
}

int flood_spend(struct store *s, const struct task *t, size_t bytes, size_t reserve, bool *ret, struct err *e)
{
	int64_t now = time(NULL), left = FLOOD_BURST, at = now;

	if (store_flood_budget(s, t->id, &left, &at, e) < 0)
		return -1;
	/* if the clock was set back, the budget does not grow */
	if (now > at)
		left += (now - at) < FLOOD_BURST ? (now - at) * FLOOD_RATE / 60 : FLOOD_BURST;
	if (left > FLOOD_BURST)
		left = FLOOD_BURST;
	*ret = left >= (int64_t)(bytes + reserve);
	return store_flood_set_budget(s, t->id, *ret ? left - (int64_t)bytes : left, now, e);
}

/* Writes a line that covers `times` events. */
static int write_line(struct audit *a, const struct task *t, const struct flood *f, json_t *details,
	int64_t times, struct err *e)
{
	json_t *all = details ? json_copy(details) : json_loads(f->details, 0, NULL);
	int rc;

	if (!all)
		all = json_pack("{s:b}", "various", 1);
	if (times > 1)
		json_object_set_new(all, "repeated", json_integer((json_int_t)times));
	rc = audit_append(a, f->event, t, all, e);
	json_decref(all);
	return rc;
}

/* Counts events that differ in their details together. Writes a line if the last one is a minute old, or if
 * `now` is set. */
static int count_various(struct audit *a, struct store *s, const struct task *t, const char *event,
	int64_t times, bool now, struct err *e)
{
	auto_flood f = { .event = xstrdup(event), .details = xstrdup("") };
	int64_t time_now = time(NULL);

	snprintf(f.key, sizeof(f.key), "%s", event);
	if (store_flood(s, t->id, &f, e) < 0)
		return -1;
	f.pending += times;
	if (!f.pending)
		return 0;
	if (now || time_now - f.written >= FLOOD_QUIET || time_now < f.written) {
		if (write_line(a, t, &f, NULL, f.pending, e) < 0)
			return -1;
		f.pending = 0;
		f.written = time_now;
	}
	return store_flood_set(s, t->id, &f, e);
}

/* Writes a line for the counted events if the budget allows it; else adds them to the common count. */
static int write_or_count(struct audit *a, struct store *s, const struct task *t, struct flood *f,
	json_t *details, bool now, struct err *e)
{
	int64_t times = f->pending;
	bool known = f->written != 0, room;

	if (flood_spend(s, t, strlen(f->details) + LINE_REST, FLOOD_RESERVE, &room, e) < 0)
		return -1;
	if (room && write_line(a, t, f, details, times, e) < 0)
		return -1;
	if (!room && count_various(a, s, t, f->event, times, now, e) < 0)
		return -1;
	f->pending = 0;
	f->written = time(NULL);
	/* without a line there is no row either: an agent could make any number of them */
	return room || known ? store_flood_set(s, t->id, f, e) : 0;
}

int flood_add(struct audit *a, struct store *s, const char *event, const struct task *t, json_t *details,
	struct err *e)
{
	char *text = json_dumps(details, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
	auto_flood f = { .event = xstrdup(event), .details = text ? text : xstrdup("{}") };
	int64_t now = time(NULL), age;

	make_key(event, f.details, f.key);
	if (flood_settle(a, s, t, false, e) < 0 || store_flood(s, t->id, &f, e) < 0)
		return -1;
	age = now - f.written;
	f.pending++;
	if (f.lines >= FLOOD_PLAIN && age >= 0 && age < FLOOD_QUIET)
		return store_flood_set(s, t->id, &f, e);
	f.lines = f.lines < FLOOD_PLAIN ? f.lines + 1 : 1;
	if (store_flood_forget(s, t->id, now - FLOOD_QUIET, e) < 0)
		return -1;
	return write_or_count(a, s, t, &f, details, false, e);
}

int flood_settle(struct audit *a, struct store *s, const struct task *t, bool all, struct err *e)
{
	auto_flood_list l = { 0 };

	if (store_flood_pending(s, t->id, all ? INT64_MAX : time(NULL) - FLOOD_QUIET, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		struct flood *f = &l.v[i];

		if (*f->details ? write_or_count(a, s, t, f, NULL, false, e) < 0
				: count_various(a, s, t, f->event, 0, true, e) < 0)
			return -1;
	}
	/* then the counts that the loop above moved to the common ones for lack of budget */
	for (size_t i = 0; all && l.n && i < ARRAY_SIZE(often); i++)
		if (count_various(a, s, t, often[i], 0, true, e) < 0)
			return -1;
	return 0;
}
