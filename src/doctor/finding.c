#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "doctor/parts.h"

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		char **strings[] = { &f->v[i].subject, &f->v[i].what, &f->v[i].would, &f->v[i].hint,
			&f->v[i].said, &f->v[i].path, &f->v[i].oid, &f->v[i].ref };

		for (size_t j = 0; j < ARRAY_SIZE(strings); j++)
			free(*strings[j]);
	}
	free(f->v);
	*f = (struct findings){ 0 };
}

static void set(char **to, const char *fmt, va_list ap)
{
	free(*to);
	if (vasprintf(to, fmt, ap) < 0)
		abort();
}

static struct finding *room(struct findings *f)
{
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->v = xrealloc(f->v, f->cap, sizeof(*f->v));
	}
	return &f->v[f->n++];
}

void findings_take(struct findings *to, struct finding *f)
{
	*room(to) = *f;
	*f = (struct finding){ .kind = f->kind };
}

struct finding *finding_add(struct findings *f, const char *kind, const char *subject, const char *what, ...)
{
	struct finding *n = room(f);
	va_list ap;

	*n = (struct finding){ .kind = kind, .subject = xstrdup(subject) };
	va_start(ap, what);
	set(&n->what, what, ap);
	va_end(ap);
	return n;
}

void finding_mend(struct finding *f, mend_fn *mend, const char *would, ...)
{
	va_list ap;

	f->mend = mend;
	va_start(ap, would);
	set(&f->would, would, ap);
	va_end(ap);
}

void finding_hint(struct finding *f, const char *hint, ...)
{
	va_list ap;

	va_start(ap, hint);
	set(&f->hint, hint, ap);
	va_end(ap);
}

void finding_said(struct finding *f, const char *said, ...)
{
	va_list ap;

	va_start(ap, said);
	set(&f->said, said, ap);
	va_end(ap);
}

char *finding_quoted(const char *path)
{
	auto_buf b = BUF_SMALL;

	buf_addch(&b, '\'');
	for (const char *p = path; *p; p++)
		*p == '\'' ? buf_addstr(&b, "'\\''") : buf_addch(&b, *p);
	buf_addch(&b, '\'');
	return buf_steal(&b);
}
