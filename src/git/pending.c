#include "git/pending.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/run.h"
#include "sys/fd.h"

#define LOOK_SECONDS  3
#define PATCH_SECONDS 120

/* Adds options that switch off every filter in the configuration, whatever attributes the files have. */
static int no_filters(const char *dir, struct strvec *args, struct err *e)
{
	struct git g = { .cwd = dir, .user_config = true, .seconds = LOOK_SECONDS };
	auto_strvec ask = STRVEC_INIT;
	auto_buf out = BUF_INIT(1 << 20);
	int code;

	strvec_pushl(&ask, "config", "-z", "--name-only", "--get-regexp", "^filter\\.", NULL);
	if (git_try(&g, &ask, NULL, &out, NULL, &code, e) < 0)
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		const char *name = out.data + at, *last = strrchr(name, '.');

		if (strchr(name, '='))
			return err_set(e, ERR_REFUSED, "the filter '%s' cannot be switched off", name);
		strvec_push(args, "-c");
		strvec_pushf(args, "%s=%s", name, last && !strcmp(last, ".required") ? "false" : "");
	}
	return 0;
}

int pending_find(const char *dir, int file, struct err *e)
{
	struct git g = { .cwd = dir, .user_config = true, .seconds = LOOK_SECONDS, .stdout_fd = file };
	auto_strvec args = STRVEC_INIT;

	if (no_filters(dir, &args, e) < 0)
		return -1;
	strvec_pushl(&args, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
		"--ignore-submodules=all", NULL);
	return git_run(&g, &args, NULL, NULL, e);
}

int pending_read(int file, struct strvec *ret, struct err *e)
{
	auto_buf out = BUF_INIT(16 << 20);

	if (lseek(file, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot read what git says");
	if (read_rest(file, &out, "what git says", e) < 0)
		return -1;
	/* "XY PATH", each followed by a NUL */
	for (size_t at = 0; at + 3 < out.len; at += strlen(out.data + at) + 1)
		strvec_push(ret, out.data + at + 3);
	return 0;
}

/* Copies the checkout's index; a linked worktree has its own. */
static int copy_index(const char *dir, const char *to, struct err *e)
{
	struct git g = { .cwd = dir, .user_config = true };
	auto_buf path = BUF_SMALL, text = BUF_INIT(1u << 30);

	if (git_do(&g, &path, e, "rev-parse", "--path-format=absolute", "--git-path", "index", NULL) < 0)
		return -1;
	if (path.len)
		buf_cut(&path, path.len - 1);
	if (read_file(AT_FDCWD, buf_str(&path), &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	return write_file(AT_FDCWD, to, text.data, text.len, 0600, e);
}

/* Adds pathspecs that leave the submodules out: git would read a submodule's files with the submodule's
 * configuration, whose filters are not switched off. */
static int leave_submodules_out(const struct git *g, struct strvec *args, struct err *e)
{
	auto_strvec ask = STRVEC_INIT;
	auto_buf out = BUF_INIT(1u << 30);

	strvec_pushl(&ask, "ls-files", "--stage", "-z", NULL);
	if (git_run(g, &ask, NULL, &out, e) < 0)
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		const char *path = strchr(out.data + at, '\t');

		if (path && !strncmp(out.data + at, "160000 ", 7))
			strvec_pushf(args, ":(top,literal,exclude)%s", path + 1);
	}
	return 0;
}

int pending_patch(const char *dir, const char *index, int file, struct err *e)
{
	struct git look = { .cwd = dir, .user_config = true };
	auto_strvec args = STRVEC_INIT;
	auto_buf top = BUF_INIT(8192);

	if (copy_index(dir, index, e) < 0 || git_do(&look, &top, e, "rev-parse", "--show-toplevel", NULL) < 0)
		return -1;
	if (top.len)
		buf_cut(&top, top.len - 1);
	struct git g = {
		.cwd = buf_str(&top), .index = index, .user_config = true, .seconds = PATCH_SECONDS
	};

	if (no_filters(dir, &args, e) < 0)
		return -1;
	strvec_pushl(&args, "-c", "advice.addEmbeddedRepo=false", "add", "-A", "--", ":/", NULL);
	if (leave_submodules_out(&g, &args, e) < 0 || git_run(&g, &args, NULL, NULL, e) < 0)
		return -1;
	g.stdout_fd = file;
	return git_do(&g, NULL, e, "diff", "--cached", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
		"--ignore-submodules=all", "HEAD", "--", NULL);
}
