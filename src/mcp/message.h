/*
 * Messages as bytes: checked before they are parsed, because a parser that builds a tree takes many times the
 * memory of the text.
 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define MCP_MESSAGE_MAX (16u << 20)
/* Values and members in a message; a file's content is one. */
#define MCP_VALUES_MAX 100000u
#define MCP_DEPTH_MAX  64u
/* A longer answer is replaced by an error. */
#define MCP_ANSWER_MAX (64u << 20)

/* The message, or NULL with the reason: not JSON, not UTF-8, too many values. Strings may have NUL characters in
 * them; json_string_length tells. */
json_t *message_parse(const char *text, size_t len, char why[160]);
/* Appends the message as one line, without the line end. */
void message_write(struct buf *out, const json_t *message);

/* The index of the first byte that is not UTF-8, or len. */
size_t utf8_valid(const char *text, size_t len);
/* A string without NUL characters, or NULL. */
const char *message_text(const json_t *v);

#endif
