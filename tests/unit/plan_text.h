/* For tests of plans: read() reads a text as plan.yaml; assert_plan_refused() compares the beginning of the message. */
#ifndef TESTS_PLAN_TEXT_H
#define TESTS_PLAN_TEXT_H

#include "testing.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/plan.h"

#define STAGE_A "stages:\n- id: a\n"

static inline void read_plan(const char *text, struct plan *ret)
{
	struct err e = ERR_INIT;

	if (plan_read(text, strlen(text), "plan.yaml", ret, &e) < 0)
		fail_msg("%s", e.msg);
}

static inline void assert_plan_refused(const char *text, const char *want)
{
	auto_plan p = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(plan_read(text, strlen(text), "plan.yaml", &p, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (strncmp(e.msg, want, strlen(want)))
		fail_msg("'%s' is not '%s…'", e.msg, want);
}

/* A repository and a machine: lists that end in NULL. */
struct plan_world {
	const char *const *paths, *const *programs;
};

static inline bool world_has(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return true;
	return false;
}

static inline int world_paths(void *ctx, const struct strvec *paths, bool *ret, struct err *e)
{
	const struct plan_world *w = ctx;

	(void)e;
	for (size_t i = 0; i < paths->n; i++)
		ret[i] = world_has(w->paths, paths->v[i]);
	return 0;
}

static inline bool world_program(void *ctx, const char *name)
{
	const struct plan_world *w = ctx;

	return world_has(w->programs, name);
}

static inline void decide_plan(struct plan *p, struct plan_world *w)
{
	struct plan_host host = { w, world_paths, world_program };
	struct err e = ERR_INIT;

	if (plan_decide(p, &host, &e) < 0)
		fail_msg("%s", e.msg);
}

#endif
