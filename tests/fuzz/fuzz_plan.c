/* Any text as a plan's file: what is read keeps the promises of plan.h, and is the same after it was kept. The first
 * line is also a regular expression, a command and a glob. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "plan/command.h"
#include "plan/graph.h"
#include "plan/overlap.h"
#include "plan/plan.h"
#include "plan/regex.h"
#include "plan/waves.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some paths and programs are there, some are not. */
static int have_paths(void *ctx, const struct strvec *paths, bool *ret, struct err *e)
{
	(void)ctx, (void)e;
	for (size_t i = 0; i < paths->n; i++) {
		if (paths->v[i][0] == '/')
			abort();
		ret[i] = strlen(paths->v[i]) % 2;
	}
	return 0;
}

static bool has_program(void *ctx, const char *name)
{
	(void)ctx;
	return strlen(name) % 3;
}

static void check_globs(const struct plan_patterns *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *both[] = { p->v[i].glob, p->v[i].also };

		if (p->v[i].base == PLAN_BASE_OPEN || (p->v[i].base == PLAN_BASE_BOTH) != (both[1] != NULL))
			abort();
		for (size_t j = 0; j < 2 && both[j]; j++)
			if (both[j][0] != '/' || !both[j][1] || strstr(both[j], "/../") ||
				!globs_may_meet(both[j], both[j]))
				abort();
	}
}

static void check_stage(const struct plan *p, size_t i)
{
	const struct plan_stage *s = &p->stages[i];
	struct err e = ERR_INIT;

	if (!s->id || !s->name || name_check_task(s->task, &e) < 0 || s->has_files != (s->files.n > 0))
		abort();
	if (s->working_dir[0] == '/' || !strncmp(s->working_dir, "../", 3) || strstr(s->working_dir, "/../"))
		abort();
	for (size_t j = 0; j < s->nneeds; j++)
		if (s->needs[j] >= p->nstages || !plan_is_after(p, i, s->needs[j]) ||
			plan_is_after(p, s->needs[j], i))
			abort();
	for (size_t j = 0; j < s->noverlaps; j++)
		if (s->overlaps[j] >= i || plan_is_after(p, i, s->overlaps[j]))
			abort();
	for (size_t j = 0; j < s->nchecks; j++)
		if (s->checks[j].open || (j && s->checks[j].kind < s->checks[j - 1].kind))
			abort();
	check_globs(&s->files);
	check_globs(&s->protect);
}

static void check_waves(const struct plan *p)
{
	size_t *waves = xcalloc(p->nstages, sizeof(*waves)), n = plan_waves(p, waves);

	for (size_t i = 0; i < p->nstages; i++) {
		const struct plan_stage *s = &p->stages[i];

		if (waves[i] >= n)
			abort();
		for (size_t j = 0; j < s->nneeds; j++)
			if (waves[s->needs[j]] >= waves[i])
				abort();
		for (size_t j = 0; j < s->noverlaps; j++)
			if (waves[s->overlaps[j]] == waves[i])
				abort();
	}
	free(waves);
}

static void check_kept(const struct plan *p)
{
	auto_buf first = BUF_INIT(PLAN_FROZEN_MAX), second = BUF_INIT(PLAN_FROZEN_MAX);
	struct err e = ERR_INIT;
	auto_plan q = { 0 };

	plan_freeze(p, &first);
	if (plan_thaw(buf_str(&first), first.len, &q, &e) < 0)
		abort();
	plan_freeze(&q, &second);
	if (strcmp(buf_str(&first), buf_str(&second)) || strcmp(p->digest, q.digest) ||
		p->nstages != q.nstages)
		abort();
}

static void try_line(const char *line)
{
	auto_strvec names = STRVEC_INIT;
	struct err e = ERR_INIT;
	struct plan_regex x;

	command_names(line, &names);
	command_first(line, &names);
	command_reads_as_sentence(line);
	globs_may_meet(line, "/a/**/b*c");
	if (plan_regex_compile(&x, line, &e) < 0)
		return;
	plan_regex_matches(&x, "static int x = 1;");
	plan_regex_release(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct plan_host host = { NULL, have_paths, has_program };
	auto_str text = xstrndup((const char *)data, size);
	auto_str line = xstrndup(text, strcspn(text, "\n"));
	struct err e = ERR_INIT;
	auto_plan p = { 0 };

	try_line(line);
	{
		auto_strvec mistakes = STRVEC_INIT;
		struct err first = ERR_INIT;
		auto_plan once = { 0 }, all = { 0 };
		int rc = plan_read((const char *)data, size, "-", &once, &first);

		/* the first mistake is the same, whether all are looked for or not */
		if (plan_read_all((const char *)data, size, "-", &mistakes, &all, &e) != rc ||
			strcmp(e.msg, first.msg) != 0 || mistakes.n > PLAN_MISTAKES_MAX)
			abort();
		e = (struct err)ERR_INIT;
	}
	{
		auto_plan kept = { 0 };

		plan_thaw((const char *)data, size, &kept, &e);
	}
	if (plan_read((const char *)data, size, "-", &p, &e) < 0) {
		if (e.kind != ERR_CONFIG)
			abort();
		return 0;
	}
	if (plan_decide(&p, &host, &e) < 0)
		abort();
	for (size_t i = 0; i < p.nstages; i++)
		check_stage(&p, i);
	check_waves(&p);
	check_kept(&p);
	for (int style = GRAPH_TEXT; style <= GRAPH_MERMAID; style++) {
		auto_buf out = BUF_INIT(16 << 20);

		plan_graph(&p, (enum graph_style)style, NULL, &out);
	}
	return 0;
}
