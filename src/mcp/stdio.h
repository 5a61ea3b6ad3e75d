/* MCP over two descriptors: a message a line. A line that is too long, or no message, is answered with an error, and
 * the next one works. */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "mcp/mcp.h"

/* Answers until the input ends; a half message at its end is ignored. Returns 0, or -1 and errno if nobody can be
 * answered any more. Blocks. */
int mcp_stdio(struct mcp_server *s, int in, int out);
/* Answers what a line has, if it has to be answered: appends the answer with its line end. */
struct buf;
void mcp_line(struct mcp_server *s, const char *line, size_t len, struct buf *out);

#endif
