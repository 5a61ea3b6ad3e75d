#include "git/gitmodules.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"

struct parser {
	const char *at, *end;
	bool in_submodule;
	struct buf name, path;
	bool has_path;
	struct strvec *out;
};

bool gitmodules_is_safe(const char *path)
{
	size_t len = strlen(path);

	if (!len || len >= PATH_MAX || *path == '/' || *path == '-')
		return false;
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '\\')
			return false;
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/");

		if (!n || n > NAME_MAX || (n == 1 && *p == '.') || (n == 2 && !strncmp(p, "..", 2)) ||
			(n == 4 && !strncasecmp(p, ".git", 4)))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

/* At the end of a section. */
static void note(struct parser *p)
{
	if (p->in_submodule && p->has_path && gitmodules_is_safe(buf_str(&p->name)) &&
		gitmodules_is_safe(buf_str(&p->path))) {
		strvec_push(p->out, buf_str(&p->name));
		strvec_push(p->out, buf_str(&p->path));
	}
	p->in_submodule = p->has_path = false;
	buf_reset(&p->name);
	buf_reset(&p->path);
}

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

static void skip_line(struct parser *p)
{
	while (p->at < p->end && *p->at != '\n')
		p->at++;
}

/* [submodule "NAME"]; other sections are skipped. */
static bool take_section(struct parser *p)
{
	static const char word[] = "submodule";
	const char *from = ++p->at;
	bool submodule;

	note(p);
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '-' || *p->at == '.'))
		p->at++;
	submodule = (size_t)(p->at - from) == sizeof(word) - 1 && !strncasecmp(from, word, sizeof(word) - 1);
	skip_blanks(p);
	if (p->at < p->end && *p->at == '"') {
		for (p->at++; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++) {
			if (*p->at == '\\' && ++p->at == p->end)
				return false;
			if (!*p->at || *p->at == '\n')
				return false;
			buf_addch(&p->name, *p->at);
		}
		if (p->at == p->end || *p->at++ != '"')
			return false;
		p->in_submodule = submodule;
	}
	if (p->at == p->end || *p->at++ != ']')
		return false;
	return true;
}

/* The character that a backslash and c stand for; 0 if it is none. */
static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case '\\':
	case '"':
		return c;
	default:
		return 0;
	}
}

/* Up to the end of the line: without comments and blanks around it, with quotes and escapes resolved. */
static bool take_value(struct parser *p, struct buf *out)
{
	bool quoted = false;
	size_t keep = 0;

	for (; p->at < p->end && *p->at != '\n'; p->at++) {
		char c = *p->at;

		if (!c)
			return false;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(p);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			keep = out->len;
			continue;
		}
		if (c == '\\') {
			if (++p->at == p->end)
				return false;
			/* a line that goes on; no such path is used */
			if (*p->at == '\n') {
				buf_addch(out, '\n');
				keep = out->len;
				continue;
			}
			if (!(c = escaped(*p->at)))
				return false;
			buf_addch(out, c);
			keep = out->len;
			continue;
		}
		buf_addch(out, c);
		if (quoted || !strchr(" \t\r", c))
			keep = out->len;
	}
	buf_cut(out, keep);
	return !quoted && !out->overflow;
}

/* KEY = VALUE, or KEY alone. */
static bool take_key(struct parser *p)
{
	const char *from = p->at;
	auto_buf value = BUF_INIT(GITMODULES_MAX + 1);
	size_t len;

	if (!isalpha((unsigned char)*p->at))
		return false;
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '-'))
		p->at++;
	len = (size_t)(p->at - from);
	skip_blanks(p);
	if (p->at < p->end && *p->at == '=') {
		p->at++;
		skip_blanks(p);
		if (!take_value(p, &value))
			return false;
	} else if (p->at < p->end && *p->at != '\n' && *p->at != '#' && *p->at != ';') {
		return false;
	} else {
		skip_line(p);
	}
	if (p->in_submodule && len == 4 && !strncasecmp(from, "path", 4)) {
		buf_reset(&p->path);
		buf_add(&p->path, buf_str(&value), value.len);
		p->has_path = true;
	}
	return true;
}

static bool take_all(struct parser *p)
{
	while (p->at < p->end) {
		if (isspace((unsigned char)*p->at))
			p->at++;
		else if (*p->at == '#' || *p->at == ';')
			skip_line(p);
		else if (!(*p->at == '[' ? take_section(p) : take_key(p)))
			return false;
	}
	return true;
}

bool gitmodules_parse(const char *text, size_t len, struct strvec *ret)
{
	struct parser p = { .at = text,
		.end = text + len,
		.name = BUF_INIT(GITMODULES_MAX + 1),
		.path = BUF_INIT(GITMODULES_MAX + 1),
		.out = ret };
	bool ok = len <= GITMODULES_MAX && take_all(&p);

	/* a section with an error in it is not used */
	if (!ok)
		p.in_submodule = false;
	note(&p);
	buf_release(&p.name);
	buf_release(&p.path);
	return ok;
}

const char *gitmodules_name(const struct strvec *parsed, const char *path)
{
	for (size_t i = parsed->n; i >= 2; i -= 2)
		if (!strcmp(parsed->v[i - 1], path))
			return parsed->v[i - 2];
	return NULL;
}
