/* garth plan check, schema, graph: show what is in a plan's file, without running anything. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/plan_status.h"
#include "cli/say.h"
#include "plan/graph.h"
#include "plan/rows.h"
#include "plan/schema.h"

/* A label, and a text that is cleaned. */
static void print_line(const char *label, const char *text)
{
	auto_buf clean = BUF_INIT(2u << 20);

	printf("  %-15s %s\n", label, say_one_line(&clean, text));
}

/* "src/x.rs is loom/src/x.rs": only if the reading differs from what is written. */
static void print_patterns(const char *label, const struct plan_patterns *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_pattern *x = &p->v[i];
		auto_buf line = BUF_SMALL;

		buf_addstr(&line, x->text);
		if (x->also)
			buf_printf(&line, "  is %s and %s: nothing decides which", x->glob + 1, x->also + 1);
		else if (strcmp(x->text + (*x->text == '/'), x->glob + 1) != 0)
			buf_printf(&line, "  is %s", x->glob + 1);
		print_line(i ? "" : label, buf_str(&line));
	}
}

static const char *text_of(const struct plan_check *c)
{
	return c->command ? c->command : c->glob ? c->glob : c->path ? c->path : c->text;
}

static void print_checks(const struct plan_check *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool again = i && v[i - 1].kind == v[i].kind;
		auto_buf line = BUF_INIT(2u << 20);

		buf_addstr(&line, text_of(&v[i]));
		if (v[i].kind == PLAN_CHECK_WIRING)
			buf_printf(&line, " has a line that matches %s", v[i].pattern);
		if (v[i].kind == PLAN_CHECK_STATEMENT)
			buf_addstr(&line, "  (not machine-checked)");
		print_line(again ? "" : plan_check_kinds[v[i].kind], buf_str(&line));
	}
}

static void print_stage(const struct plan *p, const struct plan_stage *s)
{
	auto_buf clean = BUF_SMALL, needs = BUF_SMALL;

	printf("%s", s->id);
	if (strcmp(s->id, s->name) != 0)
		printf(": %s", say_one_line(&clean, s->name));
	printf("\n");
	for (size_t i = 0; i < s->nneeds; i++)
		buf_printf(&needs, "%s%s", i ? ", " : "", p->stages[s->needs[i]].id);
	if (s->nneeds)
		print_line("after", buf_str(&needs));
	if (s->type != PLAN_STANDARD)
		print_line("type", plan_stage_types[s->type]);
	if (strcmp(s->working_dir, ".") != 0)
		print_line("starts in", s->working_dir);
	if (s->agent)
		print_line("agent", s->agent);
	if (!s->has_files)
		print_line("files", "everything but protected paths");
	print_patterns("files", &s->files);
	print_patterns("protect", &s->protect);
	if (s->approve)
		print_line("approve", plan_approvals[s->approve]);
	print_checks(s->checks, s->nchecks);
}

/* An exit code. The first mistake is the error itself. */
static int say_mistakes(const struct err *e, const struct strvec *mistakes)
{
	json_t *list = json_array();
	int code;

	for (size_t i = 0; i < mistakes->n; i++)
		json_array_append_new(list, json_text(mistakes->v[i]));
	code = say_error_members(e, json_pack("{s:o}", "mistakes", list));
	for (size_t i = 1; i < mistakes->n; i++) {
		struct err more = ERR_INIT;

		err_set(&more, ERR_CONFIG, "%s", mistakes->v[i]);
		say_error_text(&more);
	}
	say_hint("man garth-plan");
	return code;
}

int plan_cmd_check(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_strvec mistakes = STRVEC_INIT;
	auto_plan_file f = { 0 };
	struct err e = ERR_INIT;

	if (context_open_to_look(&c, &e) < 0 || plan_file_load_all(&c, l->words[0], &mistakes, &f, &e) < 0 ||
		plan_file_walls(&f, l->keep_walls, &e) < 0)
		return mistakes.n ? say_mistakes(&e, &mistakes) : say_error(&e);
	plan_file_refusals(&c, &f);
	if (l->json)
		return json_print(plan_json(&f.plan));
	for (size_t i = 0; i < f.plan.nstages && !say_is_quiet(); i++)
		print_stage(&f.plan, &f.plan.stages[i]);
	if (f.plan.nchecks && !say_is_quiet()) {
		puts("every merged tree");
		print_checks(f.plan.checks, f.plan.nchecks);
	}
	fflush(stdout);
	plan_file_say(&f);
	say_done("plan '%s': %zu stage%s", f.plan.id, f.plan.nstages, f.plan.nstages == 1 ? "" : "s");
	return 0;
}

int plan_cmd_schema(const struct plan_line *l)
{
	json_t *o = plan_schema();

	(void)l;
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return 0;
}

int plan_cmd_graph(const struct plan_line *l)
{
	enum graph_style style = l->dot ? GRAPH_DOT : l->mermaid ? GRAPH_MERMAID : GRAPH_TEXT;
	auto_context c = { .home.fd = -1 };
	auto_buf out = BUF_INIT(64 << 20);
	auto_plan_file f = { 0 };
	struct err e = ERR_INIT;

	if (l->dot && l->mermaid)
		return err_set(&e, ERR_USAGE, "either --dot or --mermaid"), say_error(&e);
	if (context_open_to_look(&c, &e) < 0)
		return say_error(&e);
	/* a plan that has begun */
	if (!l->json && strcmp(l->words[0], "-") && access(l->words[0], F_OK) < 0 &&
		!plan_status_graph(&c, l->words[0], style, &out, &e)) {
		fputs(buf_str(&out), stdout);
		return 0;
	}
	e = (struct err)ERR_INIT;
	if (plan_file_load(&c, l->words[0], &f, &e) < 0)
		return say_error(&e);
	if (l->json)
		return json_print(plan_json(&f.plan));
	plan_graph(&f.plan, style, NULL, &out);
	fputs(buf_str(&out), stdout);
	return 0;
}
