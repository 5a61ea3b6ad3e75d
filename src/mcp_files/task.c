/* Tools that ask the task's gateway, over its socket. The gateway decides; the socket tells it which task asks. */
#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "http/http_client.h"
#include "mcp_files/files.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define ASK_SECONDS 150
#define ASK_MAX     (1u << 20)

static int reach(const struct files *f, struct err *e)
{
	auto_str dir = xstrdup(f->socket ? f->socket : "");
	char *slash = strrchr(dir, '/');
	auto_fd at = -1;
	int fd = -1;

	if (!slash)
		return -1;
	*slash = '\0';
	at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || sock_connect(at, slash + 1, &fd, e) < 0)
		return -1;
	return http_set_time_limit(fd, ASK_SECONDS) < 0 ? -1 : fd;
}

void tool_ask_gateway(struct mcp_call *c, const char *path, json_t *in)
{
	auto_http_answer a = HTTP_ANSWER_INIT(ASK_MAX);
	struct err e = ERR_INIT;
	auto_fd fd = reach(c->ctx, &e);
	auto_str body = in ? json_dumps(in, JSON_COMPACT) : NULL;
	json_t *answer;

	json_decref(in);
	if (fd >= 0 && body)
		http_post(fd, path, body, &a);
	else if (fd >= 0)
		http_get(fd, path, &a);
	answer = a.status ? json_loadb(buf_str(&a.body), a.body.len, 0, NULL) : NULL;
	if (!answer) {
		tool_refuse(c, "no_gateway", NULL, "the task's gateway does not answer");
		return;
	}
	if (a.status < 200 || a.status > 299) {
		mcp_fail(c, answer);
		return;
	}
	auto_str text = json_dumps(answer, JSON_INDENT(2));
	json_decref(answer);
	mcp_text(c, text, strlen(text));
}

void tool_status(struct mcp_call *c)
{
	tool_ask_gateway(c, "/api/v1/task", NULL);
}

json_t *tool_copy_args(const struct mcp_call *c, const char *const *names)
{
	json_t *o = json_object();

	for (; *names; names++)
		if (json_object_get(c->args, *names))
			json_object_set(o, *names, json_object_get(c->args, *names));
	return o;
}

void tool_ask(struct mcp_call *c)
{
	static const char *const names[] = { "question", "options", NULL };

	tool_ask_gateway(c, "/api/v1/question", tool_copy_args(c, names));
}

void tool_snapshot(struct mcp_call *c)
{
	static const char *const names[] = { "message", NULL };

	tool_ask_gateway(c, "/api/v1/snapshot", tool_copy_args(c, names));
}

static bool ignore(const char *piece, size_t len, void *arg)
{
	(void)piece;
	(void)len;
	(void)arg;
	return true;
}

/* Stages what is to be committed. -1: refused. */
static int stage(struct mcp_call *c)
{
	json_t *paths = json_object_get(c->args, "paths"), *v;
	auto_strvec args = STRVEC_INIT;
	struct err e = ERR_INIT;
	int code = 0;
	size_t i;

	if (!json_array_size(paths) && !arg_flag(c, "all"))
		return 0;
	strvec_pushl(&args, "add", "-A", "--", NULL);
	json_array_foreach(paths, i, v)
	{
		auto_str path = path_beneath(c, json_string_value(v));

		if (!path)
			return -1;
		strvec_push(&args, *path ? path : ".");
	}
	if (!json_array_size(paths))
		strvec_push(&args, ".");
	if (git_each(&args, '\n', ignore, NULL, &code, &e) < 0 || code)
		return tool_refuse(c, "not_staged", NULL, "%s", *e.msg ? e.msg : "git add failed");
	return 0;
}

void tool_commit(struct mcp_call *c)
{
	static const char *const names[] = { "message", NULL };

	if (!stage(c))
		tool_ask_gateway(c, "/api/v1/git/commit", tool_copy_args(c, names));
}
