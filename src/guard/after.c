/* Error messages about walls. Any program may have written the message, so this is a guess. A wrong guess costs one line. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "guard/guard.h"

#define RESULT_MAX (256u << 10)
#define LINES_MAX  400

struct looking {
	const struct guard *g;
	const char *cwd;
	struct buf *out;
	unsigned lines;
};

/* How programs say it: C, Python, Go, Rust, Node. */
static const char *const missing[] = { "no such file or directory", "enoent", "permission denied", "eacces",
	"cannot find the path", "does not exist", "not a git repository" };
static const char *const read_only[] = { "read-only file system", "erofs" };
static const char *const refused_hosts[] = { "connect tunnel failed, response 403",
	"403 forbidden after connect", "proxy connect aborted", "could not resolve host",
	"temporary failure in name resolution", "eai_again", "getaddrinfo enotfound",
	"network is unreachable", "enetunreach", "name or service not known" };

static bool says_any(const char *line, size_t len, const char *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(line, len, all[i], strlen(all[i])))
			return true;
	return false;
}

/* A line in lower case, to be compared. */
static void lower(const char *line, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		buf_addch(out, line[i] >= 'A' && line[i] <= 'Z' ? (char)(line[i] + 32) : line[i]);
}

/* Finds a path in the line that is outside, or, if the error is about writing, one that this task cannot write. */
static bool path_outside(
	const struct looking *l, const char *line, size_t len, enum want want, struct buf *path)
{
	static const char ends[] = " \t'\"`:,;()<>[]|=";
	struct refusal ignored;

	for (size_t i = 0; i < len;) {
		size_t n = 0;

		while (i + n < len && !strchr(ends, line[i + n]))
			n++;
		if (n > 1 && n < GUARD_PATH_MAX &&
			(line[i] == '/' || (n > 2 && !strncmp(line + i, "../", 3)) ||
				(n == 2 && !strncmp(line + i, "..", 2)))) {
			buf_reset(path);
			buf_add(path, line + i, n);
			if (place_refused(l->g, l->cwd, buf_str(path), want, true, &ignored))
				return true;
		}
		i += n ? n : 1;
	}
	return false;
}

static void look_at_line(struct looking *l, const char *line, size_t len)
{
	auto_buf small = BUF_SMALL, path = BUF_SMALL, clean = BUF_SMALL;
	bool fixed;

	lower(line, len, &small);
	if (strcmp(l->g->facts->network, "host") != 0 &&
		says_any(buf_str(&small), small.len, refused_hosts, ARRAY_SIZE(refused_hosts))) {
		buf_addstr(l->out,
			!strcmp(l->g->facts->network, "none")
				? "This is a boundary of the task, not a fault: it has no network. Work without it, or ask the user: garth ask QUESTION"
				: "This is a boundary of the task, not a fault: the host is not on its list of allowed hosts. Work without it, or ask the user to allow it: garth ask QUESTION");
		return;
	}
	fixed = says_any(buf_str(&small), small.len, read_only, ARRAY_SIZE(read_only));
	if (!fixed && !says_any(buf_str(&small), small.len, missing, ARRAY_SIZE(missing)))
		return;
	if (!path_outside(l, line, len, fixed ? WANT_WRITE : WANT_READ, &path))
		return;
	clean_text(&clean, buf_str(&path), path.len < 300 ? path.len : 300, false);
	buf_printf(l->out,
		"This is a boundary of the task, not a fault: '%s' is outside the workspace, %.400s. Work in the workspace and in /tmp, or ask the user: garth ask QUESTION",
		buf_str(&clean), l->g->facts->workspace);
}

static void look_at_text(const char *text, size_t len, void *arg)
{
	struct looking *l = arg;

	while (len && !l->out->len && l->lines++ < LINES_MAX) {
		const char *stop = memchr(text, '\n', len);
		size_t n = stop ? (size_t)(stop - text) : len;

		look_at_line(l, text, n < 4096 ? n : 4096);
		text += n + (stop != NULL);
		len -= n + (stop != NULL);
	}
}

bool after_look(const struct guard *g, const char *cwd, const char *text, size_t len, struct buf *out)
{
	struct looking l = { .g = g, .cwd = cwd, .out = out };

	look_at_text(text, len, &l);
	return out->len > 0;
}

bool after_explain(const struct guard *g, const char *json, size_t len, struct buf *out)
{
	static const char *const members[] = { "tool_response", "tool_output", "error", "tool_result" };
	struct jread_at top = jread_at(json, len), at = top;
	auto_buf cwd = BUF_SMALL;
	struct looking l = { .g = g, .out = out };

	if (!jread_is_whole(json, len))
		return false;
	if (!jread_member(&at, "cwd") || !jread_string(&at, &cwd))
		buf_reset(&cwd), buf_addstr(&cwd, g->facts->workspace);
	l.cwd = buf_str(&cwd);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		at = top;
		if (jread_member(&at, members[i]))
			jread_each_string(&at, RESULT_MAX, look_at_text, &l);
	}
	return out->len > 0;
}
