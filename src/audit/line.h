/* A line of the audit log and what binds it to its neighbours: for the files of this room alone. */
#ifndef AUDIT_LINE_H
#define AUDIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

#define LINE_FILE     "audit.jsonl"
#define LINE_MAX_LEN  ((size_t)64 * 1024) /* with its line break */
#define LINE_HASH_LEN 64                  /* hexadecimal digits */
#define LINE_TAIL_LEN (LINE_HASH_LEN + strlen(",\"hash\":\"\"}"))

struct line {
	uint64_t seq;
	char prev[LINE_HASH_LEN + 1];
	char hash[LINE_HASH_LEN + 1]; /* what it says of itself */
};

/* Whether the text (without its line break) has a line's form; its hash is not checked. */
bool line_parse(const char *text, size_t len, struct line *ret);
void line_hash(const char *data, size_t len, char hex[LINE_HASH_LEN + 1]);
/* Whether a parsed line's hash is that of its text. */
bool line_is_unchanged(const char *text, size_t len, const struct line *l);

/* The newest line that the store knows (its seq and hash): 1, or 0 where it knows of none, or -1. */
int line_known(struct store *s, struct line *ret, struct err *e);
int line_set_known(struct store *s, const struct line *l, struct err *e);

#endif
