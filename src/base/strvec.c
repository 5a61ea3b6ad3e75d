#include "base/strvec.h"

#include <stdarg.h>

#include "base/alloc.h"

void strvec_release(struct strvec *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->v[i]);
	free(v->v);
	*v = (struct strvec)STRVEC_INIT;
}

static void push_owned(struct strvec *v, char *s)
{
	if (v->n + 2 > v->cap) {
		v->cap = v->cap ? v->cap * 2 : 8;
		v->v = xrealloc(v->v, v->cap, sizeof(*v->v));
	}
	v->v[v->n++] = s;
	v->v[v->n] = NULL;
}

void strvec_push(struct strvec *v, const char *s)
{
	push_owned(v, xstrdup(s));
}

void strvec_pushn(struct strvec *v, const char *s, size_t n)
{
	push_owned(v, xstrndup(s, n));
}

void strvec_pushf(struct strvec *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	push_owned(v, xvasprintf(fmt, ap));
	va_end(ap);
}

void strvec_pushl(struct strvec *v, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, v);
	while ((s = va_arg(ap, const char *)))
		strvec_push(v, s);
	va_end(ap);
}

void strvec_pushv(struct strvec *v, const char *const *strings)
{
	for (; strings && *strings; strings++)
		strvec_push(v, *strings);
}

bool strvec_has(const struct strvec *v, const char *s)
{
	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->v[i], s))
			return true;
	return false;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strvec_sort(struct strvec *v)
{
	if (v->n > 1)
		qsort(v->v, v->n, sizeof(*v->v), by_bytes);
}

char **strvec_argv(struct strvec *v)
{
	if (!v->v) {
		v->cap = 1;
		v->v = xcalloc(1, sizeof(*v->v));
	}
	return v->v;
}
