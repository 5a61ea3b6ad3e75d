#include "cli/plan_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/table.h"
#include "cli/say.h"
#include "git/ref.h"
#include "keeper/log.h"
#include "plan/beside.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "sys/fd.h"
#include "task/refused_path.h"

#define TAIL_MAX 2048

enum { AT_STAGE, AT_STATE, AT_TRY, AT_TIME, AT_LAST, AT_N };

static const struct table_column columns[AT_N] = {
	[AT_STAGE] = { "STAGE", 12, false, false },
	[AT_STATE] = { "STATE", 0, false, false },
	[AT_TRY] = { "TRY", 0, true, true },
	[AT_TIME] = { "TIME", 0, true, true },
	[AT_LAST] = { "", 36, false, false }, /* says more than a long name */
};

static const char *colour_of(const struct stage_row *s)
{
	static const struct {
		const char *state, *colour;
	} colours[] = {
		{ STAGE_RUNNING, "\033[32m" },
		{ STAGE_CHECKING, "\033[32m" },
		{ STAGE_MERGING, "\033[32m" },
		{ STAGE_DONE, "\033[36m" },
		{ STAGE_ASKING, "\033[35m" },
		{ STAGE_APPROVAL, "\033[35m" },
		{ STAGE_CONFLICT, "\033[31m" },
		{ STAGE_FAILED, "\033[31m" },
		{ STAGE_HELD, "\033[33m" },
		{ STAGE_QUOTA, "\033[33m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		if (stage_is(s, colours[i].state))
			return colours[i].colour;
	return "\033[2m";
}

static void put_time(const struct stage_row *s, char *out, size_t size)
{
	int64_t t = s->started ? (s->ended ? s->ended : (int64_t)time(NULL)) - s->started : 0;

	*out = '\0';
	if (s->started && t < 3600)
		snprintf(out, size, "%lld:%02lld", (long long)t / 60, (long long)t % 60);
	else if (s->started)
		snprintf(out, size, "%lld:%02lld h", (long long)t / 3600, (long long)t / 60 % 60);
}

/* The last line of the agent's output that is not empty; of a line that is drawn again and again, what was drawn last. */
static void put_output(const struct context *c, const struct stage_row *s, struct buf *out)
{
	auto_str path = xasprintf("tasks/%lld/" LOG_NEW, (long long)s->task_id);
	auto_fd log = openat(c->home.fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[TAIL_MAX + 1];
	struct stat st;
	ssize_t n;
	char *last, *drawn;

	if (log < 0 || fstat(log, &st) < 0)
		return;
	n = pread(log, text, TAIL_MAX, st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	last = strrchr(text, '\n');
	last = last ? last + 1 : text;
	drawn = strrchr(last, '\r');
	last = drawn ? drawn + 1 : last;
	clean_without_colours(out, last, strlen(last));
}

/* Names the stages that it waits for. */
static void put_needs(const struct plan *p, const struct stage_row_list *l, size_t i, struct buf *out)
{
	const struct plan_stage *s = &p->stages[i];

	for (size_t k = 0; k < s->nneeds; k++)
		if (!stage_satisfies(&l->v[s->needs[k]]))
			buf_printf(out, "%s%s", out->len ? ", " : "after ", l->v[s->needs[k]].name);
}

/* Names the stage that may change the same files and is not done. */
static void put_blocker(const struct plan *p, const struct stage_row_list *l, size_t i, struct buf *out)
{
	long other = beside_blocker(p, l, i);

	if (other >= 0)
		buf_printf(out, "after %s, which may change the same files and is %s", l->v[other].name,
			l->v[other].state);
}

static void put_last(const struct context *c, const struct plan *p, const struct stage_row_list *l, size_t i,
	struct buf *out)
{
	const struct stage_row *s = &l->v[i];
	char until[32];
	time_t then = (time_t)s->until;
	struct tm tm;

	if (stage_is(s, STAGE_WAITING) && p->nstages == l->n)
		put_needs(p, l, i, out);
	else if ((stage_is(s, STAGE_READY) || stage_is(s, STAGE_REWORK)) && !*s->note && p->nstages == l->n)
		put_blocker(p, l, i, out);
	else if (stage_is(s, STAGE_QUOTA) && localtime_r(&then, &tm) &&
		 strftime(until, sizeof(until), "%H:%M", &tm))
		buf_printf(out, "until %s: %s", until, s->note);
	else if (*s->note)
		buf_addstr(out, s->note);
	else if (stage_is(s, STAGE_RUNNING))
		put_output(c, s, out);
	else if (stage_is(s, STAGE_DONE) && *s->merged)
		buf_printf(out, "%.12s", s->merged);
	if (s->hold)
		buf_printf(out, "%sto be held", out->len ? "; " : "");
}

/* If there is little room, stages with a lower rank are shown first. */
enum { RANK_PERSON, RANK_WORK, RANK_READY, RANK_WAITING, RANK_OVER, RANKS };

static int rank_of(const struct stage_row *s)
{
	auto_str command = plan_table_command(NULL, NULL, s);

	if (command && !stage_is(s, STAGE_CANCELLED))
		return RANK_PERSON;
	if (stage_is_over(s))
		return RANK_OVER;
	if (stage_is(s, STAGE_WAITING))
		return RANK_WAITING;
	return stage_is(s, STAGE_READY) ? RANK_READY : RANK_WORK;
}

/* Which stages are shown if there is room for `room` of them. */
static void choose(const struct stage_row_list *l, size_t room, bool *ret)
{
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < l->n && room; i++)
			if (rank_of(&l->v[i]) == rank) {
				ret[i] = true;
				room--;
			}
}

static void add_row(const struct context *c, const struct plan *p, const struct stage_row_list *l, size_t i,
	struct table *t)
{
	const struct stage_row *s = &l->v[i];
	char tries[24] = "", elapsed[32];
	auto_buf last = BUF_SMALL, clean = BUF_SMALL;

	if (s->attempt > 1)
		snprintf(tries, sizeof(tries), "%lld", (long long)s->attempt);
	put_time(s, elapsed, sizeof(elapsed));
	put_last(c, p, l, i, &last);
	table_add(t,
		(const char *[]){ s->name, s->state, tries, elapsed, say_one_line(&clean, buf_str(&last)) },
		(const char *[]){ NULL, colour_of(s), NULL, NULL, NULL });
}

/* The commands that the plan waits for, in at most a quarter of the height. */
static void put_commands(const struct context *c, const struct plan_row *row, const struct stage_row_list *l,
	size_t height, struct strvec *ret)
{
	if (!strcmp(row->state, PLAN_CANCELLED))
		return;
	for (size_t i = 0; i < l->n && ret->n < height / 4; i++) {
		auto_str command = plan_table_command(c, row, &l->v[i]);

		if (command && !stage_is(&l->v[i], STAGE_CANCELLED))
			strvec_pushf(ret, "%s%s", say_utf8() ? "↳ " : "next: ", command);
	}
}

static void put_title(
	const struct context *c, const struct plan_row *row, size_t done, size_t n, struct strvec *ret)
{
	const char *runner = !row->ended && !plan_has_runner(c, row) ? ", no runner" : "";
	/* with merge: each, and if the last part could not be merged, only a part of it is */
	bool merged = row->ended && *row->merged && !*row->note;

	strvec_pushf(ret, "plan %s: %s, %zu of %zu stages done%s%s%s", row->name, row->state, done, n, runner,
		merged ? ", merged into " : "", merged ? ref_short(row->target) : "");
}

void plan_table_lines(const struct context *c, const struct plan *p, const struct plan_row *row,
	const struct stage_row_list *l, const struct wire_size *size, struct strvec *ret)
{
	struct table t = { .columns = columns, .n = AT_N, .width = size->cols, .colours = say_colours(1) };
	auto_strvec lines = STRVEC_INIT, commands = STRVEC_INIT;
	/* the title, the heads of the columns, and the line for what is left out */
	size_t done = 0, height = size->rows, others, room = l->n;
	bool *shown = xcalloc(l->n + 1, sizeof(*shown));

	/* sets the locale, by which the columns are measured */
	say_utf8();
	put_commands(c, row, l, height, &commands);
	others = 3 + commands.n;
	if (height && l->n + others > height)
		room = height > others ? height - others : 0;
	choose(l, room, shown);
	for (size_t i = 0; i < l->n; i++) {
		done += stage_is(&l->v[i], STAGE_DONE);
		if (shown[i])
			add_row(c, p, l, i, &t);
	}
	free(shown);
	table_lines(&t, &lines);
	table_release(&t);
	put_title(c, row, done, l->n, ret);
	for (size_t i = 0; i < lines.n; i++)
		strvec_push(ret, lines.v[i]);
	if (room < l->n)
		strvec_pushf(ret, "and %zu more: garth plan status %s", l->n - room, row->name);
	for (size_t i = 0; i < commands.n; i++)
		strvec_push(ret, commands.v[i]);
}

/* The path that a stage wants to change, for a command to copy. The agent chose the name, so only a plain one is used. */
static char *wanted_path(const struct context *c, const struct stage_row *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
	struct err ignored = ERR_INIT;
	auto_str path = NULL;
	auto_fd dir = -1;

	if (c && !home_task_dir(&c->home, s->task_id, &dir, &ignored))
		path = refused_path_load(dir);
	return path && *path != '-' && strspn(path, plain) == strlen(path) ? steal_ptr(path)
									   : xstrdup("PATH");
}

char *plan_table_command(const struct context *c, const struct plan_row *row, const struct stage_row *s)
{
	auto_str path = NULL;
	const char *plan = row ? row->name : "";

	if (stage_is(s, STAGE_APPROVAL))
		return xasprintf("garth plan approve %s %s", plan, s->name);
	if (stage_is(s, STAGE_ASKING) && strcmp(s->gate, GATE_PATH) != 0)
		return xasprintf("garth answer %s 'ANSWER'", s->task);
	if (stage_is(s, STAGE_ASKING)) {
		path = wanted_path(c, s);
		return xasprintf("garth allow %s %s && garth plan retry %s %s", s->task, path, plan, s->name);
	}
	if (stage_is(s, STAGE_CONFLICT))
		return xasprintf("garth merge --resolve %s", s->task);
	if (stage_is(s, STAGE_FAILED) || stage_is(s, STAGE_CANCELLED))
		return xasprintf("garth plan retry %s %s", plan, s->name);
	return stage_is(s, STAGE_HELD) ? xasprintf("garth plan release %s %s", plan, s->name) : NULL;
}
