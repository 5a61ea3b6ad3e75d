#include "workspace/converted.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "workspace/ignored.h"

static bool is_attributes(const struct change *c)
{
	return c->kind == CHANGE_FILE && !strcmp(path_base(c->path), ".gitattributes");
}

/* Whether there are any attributes: mostly there are none, and git need not be asked. */
static bool has_attributes(const struct scratch *s, const struct changes *c)
{
	auto_buf own = BUF_INIT(REPO_ATTRIBUTES_MAX);
	struct err ignored = ERR_INIT;

	if (c->base_attributes.n || (!repo_attributes(s->repo, &own, &ignored) && own.len))
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (is_attributes(&c->v[i]))
			return true;
	return false;
}

static int take_attributes(struct scratch *s, const char *since, const struct changes *c, struct err *e)
{
	auto_strvec base = STRVEC_INIT;

	ignored_base_rules(c, &c->base_attributes, &base);
	if (scratch_base_rules(s, since, &base, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (is_attributes(&c->v[i]) && ignored_add_rules(s, c->root, c->v[i].path, e) < 0)
			return -1;
	return 0;
}

static bool is_asked(const struct change *c)
{
	return c->kind == CHANGE_FILE && !c->ignored;
}

int converted_mark(struct scratch *s, const char *since, struct changes *c, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;
	struct err late = ERR_INIT;
	unsigned *forms;

	if (!has_attributes(s, c))
		return 0;
	for (size_t i = 0; i < c->n; i++)
		if (is_asked(&c->v[i]))
			strvec_push(&paths, c->v[i].path);
	if (!paths.n)
		return 0;
	if (take_attributes(s, since, c, e) < 0)
		return -1;
	forms = xcalloc(paths.n, sizeof(*forms));
	if (!scratch_attributes(s, &paths, forms, &late))
		for (size_t i = 0, k = 0; i < c->n; i++)
			if (is_asked(&c->v[i]))
				c->v[i].form = forms[k++];
	free(forms);
	return 0;
}
