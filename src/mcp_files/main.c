#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/http.h"
#include "mcp/message.h"
#include "mcp/stdio.h"
#include "mcp_files/files.h"
#include "sys/fd.h"

#define HEAD_MAX (64u << 10)

static const char instructions[] =
	"File tools for this task's workspace. Paths are absolute or relative to the workspace; nothing outside it can be "
	"reached. Commit with the tool commit or with git; ask the user with ask_question.";

static const char *text_of(const json_t *head, const char *name)
{
	return message_text(json_object_get(head, name));
}

/* The head is a line of JSON; the body is all the rest. */
static int answer_http(struct mcp_server *s)
{
	auto_buf in = BUF_INIT(MCP_MESSAGE_MAX + HEAD_MAX), out = BUF_INIT(MCP_ANSWER_MAX);
	struct mcp_http_answer a = { 0 };
	struct err e = ERR_INIT;
	const char *end;
	json_t *head;

	if (read_rest(0, &in, "the request", &e) < 0 || !(end = memchr(buf_str(&in), '\n', in.len)))
		return 1;
	head = json_loadb(buf_str(&in), (size_t)(end - in.data), 0, NULL);
	struct mcp_http_request q = { .method = text_of(head, "method"),
		.headers = json_object_get(head, "headers"),
		.session = text_of(head, "session"),
		.own = text_of(head, "own"),
		.body = end + 1,
		.len = in.len - (size_t)(end + 1 - in.data) };
	if (!q.method)
		return json_decref(head), 1;
	mcp_http(s, &q, &a);
	buf_printf(&out, "{\"status\":%d%s%s%s}\n", a.status, a.session ? ",\"session\":\"" : "",
		a.session ? a.session : "", a.session ? "\"" : "");
	if (a.body)
		message_write(&out, a.body);
	json_decref(a.body);
	json_decref(head);
	return out.overflow || write_full(1, out.data, out.len) < 0;
}

/* The directory must be a clean absolute path: paths are compared with it. */
static int open_root(struct files *f, const char *dir)
{
	auto_str real = realpath(dir, NULL);

	f->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->root < 0 || !real || fchdir(f->root) < 0) {
		fprintf(stderr, "garth-mcp: cannot open the workspace '%s'\n", dir);
		return -1;
	}
	f->path = steal_ptr(real);
	return 0;
}

int main(int argc, char **argv)
{
	struct files f = { .root = -1, .socket = getenv("GARTH_SOCKET") };
	struct mcp_server s = { .name = "garth",
		.title = "Garth",
		.version = GARTH_VERSION,
		.instructions = instructions,
		.tools = file_tools,
		/* only decides which tools are listed; the gateway decides what is allowed */
		.ntools = getenv("GARTH_TICKETS") ? file_tools_count : file_tools_plain_count,
		.ctx = &f };
	bool http = argc > 1 && !strcmp(argv[1], "--http");
	const char *dir = argc > 1 + http ? argv[1 + http] : getenv("GARTH_WORKSPACE");
	int rc;

	if (!f.socket || !*f.socket)
		f.socket = "/run/garth/gateway";
	signal(SIGPIPE, SIG_IGN);
	if (open_root(&f, dir && *dir ? dir : ".") < 0)
		return 1;
	rc = http ? answer_http(&s) : mcp_stdio(&s, 0, 1) < 0;
	free(f.path);
	return rc;
}
