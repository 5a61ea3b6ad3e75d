#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/strvec.h"

/* clang-format off */
static const struct {
	int exit;
	const char *code;
} kinds[ERR_KINDS] = {
	[ERR_NONE] = { 0, "ok" },          [ERR_FAILED] = { 1, "failed" },   [ERR_USAGE] = { 2, "usage" },
	[ERR_CONFIG] = { 2, "config" },    [ERR_NOTFOUND] = { 3, "not_found" }, [ERR_EXISTS] = { 1, "exists" },
	[ERR_BUSY] = { 1, "busy" },        [ERR_REFUSED] = { 4, "refused" }, [ERR_CONFLICT] = { 5, "conflict" },
	[ERR_BLOCKED] = { 6, "blocked" },  [ERR_START] = { 125, "cannot_start" },
};
/* clang-format on */

int err_exit_code(enum err_kind kind)
{
	return (unsigned)kind < ERR_KINDS ? kinds[kind].exit : 1;
}

const char *err_code(enum err_kind kind)
{
	return (unsigned)kind < ERR_KINDS ? kinds[kind].code : "failed";
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	e->kind = kind;
	e->sys = 0;
	e->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int sys = errno;
	va_list ap;
	int n;

	e->kind = ERR_FAILED;
	e->sys = sys;
	e->hint[0] = '\0';
	va_start(ap, fmt);
	n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s", strerror(sys));
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char inner[sizeof(e->msg)];
	va_list ap;
	int n;

	memcpy(inner, e->msg, sizeof(inner));
	va_start(ap, fmt);
	n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n + sizeof(": ") <= sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %.*s",
			(int)(sizeof(e->msg) - (size_t)n - 3), inner);
	return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
	return -1;
}

int err_paths(struct err *e, const struct strvec *paths)
{
	for (size_t i = 0; i < paths->n; i++) {
		size_t at = strlen(e->msg), room = sizeof(e->msg) - at;

		if (strlen(paths->v[i]) + 40 > room) {
			snprintf(e->msg + at, room, "\n  … and %zu more", paths->n - i);
			break;
		}
		snprintf(e->msg + at, room, "\n  %s", paths->v[i]);
	}
	return -1;
}
