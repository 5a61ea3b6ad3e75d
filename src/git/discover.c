#include "git/discover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "sys/fd.h"

void discovered_release(struct discovered *d)
{
	free(d->top);
	free(d->git_dir);
	free(d->common);
	*d = (struct discovered){ 0 };
}

/* The text of a small file without the line break at its end; NULL if it is missing or no regular file. */
static char *text_of(const char *dir, const char *name)
{
	auto_fd at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd fd = at < 0 ? -1 : open_regular_beneath(at, name);
	auto_buf text = BUF_INIT(8192);
	struct err ignored = ERR_INIT;

	if (fd < 0 || read_rest(fd, &text, name, &ignored) < 0)
		return NULL;
	while (text.len && strchr("\r\n", text.data[text.len - 1]))
		buf_cut(&text, text.len - 1);
	return text.len ? buf_steal(&text) : NULL;
}

/* Resolves a path from a file in `dir`; NULL if nothing is there. */
static char *resolve(const char *dir, const char *path)
{
	auto_str joined = path[0] == '/' ? xstrdup(path) : path_join(dir, path);

	return canonicalize_file_name(joined);
}

char *discover_common(const char *git_dir)
{
	static const char *const parts[] = { "objects", "refs" };
	auto_str named = text_of(git_dir, "commondir"), head = path_join(git_dir, "HEAD"),
		 common = named ? resolve(git_dir, named) : xstrdup(git_dir);
	struct stat st;

	if (!common || lstat(head, &st) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		auto_str part = path_join(common, parts[i]);

		if (access(part, X_OK) < 0)
			return NULL;
	}
	return steal_ptr(common);
}

/* The git directory that `top` contains or points to; NULL for none. */
static char *git_dir_of(const char *top)
{
	static const char prefix[] = "gitdir: ";
	auto_str dot_git = path_join(top, ".git"), line = NULL;
	struct stat st;

	if (stat(dot_git, &st) < 0)
		return NULL;
	if (S_ISDIR(st.st_mode))
		return canonicalize_file_name(dot_git);
	line = text_of(top, ".git");
	return line && !strncmp(line, prefix, strlen(prefix)) ? resolve(top, line + strlen(prefix)) : NULL;
}

bool discover_at(const char *top, struct discovered *ret)
{
	auto_str git_dir = git_dir_of(top), common = git_dir ? discover_common(git_dir) : NULL;
	bool bare = !common;

	if (bare) {
		free(git_dir);
		git_dir = xstrdup(top);
		common = discover_common(top);
	}
	if (!common)
		return false;
	*ret = (struct discovered){ xstrdup(top), steal_ptr(git_dir), steal_ptr(common), bare };
	return true;
}

/* Looks at the directory and its parents; shortens `at` to the one that has a repository. */
static bool look_up(char *at, struct discovered *ret)
{
	while (!discover_at(at, ret)) {
		char *slash = strrchr(at, '/');

		if (!at[1])
			return false;
		slash[slash == at] = '\0';
	}
	return true;
}

static int check_bare(const struct discovered *d, struct err *e)
{
	size_t n = (size_t)(path_base(d->top) - d->top);
	auto_str above = xstrndup(d->top, n > 1 ? n - 1 : n);
	auto_discovered around = { 0 };
	auto_str top = NULL;

	if (!d->bare || !d->top[1] || !look_up(above, &around) || around.bare)
		return 0;
	if (!strcmp(around.git_dir, d->top))
		err_set(e, ERR_REFUSED, "'%s' is not in a checkout", d->top);
	else
		err_set(e, ERR_REFUSED, "'%s' is a bare repository in the checkout of another one", d->top);
	top = shell_quoted(around.top);
	return err_hint(e, "cd %s", top);
}

int discover(const char *dir, struct discovered *ret, struct err *e)
{
	auto_str at = canonicalize_file_name(dir);
	auto_discovered d = { 0 };

	if (!at)
		return err_sys(e, "cannot find '%s'", dir);
	if (!look_up(at, &d))
		return err_set(e, ERR_NOTFOUND, "'%s' is not in a git repository", dir),
		       err_hint(e, "git init");
	if (check_bare(&d, e) < 0)
		return -1;
	*ret = d;
	d = (struct discovered){ 0 };
	return 0;
}
