/* Tools about tickets: tasks that this task asks for, over the gateway's socket. */
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

#define PATH "/api/v1/tickets"

void tool_ticket_new(struct mcp_call *c)
{
	static const char *const names[] = { "title", "prompt", "agent", "files", "acceptance", "depends",
		"submodules", "timeout", NULL };

	tool_ask_gateway(c, PATH, tool_copy_args(c, names));
}

void tool_ticket_list(struct mcp_call *c)
{
	tool_ask_gateway(c, PATH, NULL);
}

void tool_ticket_wait(struct mcp_call *c)
{
	static const char *const names[] = { "ids", "seconds", "block", NULL };

	tool_ask_gateway(c, PATH "/wait", tool_copy_args(c, names));
}

/* The request's path for one ticket; NULL: refused. */
static char *path_of(struct mcp_call *c, const char *what)
{
	const char *id = json_string_value(json_object_get(c->args, "id"));

	if (id && *id && strlen(id) <= 32 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(id))
		return xasprintf(PATH "/%s%s", id, what);
	tool_refuse(c, "no_ticket", NULL, "a ticket's id is a word such as t1");
	return NULL;
}

static void look(struct mcp_call *c, const char *what)
{
	auto_str path = path_of(c, what);

	if (path)
		tool_ask_gateway(c, path, NULL);
}

static void change(struct mcp_call *c, const char *what)
{
	static const char *const names[] = { "text", "prompt", NULL };
	auto_str path = path_of(c, what);

	if (path)
		tool_ask_gateway(c, path, tool_copy_args(c, names));
}

void tool_ticket_show(struct mcp_call *c)
{
	look(c, "");
}

void tool_ticket_diff(struct mcp_call *c)
{
	look(c, "/diff");
}

void tool_ticket_log(struct mcp_call *c)
{
	look(c, "/log");
}

void tool_ticket_answer(struct mcp_call *c)
{
	change(c, "/answer");
}

void tool_ticket_retry(struct mcp_call *c)
{
	change(c, "/retry");
}

void tool_ticket_cancel(struct mcp_call *c)
{
	change(c, "/cancel");
}

void tool_ticket_merge(struct mcp_call *c)
{
	change(c, "/merge");
}

void tool_ticket_discard(struct mcp_call *c)
{
	change(c, "/discard");
}
