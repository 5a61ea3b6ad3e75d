/* Releasing plans and drafts. */
#include <stdlib.h>

#include "base/alloc.h"
#include "plan/rows.h"

static void free_all(char **const texts[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(steal_ptr(*texts[i]));
}

static void release_all(struct strvec *const lists[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		strvec_release(lists[i]);
}

static void check_release(struct plan_check *c)
{
	char **const texts[] = { &c->name, &c->description, &c->command, &c->glob, &c->path, &c->pattern,
		&c->text };
	struct strvec *const lists[] = { &c->expect.stdout_contains, &c->expect.stdout_not_contains,
		&c->expect.stderr_contains, &c->must_contain, &c->fail_patterns, &c->ignore_patterns };

	free_all(texts, ARRAY_SIZE(texts));
	release_all(lists, ARRAY_SIZE(lists));
}

static void checks_release(struct plan_check *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_release(&v[i]);
	free(v);
}

static void patterns_release(struct plan_patterns *p)
{
	for (size_t i = 0; i < p->n; i++) {
		char **const texts[] = { &p->v[i].text, &p->v[i].glob, &p->v[i].also };

		free_all(texts, ARRAY_SIZE(texts));
	}
	free(steal_ptr(p->v));
}

static void stage_release(struct plan_stage *s)
{
	char **const texts[] = { &s->id, &s->task, &s->name, &s->description, &s->working_dir, &s->agent,
		&s->script, &s->model, &s->effort, &s->network.mode };
	struct strvec *const lists[] = { &s->network.allow, &s->sandbox.deny_read, &s->sandbox.deny_write,
		&s->sandbox.allow_write, &s->submodules, &s->review };

	free_all(texts, ARRAY_SIZE(texts));
	release_all(lists, ARRAY_SIZE(lists));
	patterns_release(&s->files);
	patterns_release(&s->protect);
	checks_release(s->checks, s->nchecks);
	free(s->needs);
	free(s->needs_at);
	free(s->overlaps);
}

void plan_release(struct plan *p)
{
	char **const texts[] = { &p->file, &p->id, &p->task, &p->agent, &p->target, &p->digest };

	free_all(texts, ARRAY_SIZE(texts));
	checks_release(p->checks, p->nchecks);
	for (size_t i = 0; i < p->nstages; i++)
		stage_release(&p->stages[i]);
	free(p->stages);
	free(p->order);
	free(p->after);
	strvec_release(&p->no_effect);
	strvec_release(&p->warnings);
	*p = (struct plan){ 0 };
}

static void rules_release(struct plan_rules *r)
{
	strvec_release(&r->globs);
	free(steal_ptr(r->at));
}

static void sandbox_release(struct plan_sandbox_draft *s)
{
	rules_release(&s->deny_read);
	rules_release(&s->deny_write);
	rules_release(&s->allow_write);
	strvec_release(&s->allowed_domains);
	strvec_release(&s->additional_domains);
}

void plan_draft_release(struct plan_draft *d)
{
	for (size_t i = 0; i < d->nstages; i++) {
		struct plan_stage_draft *s = &d->stages[i];

		stage_release(&s->stage);
		checks_release(s->checks.v, s->checks.n);
		strvec_release(&s->needs.ids);
		free(s->needs.at);
		sandbox_release(&s->sandbox);
	}
	free(d->stages);
	checks_release(d->checks.v, d->checks.n);
	sandbox_release(&d->sandbox);
	free(d->network.mode);
	strvec_release(&d->network.allow);
	plan_release(&d->plan);
	*d = (struct plan_draft){ 0 };
}
