/* Searches as git does: files that .gitignore excludes are left out. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "mcp/message.h"
#include "mcp_files/files.h"
#include "sys/fd.h"

#define LIMIT     1000
#define LIMIT_MAX 10000
#define LINE_MAX_ 500

struct found {
	const struct files *f;
	const char *glob, *within; /* within: the directory that is searched, beneath the workspace */
	struct buf out;
	int64_t n, limit;
	bool cut;
};

static bool is_full(struct found *f)
{
	if (f->n < f->limit && f->out.len < FILES_TEXT_MAX)
		return false;
	f->cut = true;
	return true;
}

static bool add_line(const char *line, size_t len, void *arg)
{
	auto_str one = xstrndup(line, len < LINE_MAX_ ? len : LINE_MAX_);
	struct found *f = arg;

	if (is_full(f))
		return false;
	if (f->out.len)
		buf_addch(&f->out, '\n');
	add_name(&f->out, one);
	if (len > LINE_MAX_)
		buf_addstr(&f->out, " (cut)");
	f->n++;
	return true;
}

static bool add_path(const char *path, size_t len, void *arg)
{
	struct found *f = arg;
	size_t n = strlen(f->within);
	auto_fd there = -1;

	(void)len;
	if (n && (strncmp(path, f->within, n) || path[n] != '/'))
		return true;
	if (!match_path(f->glob, path + n + (n != 0)))
		return true;
	if (is_full(f))
		return false;
	/* the index has files that are gone */
	there = beneath(f->f, path, O_PATH | O_NOFOLLOW, 0);
	if (there < 0)
		return true;
	buf_printf(&f->out, "%s%s/", f->out.len ? "\n" : "", f->f->path);
	add_name(&f->out, path);
	f->n++;
	return true;
}

static void tell(struct mcp_call *c, struct found *f)
{
	if (f->cut)
		buf_printf(
			&f->out, "\n(cut after %lld: ask for less, or set a higher limit)", (long long)f->n);
	mcp_text(c, f->n ? f->out.data : "No matches found", f->n ? f->out.len : 16);
}

static void begin(struct mcp_call *c, struct found *f)
{
	f->f = c->ctx;
	f->out = (struct buf)BUF_INIT(FILES_TEXT_MAX + (1 << 20));
	f->limit = LIMIT;
	arg_number(c, "limit", &f->limit);
	if (!f->limit || f->limit > LIMIT_MAX)
		f->limit = LIMIT_MAX;
}

static void grep_args(struct mcp_call *c, const char *path, bool repository, struct strvec *args)
{
	int64_t context = 0;

	strvec_pushl(args, "grep", "-n", "-I", "--no-color", "--full-name", NULL);
	strvec_push(args, repository ? "--untracked" : "--no-index");
	strvec_push(args, arg_flag(c, "fixed") ? "-F" : "-P");
	if (arg_flag(c, "ignore_case"))
		strvec_push(args, "-i");
	if (arg_flag(c, "files_only"))
		strvec_push(args, "-l");
	if (arg_number(c, "context", &context) && context)
		strvec_pushf(args, "-C%lld", (long long)(context < 50 ? context : 50));
	strvec_push(args, "-e");
	strvec_push(args, arg_text(c, "pattern"));
	strvec_push(args, "--");
	strvec_push(args, *path ? path : ".");
}

/* Whether the workspace is a repository's. */
static bool has_git(const struct files *f)
{
	auto_fd git = beneath(f, ".git", O_PATH, 0);

	return git >= 0;
}

void tool_grep(struct mcp_call *c)
{
	auto_strvec args = STRVEC_INIT;
	struct err e = ERR_INIT;
	struct found f = { 0 };
	int code = 0;
	auto_str path = arg_text(c, "path") ? arg_path(c, "path") : xstrdup("");

	if (!path)
		return;
	auto_fd there = beneath(c->ctx, path, O_PATH, 0);
	if (there < 0) {
		tool_refuse_errno(c, path, "search it");
		return;
	}
	if (!arg_text(c, "pattern") || !*arg_text(c, "pattern")) {
		tool_refuse(c, "bad_arguments", NULL, "the pattern is empty, or has a NUL character");
		return;
	}
	begin(c, &f);
	grep_args(c, path, has_git(c->ctx), &args);
	if (git_each(&args, '\n', add_line, &f, &code, &e) < 0 || code > 1)
		tool_refuse(c, "failed", path, "%s", e.msg);
	else if (code < 0 && !f.cut)
		tool_refuse(
			c, "too_slow", path, "searching took longer than %d seconds", FILES_TOOL_MS / 1000);
	else
		tell(c, &f);
	buf_release(&f.out);
}

static bool walk_path(const struct entry *e, void *arg)
{
	struct found *f = arg;
	auto_str path = *f->within ? path_join(f->within, e->path) : xstrdup(e->path);

	if (f->cut || !strcmp(e->path, ".git"))
		return false;
	if (!e->is_dir)
		add_path(path, strlen(path), f);
	return true;
}

void tool_glob(struct mcp_call *c)
{
	auto_str path = arg_text(c, "path") ? arg_path(c, "path") : xstrdup("");
	auto_fd dir = path ? open_directory(c, path) : -1;
	auto_strvec args = STRVEC_INIT;
	struct err e = ERR_INIT;
	struct found f = { .within = path };
	int code = 0;

	if (dir < 0)
		return;
	begin(c, &f);
	f.glob = arg_text(c, "pattern") ? arg_text(c, "pattern") : "";
	strvec_pushl(&args, "ls-files", "-z", "-c", "-o", "--deduplicate", NULL);
	if (!arg_flag(c, "include_ignored"))
		strvec_push(&args, "--exclude-standard");
	strvec_pushl(&args, "--", *path ? path : ".", NULL);
	if (has_git(c->ctx) && (git_each(&args, '\0', add_path, &f, &code, &e) < 0 || code > 0))
		tool_refuse(c, "failed", path, "%s", e.msg);
	else if (!has_git(c->ctx) && walk_files(dir, walk_path, &f) < 0)
		tool_refuse_errno(c, path, "list it");
	else if (code < 0 && !f.cut)
		tool_refuse(c, "too_slow", path, "listing took longer than %d seconds", FILES_TOOL_MS / 1000);
	else
		tell(c, &f);
	buf_release(&f.out);
}
