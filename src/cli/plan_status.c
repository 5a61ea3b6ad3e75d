/* garth plan status, ls: print the states of plans. */
#include "cli/plan_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/plan_status_json.h"
#include "cli/plan_table.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "runtime/watch.h"
#include "task/here.h"

#define WATCH_MS 2000

void plan_status_hint(const struct context *c, const struct plan_row *row, const struct stage_row *s)
{
	auto_str command = plan_table_command(c, row, s);

	if (command)
		say_hint("%s", command);
}

void plan_status_statements(const struct plan_stage *s, const struct stage_row *r)
{
	for (size_t i = 0; stage_is(r, STAGE_APPROVAL) && !strcmp(r->gate, GATE_AFTER) && i < s->nchecks;
		i++) {
		auto_buf clean = BUF_SMALL;

		if (s->checks[i].kind == PLAN_CHECK_STATEMENT)
			say_question("%s: %s (not machine-checked)", r->name,
				say_one_line(&clean, s->checks[i].text));
	}
}

/* Whether it is done, and not all of it is in its target. The note says why. */
static bool can_be_merged(const struct plan *p, const struct plan_row *row)
{
	return !strcmp(row->state, PLAN_DONE) && *row->target && p->merge != PLAN_MERGE_NEVER &&
	       (!*row->merged || *row->note);
}

static void print_text(
	struct context *c, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	auto_strvec lines = STRVEC_INIT;
	struct wire_size size = { 0 };

	if (!isatty(1) || terminal_size(&size) < 0)
		size.cols = 0;
	size.rows = 0;
	plan_table_lines(c, p, row, l, &size, &lines);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	fflush(stdout);
	if (*row->note)
		say_warning("%s", row->note);
	for (size_t i = 0; p->nstages == l->n && i < l->n; i++)
		plan_status_statements(&p->stages[i], &l->v[i]);
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(row->state, PLAN_CANCELLED) != 0 && !stage_is(&l->v[i], STAGE_CANCELLED))
			plan_status_hint(c, row, &l->v[i]);
	if (!row->ended && !plan_has_runner(c, row))
		say_hint("garth plan resume %s", row->name);
	if (can_be_merged(p, row))
		say_hint("garth plan merge %s", row->name);
}

/* What is read from the store together. */
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
		return json_print(plan_status_json(c, &s.plan, &s.row, &s.stages));
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
		struct wire_size size = { 0 };

		if (load(c, name, &s, e) < 0)
			return -1;
		if (isatty(1) && !terminal_size(&size))
			size.rows = size.rows > 2 ? (uint16_t)(size.rows - 1) : 1;
		plan_table_lines(c, &s.plan, &s.row, &s.stages, &size, &lines);
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
			json_array_append_new(all, plan_row_json(&c, &list.v[i]));
		else
			printf("%-24s %-10s %s%s\n", list.v[i].name, list.v[i].state, list.v[i].file,
				plan_has_runner(&c, &list.v[i]) || list.v[i].ended ? "" : "  (no runner)");
	}
	if (l->json)
		return json_print(json_pack("{s:o}", "plans", all));
	json_decref(all);
	return 0;
}
