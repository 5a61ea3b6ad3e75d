#include "cli/say.h"

#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clean.h"
#include "cli/json.h"
#include "cli/progress.h"

static bool as_json;

enum sign { SIGN_DONE, SIGN_STATE, SIGN_WARNING, SIGN_ERROR, SIGN_HINT };

static const struct {
	const char *utf8, *plain, *colour;
} signs[] = {
	[SIGN_DONE] = { "✓ ", "", "\033[32m" },
	[SIGN_STATE] = { "○ ", "", "\033[36m" },
	[SIGN_WARNING] = { "▲ ", "warning: ", "\033[33m" },
	[SIGN_ERROR] = { "✗ ", "error: ", "\033[31m" },
	[SIGN_HINT] = { "↳ ", "hint: ", "\033[2m" },
};

bool say_utf8(void)
{
	static int known = -1;

	if (known < 0) {
		setlocale(LC_CTYPE, "");
		known = !strcasecmp(nl_langinfo(CODESET), "UTF-8");
	}
	return known;
}

bool say_colours(int fd)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && isatty(fd);
}

bool say_is_heard(void)
{
	return isatty(2);
}

void say_errors_as_json(void)
{
	as_json = true;
}

bool say_is_json(void)
{
	return as_json;
}

const char *say_one_line(struct buf *out, const char *text)
{
	clean_text(out, text, strlen(text), false);
	for (char *p = out->len ? out->data : NULL; p && (p = strchr(p, '\n'));)
		*p = ' ';
	return buf_str(out);
}

/* Messages quote the agent's names and texts, so they are cleaned. */
static void say(enum sign sign, const char *text)
{
	bool colours = say_colours(2);
	auto_buf clean = BUF_INIT(1 << 20);

	clean_text(&clean, text, strlen(text), false);
	/* a message is one line, perhaps followed by a list of indented lines */
	for (char *p = clean.len ? clean.data : NULL; p && (p = strchr(p, '\n')); p++)
		if (strncmp(p, "\n  ", 3))
			*p = ' ';
	progress_clear();
	fprintf(stderr, "%s%s%s%s\n", colours ? signs[sign].colour : "",
		say_utf8() ? signs[sign].utf8 : signs[sign].plain, colours ? "\033[0m" : "", buf_str(&clean));
}

#define SAY_VARIADIC(sign)                                                                                   \
	do {                                                                                                 \
		char text[2048];                                                                             \
		va_list ap;                                                                                  \
		va_start(ap, fmt);                                                                           \
		vsnprintf(text, sizeof(text), fmt, ap);                                                      \
		va_end(ap);                                                                                  \
		say(sign, text);                                                                             \
	} while (0)

void say_done(const char *fmt, ...)
{
	SAY_VARIADIC(SIGN_DONE);
}

void say_state(const char *fmt, ...)
{
	SAY_VARIADIC(SIGN_STATE);
}

void say_warning(const char *fmt, ...)
{
	SAY_VARIADIC(SIGN_WARNING);
}

void say_warnings(const struct strvec *warnings)
{
	for (size_t i = 0; i < warnings->n; i++)
		say_warning("%s", warnings->v[i]);
}

void say_hint(const char *fmt, ...)
{
	SAY_VARIADIC(SIGN_HINT);
}

static void print_error(const struct err *e, const char *name, json_t *list)
{
	json_t *o = json_error(e);

	if (list)
		json_object_set_new(o, name, list);
	json_print(o);
}

static int error(const struct err *e, const char *name, json_t *list)
{
	say(SIGN_ERROR, e->msg);
	if (e->hint[0])
		say(SIGN_HINT, e->hint);
	if (as_json)
		print_error(e, name, list);
	else
		json_decref(list);
	return err_exit_code(e->kind);
}

int say_error(const struct err *e)
{
	return error(e, NULL, NULL);
}

int say_error_list(const struct err *e, const char *name, json_t *list)
{
	return error(e, name, list);
}

const char *say_age(long long then, char *out, unsigned long len)
{
	static const struct {
		long long seconds;
		const char *unit;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "m" }, { 1, "s" } };
	long long age = (long long)time(NULL) - then;

	snprintf(out, len, "now");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (age >= units[i].seconds) {
			snprintf(out, len, "%lld%s", age / units[i].seconds, units[i].unit);
			break;
		}
	return out;
}

void say_landlock_only(void)
{
	say_warning(
		"no namespaces here: Landlock alone. Files, signals and sockets outside stay out of reach;");
	fputs("  names, sizes and times of files, processes and the host's name can be seen\n", stderr);
}
