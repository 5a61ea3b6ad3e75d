#include "serve/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"

#define TASKS "/api/v1/tasks"
#define AUDIT "/api/v1/audit"
#define MCP   "/mcp"

static int check_name(const char *name, struct denial *why)
{
	struct err e = ERR_INIT;

	return name_check_task(name, &e) < 0 ? deny(why, 400, "bad_request", "%s", e.msg) : 0;
}

static int unknown(struct denial *why)
{
	return deny(why, 404, "unknown_path", "there is no such path");
}

/* What may follow '?'. */
struct query {
	char *task, *project; /* NULL: not given */
	unsigned lines;       /* 0: not given */
};

static void query_release(struct query *q)
{
	free(q->task);
	free(q->project);
}
#define auto_query __attribute__((cleanup(query_release))) struct query

static int hex(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return !at ? -1 : (int)(at - digits) - (at - digits > 15 ? 6 : 0);
}

/* Decodes %XX in place. False if it is malformed or stands for a control character. */
static bool decode(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		int high = *in == '%' ? hex(in[1]) : 0, low = *in == '%' && high >= 0 ? hex(in[2]) : 0;
		int c = *in == '%' ? high * 16 + low : (unsigned char)*in;

		if (high < 0 || low < 0 || c < 0x20 || c == 0x7f)
			return false;
		if (*in == '%')
			in += 2;
		*out++ = (char)c;
	}
	*out = '\0';
	return true;
}

static int read_lines(const char *value, unsigned *ret, struct denial *why)
{
	size_t digits = strspn(value, "0123456789");

	*ret = digits && digits < 6 && !value[digits] ? (unsigned)atoi(value) : 0;
	if (!*ret || *ret > ROUTES_LINES_MAX)
		return deny(why, 400, "bad_request", "lines must be a number up to %u", ROUTES_LINES_MAX);
	return 0;
}

/* "task=NAME&project=PROJECT&lines=N", each at most once. `words` are the names that are known here. */
static int read_query(const char *query, const char *words, struct query *q, struct denial *why)
{
	while (query && *query) {
		size_t len = strcspn(query, "&");
		auto_str pair = xstrndup(query, len), known = NULL;
		char *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		known = xasprintf(" %s ", pair);
		if (!value || !strstr(words, known))
			return deny(why, 400, "bad_request", "only these can be asked for here:%s", words);
		if (!strcmp(pair, "task") && !q->task) {
			if (check_name(value, why) < 0)
				return -1;
			q->task = xstrdup(value);
		} else if (!strcmp(pair, "project") && !q->project) {
			if (!*value || !decode(value))
				return deny(why, 400, "bad_request", "project must be a name or a path");
			q->project = xstrdup(value);
		} else if (!strcmp(pair, "lines") && !q->lines) {
			if (read_lines(value, &q->lines, why) < 0)
				return -1;
		} else {
			return deny(why, 400, "bad_request", "%s is given twice", pair);
		}
		query += len + (query[len] == '&');
	}
	return 0;
}

/* NAME, or PROJECT/NAME; on the heap. */
static char *task_word(const struct query *q, const char *name)
{
	return q->project ? xasprintf("%s/%s", q->project, name) : xstrdup(name);
}

/* rest is what follows /api/v1/tasks/. */
static int find_task(const char *rest, const char *query, struct strvec *ret, struct denial *why)
{
	static const struct {
		const char *part, *command;
	} parts[] = { { "", "show" }, { "/diff", "diff" }, { MCP, "mcp" } };
	size_t len = strcspn(rest, "/");
	auto_str name = xstrndup(rest, len), word = NULL;
	auto_query q = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(rest + len, parts[i].part))
			continue;
		if (check_name(name, why) < 0 || read_query(query, " project ", &q, why) < 0)
			return -1;
		word = task_word(&q, name);
		strvec_pushl(ret, parts[i].command, strcmp(parts[i].part, MCP) ? "--json" : "--http", "--",
			word, NULL);
		return 0;
	}
	return unknown(why);
}

static int find_audit(const char *query, struct strvec *ret, struct denial *why)
{
	auto_query q = { 0 };
	auto_str word = NULL;

	if (read_query(query, " task project lines ", &q, why) < 0)
		return -1;
	if (q.project && !q.task)
		return deny(why, 400, "bad_request", "project is given without task");
	strvec_pushl(ret, "audit", "--json", "-n", NULL);
	strvec_pushf(ret, "%u", q.lines ? q.lines : ROUTES_LINES);
	if (!q.task)
		return 0;
	word = task_word(&q, q.task);
	strvec_pushl(ret, "--", word, NULL);
	return 0;
}

bool routes_is_mcp(const char *path)
{
	size_t len = strlen(path), n = strlen(MCP);

	return !strncmp(path, TASKS "/", strlen(TASKS "/")) && len > n && !strcmp(path + len - n, MCP);
}

int routes_find(const char *path, const char *query, struct strvec *ret, struct denial *why)
{
	if (!strcmp(path, AUDIT))
		return find_audit(query, ret, why);
	if (!strncmp(path, TASKS "/", strlen(TASKS "/")))
		return find_task(path + strlen(TASKS "/"), query, ret, why);
	if (query && *query)
		return deny(why, 400, "bad_request", "nothing can be asked for behind '?' here");
	if (strcmp(path, TASKS))
		return unknown(why);
	strvec_pushl(ret, "ls", "--json", "--all-projects", NULL);
	return 0;
}
