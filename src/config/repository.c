#include "config/repository.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static void note(const struct source *s, const struct yaml *y, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void note(const struct source *s, const struct yaml *y, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strvec_pushf(&s->config->notes, "%s:%u:%u: %s", s->file, y->line, y->column, text);
}

static int lower(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	uint64_t *to, struct err *e)
{
	bool zero_is_none = row->repository == REPOSITORY_LIMITS;
	uint64_t n = 0;

	if (value_read(s, y, row, what, &n, e) < 0)
		return -1;
	/* what is in force is not known here: both limits hold */
	if (row->cap && !*to && n) {
		*(uint64_t *)(void *)((char *)s->config + row->cap) = n;
		return 1;
	}
	if (n == *to)
		return 0;
	if (zero_is_none && (!n || (*to && n > *to)))
		return note(s, y, "'%s' stays %llu: a repository's file can only lower it", what,
			       (unsigned long long)*to),
		       0;
	if (!zero_is_none && n > *to)
		return note(s, y, "'%s' stays %llu: a repository's file can only lower it", what,
			       (unsigned long long)*to),
		       0;
	*to = n;
	return 1;
}

static size_t rank(const char *const *choices, const char *value)
{
	size_t i = 0;

	while (choices[i] && strcmp(choices[i], value))
		i++;
	return i;
}

static int choose(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	char **to, struct err *e)
{
	auto_str value = NULL;

	if (value_read(s, y, row, what, &value, e) < 0)
		return -1;
	/* an unset one is stricter than the last choice, and than nothing else */
	if (!*to && row->choices[rank(row->choices, value) + 1])
		return *to = steal_ptr(value), 1;
	if (!*to || !strcmp(value, *to))
		return 0;
	if (rank(row->choices, value) > rank(row->choices, *to))
		return note(s, y, "'%s' stays '%s': a repository's file can only make it stricter", what,
			       *to),
		       0;
	free(*to);
	*to = steal_ptr(value);
	return 1;
}

static int turn(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	bool *to, struct err *e)
{
	bool strict = row->repository == REPOSITORY_TRUE, value = strict;

	if (value_read(s, y, row, what, &value, e) < 0)
		return -1;
	if (value == *to)
		return 0;
	if (value != strict)
		return note(s, y, "'%s' stays %s: a repository's file can only make it %s", what,
			       *to ? "true" : "false", strict ? "true" : "false"),
		       0;
	*to = value;
	return 1;
}

/* How strict the shim's built-in rule of a command is, is not known here; "blocked" is always stricter. */
static int block(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	void *to, struct err *e)
{
	for (size_t i = 0; y->kind == YAML_MAP && i < y->n; i++)
		if (y->items[i]->kind == YAML_SCALAR && strcmp(y->items[i]->scalar, "blocked") != 0)
			return yaml_error(y->items[i], s->file, e,
				"'%s.%s' can only be 'blocked' in a repository's file", what,
				y->keys[i].name);
	return value_read(s, y, row, what, to, e) < 0 ? -1 : 1;
}

static void quote(struct buf *out, const char *word)
{
	buf_addch(out, '"');
	for (; *word; word++)
		if (*word == '"' || *word == '\\')
			buf_printf(out, "\\%c", *word);
		else if ((unsigned char)*word < ' ')
			buf_printf(out, "\\u%04x", (unsigned char)*word);
		else
			buf_addch(out, *word);
	buf_addch(out, '"');
}

void asks_release(struct config *c)
{
	for (size_t i = 0; i < c->nasks; i++) {
		free(c->asks[i].exact);
		free(c->asks[i].text);
	}
	free(steal_ptr(c->asks));
	c->nasks = 0;
	strvec_release(&c->notes);
}

static void ask(struct config *c, const char *key, char *exact, char *text)
{
	c->asks = xrealloc(c->asks, c->nasks + 1, sizeof(*c->asks));
	c->asks[c->nasks++] = (struct config_ask){ key, exact, text };
}

/* Everything that the file has is asked for, also if the user's file has it too: what is approved must not depend
 * on what is there already. */
static int ask_for(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, struct strvec *to, struct err *e)
{
	auto_strvec items = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (value_read(s, y, row, what, &items, e) < 0)
		return -1;
	if (row->type == VALUE_COMMANDS)
		strvec_release(to);
	for (size_t i = 0; i < items.n; i++) {
		auto_buf exact = BUF_INIT(YAML_MAX_BYTES * 32);

		quote(&exact, items.v[i]);
		ask(s->config, row->key, buf_steal(&exact), xstrdup(items.v[i]));
		if (row->type != VALUE_HOSTS || !strvec_has(to, items.v[i]))
			strvec_push(to, items.v[i]);
	}
	return 1;
}

int repository_read(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, void *to, struct err *e)
{
	switch (row->repository) {
	case REPOSITORY_LOWERS:
	case REPOSITORY_LIMITS:
		return lower(s, y, row, what, to, e);
	case REPOSITORY_STRICTER:
		return choose(s, y, row, what, to, e);
	case REPOSITORY_TRUE:
	case REPOSITORY_FALSE:
		return turn(s, y, row, what, to, e);
	case REPOSITORY_BLOCKS:
		return block(s, y, row, what, to, e);
	case REPOSITORY_ASKS:
		return ask_for(s, y, row, what, to, e);
	case REPOSITORY_ADDS:
	case REPOSITORY_SETS:
		return value_read(s, y, row, what, to, e) < 0 ? -1 : 1;
	case REPOSITORY_REFUSED:
		break;
	}
	return yaml_error(y, s->file, e, "'%s' cannot be set by a repository's file", what);
}
