#include "task/cleanup.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "task/life.h"
#include "task/lookup.h"
#include "task/merged.h"
#include "task/planned.h"

void cleanup_report_release(struct cleanup_report *r)
{
	strvec_release(&r->removed);
	strvec_release(&r->kept);
	strvec_release(&r->why);
}

bool cleanup_is_old(const struct task *t, int64_t before)
{
	return !t->removed && t->changed <= before && t->started <= before && t->ended <= before;
}

bool cleanup_is_stale(const struct context *c, const struct task *t)
{
	return cleanup_is_old(t, (int64_t)time(NULL) - (int64_t)c->config.stale_after);
}

/* The task has a question, which the user may not have seen yet. */
static bool waits(const struct task *t, struct buf *why)
{
	if (strcmp(t->state, STATE_BLOCKED) != 0)
		return false;
	buf_printf(why, "task '%s' waits for an answer", t->name);
	return true;
}

/* A plan that is not over needs it. */
static bool is_planned(struct context *c, const struct task *t, struct buf *why)
{
	struct err e = ERR_INIT;

	if (!planned_refuse(c, t, false, &e) || e.kind != ERR_REFUSED)
		return false;
	buf_addstr(why, e.msg);
	return true;
}

bool cleanup_would_go(struct context *c, struct task *t, struct buf *why)
{
	const struct discard_opts careful = { .look = true };
	struct err e = ERR_INIT;
	auto_str trash = NULL;

	if (waits(t, why) || is_planned(c, t, why))
		return false;
	if (task_discard(c, t, &careful, &trash, &e) == 0)
		return true;
	buf_addstr(why, e.msg);
	return false;
}

static void keep(struct cleanup_report *r, const char *word, const char *why)
{
	strvec_push(&r->kept, word);
	strvec_push(&r->why, why);
}

static void clean_one(struct context *c, struct task *t, const char *word, const struct cleanup_opts *o,
	struct cleanup_report *r)
{
	const struct discard_opts d = { .files = o->force, .drafts = o->force };
	auto_buf why = BUF_SMALL, none = BUF_SMALL;
	struct err e = ERR_INIT;
	auto_str trash = NULL;

	if (o->look && (cleanup_would_go(c, t, &why) ||
			       (o->force && !life_is_running(t) && !is_planned(c, t, &none)))) {
		strvec_push(&r->removed, word);
	} else if (o->look || (!o->force && waits(t, &why)) || is_planned(c, t, &why)) {
		keep(r, word, buf_str(&why));
	} else if (task_discard(c, t, &d, &trash, &e) < 0) {
		keep(r, word, e.msg);
	} else {
		strvec_push(&r->removed, word);
		t->removed = (int64_t)time(NULL);
	}
}

static bool was_restored(struct context *c, const struct task *t)
{
	auto_str mark = xasprintf("tasks/%lld/" TASK_BROUGHT_BACK, (long long)t->id);

	return !faccessat(c->home.fd, mark, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_due(struct context *c, const struct task *t, const struct cleanup_opts *o)
{
	if (cleanup_is_old(t, o->before))
		return true;
	if (!o->merged || t->removed || life_is_running(t))
		return false;
	/* without being asked, Garth removes only what Garth merged */
	if (o->once && (strcmp(t->state, STATE_MERGED) || was_restored(c, t)))
		return false;
	return merged_is(c, t);
}

void cleanup_tasks(
	struct context *c, struct task_list *all, const struct cleanup_opts *o, struct cleanup_report *ret)
{
	auto_strvec words = STRVEC_INIT;

	/* before the first one goes: a name may mean another task then */
	for (size_t i = 0; i < all->n; i++) {
		auto_str word = lookup_word(c, &all->v[i]);

		strvec_push(&words, word);
	}
	store_batch_begin(c->store);
	for (size_t i = 0; i < all->n; i++) {
		struct task *t = &all->v[i];
		struct err e = ERR_INIT;
		bool gone = false;

		if (!is_due(c, t, o))
			continue;
		if (task_settle(c, t, &gone, &e) < 0)
			keep(ret, words.v[i], e.msg);
		else if (!gone && is_due(c, t, o))
			clean_one(c, t, words.v[i], o, ret);
	}
	store_batch_end(c->store);
}
