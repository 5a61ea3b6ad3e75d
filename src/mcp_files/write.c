#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

/* The mode of the existing file, 0 if there is none. -1: refused. */
static int look_before(struct mcp_call *c, const struct target *p, mode_t *ret)
{
	auto_buf old = BUF_INIT(FILES_TEXT_MAX);
	struct stat st;

	*ret = 0;
	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return tool_refuse_errno(c, p->path, "write it");
		return arg_text(c, "expected_hash")
			       ? tool_refuse(c, "changed", p->path, "the file is not there any more")
			       : 0;
	}
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return tool_refuse_errno(c, p->path, "write it");
	}
	*ret = st.st_mode & 0777;
	if (!arg_text(c, "expected_hash"))
		return 0;
	return read_whole(c, p->path, &old, &st) < 0 ? -1 : check_hash(c, p->path, buf_str(&old), old.len);
}

void tool_write(struct mcp_call *c)
{
	auto_str path = arg_path(c, "path"), text = NULL;
	auto_target p = TARGET_INIT;
	const char *content;
	mode_t mode;
	size_t len;

	content = arg_bytes(c, "content", &len);
	if (!path || target_find(c, path, true, &p) < 0 || look_before(c, &p, &mode) < 0 ||
		replace_file(c, &p, content, len, mode) < 0)
		return;
	text = xasprintf("Successfully wrote to %s", arg_text(c, "path"));
	mcp_text(c, text, strlen(text));
}
