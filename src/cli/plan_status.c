/* garth plan status, ls, log: how plans are, and what happened to them. */
#include "cli/plan_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/deadline.h"
#include "base/table.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "keeper/log.h"
#include "plan/beside.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "runtime/watch.h"
#include "sys/fd.h"
#include "task/here.h"
#include "task/stage_files.h"

#define TAIL_MAX 2048
#define WATCH_MS 2000

enum { AT_STAGE, AT_STATE, AT_TRY, AT_TIME, AT_LAST, AT_N };

static const struct table_column columns[AT_N] = {
	[AT_STAGE] = { "STAGE", 12, false, false },
	[AT_STATE] = { "STATE", 0, false, false },
	[AT_TRY] = { "TRY", 0, true, true },
	[AT_TIME] = { "TIME", 0, true, true },
	[AT_LAST] = { "", 0, false, false },
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

/* The last line that is not empty of what the agent printed. */
static void put_output(const struct context *c, const struct stage_row *s, struct buf *out)
{
	auto_str path = xasprintf("tasks/%lld/" LOG_NEW, (long long)s->task_id);
	auto_fd log = openat(c->home.fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[TAIL_MAX + 1];
	struct stat st;
	ssize_t n;
	char *last;

	if (log < 0 || fstat(log, &st) < 0)
		return;
	n = pread(log, text, TAIL_MAX, st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	last = strrchr(text, '\n');
	buf_addstr(out, last ? last + 1 : text);
}

/* The stages that it waits for. */
static void put_needs(const struct plan *p, const struct stage_row_list *l, size_t i, struct buf *out)
{
	const struct plan_stage *s = &p->stages[i];

	for (size_t k = 0; k < s->nneeds; k++)
		if (!stage_satisfies(&l->v[s->needs[k]]))
			buf_printf(out, "%s%s", out->len ? ", " : "after ", l->v[s->needs[k]].name);
}

/* The stage that may change the same files, and is not done with it. */
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

void plan_status_lines(const struct context *c, const struct plan *p, const struct plan_row *row,
	const struct stage_row_list *l, size_t width, size_t height, struct strvec *ret)
{
	struct table t = { .columns = columns, .n = AT_N, .width = width, .colours = say_colours(1) };
	auto_strvec lines = STRVEC_INIT;
	size_t done = 0;

	/* sets the locale, by which the columns are measured */
	say_utf8();
	for (size_t i = 0; i < l->n; i++) {
		const struct stage_row *s = &l->v[i];
		char tries[24] = "", elapsed[32];
		auto_buf last = BUF_SMALL, clean = BUF_SMALL;

		done += stage_is(s, STAGE_DONE);
		if (s->attempt > 1)
			snprintf(tries, sizeof(tries), "%lld", (long long)s->attempt);
		put_time(s, elapsed, sizeof(elapsed));
		put_last(c, p, l, i, &last);
		table_add(&t,
			(const char *[]){
				s->name, s->state, tries, elapsed, say_one_line(&clean, buf_str(&last)) },
			(const char *[]){ NULL, colour_of(s), NULL, NULL, NULL });
	}
	table_lines(&t, &lines);
	table_release(&t);
	strvec_pushf(ret, "plan %s: %s, %zu of %zu stages done%s", row->name, row->state, done, l->n,
		!row->ended && !plan_has_runner(c, row) ? ", no runner" : "");
	for (size_t i = 0; i < lines.n && (!height || ret->n < height); i++)
		strvec_push(ret, lines.v[i]);
}

void plan_status_hint(const struct plan_row *row, const struct stage_row *s)
{
	if (stage_is(s, STAGE_APPROVAL))
		say_hint("garth plan approve %s %s", row->name, s->name);
	else if (stage_is(s, STAGE_ASKING) && !strncmp(s->note, "it asks", 7))
		say_hint("garth answer %s 'ANSWER'", s->task);
	else if (stage_is(s, STAGE_ASKING))
		say_hint("garth allow %s PATH && garth plan retry %s %s", s->task, row->name, s->name);
	else if (stage_is(s, STAGE_CONFLICT))
		say_hint("garth merge --resolve %s", s->task);
	else if (stage_is(s, STAGE_FAILED) || stage_is(s, STAGE_CANCELLED))
		say_hint("garth plan retry %s %s", row->name, s->name);
	else if (stage_is(s, STAGE_HELD))
		say_hint("garth plan release %s %s", row->name, s->name);
}

static json_t *or_null(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *result_json(const struct check_row *k)
{
	return json_pack("{s:o, s:o, s:b, s:b, s:o, s:I, s:o, s:o, s:I, s:o}", "kind", json_text(k->kind),
		"title", json_text(k->title), "passed", k->passed, "known", k->cached, "exit_code",
		k->code < 0 ? json_null() : json_integer(k->code), "milliseconds", (json_int_t)k->ms, "note",
		or_null(k->why), "output", json_text(k->output), "attempt", (json_int_t)k->attempt, "when",
		json_time(k->at));
}

static json_t *results_json(struct context *c, const struct stage_row *s)
{
	struct err ignored = ERR_INIT;
	auto_check_row_list l = { 0 };
	json_t *list = json_array();

	if (!store_check_list(c->store, s->id, &l, &ignored))
		for (size_t i = 0; i < l.n; i++)
			json_array_append_new(list, result_json(&l.v[i]));
	return list;
}

static json_t *needs_json(const struct plan *p, size_t i)
{
	json_t *list = json_array();

	for (size_t k = 0; k < p->stages[i].nneeds; k++)
		json_array_append_new(list, json_text(p->stages[p->stages[i].needs[k]].id));
	return list;
}

static json_t *stage_json(struct context *c, const struct plan *p, const struct stage_row_list *l, size_t i)
{
	const struct stage_row *s = &l->v[i];
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:b}", "stage", json_text(s->name), "task",
		json_text(s->task), "stage_state", json_text(s->state), "note", or_null(s->note), "needs",
		needs_json(p, i), "attempt", (json_int_t)s->attempt, "held",
		stage_is(s, STAGE_HELD) || s->hold, "satisfied", stage_satisfies(s));

	json_object_set_new(o, "stage_tip", or_null(s->tip));
	json_object_set_new(o, "merged_tip", or_null(s->merged));
	json_object_set_new(o, "gate", stage_is(s, STAGE_APPROVAL) ? json_text(s->gate) : json_null());
	json_object_set_new(o, "until", stage_is(s, STAGE_QUOTA) ? json_time(s->until) : json_null());
	json_object_set_new(o, "started", json_time(s->started));
	json_object_set_new(o, "ended", json_time(s->ended));
	json_object_set_new(o, "results", results_json(c, s));
	return o;
}

static json_t *row_json(const struct context *c, const struct plan_row *row)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "plan", json_text(row->name),
		"task", json_text(row->name), "project", json_text(row->project), "plan_state",
		json_text(row->state), "note", or_null(row->note), "target", json_branch(row->target),
		"merged_tip", or_null(row->merged), "has_runner", plan_has_runner(c, row), "created",
		json_time(row->created), "ended", json_time(row->ended));
}

static int print_json(
	struct context *c, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	json_t *o = row_json(c, row), *list = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(list, stage_json(c, p, l, i));
	json_object_set_new(o, "stages", list);
	return json_print(o);
}

static void print_text(
	struct context *c, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	auto_strvec lines = STRVEC_INIT;
	struct wire_size size;

	plan_status_lines(c, p, row, l, isatty(1) && !terminal_size(&size) ? size.cols : 0, 0, &lines);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	fflush(stdout);
	if (*row->note)
		say_warning("%s", row->note);
	for (size_t i = 0; i < l->n; i++)
		if (!stage_is(&l->v[i], STAGE_CANCELLED))
			plan_status_hint(row, &l->v[i]);
	if (!row->ended && !plan_has_runner(c, row))
		say_hint("garth plan resume %s", row->name);
}

/* What is read together. */
struct status {
	struct plan_row row;
	struct plan plan;
	struct stage_row_list stages;
};

static void status_release(struct status *s)
{
	plan_row_release(&s->row);
	plan_release(&s->plan);
	stage_row_list_release(&s->stages);
}
#define auto_status __attribute__((cleanup(status_release))) struct status

static int load(struct context *c, const char *name, struct status *ret, struct err *e)
{
	if (plan_find(c, name, &ret->row, e) < 0 || plan_open(c, &ret->row, &ret->plan, e) < 0)
		return -1;
	return store_stage_list(c->store, ret->row.id, &ret->stages, e);
}

int plan_status_print(struct context *c, const char *name, bool json, struct err *e)
{
	auto_status s = { 0 };

	if (load(c, name, &s, e) < 0)
		return -1;
	if (json)
		return print_json(c, &s.plan, &s.row, &s.stages);
	print_text(c, &s.plan, &s.row, &s.stages);
	return 0;
}

int plan_status_graph(
	struct context *c, const char *name, enum graph_style style, struct buf *out, struct err *e)
{
	const char *marks[PLAN_STAGES_MAX];
	auto_status s = { 0 };

	if (load(c, name, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.stages.n && i < PLAN_STAGES_MAX; i++)
		marks[i] = s.stages.v[i].state;
	plan_graph(&s.plan, style, marks, out);
	return 0;
}

/* Until the plan is over. Without a terminal, the table is printed anew each time that it has changed. */
static int watch(struct context *c, const char *name, struct err *e)
{
	auto_str before = xstrdup("");

	for (;;) {
		auto_status s = { 0 };
		auto_strvec lines = STRVEC_INIT;
		auto_buf text = BUF_INIT(4u << 20);
		struct deadline d = deadline_in(WATCH_MS);

		if (load(c, name, &s, e) < 0)
			return -1;
		plan_status_lines(c, &s.plan, &s.row, &s.stages, 0, 0, &lines);
		for (size_t i = 0; i < lines.n; i++)
			buf_printf(&text, "%s\n", lines.v[i]);
		if (isatty(1))
			printf("\033[H\033[2J");
		if (isatty(1) || strcmp(before, buf_str(&text)) != 0)
			fputs(buf_str(&text), stdout);
		if (fflush(stdout) == EOF || s.row.ended)
			return 0;
		stage_set(&before, buf_str(&text));
		while (deadline_sleep(&d, WATCH_MS))
			;
	}
}

int plan_cmd_status(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	int rc;

	if (context_open_to_look(&c, &e) < 0)
		return say_error(&e);
	rc = l->watch ? watch(&c, l->words[0], &e) : plan_status_print(&c, l->words[0], l->json, &e);
	return rc < 0 ? say_error(&e) : rc;
}

int plan_cmd_ls(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_row_list list = { 0 };
	struct err e = ERR_INIT;
	json_t *all = json_array();
	int64_t here = 0;

	if (context_open_to_look(&c, &e) < 0 || context_store(&c, &e) < 0 ||
		here_project(&c, ".", &here, &e) < 0 ||
		store_plan_list(c.store, l->all || here < 0 ? 0 : here, l->all, &list, &e) < 0)
		return say_error(&e);
	for (size_t i = 0; i < list.n; i++) {
		if (l->json)
			json_array_append_new(all, row_json(&c, &list.v[i]));
		else
			printf("%-24s %-10s %s%s\n", list.v[i].name, list.v[i].state, list.v[i].file,
				plan_has_runner(&c, &list.v[i]) || list.v[i].ended ? "" : "  (no runner)");
	}
	if (l->json)
		return json_print(json_pack("{s:o}", "plans", all));
	json_decref(all);
	return 0;
}

static void print_check(const struct check_row *k)
{
	auto_buf clean = BUF_SMALL, why = BUF_SMALL, output = BUF_INIT(1u << 20);

	printf("%s %s: %s%s%s (attempt %lld%s)\n", k->passed ? "ok  " : "FAIL", k->kind,
		say_one_line(&clean, k->title), *k->why ? ": " : "", say_one_line(&why, k->why),
		(long long)k->attempt, k->cached ? ", known" : "");
	if (k->passed || !*k->output)
		return;
	clean_text(&output, k->output, strlen(k->output), false);
	printf("%s\n", buf_str(&output));
}

static void print_event(const struct plan_event *v)
{
	auto_buf clean = BUF_SMALL;
	time_t then = (time_t)v->at;
	char at[32] = "";
	struct tm tm;

	if (localtime_r(&then, &tm))
		strftime(at, sizeof(at), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%s  %s%s%s%s%s\n", at, v->stage, *v->stage ? ": " : "", v->what, *v->text ? ": " : "",
		say_one_line(&clean, v->text));
}

static json_t *history_json(const struct plan_event_list *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct plan_event *v = &l->v[i];
		json_t *o = json_pack("{s:o, s:o, s:o}", "when", json_time(v->at), "what", json_text(v->what),
			"note", or_null(v->text));

		if (*v->stage)
			json_object_set_new(o, "stage", json_text(v->stage));
		json_array_append_new(list, o);
	}
	return list;
}

/* What its agent left for the stages after it. */
static void print_notes(const struct context *c, const struct stage_row *s)
{
	auto_buf notes = BUF_INIT(8 * STAGE_NOTES_MAX), outputs = BUF_INIT(8 * STAGE_OUTPUTS_MAX);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (s->task_id && !home_task_dir(&c->home, s->task_id, &dir, &ignored))
		stage_notes_load(dir, &notes), stage_outputs_load(dir, &outputs);
	if (notes.len)
		printf("notes:\n%s", buf_str(&notes));
	if (outputs.len)
		printf("outputs:\n%s", buf_str(&outputs));
}

int plan_cmd_log(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_event_list events = { 0 };
	auto_check_row_list checks = { 0 };
	auto_stage_row stage = { 0 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;

	if (context_open_to_look(&c, &e) < 0 || plan_find(&c, l->words[0], &row, &e) < 0 ||
		(l->n > 1 && (store_stage_by_name(c.store, row.id, l->words[1], &stage, &e) < 0 ||
				     store_check_list(c.store, stage.id, &checks, &e) < 0)) ||
		store_plan_events(c.store, row.id, stage.id, &events, &e) < 0)
		return say_error(&e);
	if (l->json) {
		json_t *o = json_pack(
			"{s:o, s:o}", "plan", json_text(row.name), "history", history_json(&events));

		if (stage.id)
			json_object_set_new(o, "results", results_json(&c, &stage));
		return json_print(o);
	}
	for (size_t i = 0; i < events.n; i++)
		print_event(&events.v[i]);
	for (size_t i = 0; i < checks.n; i++)
		print_check(&checks.v[i]);
	print_notes(&c, &stage);
	if (stage.id)
		fflush(stdout), say_hint("garth log %s", stage.task);
	return 0;
}
