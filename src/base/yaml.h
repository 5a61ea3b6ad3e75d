/*
 * Parses YAML configuration files into a tree of nodes that know their line and column.
 *
 * yaml_parse reads one document of mappings, sequences and scalars. It refuses, with file, line and column:
 * anchors, aliases and tags (a small file could expand to a huge tree), duplicate keys, more than one
 * document, keys that are not scalars, nesting beyond 16 levels, more than 10,000 nodes, files beyond 1 MiB,
 * NUL bytes. An empty file is an empty mapping.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

#define YAML_MAX_BYTES (1u << 20)
#define YAML_MAX_DEPTH 16
#define YAML_MAX_NODES 10000

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_key {
	char *name;
	unsigned line, column;
};

struct yaml {
	enum yaml_kind kind;
	unsigned line, column; /* from 1; the column counts characters */
	bool quoted;           /* a scalar in quotes is always a string */
	char *scalar;
	struct yaml_key *keys; /* of a map; items[i] is the value of keys[i] */
	struct yaml **items;
	size_t n;
};

/* `file` is only used in messages. Errors are ERR_CONFIG and read "FILE:LINE:COLUMN: …". If file is NULL, the
 * text was not written by a user, and the message has no position. */
int yaml_parse(const char *text, size_t len, const char *file, struct yaml **ret, struct err *e);
/* The same for a part of a file, or with other limits. */
struct yaml_source {
	const char *file;
	unsigned line; /* where the text begins, from 1 */
	size_t max_bytes;
	unsigned max_nodes;
};
int yaml_parse_source(
	const struct yaml_source *s, const char *text, size_t len, struct yaml **ret, struct err *e);
/* Not named yaml_free: libyaml has an internal function of that name. */
void yaml_tree_free(struct yaml *y);
void yaml_freep(struct yaml **y);
#define auto_yaml __attribute__((cleanup(yaml_freep))) struct yaml *

/* The value of a key of a map, or NULL. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);

/* Whether the value is missing: nothing after the colon, "~" or "null". */
bool yaml_is_null(const struct yaml *y);

/* Typed values, or an error at the node's position. `what` names the value: "limits.log_size". */
int yaml_string(const struct yaml *y, const char *file, const char *what, char **ret, struct err *e);
int yaml_bool(const struct yaml *y, const char *file, const char *what, bool *ret, struct err *e);
/* A whole number, at most INT64_MAX. */
int yaml_whole(const struct yaml *y, const char *file, const char *what, uint64_t *ret, struct err *e);
/* One of these words, as its index; the list ends with NULL. */
int yaml_choice(const struct yaml *y, const char *file, const char *what, const char *const *choices,
	unsigned *ret, struct err *e);
/* Appends the words for a message: "'a', 'b' or 'c'". */
void yaml_add_choices(struct buf *out, const char *const *choices);
/* A number of bytes: 4096, 64KB, 100MB, 1GB (powers of 1024). */
int yaml_size(const struct yaml *y, const char *file, const char *what, uint64_t *ret, struct err *e);
/* A list of strings, appended to ret; a single scalar is a list of one. */
int yaml_strings(const struct yaml *y, const char *file, const char *what, struct strvec *ret, struct err *e);
/* ERR_CONFIG "FILE:LINE:COLUMN: MESSAGE" at a node. */
int yaml_error(const struct yaml *y, const char *file, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same at the i-th key of a map. */
int yaml_key_error(const struct yaml *map, size_t i, const char *file, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#endif
