#include "serve/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"

#define TASKS "/api/v1/tasks"
#define AUDIT "/api/v1/audit"

static int check_name(const char *name, struct denial *why)
{
	struct err e = ERR_INIT;

	return name_check_task(name, &e) < 0 ? deny(why, 400, "bad_request", "%s", e.msg) : 0;
}

static int unknown(struct denial *why)
{
	return deny(why, 404, "unknown_path", "there is no such path");
}

/* rest is what follows /api/v1/tasks/. */
static int find_task(const char *rest, struct strvec *ret, struct denial *why)
{
	static const struct {
		const char *part, *command;
	} parts[] = { { "", "show" }, { "/diff", "diff" } };
	size_t len = strcspn(rest, "/");
	auto_str name = xstrndup(rest, len);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(rest + len, parts[i].part))
			continue;
		if (check_name(name, why) < 0)
			return -1;
		strvec_pushl(ret, parts[i].command, "--json", "--", name, NULL);
		return 0;
	}
	return unknown(why);
}

/* "task=NAME&lines=N", each at most once. */
static int read_query(const char *query, char **task, unsigned *lines, struct denial *why)
{
	while (query && *query) {
		size_t len = strcspn(query, "&");
		auto_str pair = xstrndup(query, len);
		char *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		if (value && !strcmp(pair, "task") && !*task) {
			if (check_name(value, why) < 0)
				return -1;
			*task = xstrdup(value);
		} else if (value && !strcmp(pair, "lines")) {
			size_t digits = strspn(value, "0123456789");

			*lines = digits && digits < 6 && !value[digits] ? (unsigned)atoi(value) : 0;
			if (!*lines || *lines > ROUTES_LINES_MAX)
				return deny(why, 400, "bad_request", "lines is a number up to %u",
					ROUTES_LINES_MAX);
		} else {
			return deny(
				why, 400, "bad_request", "only task=NAME and lines=N can be asked for here");
		}
		query += len + (query[len] == '&');
	}
	return 0;
}

static int find_audit(const char *query, struct strvec *ret, struct denial *why)
{
	unsigned lines = ROUTES_LINES;
	auto_str task = NULL;

	if (read_query(query, &task, &lines, why) < 0)
		return -1;
	strvec_pushl(ret, "audit", "--json", "-n", NULL);
	strvec_pushf(ret, "%u", lines);
	if (task)
		strvec_pushl(ret, "--", task, NULL);
	return 0;
}

int routes_find(const char *path, const char *query, struct strvec *ret, struct denial *why)
{
	if (!strcmp(path, AUDIT))
		return find_audit(query, ret, why);
	if (query && *query)
		return deny(why, 400, "bad_request", "nothing can be asked for behind '?' here");
	if (!strncmp(path, TASKS "/", strlen(TASKS "/")))
		return find_task(path + strlen(TASKS "/"), ret, why);
	if (strcmp(path, TASKS))
		return unknown(why);
	strvec_pushl(ret, "ls", "--json", NULL);
	return 0;
}
