/* Any text: a tree within its limits, or one line that names the place. */
#include <stdint.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct yaml *y, unsigned depth)
{
	if (depth > YAML_MAX_DEPTH + 1 || !y->line || !y->column ||
		(y->kind == YAML_SCALAR) != (y->scalar != NULL))
		abort();
	for (size_t i = 0; i < y->n; i++) {
		if (y->kind == YAML_MAP && yaml_get(y, y->keys[i].name) != y->items[i])
			abort();
		check(y->items[i], depth + 1);
	}
}

static void read_typed(const struct yaml *y)
{
	auto_strvec strings = STRVEC_INIT;
	struct err e = ERR_INIT;
	char *s = NULL;
	uint64_t size;
	bool b;

	if (!yaml_string(y, "f", "k", &s, &e))
		free(s);
	yaml_bool(y, "f", "k", &b, &e);
	yaml_size(y, "f", "k", &size, &e);
	yaml_strings(y, "f", "k", &strings, &e);
	for (size_t i = 0; i < y->n; i++)
		read_typed(y->items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	auto_yaml y = NULL;

	if (yaml_parse((const char *)data, size, "f", &y, &e) < 0) {
		if (y || e.kind != ERR_CONFIG || strncmp(e.msg, "f:", 2) || strchr(e.msg, '\n'))
			abort();
		return 0;
	}
	check(y, 0);
	read_typed(y);
	return 0;
}
