#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/strvec.h"

/* clang-format off */
static const struct {
	int exit, http;
	const char *code;
} kinds[ERR_KINDS] = {
	[ERR_NONE]     = {   0, 200, "ok" },
	[ERR_FAILED]   = {   1, 500, "failed" },
	[ERR_USAGE]    = {   2, 400, "usage" },
	[ERR_CONFIG]   = {   2, 500, "config" },
	[ERR_NOTFOUND] = {   3, 404, "not_found" },
	[ERR_EXISTS]   = {   1, 500, "exists" },
	[ERR_CONFLICT] = {   5, 409, "conflict" },
	[ERR_BUSY]     = {   1, 409, "busy" },
	[ERR_REFUSED]  = {   4, 403, "refused" },
	[ERR_BLOCKED]  = {   6, 500, "blocked" },
	[ERR_START]    = { 125, 500, "cannot_start" },
	[ERR_PROGRAM]  = { 127, 404, "no_program" },
};
/* clang-format on */

int err_exit_code(enum err_kind kind)
{
	return (unsigned)kind < ERR_KINDS ? kinds[kind].exit : 1;
}

int err_http_status(enum err_kind kind)
{
	return (unsigned)kind < ERR_KINDS ? kinds[kind].http : 500;
}

const char *err_code(enum err_kind kind)
{
	return (unsigned)kind < ERR_KINDS ? kinds[kind].code : "failed";
}

enum err_kind err_kind_of_exit(int status)
{
	for (int k = 0; k < ERR_KINDS; k++)
		if (kinds[k].exit == status)
			return (enum err_kind)k;
	return ERR_FAILED;
}

enum err_kind err_kind_of_http(int status)
{
	for (int k = ERR_FAILED; k < ERR_KINDS; k++)
		if (kinds[k].http == status)
			return (enum err_kind)k;
	return ERR_FAILED;
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
	int len;

	va_start(ap, fmt);
	len = vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
	/* rather none than a part of a command */
	if (len < 0 || (size_t)len >= sizeof(e->hint))
		e->hint[0] = '\0';
	return -1;
}

int err_paths(struct err *e, const struct strvec *paths)
{
	char more[COUNT_TEXT_MAX];

	for (size_t i = 0; i < paths->n; i++) {
		size_t at = strlen(e->msg), room = sizeof(e->msg) - at;

		if (strlen(paths->v[i]) + 40 > room) {
			snprintf(e->msg + at, room, "\n  … and %s more", count_text(paths->n - i, more));
			break;
		}
		snprintf(e->msg + at, room, "\n  %s", paths->v[i]);
		/* an agent may have chosen the name */
		for (char *p = e->msg + at + 1; (p = strchr(p, '\n'));)
			*p = ' ';
	}
	return -1;
}
