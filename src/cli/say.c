#include "cli/say.h"

#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/list_text.h"
#include "base/shell_word.h"
#include "cli/json.h"
#include "cli/progress.h"

static bool as_json, quiet;
/* whether a hint after the last message is shown */
static bool hint_shown = true;
/* for hints, if the name alone does not mean the task here */
static char *task_name, *task_as;

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

void say_quietly(void)
{
	quiet = true;
}

bool say_is_quiet(void)
{
	return quiet;
}

bool say_is_json(void)
{
	return as_json;
}

const char *say_one_line(struct buf *out, const char *text)
{
	clean_line(out, text);
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

/* Whether good news is shown, and, outside a terminal, its hint. */
static bool tells_success(bool hint)
{
	bool told = !quiet && !as_json;

	hint_shown = told && (hint || say_is_heard());
	return told;
}

void say_done(const char *fmt, ...)
{
	if (tells_success(false))
		SAY_VARIADIC(SIGN_DONE);
}

void say_state(const char *fmt, ...)
{
	if (tells_success(false))
		SAY_VARIADIC(SIGN_STATE);
}

void say_question(const char *fmt, ...)
{
	if (tells_success(true))
		SAY_VARIADIC(SIGN_STATE);
}

void say_warning(const char *fmt, ...)
{
	hint_shown = true;
	SAY_VARIADIC(SIGN_WARNING);
}

void say_warning_list(const struct strvec *names, const char *fmt, ...)
{
	auto_buf text = BUF_INIT(1 << 20);
	char *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) >= 0)
		buf_addstr(&text, line);
	va_end(ap);
	free(line);
	list_lines(&text, names, 0, SAY_NAMES);
	hint_shown = true;
	say(SIGN_WARNING, buf_str(&text));
}

void say_warning_text(const char *before, const char *text)
{
	auto_str first = xstrndup(text, strcspn(text, "\n"));
	auto_strvec names = STRVEC_INIT;
	auto_buf clean = BUF_SMALL;

	for (const char *at = strchr(text, '\n'); at; at = strchr(at, '\n')) {
		at += 1 + strspn(at + 1, " ");
		auto_str name = xstrndup(at, strcspn(at, "\n"));
		strvec_push(&names, name);
	}
	say_warning_list(&names, "%s%s", before, say_one_line(&clean, first));
}

void say_failure(const char *fmt, ...)
{
	hint_shown = true;
	SAY_VARIADIC(SIGN_ERROR);
}

void say_warnings(const struct strvec *warnings)
{
	for (size_t i = 0; i < warnings->n; i++)
		say_warning("%s", warnings->v[i]);
}

void say_task_as(const char *name, const char *as)
{
	free(task_name);
	free(task_as);
	task_name = xstrdup(name);
	task_as = xstrdup(as);
}

/* Replaces the first word after "garth COMMAND" that is the task's name. */
static void name_task(struct buf *out, const char *hint)
{
	bool done = strncmp(hint, "garth ", strlen("garth ")) != 0;

	for (size_t i = 0; *hint; i++) {
		size_t len = strcspn(hint, " ");

		if (!done && task_as && i > 1 && len == strlen(task_name) && !strncmp(hint, task_name, len)) {
			shell_add_word(out, task_as);
			done = true;
		} else {
			buf_add(out, hint, len);
		}
		hint += len;
		if (*hint)
			buf_addch(out, *hint++);
	}
}

void say_hint(const char *fmt, ...)
{
	auto_buf named = BUF_INIT(1 << 16);
	char text[2048];
	va_list ap;
	int len;

	if (!hint_shown)
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* rather none than a part of a command */
	if (len < 0 || (size_t)len >= sizeof(text))
		return;
	name_task(&named, text);
	say(SIGN_HINT, buf_str(&named));
}

/* The error with the task in its hint named as the user has to name it here. */
static struct err name_in_hint(const struct err *e)
{
	auto_buf hint = BUF_INIT(1 << 16);
	struct err named = *e;

	name_task(&hint, e->hint);
	err_hint(&named, "%s", buf_str(&hint));
	return named;
}

int say_error_text(const struct err *e)
{
	struct err named = name_in_hint(e);

	say(SIGN_ERROR, named.msg);
	if (named.hint[0])
		say(SIGN_HINT, named.hint);
	return err_exit_code(e->kind);
}

int say_error_members(const struct err *e, json_t *members)
{
	int code = say_error_text(e);

	if (as_json) {
		struct err named = name_in_hint(e);
		json_t *o = json_error(&named);

		if (members)
			json_object_update(o, members);
		json_print(o);
	}
	json_decref(members);
	return code;
}

int say_error(const struct err *e)
{
	return say_error_members(e, NULL);
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
		"no namespaces here: Landlock alone. Files, signals and sockets outside stay out of reach;\n"
		"  names, sizes and times of files, processes and the host's name can be seen");
}
