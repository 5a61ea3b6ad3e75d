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
