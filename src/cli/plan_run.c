/* garth plan run --dry-run: what would run, wave by wave. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/plan_cmd.h"
#include "cli/say.h"
#include "plan/rows.h"
#include "plan/waves.h"

/* "agent claude", or the script's first line. */
static void print_agent(const struct context *c, const struct plan_stage *s)
{
	const char *agent = s->agent ? s->agent : c->config.default_agent;
	auto_buf clean = BUF_INIT(2u << 20);

	if (s->script)
		printf("    runs   %s\n", say_one_line(&clean, s->script));
	else
		printf("    agent  %s\n", agent ? agent : "the only one that is installed");
}

static void print_commands(const struct plan_check *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_buf clean = BUF_INIT(2u << 20);

		if (v[i].command)
			printf("    %s %s\n", v[i].kind == PLAN_CHECK_BEFORE ? "first " : "then  ",
				say_one_line(&clean, v[i].command));
	}
}

static void print_waves(const struct context *c, const struct plan *p)
{
	size_t *waves = xcalloc(p->nstages, sizeof(*waves)), n = plan_waves(p, waves);

	for (size_t wave = 0; wave < n; wave++) {
		printf("wave %zu\n", wave + 1);
		for (size_t i = 0; i < p->nstages; i++) {
			if (waves[i] != wave)
				continue;
			printf("  %s\n", p->stages[i].id);
			print_agent(c, &p->stages[i]);
			print_commands(p->stages[i].checks, p->stages[i].nchecks);
		}
	}
	if (p->nchecks) {
		puts("on every merged tree");
		print_commands(p->checks, p->nchecks);
	}
	free(waves);
}

static int dry_run(const struct plan_line *l, struct err *e)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_file f = { 0 };

	if (context_open_to_look(&c, e) < 0 || plan_file_load(&c, l->words[0], &f, e) < 0 ||
		plan_file_walls(&f, l->keep_walls, e) < 0)
		return -1;
	if (l->json)
		return json_print(plan_json(&f.plan));
	print_waves(&c, &f.plan);
	fflush(stdout);
	plan_file_say(&f);
	return 0;
}

int plan_cmd_run(const struct plan_line *l)
{
	struct err e = ERR_INIT;

	if (!l->dry_run) {
		err_set(&e, ERR_USAGE, "plans are only checked so far, not run");
		err_hint(&e, "garth plan run --dry-run FILE");
		return say_error(&e);
	}
	return dry_run(l, &e) < 0 ? say_error(&e) : 0;
}
