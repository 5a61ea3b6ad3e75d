#include "plan/regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define SIZE_LIMIT 2000 /* of an expression, unrolled */
#define DEPTH_MAX  50
/* The most levels of nested repetitions: if the repeated text can be empty, each level doubles the time of regcomp. */
#define HEIGHT_MAX 5

/* The meaning of a letter after a backslash, within brackets; NULL: none. */
static const char *class_of(char c)
{
	switch (c) {
	case 'd':
		return "0-9";
	case 'w':
		return "[:alnum:]_";
	case 's':
		return "[:space:]";
	default:
		return NULL;
	}
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* A backslash outside of brackets. Returns the position after it; NULL if it has no meaning here. */
static const char *add_escaped(struct buf *out, const char *p)
{
	const char *class = class_of(lower(p[1]));
	bool letter = lower(p[1]) >= 'a' && lower(p[1]) <= 'z';

	if (class)
		buf_printf(out, "[%s%s]", lower(p[1]) == p[1] ? "" : "^", class);
	else if (p[1] == 't')
		buf_addch(out, '\t');
	else if (p[1] == 'b' || p[1] == 'B' || (p[1] && strchr(".[]{}()*+?^$|\\", p[1])))
		buf_add(out, p, 2);
	else if (!p[1] || letter || (p[1] >= '0' && p[1] <= '9'))
		return NULL;
	else
		buf_addch(out, p[1]); /* \< would be the beginning of a word */
	return p + 2;
}

/* A bracket expression, in which POSIX has no backslash. Returns the position after it. */
static const char *add_brackets(struct buf *out, const char *p)
{
	auto_buf rest = BUF_SMALL;
	bool closes = false, hyphen = false, caret = false;

	buf_addch(out, *p++);
	if (*p == '^')
		buf_addch(out, *p++);
	if (*p == ']')
		buf_addch(out, *p++);
	for (; *p && *p != ']'; p++) {
		const char *end = *p == '[' && p[1] == ':' ? strstr(p, ":]") : NULL;

		if (end) {
			buf_add(&rest, p, (size_t)(end + 2 - p));
			p = end + 1;
		} else if (*p != '\\' || !p[1]) {
			buf_addch(&rest, *p);
		} else if (class_of(*++p)) {
			buf_addstr(&rest, class_of(*p));
		} else if (*p == ']' || *p == '-' || *p == '^') {
			closes |= *p == ']', hyphen |= *p == '-', caret |= *p == '^';
		} else {
			buf_addch(&rest, (char)(*p == 't' ? '\t' : *p));
		}
	}
	/* these are ordinary characters as the first, as the last, and anywhere but as the first one */
	buf_printf(out, "%s%s%s%s%s", closes ? "]" : "", buf_str(&rest), caret ? "^" : "", hyphen ? "-" : "",
		*p ? "]" : "");
	return p + (*p == ']');
}

/* Writes the expression as POSIX has it. */
static int translate(const char *pattern, struct buf *out, struct err *e)
{
	for (const char *p = pattern; *p;) {
		const char *at = p;

		if (*p == '\\')
			p = add_escaped(out, p);
		else if (*p == '[')
			p = add_brackets(out, p);
		else if (!strncmp(p, "(?:", 3))
			buf_addch(out, '('), p += 3;
		else if (!strncmp(p, "(?", 2))
			p = NULL;
		else
			buf_addch(out, *p++);
		if (!p)
			return err_set(e, ERR_CONFIG, "'%.3s' in '%s' has no meaning here", at, pattern);
	}
	return 0;
}

/* The size that regcomp gives a group: it unrolls repetitions, so nested ones could fill the memory. */
struct size {
	unsigned long all, last; /* of the group so far; of the last part, which a repetition would repeat */
	unsigned long high, last_high; /* the levels of nested repetitions in these */
};

static unsigned long larger(unsigned long a, unsigned long b)
{
	return a > b ? a : b;
}

static const char *end_of_brackets(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	p += *p == ']';
	while (*p && *p != ']') {
		const char *end = *p == '[' && p[1] == ':' ? strstr(p, ":]") : NULL;

		p = end ? end + 2 : p + 1;
	}
	return *p ? p + 1 : p;
}

/* How often the operator at p repeats; 0 if there is no repetition at p. */
static unsigned long repeats_of(const char *p, const char **ret_end)
{
	unsigned long n;
	char *end;

	*ret_end = p + 1;
	if (*p == '*' || *p == '?' || *p == '+')
		return *p == '+' ? 2 : 1;
	if (*p != '{' || p[1] < '0' || p[1] > '9')
		return 0;
	n = strtoul(p + 1, &end, 10);
	if (*end == ',' && end[1] >= '0' && end[1] <= '9')
		n = strtoul(end + 1, &end, 10);
	else if (*end == ',')
		n++, end++;
	*ret_end = *end ? end + 1 : end;
	return n > SIZE_LIMIT ? SIZE_LIMIT + 1 : n ? n : 1;
}

static bool is_too_large(const char *posix)
{
	struct size levels[DEPTH_MAX] = { 0 }, *s = levels;
	const char *p = posix;

	while (*p) {
		unsigned long times = repeats_of(p, &p), inner;

		if (times) {
			s->all += s->last * (times - 1);
			s->last *= times;
			s->high = larger(s->high, ++s->last_high);
		} else if (p[-1] == '(') {
			if (++s == levels + DEPTH_MAX)
				return true;
			*s = (struct size){ 0 };
		} else if (p[-1] == ')' && s > levels) {
			/* an empty part is also there as often as it is repeated */
			inner = s->all ? s->all : 1;
			s--;
			s->all += inner;
			s->last = inner;
			s->last_high = s[1].high;
			s->high = larger(s->high, s->last_high);
		} else {
			if (p[-1] == '[')
				p = end_of_brackets(p - 1);
			else if (p[-1] == '\\' && *p)
				p++;
			s->all++;
			s->last = 1;
			s->last_high = 0;
		}
		if (s->all > SIZE_LIMIT || s->last > SIZE_LIMIT || s->high > HEIGHT_MAX)
			return true;
	}
	return false;
}

int plan_regex_posix(const char *pattern, struct buf *out, bool *ret_icase, struct err *e)
{
	*ret_icase = !strncmp(pattern, "(?i)", 4);
	if (strlen(pattern) > PLAN_REGEX_MAX)
		return err_set(e, ERR_CONFIG, "the expression has more than %d bytes", PLAN_REGEX_MAX);
	if (translate(pattern + (*ret_icase ? 4 : 0), out, e) < 0)
		return -1;
	return is_too_large(buf_str(out)) ? err_set(e, ERR_CONFIG, "'%s' repeats too much", pattern) : 0;
}

int plan_regex_compile(struct plan_regex *ret, const char *pattern, struct err *e)
{
	auto_buf out = BUF_INIT(16 * PLAN_REGEX_MAX);
	char why[128];
	bool icase;
	int rc;

	if (plan_regex_posix(pattern, &out, &icase, e) < 0)
		return -1;
	rc = regcomp(&ret->x, buf_str(&out), REG_EXTENDED | REG_NOSUB | (icase ? REG_ICASE : 0));
	if (!rc)
		return 0;
	regerror(rc, &ret->x, why, sizeof(why));
	return err_set(e, ERR_CONFIG, "'%s' is not a regular expression: %s", pattern, why);
}

bool plan_regex_matches(const struct plan_regex *x, const char *line)
{
	return !regexec(&x->x, line, 0, NULL, 0);
}

void plan_regex_release(struct plan_regex *x)
{
	regfree(&x->x);
}
