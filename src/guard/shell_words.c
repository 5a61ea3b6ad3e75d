#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "guard/shell_parts.h"

/* A word while it is read. */
struct reading {
	struct buf text;
	size_t known;
	bool unknown, wildcard, quoted;
};

bool shell_at(const struct shell *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->p) >= n && !memcmp(s->p, text, n);
}

void shell_give_up(struct shell *s)
{
	s->given_up = true;
	s->p = s->end;
}

static void add(struct reading *r, char c)
{
	buf_addch(&r->text, c);
	if (!r->unknown)
		r->known = r->text.len;
}

/* What follows is not known. If it is a wildcard, it has no slash in it. */
static void lose(struct reading *r, bool wildcard)
{
	if (!r->unknown)
		r->wildcard = wildcard;
	else if (!wildcard)
		r->wildcard = false;
	r->unknown = true;
	buf_addch(&r->text, '*');
}

static const struct var *var_find(const struct shell *s, const char *name, size_t len)
{
	for (size_t i = s->nvars; i-- > 0;)
		if (strlen(s->vars[i].name) == len && !memcmp(s->vars[i].name, name, len))
			return &s->vars[i];
	return NULL;
}

void shell_set(struct shell *s, const char *name, size_t len, const char *value)
{
	struct var *v = (struct var *)var_find(s, name, len);

	if (len >= sizeof(v->name))
		return;
	if (!v) {
		/* more are not remembered, and none of them is known */
		if (s->nvars == VARS_MAX)
			return;
		v = &s->vars[s->nvars++];
		memcpy(v->name, name, len);
		v->name[len] = '\0';
		v->value = NULL;
	}
	free(v->value);
	v->value = value ? xstrdup(value) : NULL;
}

/* NULL if it is not known. */
static const char *var_value(const struct shell *s, const char *name, size_t len)
{
	const struct facts *f = s->g->facts;
	const struct {
		const char *name, *value;
	} given[] = { { "HOME", f->home }, { "PWD", s->cwd }, { "GARTH_WORKSPACE", f->workspace },
		{ "TMPDIR", f->tmp } };
	const struct var *v = var_find(s, name, len);

	if (v)
		return v->value;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (strlen(given[i].name) == len && !memcmp(given[i].name, name, len) && *given[i].value)
			return given[i].value;
	return NULL;
}

static bool is_name(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (!first && c >= '0' && c <= '9');
}

size_t shell_name_length(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && is_name(p[n], n == 0))
		n++;
	return n;
}

static void add_value(struct shell *s, struct reading *r, const char *name, size_t len)
{
	const char *value = var_value(s, name, len);

	if (!value) {
		lose(r, false);
		return;
	}
	while (*value)
		add(r, *value++);
}

/* `…`, from behind the first backtick. */
static void read_backticks(struct shell *s)
{
	auto_buf text = BUF_SMALL;

	while (s->p < s->end && *s->p != '`') {
		if (*s->p == '\\' && s->p + 1 < s->end)
			s->p++;
		buf_addch(&text, *s->p++);
	}
	s->p += s->p < s->end;
	shell_read_copy(s, buf_str(&text), text.len);
}

void shell_skip_brackets(struct shell *s, char open, char close)
{
	unsigned depth = 1;

	while (s->p < s->end && depth) {
		if (*s->p == '\\' && s->p + 1 < s->end)
			s->p++;
		else if (*s->p == open)
			depth++;
		else if (*s->p == close)
			depth--;
		s->p++;
	}
}

/* From behind the dollar sign. */
static void read_dollar(struct shell *s, struct reading *r)
{
	size_t n;

	if (shell_at(s, "((")) {
		s->p++;
		shell_skip_brackets(s, '(', ')');
		lose(r, false);
	} else if (shell_at(s, "(")) {
		s->p++;
		shell_read_apart(s, ')');
		lose(r, false);
	} else if (shell_at(s, "{")) {
		const char *name = ++s->p;

		n = shell_name_length(s->p, s->end);
		shell_skip_brackets(s, '{', '}');
		if (n && name[n] == '}' && name + n < s->end)
			add_value(s, r, name, n);
		else
			lose(r, false);
	} else if ((n = shell_name_length(s->p, s->end))) {
		s->p += n;
		add_value(s, r, s->p - n, n);
	} else if (s->p < s->end && strchr("0123456789@*#?$!-", *s->p) && *s->p) {
		s->p++;
		lose(r, false);
	} else {
		add(r, '$');
	}
}

static void read_double(struct shell *s, struct reading *r)
{
	while (s->p < s->end && *s->p != '"') {
		char c = *s->p++;

		if (c == '\\' && s->p < s->end) {
			if (*s->p == '\n')
				s->p++;
			else if (strchr("$`\"\\", *s->p) && *s->p)
				add(r, *s->p++);
			else
				add(r, c);
		} else if (c == '$') {
			read_dollar(s, r);
		} else if (c == '`') {
			read_backticks(s);
			lose(r, false);
		} else {
			add(r, c);
		}
	}
	s->p += s->p < s->end;
}

/* $'…', in which a backslash has too many meanings. */
static void read_ansi(struct shell *s, struct reading *r)
{
	while (s->p < s->end && *s->p != '\'') {
		if (*s->p == '\\' && s->p + 1 < s->end) {
			lose(r, false);
			s->p += 2;
		} else {
			add(r, *s->p++);
		}
	}
	s->p += s->p < s->end;
}

static bool ends_word(char c)
{
	return !c || strchr(" \t\r\n;&|()<>", c) != NULL;
}

static void read_tilde(struct shell *s, struct reading *r)
{
	char next = s->p < s->end ? *s->p : '\0';

	if ((next != '/' && !ends_word(next)) || !*s->g->facts->home)
		lose(r, false);
	else
		for (const char *h = s->g->facts->home; *h; h++)
			add(r, *h);
}

/* "{", "[" and "[[" are words of their own. */
static bool is_plain_bracket(const struct shell *s, const struct reading *r, char c)
{
	char next = s->p < s->end ? *s->p : '\0';

	if (!r->text.len)
		return ends_word(next) || (c == '[' && next == '[');
	return c == '[' && r->text.len == 1 && r->text.data[0] == '[' && ends_word(next);
}

static void read_unquoted(struct shell *s, struct reading *r)
{
	char c = *s->p++;

	if ((c == '{' || c == '[') && is_plain_bracket(s, r, c)) {
		add(r, c);
	} else if (c == '\\') {
		if (s->p < s->end && *s->p != '\n')
			add(r, *s->p);
		s->p += s->p < s->end;
	} else if (c == '~' && !r->text.len && !r->quoted) {
		read_tilde(s, r);
	} else if (strchr("*?[{", c)) {
		lose(r, c != '{');
	} else {
		add(r, c);
	}
}

bool shell_read_word(struct shell *s, struct word *ret, bool *ret_quoted)
{
	struct reading r = { .text = BUF_INIT(256u << 10) };
	const char *from = s->p;

	while (s->p < s->end && !ends_word(*s->p)) {
		if (*s->p == '\'') {
			for (s->p++, r.quoted = true; s->p < s->end && *s->p != '\''; s->p++)
				add(&r, *s->p);
			s->p += s->p < s->end;
		} else if (*s->p == '"') {
			s->p++;
			r.quoted = true;
			read_double(s, &r);
		} else if (shell_at(s, "$'")) {
			s->p += 2;
			r.quoted = true;
			read_ansi(s, &r);
		} else if (*s->p == '$') {
			s->p++;
			read_dollar(s, &r);
		} else if (*s->p == '`') {
			s->p++;
			read_backticks(s);
			lose(&r, false);
		} else {
			read_unquoted(s, &r);
		}
	}
	if (s->p == from) {
		buf_release(&r.text);
		return false;
	}
	/* a NUL or too much text: nothing that could be judged */
	if (r.text.overflow || strlen(buf_str(&r.text)) != r.text.len)
		shell_give_up(s);
	*ret_quoted = r.quoted;
	*ret = (struct word){ .known = r.known, .wildcard = r.wildcard };
	buf_addch(&r.text, '\0');
	ret->text = buf_steal(&r.text);
	if (s->given_up)
		ret->known = 0, ret->text[0] = '\0';
	return true;
}
