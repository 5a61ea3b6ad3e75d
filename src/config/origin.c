#include "config/origin.h"

#include <string.h>

#include "base/alloc.h"

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct config_origin *find(const struct config *c, const char *key, const char *item)
{
	for (size_t i = 0; i < c->norigins; i++)
		if (!strcmp(c->origins[i].key, key) && is_same(c->origins[i].item, item))
			return &c->origins[i];
	return NULL;
}

void origin_note(const struct source *s, const char *key, const char *item, unsigned line, unsigned column)
{
	struct config *c = s->config;
	struct config_origin *o = find(c, key, item);

	if (!o) {
		c->origins = xrealloc(c->origins, c->norigins + 1, sizeof(*c->origins));
		o = &c->origins[c->norigins++];
		*o = (struct config_origin){ .key = xstrdup(key), .item = item ? xstrdup(item) : NULL };
	}
	free(o->at);
	o->at = xasprintf("%s:%u:%u", s->file ? s->file : "", line, column);
}

const char *config_origin(const struct config *c, const char *key, const char *item)
{
	const struct config_origin *o = find(c, key, item);

	return o ? o->at : "built-in";
}
