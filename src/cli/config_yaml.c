#include "cli/config_yaml.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "cli/say.h"

#define ORIGIN_COLUMN 42
#define LINE_MAX_LEN  (8u << 20)

/* The number of a character in UTF-8 of n bytes. */
static unsigned number_of(const char *s, size_t n)
{
	unsigned number = (unsigned char)s[0] & (n > 1 ? 0xffu >> (n + 1) : 0x7fu);

	for (size_t i = 1; i < n; i++)
		number = number << 6 | ((unsigned char)s[i] & 0x3fu);
	return number;
}

/* Adds a character of a text in double quotes: what a terminal would not show as it is, is escaped. Returns its
 * length. JSON strings are always UTF-8. */
static size_t add_character(struct buf *out, const char *s)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	auto_buf clean = BUF_SMALL;

	clean_text(&clean, s, n, false);
	if (c == '"' || c == '\\')
		buf_printf(out, "\\%c", c);
	else if (c < ' ' || clean.len != n || memcmp(clean.data, s, n) != 0)
		buf_printf(out, n < 4 ? "\\u%04x" : "\\U%08x", number_of(s, n));
	else
		buf_add(out, s, n);
	return n;
}

/* Unquoted if YAML reads it as the same string, else in double quotes. */
static void scalar(struct buf *out, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-*";

	if (*s && strspn(s, plain) == strlen(s) && !strchr("-*", *s) && strcasecmp(s, "null")) {
		buf_addstr(out, s);
		return;
	}
	buf_addch(out, '"');
	while (*s)
		s += add_character(out, s);
	buf_addch(out, '"');
}

static void add_value(struct buf *out, const json_t *v)
{
	if (json_is_string(v))
		scalar(out, json_string_value(v));
	else if (json_is_boolean(v))
		buf_addstr(out, json_is_true(v) ? "true" : "false");
	else if (json_is_integer(v))
		buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_array(v))
		buf_addstr(out, "[]");
	else if (json_is_object(v))
		buf_addstr(out, "{}");
}

/* Prints a line with its origin, which begins in one column if the line is short enough. */
static void print_line(const struct buf *line, const char *origin, const char *home)
{
	auto_buf clean = BUF_SMALL;
	size_t n = home ? strlen(home) : 0;
	bool below = n > 1 && !strncmp(origin, home, n) && origin[n] == '/';

	say_one_line(&clean, origin + (below ? n : 0));
	printf("%-*s  # %s%s\n", ORIGIN_COLUMN, buf_str(line), below ? "~" : "", buf_str(&clean));
}

static void print_list(
	const json_t *v, const char *name, const json_t *origin, unsigned indent, const char *home)
{
	const json_t *item;
	size_t i;

	printf("%*s%s:\n", indent, "", name);
	json_array_foreach(v, i, item)
	{
		auto_buf line = BUF_INIT(LINE_MAX_LEN);

		buf_printf(&line, "%*s- ", indent + 2, "");
		add_value(&line, item);
		print_line(&line,
			json_string_value(json_is_array(origin) ? json_array_get(origin, i) : origin), home);
	}
}

static void print_rules(
	const json_t *v, const char *name, const json_t *origin, unsigned indent, const char *home)
{
	const char *key;
	json_t *rule;

	printf("%*s%s:\n", indent, "", name);
	json_object_foreach((json_t *)v, key, rule)
	{
		auto_buf line = BUF_SMALL;

		buf_printf(&line, "%*s%s: %s", indent + 2, "", key, json_string_value(rule));
		print_line(&line, json_string_value(json_object_get(origin, key)), home);
	}
}

static void print_value(const json_t *entry, const char *name, unsigned indent, const char *home)
{
	const json_t *v = json_object_get(entry, "value"), *origin = json_object_get(entry, "origin");
	auto_buf line = BUF_INIT(LINE_MAX_LEN);

	if (json_is_true(json_object_get(entry, "unset"))) {
		printf("%*s# %s is not set\n", indent, "", name);
		return;
	}
	if (json_array_size(v))
		return print_list(v, name, origin, indent, home);
	if (json_object_size(v))
		return print_rules(v, name, origin, indent, home);
	buf_printf(&line, "%*s%s: ", indent, "", name);
	add_value(&line, v);
	print_line(&line, json_is_string(origin) ? json_string_value(origin) : "built-in", home);
}

/* Prints the heads of the mappings that the key is in, if they are others than those of the key before. */
static unsigned print_heads(const char *key, char **section, char **agent)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	auto_str outer = xstrndup(key, (size_t)(first - key));
	auto_str inner = xstrndup(first + 1, last > first ? (size_t)(last - first - 1) : 0);

	if (!*section || strcmp(*section, outer)) {
		printf("%s:\n", outer);
		free(*section);
		*section = steal_ptr(outer);
	}
	if (*inner && (!*agent || strcmp(*agent, inner))) {
		printf("  %s:\n", inner);
		free(*agent);
		*agent = xstrdup(inner);
	}
	return *inner ? 4 : 2;
}

void config_yaml(const json_t *values, const char *home)
{
	auto_str section = NULL, agent = NULL;
	const json_t *v;
	size_t i;

	json_array_foreach(values, i, v)
	{
		const char *key = json_string_value(json_object_get(v, "key"));
		unsigned indent = print_heads(key, &section, &agent);

		print_value(v, strrchr(key, '.') + 1, indent, home);
	}
}
