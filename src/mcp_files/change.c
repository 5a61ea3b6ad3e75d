/* Makes directories; moves, copies and removes files. An existing file is never overwritten. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp_files/files.h"
#include "sys/fd.h"
#include "sys/linux.h"
#include "sys/tree.h"

static void say(struct mcp_call *c, const char *fmt, const char *a, const char *b)
{
	auto_buf out = BUF_INIT(128 << 10);

	buf_printf(&out, "%s %s%s%s", fmt, a, b ? " to " : "", b ? b : "");
	mcp_text(c, buf_str(&out), out.len);
}

/* Makes the directories of a path one after the other; each is opened beneath the workspace. */
static int make_all(struct mcp_call *c, const char *path)
{
	auto_str part = xstrdup(path);
	char *end = part;

	do {
		auto_target p = TARGET_INIT;
		auto_fd there = -1;

		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		there = beneath(c->ctx, part, O_PATH | O_DIRECTORY, 0);
		if (there < 0 && errno != ENOENT)
			return tool_refuse_errno(c, path, "make the directory");
		if (there < 0 && target_find(c, part, true, &p) < 0)
			return -1;
		if (there < 0 && mkdirat(p.dir, p.name, 0777) < 0 && errno != EEXIST)
			return tool_refuse_errno(c, path, "make the directory");
		if (end)
			*end = '/';
	} while (end);
	return 0;
}

void tool_mkdir(struct mcp_call *c)
{
	auto_str path = arg_path(c, "path");

	if (path && (!*path || !make_all(c, path)))
		say(c, "Successfully created directory", arg_text(c, "path"), NULL);
}

void tool_move(struct mcp_call *c)
{
	auto_str from = arg_path(c, "source"), to = from ? arg_path(c, "destination") : NULL;
	auto_target a = TARGET_INIT, b = TARGET_INIT;

	if (!from || !to || target_find(c, from, false, &a) < 0 || target_find(c, to, false, &b) < 0)
		return;
	if (renameat2(a.dir, a.name, b.dir, b.name, RENAME_NOREPLACE) == 0) {
		say(c, "Successfully moved", arg_text(c, "source"), arg_text(c, "destination"));
		return;
	}
	if (errno == EINVAL)
		tool_refuse(c, "bad_path", to, "a directory cannot be moved into itself");
	else if (errno == EXDEV)
		tool_refuse(c, "other_file_system", to,
			"the destination is on another file system: use copy_file and delete_file");
	else
		tool_refuse_errno(c, errno == ENOENT ? from : to, "move it");
}

void tool_copy(struct mcp_call *c)
{
	auto_str from = arg_path(c, "source"), to = from ? arg_path(c, "destination") : NULL;
	auto_target p = TARGET_INIT;
	struct err e = ERR_INIT;
	struct stat st;

	if (!from || !to)
		return;
	auto_fd in = open_file(c, from, &st);
	if (in < 0 || target_find(c, to, false, &p) < 0)
		return;
	auto_fd out = openat(p.dir, p.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		(mode_t)(st.st_mode & 0777));
	if (out < 0) {
		tool_refuse_errno(c, to, "write the copy");
		return;
	}
	if (copy_fd(in, out, &e) < 0) {
		unlinkat(p.dir, p.name, 0);
		tool_refuse(c, "failed", to, "%s", e.msg);
		return;
	}
	say(c, "Successfully copied", arg_text(c, "source"), arg_text(c, "destination"));
}

static int remove_it(struct mcp_call *c, const struct target *p)
{
	auto_buf old = BUF_INIT(FILES_TEXT_MAX);
	struct err e = ERR_INIT;
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return tool_refuse_errno(c, p->path, "remove it");
	if (arg_text(c, "expected_hash") &&
		(read_whole(c, p->path, &old, &st) < 0 || check_hash(c, p->path, buf_str(&old), old.len) < 0))
		return -1;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(p->dir, p->name, 0) < 0 ? tool_refuse_errno(c, p->path, "remove it") : 0;
	if (!unlinkat(p->dir, p->name, AT_REMOVEDIR))
		return 0;
	if (errno != ENOTEMPTY)
		return tool_refuse_errno(c, p->path, "remove it");
	if (!arg_flag(c, "recursive"))
		return tool_refuse(c, "not_empty", p->path,
			"the directory is not empty: set recursive to remove all of it");
	auto_fd dir = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 || tree_remove(dir, p->name, &e) < 0 ? tool_refuse(c, "failed", p->path, "%s", e.msg)
							    : 0;
}

void tool_delete(struct mcp_call *c)
{
	auto_str path = arg_path(c, "path");
	auto_target p = TARGET_INIT;

	if (path && !target_find(c, path, false, &p) && !remove_it(c, &p))
		say(c, "Successfully deleted", arg_text(c, "path"), NULL);
}
