/* Names of a plan's tasks, "PLAN" and "PLAN.STAGE", by the rules for task names. Ids may have capitals and be longer. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "plan/plan.h"
#include "sys/digest.h"

#define PLAN_PART_MAX 40 /* of the plan's name, so that stages' names fit beside it */
#define HASH_LEN      6

/* The suffix of a name that was cut, or would not be unique. */
static void hash_of(const char *id, char out[HASH_LEN + 1])
{
	unsigned char digest[DIGEST_MAX];

	digest_of(DIGEST_SHA256_LEN, id, strlen(id), digest);
	for (size_t i = 0; i < HASH_LEN; i++)
		out[i] = "0123456789abcdefghijklmnopqrstuv"[digest[i] % 32];
	out[HASH_LEN] = '\0';
}

/* In lower case, without dots; with a hash if it must be made unique or does not fit. */
static char *part_of(const char *id, size_t max, bool unique)
{
	size_t len = strlen(id);
	bool hashed = unique || len > max;
	auto_buf name = BUF_SMALL;
	char hash[HASH_LEN + 1];

	if (hashed && len > max - HASH_LEN - 1)
		len = max - HASH_LEN - 1;
	for (size_t i = 0; i < len; i++) {
		char c = id[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '.' || (!i && (c == '-' || c == '_')))
			c = i ? '-' : 'x';
		buf_addch(&name, c);
	}
	hash_of(id, hash);
	if (hashed)
		buf_printf(&name, "-%s", hash);
	return buf_steal(&name);
}

static bool is_taken(const struct plan *p, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(p->stages[i].task, name))
			return true;
	return false;
}

int plan_name_tasks(struct plan *p, const char *name, struct err *e)
{
	auto_str top = part_of(name, PLAN_PART_MAX, false);
	size_t left = NAME_MAX_LEN - strlen(top) - 1;

	if (name_check_task(top, e) < 0)
		return -1;
	free(p->task);
	p->task = steal_ptr(top);
	for (size_t i = 0; i < p->nstages; i++) {
		struct plan_stage *s = &p->stages[i];
		auto_str plain = part_of(s->id, left, false), unique = part_of(s->id, left, true);
		auto_str whole = xasprintf("%s.%s", p->task, plain);
		struct err ignored = ERR_INIT;

		/* "x.lock" is not valid as a branch's name */
		if (is_taken(p, i, whole) || name_check_task(whole, &ignored) < 0) {
			free(whole);
			whole = xasprintf("%s.%s", p->task, unique);
		}
		free(s->task);
		s->task = steal_ptr(whole);
		if (name_check_task(s->task, e) < 0)
			return -1;
	}
	return 0;
}
