#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

static void put(json_t *o, const char *key, const char *value)
{
	auto_buf clean = BUF_INIT(64 << 10);

	if (!value)
		return;
	add_name(&clean, value);
	json_object_set_new(o, key, json_string(buf_str(&clean)));
}

int tool_refuse(struct mcp_call *c, const char *code, const char *path, const char *fmt, ...)
{
	const struct files *f = c->ctx;
	auto_str shown = path && *path != '/' ? path_shown(f, path) : path ? xstrdup(path) : NULL;
	json_t *o = json_object();
	char message[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	put(o, "code", code);
	put(o, "message", message);
	put(o, "path", shown);
	put(o, "boundary", f->path);
	mcp_fail(c, json_pack("{s:o}", "error", o));
	return -1;
}

int tool_refuse_errno(struct mcp_call *c, const char *path, const char *doing)
{
	static const struct {
		int error;
		const char *code, *text;
	} known[] = {
		{ EXDEV, "outside_workspace",
			"the path leads outside the workspace, or through an absolute link" },
		{ ELOOP, "outside_workspace", "the path goes through a link that cannot be followed" },
		{ ENOENT, "not_found", "there is no such file or directory" },
		{ ENOTDIR, "not_found", "a part of the path is not a directory" },
		{ EACCES, "denied", "the task's walls or the file's permissions forbid it" },
		{ EPERM, "denied", "the task's walls or the file's permissions forbid it" },
		{ EROFS, "read_only", "this part of the workspace is read-only" },
		{ EEXIST, "exists", "there is something at this path already" },
		{ ENOTEMPTY, "not_empty", "the directory is not empty" },
		{ EISDIR, "is_directory", "it is a directory" },
		{ EINVAL, "not_regular", "it is not a regular file" },
		{ ENXIO, "not_regular", "it is not a regular file" },
		{ EFBIG, "too_large", "the file is too large" },
		{ ENOSPC, "no_space", "the disk is full" },
		{ EDQUOT, "no_space", "the disk is full" },
		{ ENAMETOOLONG, "bad_path", "the path is too long" },
		{ ETXTBSY, "busy", "the file is being executed" },
		{ EAGAIN, "busy", "another process holds the file" },
	};
	int error = errno;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].error == error)
			return tool_refuse(c, known[i].code, path, "cannot %s: %s", doing, known[i].text);
	return tool_refuse(c, "failed", path, "cannot %s: %s", doing, strerror(error));
}
