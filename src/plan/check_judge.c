#include "plan/check_judge.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/path.h"
#include "plan/regex.h"

/* Matching takes time and memory by the line. */
#define LINE_MAX_LEN (64u << 10)

/* Words that mark unfinished code. */
static const char *const stubs[] = { "TODO", "FIXME", "unimplemented!", "todo!", "NotImplementedError",
	"panic(\"not implemented", "throw new Error(\"Not implemented" };

bool check_contains(const char *data, size_t len, const char *text)
{
	return data ? memmem(data, len, text, strlen(text)) != NULL : !*text;
}

static bool has(const struct buf *b, const char *text)
{
	return check_contains(b->data, b->len, text);
}

static bool in_a_list(const struct strvec *texts, const char *line, size_t len)
{
	for (size_t i = 0; i < texts->n; i++)
		if (check_contains(line, len, texts->v[i]))
			return true;
	return false;
}

/* Finds a line with one of the patterns and with none of those to be ignored. */
static bool is_dead(const struct plan_check *k, const struct buf *b, struct buf *why)
{
	const char *line = buf_str(b), *end = line + b->len;

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((stop ? stop : end) - line);

		if (in_a_list(&k->fail_patterns, line, len) && !in_a_list(&k->ignore_patterns, line, len)) {
			buf_printf(why, "it found dead code: %.*s", (int)(len > 200 ? 200 : len), line);
			return true;
		}
		line += len + 1;
	}
	return false;
}

static bool texts_fit(const struct plan_expect *x, const struct check_output *o, struct buf *why)
{
	for (size_t i = 0; i < x->stdout_contains.n; i++)
		if (!has(&o->out, x->stdout_contains.v[i]))
			return buf_printf(why, "its output does not contain '%s'", x->stdout_contains.v[i]),
			       false;
	for (size_t i = 0; i < x->stdout_not_contains.n; i++)
		if (has(&o->out, x->stdout_not_contains.v[i]))
			return buf_printf(why, "its output contains '%s'", x->stdout_not_contains.v[i]),
			       false;
	for (size_t i = 0; i < x->stderr_contains.n; i++)
		if (!has(&o->err, x->stderr_contains.v[i]))
			return buf_printf(why, "its error output does not contain '%s'",
				       x->stderr_contains.v[i]),
			       false;
	if (x->stderr_empty && o->err.len)
		return buf_addstr(why, "its error output is not empty"), false;
	return true;
}

bool check_judge(const struct plan_check *k, const struct check_output *o, struct buf *why)
{
	if (o->code != k->expect.exit_code) {
		if (k->expect.exit_code)
			buf_printf(why, "exit code %d instead of %d", o->code, k->expect.exit_code);
		else
			buf_printf(why, "exit code %d", o->code);
		return false;
	}
	if (!texts_fit(&k->expect, o, why))
		return false;
	if (o->cut && (k->expect.stdout_not_contains.n || k->fail_patterns.n))
		return buf_addstr(why, "it printed too much to be searched"), false;
	return !k->fail_patterns.n || (!is_dead(k, &o->out, why) && !is_dead(k, &o->err, why));
}

static bool is_prose(const char *path)
{
	const char *dot = strrchr(path_base(path), '.');

	return dot && (!strcasecmp(dot, ".md") || !strcasecmp(dot, ".markdown"));
}

bool check_judge_artifact(const char *path, const char *data, size_t len, struct buf *why)
{
	if (!len)
		return buf_printf(why, "'%s' is empty", path), false;
	for (size_t i = 0; !is_prose(path) && i < ARRAY_SIZE(stubs); i++)
		if (check_contains(data, len, stubs[i]))
			return buf_printf(why, "'%s' contains a stub: %s", path, stubs[i]), false;
	return true;
}

bool check_has_line(const struct plan_regex *pattern, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		const char *stop = memchr(data, '\n', (size_t)(end - data));
		size_t n = (size_t)((stop ? stop : end) - data);
		auto_str line = xstrndup(data, n > LINE_MAX_LEN ? LINE_MAX_LEN : n);

		if (plan_regex_matches(pattern, line))
			return true;
		data += n + 1;
	}
	return false;
}
