#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"
#include "sys/fd.h"

static bool same(int a, int b)
{
	struct stat sa, sb;

	return a >= 0 && b >= 0 && !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static int open_dir(int at, const char *path)
{
	return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool has(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* Whether git would accept it as a repository. */
static bool is_git_dir(int dir)
{
	return dir >= 0 && has(dir, "HEAD") &&
	       ((has(dir, "objects") && has(dir, "refs")) || has(dir, "commondir"));
}

/* Opens the repository at a path: a directory, or a file that names one. */
static int open_git_dir(int at, const char *path)
{
	auto_fd file = -1;
	auto_fd above = -1;
	char text[PATH_MAX + 16], *slash;
	struct stat st;
	ssize_t n;
	int dir = open_dir(at, path);

	if (dir >= 0)
		return dir;
	file = openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	n = read_full(file, text, sizeof(text) - 1);
	if (n < 8 || memcmp(text, "gitdir: ", 8) != 0)
		return -1;
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';

	/* a relative name starts at the file's directory */
	char parent[PATH_MAX];
	int len = snprintf(parent, sizeof(parent), "%s", path);

	if (len < 0 || (size_t)len >= sizeof(parent))
		return -1;
	slash = strrchr(parent, '/');
	if (slash)
		slash[1] = '\0';
	above = open_dir(at, slash ? parent : ".");
	return above < 0 ? -1 : open_dir(above, text + 8);
}

static bool within(int dir, int top)
{
	auto_fd at = dir < 0 ? -1 : open_dir(dir, ".");

	while (at >= 0 && !same(at, top)) {
		int up = open_dir(at, "..");
		bool root = same(up, at);

		close(at);
		at = up;
		if (root)
			return false;
	}
	return at >= 0;
}

/* Whether searching upwards from dir, as git does, finds the task's repository first. */
static bool leads_here(int dir, int workspace, int git_dir)
{
	auto_fd at = open_dir(dir, ".");

	while (at >= 0) {
		auto_fd own = -1;
		struct stat st;
		bool root;
		int up;

		if (same(at, workspace) || (git_dir >= 0 && same(at, git_dir)))
			return true;
		if (is_git_dir(at))
			return false;
		if (!fstatat(at, ".git", &st, 0)) {
			own = S_ISDIR(st.st_mode) ? open_dir(at, ".git") : -1;
			if (S_ISREG(st.st_mode) || is_git_dir(own))
				return false;
		}
		up = open_dir(at, "..");
		root = same(up, at);
		close(at);
		at = up;
		if (root)
			return false;
	}
	return false;
}

static int stand(int argc, char *const *argv)
{
	int at = open_dir(AT_FDCWD, "."), n;
	const char *value;

	for (int i = 1; at >= 0 && (n = words_option(argc, argv, i, &value)); i += n) {
		int next;

		if (strcmp(argv[i], "-C") != 0 || !*value)
			continue;
		next = open_dir(at, value);
		close(at);
		at = next;
	}
	return at;
}

static const char *or_environment(const char *value, const char *name)
{
	if (!value)
		value = getenv(name);
	return value && *value ? value : NULL;
}

void which_repo_find(
	int argc, char *const *argv, const struct words *w, const char *workspace, struct which_repo *ret)
{
	const char *git_dir = or_environment(w->git_dir, "GIT_DIR");
	const char *work_tree = or_environment(w->work_tree, "GIT_WORK_TREE");
	auto_fd top = -1;

	*ret = (struct which_repo){ .dir = stand(argc, argv), .git_dir = -1 };
	if (!*workspace)
		return;
	top = open_dir(AT_FDCWD, workspace);
	ret->git_dir = top < 0 ? -1 : open_git_dir(top, ".git");
	if (ret->dir < 0 || w->bare) {
		ret->elsewhere = true;
		return;
	}
	if (work_tree) {
		auto_fd tree = open_dir(ret->dir, work_tree);

		ret->elsewhere = !within(tree, top);
	}
	if (git_dir) {
		auto_fd named = open_git_dir(ret->dir, git_dir);

		ret->elsewhere |= !same(named, ret->git_dir);
	} else {
		ret->elsewhere |= !leads_here(ret->dir, top, ret->git_dir);
	}
}

void which_repo_release(struct which_repo *p)
{
	if (p->dir >= 0)
		close(p->dir);
	if (p->git_dir >= 0)
		close(p->git_dir);
	p->dir = p->git_dir = -1;
}
