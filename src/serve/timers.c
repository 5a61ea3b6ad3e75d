#include "serve/timers.h"

#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "serve/jobs.h"
#include "sys/fault.h"
#include "sys/lock.h"

static const struct row {
	const char *name, *fact;
	int64_t period;
	bool removes;
	job_fn *jobs[3];
} rows[] = {
	{ "hourly", "serve_hourly", 3600, true, { job_stale } },
	/* clean up after dead processes first, then remove what nobody uses any more */
	{ "daily", "serve_daily", 86400, true, { job_orphans, job_tidy } },
	{ "weekly", "serve_weekly", 7 * 86400, false, { job_audit } },
};

void outcome_release(struct outcome *o)
{
	strvec_release(&o->done);
	strvec_release(&o->warnings);
}

int64_t timers_left(int64_t last, int64_t period, int64_t now)
{
	if (!last || last > now || now - last >= period)
		return 0;
	return last + period - now;
}

int64_t timers_first_left(int64_t started, int64_t now)
{
	return now - started < TIMERS_FIRST ? TIMERS_FIRST - (now - started) : 0;
}

static int left_of(struct context *c, const struct row *r, int64_t *ret, struct err *e)
{
	auto_str text = NULL;

	if (context_store(c, e) < 0)
		return -1;
	if (store_fact(c->store, r->fact, &text, e) < 0 && e->kind != ERR_NOTFOUND)
		return -1;
	*ret = timers_left(text ? strtoll(text, NULL, 10) : 0, r->period, (int64_t)time(NULL));
	return 0;
}

int timers_wait(struct context *c, int64_t *ret, struct err *e)
{
	int64_t least = INT64_MAX, left;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (left_of(c, &rows[i], &left, e) < 0)
			return -1;
		if (left < least)
			least = left;
	}
	*ret = least;
	return 0;
}

/* Returns whether all of its jobs worked. */
static bool do_jobs(struct context *c, const struct row *r, bool look, timers_tell *tell, void *arg)
{
	bool done = true;

	for (job_fn *const *job = r->jobs; *job; job++) {
		auto_outcome o = { .look = look };
		struct err e = ERR_INIT;

		if ((*job)(c, &o, &e) < 0) {
			strvec_pushf(&o.warnings, "what is done %s failed: %s", r->name, e.msg);
			done = false;
		}
		for (size_t i = 0; i < o.done.n; i++)
			tell(arg, false, o.done.v[i]);
		for (size_t i = 0; i < o.warnings.n; i++)
			tell(arg, true, o.warnings.v[i]);
	}
	return done;
}

static int do_row(
	struct context *c, const struct row *r, bool look, timers_tell *tell, void *arg, struct err *e)
{
	auto_str now = xasprintf("%lld", (long long)time(NULL));

	if (!do_jobs(c, r, look, tell, arg))
		return TIMERS_FAILED;
	/* a dry run does not count as done */
	if (look && r->removes)
		return 0;
	fault("timers-done");
	return store_set_fact(c->store, r->fact, now, e);
}

int timers_run(struct context *c, bool look, timers_tell *tell, void *arg, struct strvec *ret, struct err *e)
{
	auto_lock lock = -1;
	int end = TIMERS_DONE;

	if (lock_take(c->home.fd, "timers.lock", false, &lock, e) < 0)
		return e->kind == ERR_BUSY ? TIMERS_BUSY : -1;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t left;
		int rc;

		if (left_of(c, &rows[i], &left, e) < 0)
			return -1;
		if (left)
			continue;
		strvec_push(ret, rows[i].name);
		rc = do_row(c, &rows[i], look, tell, arg, e);
		if (rc < 0)
			return -1;
		end = rc == TIMERS_FAILED ? rc : end;
	}
	return end;
}
