#include "config/origin.h"

#include <string.h>

#include "base/alloc.h"

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The last note counts, so the search begins there. */
static const struct config_origin *find(const struct config *c, const char *key, const char *item)
{
	for (size_t i = c->norigins; i-- > 0;)
		if (!strcmp(c->origins[i].key, key) && is_same(c->origins[i].item, item))
			return &c->origins[i];
	return NULL;
}

void origin_note(const struct source *s, const char *key, const char *item, unsigned line, unsigned column)
{
	struct config *c = s->config;

	/* the capacity is a power of two */
	if (!(c->norigins & (c->norigins - 1)))
		c->origins = xrealloc(c->origins, c->norigins ? c->norigins * 2 : 1, sizeof(*c->origins));
	c->origins[c->norigins++] = (struct config_origin){ .key = xstrdup(key),
		.item = item ? xstrdup(item) : NULL,
		.at = xasprintf("%s:%u:%u", s->file ? s->file : "", line, column) };
}

const char *config_origin(const struct config *c, const char *key, const char *item)
{
	const struct config_origin *o = find(c, key, item);

	return o ? o->at : "built-in";
}
