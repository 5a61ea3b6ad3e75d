/* Parses and hashes the lines of the audit log. Only the files of audit/ include it. */
#ifndef AUDIT_LINE_H
#define AUDIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

#define LINE_FILE     "audit.jsonl"
#define LINE_MAX_LEN  ((size_t)64 * 1024) /* including the line break */
#define LINE_HASH_LEN 64                  /* hexadecimal digits */
#define LINE_TAIL_LEN (LINE_HASH_LEN + strlen(",\"hash\":\"\"}"))

struct line {
	uint64_t seq;
	char prev[LINE_HASH_LEN + 1];
	char hash[LINE_HASH_LEN + 1]; /* as the line has it; line_is_unchanged checks it */
};

/* Whether the text (without its line break) is a well-formed line. Does not check the hash. */
bool line_parse(const char *text, size_t len, struct line *ret);
void line_hash(const char *data, size_t len, char hex[LINE_HASH_LEN + 1]);
/* Whether the hash in a parsed line matches its text. */
bool line_is_unchanged(const char *text, size_t len, const struct line *l);

/* The seq and hash of the newest line that the store knows. Returns 1, 0 if the store knows none, or -1. */
int line_known(struct store *s, struct line *ret, struct err *e);
int line_set_known(struct store *s, const struct line *l, struct err *e);

#endif
