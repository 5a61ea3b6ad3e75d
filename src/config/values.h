/* Types of configuration values: each value is checked and copied from a YAML node to its place in a
 * struct. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
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
	VALUE_AGENT,    /* char *: an agent's name; whether there is one is found out when it is used */
	VALUE_BRANCH,   /* char *: a branch's short or full name */
	VALUE_KEYS,     /* char *: keys that detach (base/keys.h) */
	VALUE_TIME,     /* uint64_t: seconds; 90, 90s, 15m, 2h, 1d */
	VALUE_WORDS,    /* struct strvec: a command; replaces the earlier value */
	VALUE_COMMAND,  /* the same, to be run outside: it begins with a program's name or whole path */
	VALUE_CHOICES,  /* struct strvec: some of the row's choices; replaces the earlier value */
	VALUE_RULES,    /* struct config's operations; the row's choices are the rules */
	VALUE_CACHES,   /* struct config's caches; the row's choices are the modes */
	VALUE_COMMANDS, /* struct strvec: commands for inside, as lines for a shell; replaces the earlier value */
	VALUE_INPUTS,     /* struct strvec: globs; replaces the earlier value */
	VALUE_TOOLS,      /* this and all below: struct strvec; adds to the earlier value */
	VALUE_ALLOW_READ, /* this and the next three: struct config's rules too */
	VALUE_ALLOW_WRITE,
	VALUE_DENY_READ,
	VALUE_DENY_WRITE,
	VALUE_VARIABLES,
	VALUE_PROGRAMS,
	VALUE_LOGIN,
	VALUE_SETTINGS, /* "NAME=VALUE": variables that are set */
	VALUE_FILES,    /* "/etc/DIR/NAME=TEXT", "~/NAME=TEXT" */
	VALUE_SHOWN,    /* paths below the home, perhaps with a final slash */
	VALUE_DIRS,     /* "VARIABLE=PATH", "VARIABLE/SUB=PATH" */
	VALUE_GLOBS,
	VALUE_PATTERNS, /* lines in the syntax of .gitignore */
	VALUE_HOSTS,
};

/* What the repository's own file may do with a value. */
enum repository_may {
	REPOSITORY_REFUSED,  /* nothing; the row's `why` says what the value would give away */
	REPOSITORY_LOWERS,   /* a smaller number; 0 is the smallest */
	REPOSITORY_LIMITS,   /* a smaller number; 0 is "no limit", the largest */
	REPOSITORY_ADDS,     /* more items of a list that forbids something */
	REPOSITORY_STRICTER, /* a choice further to the front of the row's choices */
	REPOSITORY_TRUE,     /* true only */
	REPOSITORY_FALSE,    /* false only */
	REPOSITORY_BLOCKS,   /* git.operations: "blocked" only */
	REPOSITORY_SETS,     /* anything: it gives nothing away */
	REPOSITORY_ASKS,     /* anything, after the user approved it (struct config_ask) */
};

struct value_row {
	const char *key;
	enum value_type type;
	size_t offset;
	enum repository_may repository;
	const char *const *choices; /* ends in NULL; with REPOSITORY_STRICTER the strictest first */
	const char *why;            /* with REPOSITORY_REFUSED */
	bool user_only;             /* a task file, which may come from a repository, cannot set it */
	size_t cap; /* where the repository's limit goes if the value is 0, and 0 is not "no limit"; 0: nowhere */
};

/* The file that is being read, and where its values go. */
struct source {
	struct config *config;
	const char *file;
	bool repository;  /* it is the repository's own */
	const void *task; /* the struct taskfile, if it is a task file */
};

/* `what` is the value's name in messages, `to` the place to write to. */
int value_read(const struct source *s, const struct yaml *y, const struct value_row *row, const char *what,
	void *to, struct err *e);

/* Whether values of this type are a struct strvec to which each file adds. */
bool value_is_list(enum value_type type);

/* The keys of the configuration and of an agent, for schemas and for `garth config`; each list ends in a row
 * without a key. */
extern const struct value_row *const config_value_rows;
extern const struct value_row *const config_agent_rows;

#endif
