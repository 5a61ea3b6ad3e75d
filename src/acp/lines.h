/*
 * Splits a stream into lines, of which each is at most LINE_MAX_BYTES long. A longer one is skipped as a whole, and the
 * next one works.
 *
 *	struct line_splitter l = LINES_INIT;
 *	lines_feed(&l, data, len, take_line, arg);     calls take_line for each complete line
 *	lines_release(&l);
 *
 * An incomplete line at the end of the stream is dropped.
 */
#ifndef ACP_LINES_H
#define ACP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "mcp/message.h"

#define LINE_MAX_BYTES MCP_MESSAGE_MAX

struct line_splitter {
	struct buf buf;
	bool skip; /* up to the next line end: the line is too long */
};
#define LINES_INIT                                                                                           \
	{                                                                                                    \
		.buf = BUF_INIT(LINE_MAX_BYTES)                                                              \
	}
void lines_release(struct line_splitter *l);

/* The line without its end, and without blanks before that; it may be changed in place. NULL: the line was too long. */
typedef void lines_fn(char *line, size_t len, void *arg);
void lines_feed(struct line_splitter *l, const char *data, size_t len, lines_fn *fn, void *arg);

#endif
