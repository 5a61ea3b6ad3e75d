#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/size.h"
#include "cli/show_question.h"
#include "cli/json.h"
#include "cli/ls.h"
#include "cli/plan_progress.h"
#include "cli/ports.h"
#include "cli/say.h"
#include "keeper/log.h"
#include "base/table.h"
#include "sys/fd.h"
#include "task/agent_name.h"
#include "task/cleanup.h"
#include "task/disk_limit.h"
#include "task/verdict.h"
#include "task/life.h"
#include "task/seen.h"
#include "workspace/workspace.h"

enum { AT_TASK, AT_STATE, AT_MARKS, AT_PROJECT, AT_TARGET, AT_DIFF, AT_ACTIVE, AT_LAST, AT_N };

static const struct table_column columns[AT_N] = {
	[AT_TASK] = { "TASK", 12, false, false },
	[AT_STATE] = { "STATE", 0, false, false },
	[AT_MARKS] = { "", 0, true, false },
	[AT_PROJECT] = { "PROJECT", 8, true, false },
	[AT_TARGET] = { "TARGET", 0, false, false },
	[AT_DIFF] = { "DIFF", 0, true, false },
	[AT_ACTIVE] = { "ACTIVE", 0, false, true },
	[AT_LAST] = { "LAST", 0, false, false },
};

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define YELLOW "\033[33m"

static const char *colour_of(const char *state)
{
	static const struct {
		const char *state, *colour;
	} colours[] = {
		{ STATE_RUNNING, "\033[32m" },
		{ STATE_PAUSED, YELLOW },
		{ STATE_BLOCKED, "\033[35m" },
		{ STATE_DONE, "\033[36m" },
		{ STATE_FAILED, "\033[31m" },
		{ STATE_INTERRUPTED, YELLOW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		if (!strcmp(state, colours[i].state))
			return colours[i].colour;
	return DIM;
}

/* When the task last printed something; 0: not known. */
static int64_t last_output(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	struct stat st;

	return home_task_dir(&c->home, t->id, &dir, &ignored) ||
			       fstatat(dir, LOG_NEW, &st, AT_SYMLINK_NOFOLLOW)
		       ? 0
		       : (int64_t)st.st_mtim.tv_sec;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t last_active(struct context *c, const struct task *t)
{
	int64_t last = larger(larger(t->changed, t->started), t->ended);

	return life_is_running(t) ? larger(last, last_output(c, t)) : last;
}

/* Adds one more part to the last column. */
static void part(struct buf *out, const char *text)
{
	if (!*text)
		return;
	if (out->len)
		buf_addstr(out, "  ");
	buf_addstr(out, text);
}

/* Why the task needs somebody: its failure, or why it is paused. */
static void put_reason(const struct task *t, struct buf *out)
{
	auto_buf note = BUF_SMALL, all = BUF_SMALL;

	bool failed = !strcmp(t->state, STATE_FAILED);

	if (t->removed || !strcmp(t->state, STATE_MERGED) ||
		(!failed && !*t->note && !*t->drafts && !*t->leftover))
		return;
	task_say(t, &note);
	if (failed && (!note.len || !strcmp(t->verdict, VERDICT_EXIT)))
		buf_printf(&all, "exit code %d%s%s", t->exit_code, note.len ? "; " : "", buf_str(&note));
	else
		buf_addstr(&all, buf_str(&note));
	part(out, buf_str(&all));
}

/* The question; else what there is to know of it, and its last commit or its command. */
static void put_last(
	struct context *c, const struct ls_row *r, const struct plan_progress *plan, struct buf *out)
{
	const struct task *t = r->task;
	auto_str question = question_line(c, t), progress = plan ? plan_progress_text(plan) : NULL;
	auto_buf more = BUF_SMALL;

	if (question) {
		buf_printf(out, "asks: %s", question);
		return;
	}
	if (progress)
		part(out, progress);
	if (cleanup_is_stale(c, t))
		part(out, "stale");
	if (life_is_running(t))
		ports_text(c, t, &more);
	part(out, buf_str(&more));
	if (*t->pushed_tip && !strcmp(t->pushed_tip, t->published)) {
		auto_str pushed = xasprintf("pushed %s/%s", t->pushed_remote, t->pushed_branch);

		part(out, pushed);
	}
	put_reason(t, out);
	part(out, r->about->subject ? r->about->subject : t->command);
}

static void put_diff(const struct overview *o, char *out, size_t len)
{
	const struct overview_diff *d = &o->diff;

	*out = '\0';
	if (o->known && !o->diff_known)
		snprintf(out, len, "?");
	else if (o->known && d->files)
		snprintf(out, len, "+%zu %s%zu", d->insertions, say_utf8() ? "−" : "-", d->deletions);
}

static void add_row(struct context *c, const struct ls_view *v, const struct ls_row *r, struct table *table)
{
	const struct task *t = r->task;
	char sign[48], diff[64], age[32], marks[3] = "";
	auto_buf last = BUF_INIT(1 << 20);
	auto_str name = NULL;
	bool new = !strcmp(t->state, STATE_DONE) && !seen_is(t);
	const char *cells[AT_N], *shades[AT_N] = { 0 };
	struct plan_progress plan;
	bool is_plan = r->is_plan && plan_progress(c, t, &plan);

	snprintf(marks, sizeof(marks), "%s%s", *t->leftover && !life_is_running(t) && !t->removed ? "*" : "",
		r->standing.conflicts.n ? "!" : "");
	put_diff(r->about, diff, sizeof(diff));
	put_last(c, r, is_plan ? &plan : NULL, &last);
	cells[AT_TASK] = r->plan ? (name = xasprintf("  %s", t->name)) : t->name;
	cells[AT_STATE] = is_plan ? "plan" : new ? STATE_DONE ", new" : t->state;
	cells[AT_MARKS] = marks;
	cells[AT_PROJECT] = v->several && backend_of(t)->has_git ? t->project : "";
	cells[AT_TARGET] = relations_sign(&r->standing, sign, sizeof(sign));
	cells[AT_DIFF] = diff;
	cells[AT_ACTIVE] = say_age(last_active(c, t), age, sizeof(age));
	cells[AT_LAST] = buf_str(&last);
	shades[AT_TASK] = ls_wants_attention(r) ? BOLD : NULL;
	shades[AT_STATE] = colour_of(t->state);
	shades[AT_MARKS] = YELLOW;
	table_add(table, cells, shades);
}

void ls_table(struct context *c, const struct ls_view *v, size_t width, bool colours, struct strvec *ret)
{
	struct table t = { .columns = columns, .n = AT_N, .width = width, .colours = colours };

	/* sets the locale, by which the columns are measured */
	say_utf8();
	for (size_t i = 0; i < v->n; i++)
		add_row(c, v, &v->rows[i], &t);
	table_lines(&t, ret);
	table_release(&t);
}

/* Whether the conflict was told with an earlier row of the same project. */
static bool is_told(const struct ls_view *v, size_t row, const struct conflict *c)
{
	for (size_t k = 0; c->task && k < row; k++)
		if (v->rows[k].task->project_id == v->rows[row].task->project_id &&
			!strcmp(v->rows[k].task->name, c->task))
			return true;
	return false;
}

/* Each pair once, with the task that comes first. Conflicts about the same paths share a line. */
static void note_conflicts(const struct ls_view *v, size_t row, struct strvec *ret)
{
	const struct ls_row *r = &v->rows[row];
	const struct conflict_list *c = &r->standing.conflicts;
	bool *told = xcalloc(c->n + 1, sizeof(*told));
	auto_strvec lines = STRVEC_INIT;

	for (size_t j = 0; j < c->n; j++)
		told[j] = is_told(v, row, &c->v[j]);
	relations_conflict_lines(r->task, &r->standing, told, &lines);
	for (size_t j = 0; j < lines.n; j++) {
		auto_buf line = BUF_INIT(1 << 16);

		strvec_pushf(ret, "%s conflicts with %s", r->task->name, say_one_line(&line, lines.v[j]));
	}
	free(told);
}

void ls_notes(const struct ls_view *v, struct strvec *ret)
{
	char held[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX];

	for (size_t i = 0; i < v->warnings.n; i++)
		strvec_push(ret, v->warnings.v[i]);
	for (size_t i = 0; i < v->n; i++)
		if (v->rows[i].standing.conflicts.n)
			note_conflicts(v, i, ret);
	if (v->incomplete)
		strvec_push(ret, "there was no time to compare all tasks: more conflicts are possible");
	for (size_t i = 0; i < v->n; i++) {
		const struct task *t = v->rows[i].task;

		if (!t->removed && disk_is_near((uint64_t)t->disk, (uint64_t)t->disk_max) &&
			!(!strcmp(t->state, STATE_PAUSED) && *t->note))
			strvec_pushf(ret,
				"task '%s' holds %s on disk, and is paused beyond %s (limits.max_disk)",
				t->name, size_text((uint64_t)t->disk, held),
				size_text((uint64_t)t->disk_max, max));
	}
}

static json_t *json_agent(struct context *c, const struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_str name = NULL;
	auto_fd dir = -1;

	if (!t->removed && !home_task_dir(&c->home, t->id, &dir, &ignored))
		name = agent_name_load(dir);
	return name ? json_text(name) : json_null();
}

static json_t *json_diff(const struct overview *o)
{
	if (!o->known || !o->diff_known)
		return json_null();
	return json_pack("{s:I, s:I, s:I}", "file_count", (json_int_t)o->diff.files, "insertions",
		(json_int_t)o->diff.insertions, "deletions", (json_int_t)o->diff.deletions);
}

static json_t *json_attention(const struct ls_row *r)
{
	static const char *const words[] = { "blocked", "failed", "conflict", "unseen" };

	return ls_wants_attention(r) ? json_string(words[r->attention]) : json_null();
}

static json_t *json_row(struct context *c, const struct ls_row *r)
{
	const struct task *t = r->task;
	json_t *o = json_task(t);

	json_object_set_new(o, "stale", json_boolean(cleanup_is_stale(c, t)));
	relations_json(&r->standing, o);
	json_object_set_new(o, "compared", json_boolean(r->about->compared));
	json_object_set_new(o, "attention", json_attention(r));
	json_object_set_new(o, "seen", json_boolean(seen_is(t)));
	json_object_set_new(o, "dirty",
		life_is_running(t) || !t->started ? json_null() : json_boolean(*t->leftover != 0));
	json_object_set_new(o, "diff", json_diff(r->about));
	json_object_set_new(
		o, "commit_subject", r->about->subject ? json_text(r->about->subject) : json_null());
	json_object_set_new(o, "last_active", json_time(last_active(c, t)));
	json_object_set_new(o, "agent", json_agent(c, t));
	json_object_set_new(o, "question", question_json(c, t));
	json_object_set_new(o, "plan_progress", r->is_plan ? plan_progress_json(c, t) : json_null());
	json_object_set_new(o, "ports", life_is_running(t) ? ports_json(c, t) : json_array());
	return o;
}

static int by_place(const void *a, const void *b)
{
	const struct ls_row *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

/* Oldest first, as all answers with --json list tasks. */
json_t *ls_json(struct context *c, const struct ls_view *v)
{
	struct ls_row *rows = xcalloc(v->n + 1, sizeof(*rows));
	json_t *o = json_object(), *list = json_array();

	if (v->n) {
		memcpy(rows, v->rows, v->n * sizeof(*rows));
		qsort(rows, v->n, sizeof(*rows), by_place);
	}
	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_row(c, &rows[i]));
	free(rows);
	json_object_set_new(o, "tasks", list);
	return o;
}
