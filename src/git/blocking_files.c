#include "git/blocking_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/named_path.h"
#include "sys/dir.h"
#include "sys/fd.h"

/* Refs and their logs are this deep at most; git takes no longer names than paths can have. */
#define DEPTH_MAX 64
/* Entries of a private repository: a second or two. */
#define ENTRIES_MAX 500000

/* Each task has a directory of refs there. */
static bool is_not_garths(const char *name)
{
	return strcmp(name, "garth") != 0;
}

/* Of an object store: the directories of loose objects, and the others. They may be links. */
static bool is_part(const char *name)
{
	return !strcmp(name, "pack") || !strcmp(name, "info") ||
	       (strlen(name) == 2 && strspn(name, "0123456789abcdefABCDEF") == 2);
}

/* Directories, and how far below them there are files that git opens. */
struct place {
	const char *dir;
	unsigned depth;
	bool (*counts)(const char *name); /* which names in it count; NULL: all */
};

static const struct place in_git_dir[] = {
	{ ".", 0 }, /* HEAD, config, index, packed-refs, shallow, commondir, MERGE_HEAD … */
	{ "info", 0 }, { "reftable", 0 }, { "worktrees", 2 },        /* the HEAD of each linked worktree */
	{ "refs", DEPTH_MAX, is_not_garths }, { "logs", DEPTH_MAX }, /* they are opened to be written */
};

static const struct place in_objects[] = {
	{ ".", 0, is_part },
	{ "info", 1 }, /* alternates, commit-graph, commit-graphs/… */
	{ "pack", 0 },
};

/* Of these there can be many. */
static const struct place many_in_git_dir[] = { { "refs/garth", DEPTH_MAX } };
static const struct place many_in_objects[] = { { ".", 1, is_part } };

/* Opening a socket fails at once. */
static bool is_waited_for(mode_t mode)
{
	return S_ISFIFO(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

/* The type of an entry; 0 if it is not known. Most file systems tell it with the name. */
static mode_t type_of(int dir, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return DTTOIF(ent->d_type);
	return fstatat(dir, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode;
}

static bool is_link_to_waited_for(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, 0) && is_waited_for(st.st_mode);
}

static int refuse(const char *path, struct err *e)
{
	auto_str word = shell_quoted(path);

	err_set(e, ERR_REFUSED, "'%s' is a FIFO or a device, and git would wait for it", path);
	return err_hint(e, "ls -l %s", word);
}

static int look(int parent, const struct place *p, const char *path, struct err *e);

static int look_at_entry(
	int dir, const char *name, mode_t type, unsigned depth, const char *at, struct err *e)
{
	if (is_waited_for(type) || (S_ISLNK(type) && is_link_to_waited_for(dir, name)))
		return refuse(at, e);
	if (S_ISLNK(type))
		return named_path_check(at, "the repository has the link", e);
	return look(dir, &(struct place){ name, depth - 1, NULL }, at, e);
}

/* `path` is the directory's. Links to directories are not followed, but where they lead is judged. */
static int look(int parent, const struct place *p, const char *path, struct err *e)
{
	int fd = openat(parent, p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d && fd >= 0)
		close(fd);
	while (d && (ent = readdir(d))) {
		mode_t type;

		if (dir_is_dot(ent->d_name) || (p->counts && !p->counts(ent->d_name)))
			continue;
		type = type_of(dirfd(d), ent);
		if (!is_waited_for(type) && !S_ISLNK(type) && !(S_ISDIR(type) && p->depth))
			continue;
		auto_str at = path_join(path, ent->d_name);

		if (look_at_entry(dirfd(d), ent->d_name, type, p->depth, at, e) < 0)
			return -1;
	}
	return 0;
}

/* A directory that is missing or cannot be read has nothing that git could wait for. */
static int look_at(const char *top, const struct place *places, size_t n, struct err *e)
{
	auto_fd dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; dir >= 0 && i < n; i++) {
		auto_str path = strcmp(places[i].dir, ".") ? path_join(top, places[i].dir) : xstrdup(top);

		if (look(dir, &places[i], path, e) < 0)
			return -1;
	}
	return 0;
}

int blocking_files_refuse(const char *git_dir, struct err *e)
{
	return look_at(git_dir, in_git_dir, ARRAY_SIZE(in_git_dir), e);
}

int blocking_files_refuse_objects(const char *objects, struct err *e)
{
	return look_at(objects, in_objects, ARRAY_SIZE(in_objects), e);
}

int blocking_files_refuse_many(const char *git_dir, struct err *e)
{
	return look_at(git_dir, many_in_git_dir, ARRAY_SIZE(many_in_git_dir), e);
}

int blocking_files_refuse_loose(const char *objects, struct err *e)
{
	return look_at(objects, many_in_objects, ARRAY_SIZE(many_in_objects), e);
}

/* In the directory that the first bytes of the path name. git does not follow a link there. */
static int look_at_attributes(int top, const char *place, const char *path, size_t len, struct err *e)
{
	auto_str name = xasprintf("%.*s%s.gitattributes", (int)len, path, len ? "/" : ""), at = NULL;
	struct stat st;

	if (lstat_beneath(top, name, &st) < 0 || !is_waited_for(st.st_mode))
		return 0;
	at = path_join(place, name);
	return refuse(at, e);
}

int blocking_files_refuse_attributes(int top, const char *place, const char *path, struct err *e)
{
	if (look_at_attributes(top, place, path, 0, e) < 0)
		return -1;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (look_at_attributes(top, place, path, (size_t)(slash - path), e) < 0)
			return -1;
	return 0;
}

struct private_walk {
	int top; /* the repository */
	size_t left;
	char **ret_path;
};

/* Git itself makes no links there. One that leads elsewhere may have a FIFO at its end, which is known only inside. */
static bool leads_out(const struct private_walk *w, const char *path)
{
	char target[PATH_MAX];
	auto_str at = NULL, dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	ssize_t n = readlinkat(w->top, path, target, sizeof(target) - 1);
	struct stat st;

	if (n < 0 || target[0] == '/')
		return n >= 0;
	target[n] = '\0';
	if (slash)
		*slash = '\0';
	at = slash ? path_join(dir, target) : xstrdup(target);
	return lstat_beneath(w->top, at, &st) < 0 ? errno != ENOENT : !S_ISREG(st.st_mode);
}

static int refuse_private(const struct private_walk *w, const char *path, bool link, struct err *e)
{
	auto_buf clean = BUF_INIT(8192);

	clean_text(&clean, path, strlen(path), false);
	*w->ret_path = xstrdup(path);
	return link ? err_set(e, ERR_REFUSED, "'%s' in the task's .git is a link that leads out of it",
			      buf_str(&clean))
		    : err_set(e, ERR_REFUSED,
			      "'%s' in the task's .git is a FIFO or a device, and git would wait for it",
			      buf_str(&clean));
}

static int look_private(struct private_walk *w, const char *path, unsigned depth, struct err *e)
{
	int fd = open_beneath(w->top, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d && fd >= 0)
		close(fd);
	while (d && w->left && (ent = readdir(d))) {
		struct stat st;
		mode_t type = DTTOIF(ent->d_type);

		/* hooks are programs, not files that git reads; Garth's own is a link */
		if (dir_is_dot(ent->d_name) || (!*path && !strcmp(ent->d_name, "hooks")))
			continue;
		w->left--;
		if (ent->d_type == DT_UNKNOWN)
			type = fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode;
		if (!is_waited_for(type) && !S_ISLNK(type) && !S_ISDIR(type))
			continue;
		auto_str at = *path ? path_join(path, ent->d_name) : xstrdup(ent->d_name);

		if (is_waited_for(type) || (S_ISLNK(type) && leads_out(w, at)))
			return refuse_private(w, at, S_ISLNK(type), e);
		if (S_ISDIR(type) && depth && look_private(w, at, depth - 1, e) < 0)
			return -1;
	}
	return 0;
}

int blocking_files_refuse_private(int git_dir, char **ret_path, struct err *e)
{
	struct private_walk w = { .top = git_dir, .left = ENTRIES_MAX, .ret_path = ret_path };

	*ret_path = NULL;
	return look_private(&w, "", DEPTH_MAX, e);
}
