#include "agent/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/jsonc.h"
#include "base/err.h"
#include "base/yaml.h"

/* Guesses the type of a plain YAML scalar. */
static json_t *scalar(const struct yaml *y)
{
	char *end;
	long long n;

	if (y->quoted)
		return json_string(y->scalar);
	if (yaml_is_null(y))
		return json_null();
	if (!strcasecmp(y->scalar, "true") || !strcasecmp(y->scalar, "false"))
		return json_boolean(tolower((unsigned char)*y->scalar) == 't');
	n = strtoll(y->scalar, &end, 10);
	if (!*end && strlen(y->scalar) < 18)
		return json_integer(n);
	return json_string(y->scalar);
}

static json_t *from_yaml(const struct yaml *y)
{
	json_t *ret = y->kind == YAML_MAP ? json_object() : y->kind == YAML_LIST ? json_array() : scalar(y);

	for (size_t i = 0; i < y->n; i++)
		if (y->kind == YAML_MAP)
			json_object_set_new(ret, y->keys[i].name, from_yaml(y->items[i]));
		else
			json_array_append_new(ret, from_yaml(y->items[i]));
	return ret;
}

bool path_ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcasecmp(path + n - m, end);
}

json_t *settings_parse(const char *path, const struct buf *text)
{
	json_t *tree = jsonc_parse(buf_str(text), text->len);
	struct err ignored = ERR_INIT;
	auto_yaml y = NULL;

	if (!tree && (path_ends_in(path, ".yaml") || path_ends_in(path, ".yml")) &&
		!yaml_parse(buf_str(text), text->len, path, &y, &ignored))
		tree = from_yaml(y);
	return tree;
}

/* One line "export NAME='VALUE'", with or without quotes and export. */
static void add_line(json_t *to, const char *line, size_t len)
{
	const char *end = line + len, *equals, *value;

	while (line < end && isblank((unsigned char)*line))
		line++;
	if (end - line > 7 && !strncmp(line, "export ", 7))
		line += 7;
	equals = memchr(line, '=', (size_t)(end - line));
	if (!equals || *line == '#')
		return;
	for (value = equals + 1; value < end && isspace((unsigned char)*value);)
		value++;
	while (end > value && isspace((unsigned char)end[-1]))
		end--;
	if (end - value > 1 && strchr("'\"", *value) && end[-1] == *value)
		value++, end--;
	while (equals > line && isblank((unsigned char)equals[-1]))
		equals--;
	json_object_setn_new(to, line, (size_t)(equals - line), json_stringn(value, (size_t)(end - value)));
}

json_t *settings_variables(const struct buf *text)
{
	json_t *all = json_object();

	for (const char *line = buf_str(text); *line;) {
		size_t n = strcspn(line, "\n");

		add_line(all, line, n);
		line += n + (line[n] == '\n');
	}
	return all;
}
