/* The values of a configuration file: types with their checks, read from a node to a place. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stddef.h>

#include "base/err.h"
#include "base/yaml.h"
#include "config/config.h"

enum value_type {
	VALUE_CHOICE,   /* char *: one of the row's choices */
	VALUE_SIZE,     /* uint64_t: bytes */
	VALUE_NUMBER,   /* uint64_t */
	VALUE_POSITIVE, /* uint64_t, not 0 */
	VALUE_PORT,     /* uint64_t, up to 65535 */
	VALUE_BOOL,     /* bool */
	VALUE_PERSON,   /* char *: "Name <mail>" */
	VALUE_TEXT,     /* char *: not empty */
	VALUE_TASK,     /* char *: a task's name */
	VALUE_BRANCH,   /* char *: a branch's short name, or its full one */
	VALUE_TIME,     /* uint64_t: seconds; 90, 90s, 15m, 2h, 1d */
	VALUE_WORDS,    /* struct strvec: a command; replaces what is there */
	VALUE_RULES,    /* struct config's operations; the row's choices are the rules */
	VALUE_TOOLS,    /* from here on struct strvec, added to what is there */
	VALUE_ALLOW_READ,
	VALUE_VARIABLES,
	VALUE_PROGRAMS,
	VALUE_LOGIN,
	VALUE_GLOBS,
	VALUE_HOSTS,
};

struct value_row {
	const char *key;
	enum value_type type;
	size_t offset;
	const char *const *choices; /* ends in NULL */
};

/* What a run over one file has at hand. */
struct source {
	struct config *config;
	const char *file;
};

/* `what` names the value in messages, `to` is the place. */
int value_read(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	void *to, struct err *e);

#endif
