#include "plan/plan.h"

#include <string.h>

#include "plan/finish.h"
#include "plan/markdown.h"
#include "plan/read.h"
#include "plan/scope.h"

/* A stage with every key has about 60 values. */
#define VALUES_MAX 60000

#define auto_draft __attribute__((cleanup(plan_draft_release))) struct plan_draft

int plan_mistake(struct strvec *mistakes, int rc, struct err *e)
{
	if (rc >= 0 || !mistakes || e->kind != ERR_CONFIG || mistakes->n >= PLAN_MISTAKES_MAX)
		return rc;
	strvec_push(mistakes, e->msg);
	*e = (struct err)ERR_INIT;
	return 0;
}

static int read_yaml(const struct yaml_source *source, const char *text, size_t len, bool frozen,
	struct strvec *mistakes, struct plan *ret, struct err *e)
{
	auto_strvec no_effect = STRVEC_INIT, ignored = STRVEC_INIT;
	struct plan_reader r = { source->file, frozen, &no_effect, ignored, mistakes };
	auto_draft d = { .mistakes = mistakes };
	auto_yaml y = NULL;
	int rc;

	if (yaml_parse_source(source, text, len, &y, e) < 0)
		return -1;
	rc = plan_read_file(&r, y, &d, e);
	ignored = r.ignored;
	if (rc < 0 || (mistakes && mistakes->n) || plan_finish(&d, source->file, frozen, ret, e) < 0)
		return mistakes && mistakes->n ? err_set(e, ERR_CONFIG, "%s", mistakes->v[0]) : -1;
	ret->no_effect = no_effect;
	no_effect = (struct strvec)STRVEC_INIT;
	return 0;
}

int plan_read(const char *text, size_t len, const char *file, struct plan *ret, struct err *e)
{
	return plan_read_all(text, len, file, NULL, ret, e);
}

int plan_read_all(const char *text, size_t len, const char *file, struct strvec *mistakes, struct plan *ret,
	struct err *e)
{
	struct yaml_source s = { file, 1, YAML_MAX_BYTES, VALUES_MAX };
	size_t at = 0;

	if (len > YAML_MAX_BYTES)
		return err_set(e, ERR_CONFIG, "%s:1:1: larger than %u bytes", file, YAML_MAX_BYTES);
	if (markdown_is(file, text, len) && markdown_find(file, text, len, &at, &len, &s.line, e) < 0)
		return -1;
	return read_yaml(&s, text + at, len, false, mistakes, ret, e);
}

int plan_thaw(const char *text, size_t len, struct plan *ret, struct err *e)
{
	/* every value has a position beside it */
	const struct yaml_source s = { NULL, 1, PLAN_FROZEN_MAX, 4 * VALUES_MAX };

	if (read_yaml(&s, text, len, true, NULL, ret, e) < 0)
		return err_wrap(e, "a kept plan cannot be read");
	if (ret->decided)
		scope_find_overlaps(ret);
	return 0;
}

long plan_stage_find(const struct plan *p, const char *id)
{
	for (size_t i = 0; i < p->nstages; i++)
		if (!strcmp(p->stages[i].id, id))
			return (long)i;
	return -1;
}

int plan_check_walls(const struct plan *p, struct err *e)
{
	for (size_t i = 0; i < p->nstages; i++) {
		const struct plan_sandbox *s = &p->stages[i].sandbox;

		if (!s->disabled)
			continue;
		plan_error(p, s->disabled_at, e,
			"'sandbox.enabled: false': a stage cannot run without walls, and the plan may rely on that");
		e->kind = ERR_REFUSED;
		return -1;
	}
	return 0;
}
