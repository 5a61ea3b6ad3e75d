/* Any bytes as what a client of MCP says to the file tools, a message a line, and as the body of an HTTP request. Each
 * answer is JSON on one line, nothing beside the workspace changes, and after each the next request works. Tools that
 * start git or ask the gateway are left out. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/http.h"
#include "mcp/message.h"
#include "mcp/stdio.h"
#include "mcp_files/files.h"
#include "sys/fd.h"
#include "sys/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	char path[64];
	int dir;
	struct files files;
	struct mcp_server server;
	struct mcp_tool tools[32];
} the;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void clean_up(void)
{
	auto_fd root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;

	tree_remove(root, the.path + 1, &ignored);
}

static void begin(void)
{
	static const char *const without[] = { "grep", "glob", "task_status", "ask_question", "snapshot",
		"commit" };
	size_t n = 0;

	snprintf(the.path, sizeof(the.path), "%s/garth-fuzz.XXXXXX",
		access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	check(mkdtemp(the.path), "no scratch directory");
	atexit(clean_up);
	the.dir = open(the.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(!mkdirat(the.dir, "ws", 0755) && !mkdirat(the.dir, "outside", 0755), "no workspace");
	the.files.root = openat(the.dir, "ws", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* a fixed name, so that inputs can hold it */
	the.files.path = xstrdup("/ws");
	for (size_t i = 0; i < file_tools_count; i++) {
		bool left_out = false;

		for (size_t j = 0; j < ARRAY_SIZE(without); j++)
			left_out |= !strcmp(file_tools[i].name, without[j]);
		if (!left_out)
			the.tools[n++] = file_tools[i];
	}
	the.server = (struct mcp_server){
		.name = "fuzz", .version = "1", .tools = the.tools, .ntools = n, .ctx = &the.files
	};
}

/* The same files for each input. */
static void fill(void)
{
	struct err e = ERR_INIT;
	auto_names names = { 0 };

	check(!names_read(the.files.root, &names), "the workspace is gone");
	for (size_t i = 0; i < names.names.n; i++)
		check(!tree_remove(the.files.root, names.names.v[i], &e), e.msg);
	check(!mkdirat(the.files.root, "dir", 0755) && !symlinkat("../outside", the.files.root, "link") &&
			!write_file(the.files.root, "a.txt", "one\r\ntwo\nthree\n", 15, 0644, &e),
		"cannot fill the workspace");
}

static void check_outside(void)
{
	auto_fd outside = openat(the.dir, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_names names = { 0 }, top = { 0 };

	check(!names_read(outside, &names) && !names.names.n, "something was written outside");
	check(!names_read(the.dir, &top) && top.names.n == 2, "something was made beside the workspace");
}

static void over_pipes(const char *data, size_t size)
{
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;
		auto_buf out = BUF_INIT(MCP_ANSWER_MAX);
		json_t *answer;

		mcp_line(&the.server, data, n, &out);
		if (out.len) {
			check(out.data[out.len - 1] == '\n' && !memchr(out.data, '\n', out.len - 1),
				"not one line");
			answer = json_loadb(out.data, out.len, JSON_ALLOW_NUL, NULL);
			check(answer, "the answer is not JSON");
			json_decref(answer);
		}
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
}

static void over_http(const char *data, size_t size)
{
	json_t *headers =
		json_pack("{s:s, s:s, s:s, s:s}", "content-type", "application/json", "mcp-protocol-version",
			"2026-07-28", "mcp-method", "tools/call", "mcp-name", "read_text_file");
	struct mcp_http_answer a;

	for (int modern = 0; modern < 2; modern++) {
		if (!modern)
			json_object_del(headers, "mcp-protocol-version");
		mcp_http(&the.server,
			&(struct mcp_http_request){ .method = "POST",
				.headers = headers,
				.session = "x",
				.own = "x",
				.body = data,
				.len = size },
			&a);
		check(a.status >= 200 && a.status < 500, "an odd status");
		json_decref(a.body);
	}
	json_decref(headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
	auto_buf out = BUF_SMALL;

	if (!the.dir)
		begin();
	fill();
	over_pipes((const char *)data, size);
	over_http((const char *)data, size);
	check_outside();
	mcp_line(&the.server, good, sizeof(good) - 1, &out);
	check(strstr(buf_str(&out), "\"result\":{}"), "the next request does not work");
	return 0;
}
