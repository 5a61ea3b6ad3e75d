/* garth plan log: what happened to a plan or a stage, and what its checks printed. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/plan_status_json.h"
#include "cli/say.h"
#include "plan/make.h"
#include "plan/rows.h"
#include "sys/fd.h"
#include "task/stage_files.h"

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

/* What its agents left for the stages after it: the stage's own, and one that solved a conflict. */
static void print_notes(const struct context *c, const struct stage_row *s)
{
	auto_buf notes = BUF_INIT(8 * STAGE_NOTES_MAX), outputs = BUF_INIT(8 * STAGE_OUTPUTS_MAX);
	const int64_t tasks[] = { s->own_id, s->task_id };

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct err ignored = ERR_INIT;
		auto_fd dir = -1;

		if (tasks[i] && !home_task_dir(&c->home, tasks[i], &dir, &ignored))
			stage_notes_load(dir, &notes), stage_outputs_load(dir, &outputs);
	}
	if (notes.len)
		printf("notes:\n%s", buf_str(&notes));
	if (outputs.len)
		printf("outputs:\n%s", buf_str(&outputs));
}

/* What the plan says of the stage that only people can check. */
static void print_statements(struct context *c, const struct plan_row *row, const char *stage)
{
	struct err ignored = ERR_INIT;
	auto_plan p = { 0 };

	if (plan_open(c, row, &p, &ignored) < 0)
		return;
	for (size_t i = 0; i < p.nstages; i++)
		for (size_t k = 0; k < p.stages[i].nchecks && !strcmp(p.stages[i].id, stage); k++) {
			auto_buf clean = BUF_SMALL;

			if (p.stages[i].checks[k].kind == PLAN_CHECK_STATEMENT)
				printf("?    %s: %s (not machine-checked)\n",
					plan_check_kinds[PLAN_CHECK_STATEMENT],
					say_one_line(&clean, p.stages[i].checks[k].text));
		}
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
			"{s:o, s:o}", "plan", json_text(row.name), "history", plan_history_json(&events));

		if (stage.id)
			json_object_set_new(o, "results", plan_results_json(&c, &stage));
		return json_print(o);
	}
	for (size_t i = 0; i < events.n; i++)
		print_event(&events.v[i]);
	for (size_t i = 0; i < checks.n; i++)
		print_check(&checks.v[i]);
	if (stage.id)
		print_statements(&c, &row, stage.name);
	print_notes(&c, &stage);
	if (stage.id)
		fflush(stdout), say_hint("garth log %s", stage.task);
	return 0;
}
