#include "plan/finish.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/yaml.h"
#include "plan/read.h"
#include "plan/scope.h"

int plan_error(const struct plan *p, struct plan_place at, struct err *e, const char *fmt, ...)
{
	struct yaml node = { .line = at.line, .column = at.column };
	char msg[sizeof(e->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return yaml_error(&node, at.line ? p->file : NULL, e, "%s", msg);
}

void plan_warn(struct plan *p, struct plan_place at, const char *fmt, ...)
{
	struct err e = ERR_INIT;
	char msg[sizeof(e.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	plan_error(p, at, &e, "%s", msg);
	strvec_push(&p->warnings, e.msg);
}

/* "docs/My plan.md" is "My-plan". */
static char *id_of_file(const char *file)
{
	const char *name = file ? path_base(file) : "";
	const char *dot = strrchr(name, '.');
	auto_str id = xstrndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));

	for (char *p = id; *p; p++) {
		char one[2] = { *p, '\0' };

		if (!plan_id_is_valid(one))
			*p = '-';
	}
	if (strlen(id) > PLAN_ID_MAX)
		id[PLAN_ID_MAX] = '\0';
	return xstrdup(id[strspn(id, "-")] ? id : "plan");
}

static int compare_checks(const void *a, const void *b)
{
	const struct plan_check *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	return x->at.column < y->at.column ? -1 : x->at.column > y->at.column;
}

void plan_sort_checks(struct plan_check *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), compare_checks);
}

static void add_all(struct strvec *to, const struct strvec *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!strvec_has(to, from->v[i]))
			strvec_push(to, from->v[i]);
}

static bool names_hosts(const struct plan_network *n, const struct plan_sandbox_draft *s)
{
	return n->allow.n || s->domains_at.line || s->additional_domains.n;
}

/* A stage's own mode wins over the plan's. Naming hosts implies the mode "allow". */
static void join_network(
	struct plan_network *own, const struct plan_sandbox_draft *sandbox, const struct plan_draft *d)
{
	const struct strvec *const lists[] = { &sandbox->allowed_domains, &sandbox->additional_domains,
		&d->network.allow, &d->sandbox.allowed_domains, &d->sandbox.additional_domains };
	const char *mode = own->mode;

	if (!mode && names_hosts(own, sandbox))
		mode = "allow";
	if (!mode)
		mode = d->network.mode;
	if (!mode && names_hosts(&d->network, &d->sandbox))
		mode = "allow";
	if (mode && !own->mode)
		own->mode = xstrdup(mode);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		add_all(&own->allow, lists[i]);
	if (mode && !strcmp(mode, "none"))
		strvec_release(&own->allow);
}

static void join_sandbox(
	struct plan_stage *s, const struct plan_sandbox_draft *own, const struct plan_sandbox_draft *plan)
{
	const struct plan_sandbox_draft *const both[] = { plan, own };

	for (size_t i = 0; i < 2; i++) {
		add_all(&s->sandbox.deny_read, &both[i]->deny_read.globs);
		add_all(&s->sandbox.deny_write, &both[i]->deny_write.globs);
		add_all(&s->sandbox.allow_write, &both[i]->allow_write.globs);
	}
	if (own->enabled && (plan->enabled || own->enabled_at.line))
		return;
	s->sandbox.disabled = true;
	s->sandbox.disabled_at = own->enabled ? plan->enabled_at : own->enabled_at;
}

static int set_agent(const struct plan *p, struct plan_stage_draft *d, struct err *e)
{
	struct plan_stage *s = &d->stage;

	if (!s->agent && s->script)
		s->agent = xstrdup("script");
	else if (!s->agent && p->agent)
		s->agent = xstrdup(p->agent);
	if (s->script && strcmp(s->agent, "script") != 0)
		return plan_error(p, d->script_at, e,
			"'stages.%s.script' is for agent 'script', not for '%s'", s->id, s->agent);
	if (!s->script && s->agent && !strcmp(s->agent, "script"))
		return plan_error(p, d->at, e,
			"'stages.%s.script' is missing: agent 'script' needs lines to run", s->id);
	return 0;
}

static int check_bug_fix(const struct plan *p, const struct plan_stage_draft *d, struct err *e)
{
	const struct plan_stage *s = &d->stage;

	if (s->bug_fix && !d->regression_at.line)
		return plan_error(p, d->at, e,
			"'stages.%s.regression_test' is missing: 'bug_fix: true' says that there is one",
			s->id);
	for (size_t i = 0; i < s->nchecks; i++)
		if (s->checks[i].kind == PLAN_CHECK_REGRESSION && !s->checks[i].must_contain.n)
			return plan_error(p, s->checks[i].at, e,
				"'stages.%s.regression_test.must_contain' is missing or empty", s->id);
	return 0;
}

/* A glob that leads out of the repository would allow nothing, so it is a mistake. */
static int check_patterns(
	const struct plan *p, const struct plan_stage *s, const struct plan_patterns *v, struct err *e)
{
	for (size_t i = 0; i < v->n; i++) {
		auto_str glob = scope_read(s->working_dir, v->v[i].text);

		if (!glob)
			return plan_error(p, v->v[i].at, e, "'%s' leads out of the repository", v->v[i].text);
	}
	return 0;
}

static int finish_stage(const struct plan *p, struct plan_stage_draft *d, const struct plan_draft *top,
	bool frozen, struct err *e)
{
	struct plan_stage *s = &d->stage;

	if (!s->name)
		s->name = xstrdup(s->id);
	if (!s->working_dir)
		s->working_dir = xstrdup(".");
	s->has_files = s->files.n;
	s->approve = d->approve | (d->auto_merge ? 0 : PLAN_APPROVE_AFTER);
	s->checks = steal_ptr(d->checks.v);
	s->nchecks = d->checks.n;
	d->checks.n = 0;
	if (!frozen)
		plan_sort_checks(s->checks, s->nchecks);
	join_network(&s->network, &d->sandbox, top);
	join_sandbox(s, &d->sandbox, &top->sandbox);
	if (check_patterns(p, s, &s->files, e) < 0 || check_patterns(p, s, &s->protect, e) < 0)
		return -1;
	if (set_agent(p, d, e) < 0)
		return -1;
	return frozen ? 0 : check_bug_fix(p, d, e);
}

static int refuse_need(const struct plan_draft *d, const struct plan_stage_draft *s, size_t i, struct err *e)
{
	struct nearest near = { .typed = s->needs.ids.v[i] };
	char meant[NEAREST_TEXT_MAX];

	for (size_t j = 0; j < d->nstages; j++)
		nearest_try(&near, d->stages[j].stage.id, strlen(d->stages[j].stage.id));
	return plan_error(&d->plan, s->needs.at[i], e,
		"stage '%s' depends on '%s', and there is no such stage%s", s->stage.id, s->needs.ids.v[i],
		nearest_text(&near, meant));
}

/* Stages' names to indexes. The ids are sorted once: a plan may have a thousand. */
struct named {
	const char *id;
	size_t i;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = strcmp(x->id, y->id);

	return c ? c : x->i < y->i ? -1 : x->i > y->i;
}

static const struct named *find_named(const struct named *v, size_t n, const char *id)
{
	size_t from = 0;

	while (from < n) {
		size_t mid = from + (n - from) / 2;
		int c = strcmp(v[mid].id, id);

		if (!c)
			return &v[mid];
		if (c < 0)
			from = mid + 1;
		else
			n = mid;
	}
	return NULL;
}

static int resolve_needs(
	struct plan_draft *d, struct plan_stage_draft *s, const struct named *names, struct err *e)
{
	size_t n = s->needs.ids.n;

	s->stage.needs = xcalloc(n ? n : 1, sizeof(*s->stage.needs));
	s->stage.needs_at = xcalloc(n ? n : 1, sizeof(*s->stage.needs_at));
	for (size_t i = 0; i < n; i++) {
		const struct named *found = find_named(names, d->nstages, s->needs.ids.v[i]);
		bool again = false;

		if (!found && plan_mistake(d->mistakes, refuse_need(d, s, i, e), e) < 0)
			return -1;
		for (size_t j = 0; found && j < s->stage.nneeds; j++)
			again |= s->stage.needs[j] == found->i;
		if (!found || again)
			continue;
		s->stage.needs_at[s->stage.nneeds] = s->needs.at[i];
		s->stage.needs[s->stage.nneeds++] = found->i;
	}
	return 0;
}

static int resolve_all(struct plan_draft *d, struct err *e)
{
	struct named *names = xcalloc(d->nstages, sizeof(*names));
	int rc = 0;

	for (size_t i = 0; i < d->nstages; i++)
		names[i] = (struct named){ d->stages[i].stage.id, i };
	qsort(names, d->nstages, sizeof(*names), compare_named);
	for (size_t i = 1; i < d->nstages && !rc; i++)
		if (!strcmp(names[i - 1].id, names[i].id))
			rc = plan_mistake(d->mistakes,
				plan_error(&d->plan, d->stages[names[i].i].stage.at, e,
					"stage '%s' appears twice, first in line %u", names[i].id,
					d->stages[names[i - 1].i].stage.at.line),
				e);
	for (size_t i = 0; i < d->nstages && !rc; i++)
		rc = resolve_needs(d, &d->stages[i], names, e);
	free(names);
	return rc;
}

static void move_stages(struct plan_draft *d, struct plan *p)
{
	p->stages = xcalloc(d->nstages, sizeof(*p->stages));
	p->nstages = d->nstages;
	for (size_t i = 0; i < d->nstages; i++) {
		p->stages[i] = d->stages[i].stage;
		d->stages[i].stage = (struct plan_stage){ 0 };
	}
}

/* What `auto_merge: false` means together with `merge`. */
static int join_merge(struct plan_draft *d, struct err *e)
{
	if (d->auto_merge)
		return 0;
	if (d->merge_at.line && d->plan.merge != PLAN_MERGE_ASK && d->plan.merge != PLAN_MERGE_NEVER)
		return plan_error(&d->plan, d->auto_merge_at, e,
			"'auto_merge: false' contradicts 'merge: %s'", plan_merges[d->plan.merge]);
	if (!d->merge_at.line)
		d->plan.merge = PLAN_MERGE_ASK;
	return 0;
}

int plan_finish(struct plan_draft *d, const char *file, bool frozen, struct plan *ret, struct err *e)
{
	struct plan *p = &d->plan;
	auto_str task = steal_ptr(p->task);

	if (file && !p->file)
		p->file = xstrdup(file);
	if (!p->id)
		p->id = id_of_file(file);
	if (plan_mistake(d->mistakes, join_merge(d, e), e) < 0)
		return -1;
	p->checks = steal_ptr(d->checks.v);
	p->nchecks = d->checks.n;
	d->checks.n = 0;
	for (size_t i = 0; i < d->nstages; i++)
		if (plan_mistake(d->mistakes, finish_stage(p, &d->stages[i], d, frozen, e), e) < 0)
			return -1;
	if (resolve_all(d, e) < 0)
		return -1;
	/* the rest is about plans whose stages are known */
	if (d->mistakes && d->mistakes->n)
		return -1;
	move_stages(d, p);
	if (plan_sort(p, e) < 0 || plan_name_tasks(p, task ? task : p->id, e) < 0)
		return -1;
	if (!p->digest)
		p->digest = plan_digest(p);
	*ret = *p;
	*p = (struct plan){ 0 };
	return 0;
}
