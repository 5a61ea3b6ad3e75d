#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/hosts.h"
#include "base/name.h"
#include "base/path.h"
#include "config/check.h"
#include "plan/read.h"
#include "plan/regex.h"

/* Texts go to terminals and to shells. */
static bool has_control(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			return true;
	return false;
}

static int read_text(
	struct plan_reader *r, const struct yaml *y, const char *what, bool line, char **to, struct err *e)
{
	auto_str value = NULL;

	if (yaml_string(y, r->file, what, &value, e) < 0)
		return -1;
	if (!value[strspn(value, " \t\n")])
		return yaml_error(y, r->file, e, "'%s' is empty", what);
	if (has_control(value))
		return yaml_error(y, r->file, e, "'%s' contains a control character", what);
	if (line && strchr(value, '\n'))
		return yaml_error(y, r->file, e, "'%s' must be a single line", what);
	free(*to);
	*to = steal_ptr(value);
	return 0;
}

bool plan_id_is_valid(const char *id)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return *id && strlen(id) <= PLAN_ID_MAX && strspn(id, allowed) == strlen(id);
}

static int read_id(
	struct plan_reader *r, const struct yaml *y, const char *what, bool dots, char **to, struct err *e)
{
	auto_str plain = NULL;

	if (read_text(r, y, what, true, to, e) < 0)
		return -1;
	plain = xstrdup(*to);
	for (char *p = plain; dots && *p; p++)
		if (*p == '.' && p > plain)
			*p = '-';
	return plan_id_is_valid(plain)
		       ? 0
		       : yaml_error(y, r->file, e,
				 "'%s' can have only A-Z, a-z, 0-9, '_' and '-', at most %d of them, not '%s'",
				 what, PLAN_ID_MAX, *to);
}

static int read_agent(struct plan_reader *r, const struct yaml *y, const char *what, char **to, struct err *e)
{
	struct err why = ERR_INIT;

	if (read_text(r, y, what, true, to, e) < 0)
		return -1;
	return name_check_task(*to, &why) < 0
		       ? yaml_error(y, r->file, e, "'%s' must be an agent's name, not '%s'", what, *to)
		       : 0;
}

static int read_branch(
	struct plan_reader *r, const struct yaml *y, const char *what, char **to, struct err *e)
{
	if (read_text(r, y, what, true, to, e) < 0)
		return -1;
	return name_is_branch(*to + (strncmp(*to, "refs/heads/", 11) ? 0 : 11))
		       ? 0
		       : yaml_error(y, r->file, e, "'%s' in '%s' is not a branch's name", *to, what);
}

/* "./a/b/" is "a/b". A path that leads out is refused. */
static int read_path(
	struct plan_reader *r, const struct yaml *y, const char *what, bool dir, char **to, struct err *e)
{
	auto_str value = NULL, whole = NULL;
	char *p;
	size_t n;

	if (read_text(r, y, what, true, &value, e) < 0)
		return -1;
	for (p = value; !strncmp(p, "./", 2);)
		p += 2 + strspn(p + 2, "/");
	for (n = strlen(p); n > 1 && p[n - 1] == '/'; n--)
		p[n - 1] = '\0';
	if (dir && (!strcmp(p, ".") || !*p)) {
		free(*to);
		*to = xstrdup(".");
		return 0;
	}
	whole = xasprintf("/%s", p);
	if (*p == '/' || *p == '~' || !path_is_clean(whole) || !*p)
		return yaml_error(y, r->file, e,
			"'%s' must be a path within the repository, relative and without '..', not '%s'",
			what, value);
	free(*to);
	*to = xstrdup(p);
	return 0;
}

static int read_regex(struct plan_reader *r, const struct yaml *y, const char *what, char **to, struct err *e)
{
	struct err why = ERR_INIT;
	struct plan_regex x;

	if (read_text(r, y, what, true, to, e) < 0)
		return -1;
	if (plan_regex_compile(&x, *to, &why) < 0)
		return yaml_error(y, r->file, e, "'%s': %s", what, why.msg);
	plan_regex_release(&x);
	return 0;
}

static int read_number(struct plan_reader *r, const struct yaml *y, const struct plan_key *row,
	const char *what, uint64_t *to, struct err *e)
{
	uint64_t n;

	if (yaml_whole(y, r->file, what, &n, e) < 0)
		return -1;
	if (n >= row->min && n <= row->max)
		return *to = n, 0;
	return row->min == row->max
		       ? yaml_error(y, r->file, e, "'%s' must be %llu", what, (unsigned long long)row->min)
		       : yaml_error(y, r->file, e, "'%s' must be a number from %llu to %llu", what,
				 (unsigned long long)row->min, (unsigned long long)row->max);
}

static int read_code(struct plan_reader *r, const struct yaml *y, const struct plan_key *row,
	const char *what, int *to, struct err *e)
{
	uint64_t n = 0;

	if (read_number(r, y, row, what, &n, e) < 0)
		return -1;
	*to = (int)n;
	return 0;
}

static int read_time(
	struct plan_reader *r, const struct yaml *y, const char *what, uint64_t *to, struct err *e)
{
	if (y->kind != YAML_SCALAR || !duration_parse(y->scalar, to) || !*to)
		return yaml_error(y, r->file, e, "'%s' must be a time, such as " DURATION_EXAMPLES, what);
	return 0;
}

static int read_choice_text(struct plan_reader *r, const struct yaml *y, const char *const *choices,
	const char *what, char **to, struct err *e)
{
	unsigned i = 0;

	if (yaml_choice(y, r->file, what, choices, &i, e) < 0)
		return -1;
	free(*to);
	*to = xstrdup(choices[i]);
	return 0;
}

static int read_host(
	struct plan_reader *r, const struct yaml *y, const char *what, const char *host, struct err *e)
{
	struct err why = ERR_INIT;

	if (!strcmp(host, "*"))
		return yaml_error(y, r->file, e,
			"'*' in '%s' is not a host: 'network: {mode: host}' lets a stage reach everything",
			what);
	return hosts_check(host, &why) < 0 ? yaml_error(y, r->file, e, "'%s': %s", what, why.msg) : 0;
}

/* A list of single values, each of which is read like one of the type. */
static int read_texts(struct plan_reader *r, const struct yaml *y, enum plan_type type, const char *what,
	struct strvec *to, struct err *e)
{
	size_t n = y->kind == YAML_LIST ? y->n : 1;

	if (y->kind == YAML_MAP)
		return yaml_error(y, r->file, e, "'%s' must be a list", what);
	for (size_t i = 0; i < n; i++) {
		const struct yaml *item = y->kind == YAML_LIST ? y->items[i] : y;
		auto_str value = NULL;

		if (type == PLAN_PATHS ? read_path(r, item, what, false, &value, e) < 0
				       : read_text(r, item, what, type == PLAN_HOSTS, &value, e) < 0)
			return -1;
		if (type == PLAN_HOSTS && read_host(r, item, what, value, e) < 0)
			return -1;
		strvec_push(to, value);
	}
	return 0;
}

static void add_place(struct plan_place **at, size_t n, const struct yaml *y)
{
	*at = xrealloc(*at, n, sizeof(**at));
	(*at)[n - 1] = (struct plan_place){ y->line, y->column };
}

static int read_needs(
	struct plan_reader *r, const struct yaml *y, const char *what, struct plan_needs *to, struct err *e)
{
	size_t n = y->kind == YAML_LIST ? y->n : 1;

	if (y->kind == YAML_MAP)
		return yaml_error(y, r->file, e, "'%s' must be a list of stages' ids", what);
	for (size_t i = 0; i < n; i++) {
		const struct yaml *item = y->kind == YAML_LIST ? y->items[i] : y;
		auto_str id = NULL;

		if (read_id(r, item, what, false, &id, e) < 0)
			return -1;
		strvec_push(&to->ids, id);
		add_place(&to->at, to->ids.n, item);
	}
	return 0;
}

/* Whether a relative glob leads out of the repository. */
static bool leads_out(const char *glob)
{
	long depth = 0;

	for (const char *p = glob; *p && depth >= 0; p += *p == '/') {
		size_t n = strcspn(p, "/");
		bool up = n == 2 && !strncmp(p, "..", 2), here = !n || (n == 1 && *p == '.');

		depth += up ? -1 : !here;
		p += n;
	}
	return depth < 0;
}

/* Why a rule of another system has no effect here; NULL if it has one. */
static const char *why_idle(const char *glob, bool allow)
{
	bool outside = *glob == '/' || *glob == '~';

	if (outside && allow)
		return "only the user's configuration opens paths outside of the repository";
	return !outside && leads_out(glob) ? "a stage cannot leave the repository anyway" : NULL;
}

static int read_rules(struct plan_reader *r, const struct yaml *y, const struct plan_key *row,
	const char *what, struct plan_rules *to, struct err *e)
{
	bool allow = !strcmp(row->key, "allow_write");
	auto_strvec globs = STRVEC_INIT;

	if (read_texts(r, y, PLAN_TEXTS, what, &globs, e) < 0)
		return -1;
	for (size_t i = 0; i < globs.n; i++) {
		const struct yaml *item = y->kind == YAML_LIST ? y->items[i] : y;
		const char *glob = globs.v[i], *why, *wrong = NULL;

		while (!strncmp(glob, "./", 2))
			glob += 2;
		why = why_idle(glob, allow);
		if (why) {
			plan_note(r, item->line, item->column, globs.v[i], why);
			continue;
		}
		if (*glob == '/' || *glob == '~')
			wrong = check_deny(strncmp(glob, "~/", 2) ? glob : glob + 1);
		else
			wrong = check_glob(glob);
		if (wrong)
			return yaml_error(item, r->file, e, "'%s' in '%s' %s", globs.v[i], what, wrong);
		strvec_push(&to->globs, glob);
		add_place(&to->at, to->globs.n, item);
	}
	return 0;
}

static int read_at(
	struct plan_reader *r, const struct yaml *y, const char *what, struct plan_place *to, struct err *e)
{
	char *end = NULL;
	unsigned long line = y->kind == YAML_SCALAR ? strtoul(y->scalar, &end, 10) : 0;
	unsigned long column = end && *end == ':' ? strtoul(end + 1, &end, 10) : 0;

	if (!column || *end)
		return yaml_error(y, r->file, e, "'%s' must be a place, such as 12:5", what);
	*to = (struct plan_place){ (unsigned)line, (unsigned)column };
	return 0;
}

int plan_read_value(struct plan_reader *r, const struct yaml *y, const struct plan_key *row, const char *what,
	void *to, struct err *e)
{
	switch (row->type) {
	case PLAN_TEXT:
	case PLAN_LINE:
		return read_text(r, y, what, row->type == PLAN_LINE, to, e);
	case PLAN_ID:
	case PLAN_NAME:
		return read_id(r, y, what, row->type == PLAN_NAME, to, e);
	case PLAN_AGENT:
		return read_agent(r, y, what, to, e);
	case PLAN_BRANCH:
		return read_branch(r, y, what, to, e);
	case PLAN_DIR:
	case PLAN_PATH:
		return read_path(r, y, what, row->type == PLAN_DIR, to, e);
	case PLAN_REGEX:
		return read_regex(r, y, what, to, e);
	case PLAN_BOOL:
		return yaml_bool(y, r->file, what, to, e);
	case PLAN_COUNT:
		return read_number(r, y, row, what, to, e);
	case PLAN_CODE:
		return read_code(r, y, row, what, to, e);
	case PLAN_TIME:
		return read_time(r, y, what, to, e);
	case PLAN_CHOICE:
		return yaml_choice(y, r->file, what, row->choices, to, e);
	case PLAN_CHOICE_TEXT:
		return read_choice_text(r, y, row->choices, what, to, e);
	case PLAN_TEXTS:
	case PLAN_HOSTS:
	case PLAN_PATHS:
		return read_texts(r, y, row->type, what, to, e);
	case PLAN_NEEDS:
		return read_needs(r, y, what, to, e);
	case PLAN_RULES:
		return read_rules(r, y, row, what, to, e);
	case PLAN_AT:
		return read_at(r, y, what, to, e);
	default:
		return err_set(e, ERR_FAILED, "'%s' is of no type that is read here", what);
	}
}
