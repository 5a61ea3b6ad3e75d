/* MCP over two descriptors: one message a line. A line that is too long or is not a message gets an error as its answer;
 * the next line is read as usual. */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "mcp/mcp.h"

/* Answers until the input ends; an incomplete message at its end is ignored. Returns 0, or -1 and errno if the output
 * cannot be written any more. Blocks. */
int mcp_stdio(struct mcp_server *s, int in, int out);
/* Answers one line, if it needs an answer: appends the answer with its line end. */
struct buf;
void mcp_line(struct mcp_server *s, const char *line, size_t len, struct buf *out);

#endif
