/* Decides what depends on the repository and the machine. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/command.h"
#include "plan/finish.h"
#include "plan/scope.h"

#define NAMED 3 /* how many stages a warning names */

static const char *const truths[] = { "is read as a command, because there is a program '%s'",
	"is read as a statement, and not checked, because there is no program '%s'" };

/* Programs that commands of the plan name, except in truths that may be statements. */
static void add_programs(const struct plan_check *v, size_t n, struct strvec *ret)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].command && !v[i].open)
			command_names(v[i].command, ret);
}

static bool is_command(const struct plan_check *c, const struct plan_host *host,
	const struct strvec *programs, struct strvec *first)
{
	switch (command_first(c->command, first)) {
	case COMMAND_NONE:
		return false;
	case COMMAND_NAME:
		return host->has_program(host->ctx, first->v[0]) || strvec_has(programs, first->v[0]);
	default:
		return true;
	}
}

/* A text of `truths` is a command if its first word can be run, else a statement for people. */
static void decide_truth(
	struct plan *p, struct plan_check *c, const struct plan_host *host, const struct strvec *programs)
{
	auto_strvec first = STRVEC_INIT;
	bool command = is_command(c, host, programs, &first);
	bool sentence = command_reads_as_sentence(c->command);
	auto_str because = NULL;

	if (first.n && command == sentence) {
		because = xasprintf(truths[!command], first.v[0]);
		plan_warn(p, c->at, "'%.100s' %s; write {%s: …} for a %s", c->command, because,
			command ? "text" : "command", command ? "statement" : "command");
	}
	c->open = false;
	if (command)
		return;
	c->kind = PLAN_CHECK_STATEMENT;
	c->text = steal_ptr(c->command);
}

static void decide_truths(struct plan *p, const struct plan_host *host)
{
	auto_strvec programs = STRVEC_INIT;

	if (!host->has_program)
		return;
	for (size_t i = 0; i < p->nstages; i++)
		add_programs(p->stages[i].checks, p->stages[i].nchecks, &programs);
	for (size_t i = 0; i < p->nstages; i++) {
		struct plan_stage *s = &p->stages[i];

		for (size_t j = 0; j < s->nchecks; j++)
			if (s->checks[j].open)
				decide_truth(p, &s->checks[j], host, &programs);
		plan_sort_checks(s->checks, s->nchecks);
	}
}

/* Each program once, at the first command that needs it. */
static void warn_of_tools(struct plan *p, const struct plan_check *v, size_t n, const struct plan_host *host,
	struct strvec *known)
{
	for (size_t i = 0; i < n; i++) {
		auto_strvec names = STRVEC_INIT;

		if (!v[i].command || v[i].open)
			continue;
		command_names(v[i].command, &names);
		for (size_t j = 0; j < names.n; j++) {
			if (strvec_has(known, names.v[j]))
				continue;
			strvec_push(known, names.v[j]);
			if (!host->has_program(host->ctx, names.v[j]))
				plan_warn(p, v[i].at,
					"a stage would have no program '%s', which '%.100s' needs",
					names.v[j], v[i].command);
		}
	}
}

/* A stage must be allowed to write what it has to make. */
static void warn_of_artifacts(struct plan *p, const struct plan_stage *s)
{
	for (size_t i = 0; i < s->nchecks; i++) {
		const struct plan_check *c = &s->checks[i];
		const char *path = c->kind == PLAN_CHECK_ARTIFACT     ? c->glob
				   : c->kind == PLAN_CHECK_REGRESSION ? c->path
								      : NULL;
		auto_str glob = path ? scope_read(s->working_dir, path) : NULL;

		if (glob && s->has_files && !scope_may_meet(&s->files, glob))
			plan_warn(p, c->at,
				"stage '%s' may not write its %s '%s': no entry of 'files' matches it", s->id,
				c->kind == PLAN_CHECK_ARTIFACT ? "artifact" : "regression test", path);
	}
}

static void warn_of_overlaps(struct plan *p, const struct plan_stage *s)
{
	auto_buf names = BUF_SMALL;

	for (size_t i = 0; i < s->noverlaps && i < NAMED; i++)
		buf_printf(&names, "%s'%s'", i ? ", " : "", p->stages[s->overlaps[i]].id);
	if (s->noverlaps > NAMED)
		buf_printf(&names, " and %zu more", s->noverlaps - NAMED);
	if (s->noverlaps)
		plan_warn(p, s->at,
			"stage '%s' may change the same files as %s, and neither depends on the other: they run one after the other",
			s->id, buf_str(&names));
}

int plan_decide(struct plan *p, const struct plan_host *host, struct err *e)
{
	auto_strvec known = STRVEC_INIT;

	if (scope_decide(p, host, e) < 0)
		return -1;
	decide_truths(p, host);
	scope_find_overlaps(p);
	for (size_t i = 0; i < p->nstages; i++) {
		warn_of_artifacts(p, &p->stages[i]);
		warn_of_overlaps(p, &p->stages[i]);
	}
	if (host->has_program) {
		warn_of_tools(p, p->checks, p->nchecks, host, &known);
		for (size_t i = 0; i < p->nstages; i++)
			warn_of_tools(p, p->stages[i].checks, p->stages[i].nchecks, host, &known);
	}
	p->decided = true;
	return 0;
}
