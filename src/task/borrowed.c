#include "task/borrowed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "config/check.h"
#include "sys/dir.h"
#include "workspace/submodules.h"

static bool begins(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (!strncmp(name, *with, strlen(*with)))
			return true;
	return false;
}

static bool is_hex(const char *name, size_t n)
{
	return strlen(name) == n && strspn(name, "0123456789abcdefABCDEF") == n;
}

static bool is_temporary(const char *name)
{
	static const char *const beginnings[] = { "tmp_", ".tmp-", "incoming-", "garth-", ".nfs", NULL };
	size_t n = strlen(name);

	return begins(name, beginnings) || (n > 5 && !strcmp(name + n - 5, ".lock"));
}

static bool is_pack_file(const char *name)
{
	static const char *const beginnings[] = { "pack-", "multi-pack-index", "prefetch-", "old-", NULL };

	return is_temporary(name) || begins(name, beginnings);
}

static bool is_info_file(const char *name)
{
	static const char *const beginnings[] = { "alternates", "http-alternates", "packs", "commit-graph",
		"grafts", NULL };

	return is_temporary(name) || begins(name, beginnings);
}

static bool is_object(const char *name)
{
	return is_temporary(name) || is_hex(name, 2 * 20 - 2) || is_hex(name, 2 * 32 - 2);
}

static const char not_a_store[] = "has other things in it than an object store";

/* The type of an entry; 0 if it vanished. */
static mode_t type_of(int dir, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return DTTOIF(ent->d_type);
	return fstatat(dir, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode;
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n > m && !strcmp(name + n - m, with);
}

/* Whether a file begins like what it is named after: a loose object is zlib's, a pack says so. One that cannot be read
 * cannot be read inside either. */
static bool begins_like_its_name(int dir, const char *name)
{
	bool pack = ends(name, ".pack"), object = is_hex(name, 2 * 20 - 2) || is_hex(name, 2 * 32 - 2);
	int fd = pack || object ? openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
	unsigned char head[4] = { 0 };
	ssize_t n;

	if (fd < 0)
		return true;
	n = pread(fd, head, sizeof(head), 0);
	close(fd);
	if (pack)
		return n == 4 && !memcmp(head, "PACK", 4);
	return n >= 2 && (head[0] & 0x8f) == 0x08 && !((head[0] << 8 | head[1]) % 31);
}

/* Why a directory of an object store is not what its name says, or NULL. Other stores are divided by the first two
 * digits of a hash as well (caches of package managers), so names alone do not tell. Only one file of each directory
 * is opened: there may be very many. */
static const char *shape_of_part(int store, const char *name)
{
	bool info = !strcmp(name, "info");
	bool (*belongs)(const char *) = !strcmp(name, "pack") ? is_pack_file
					: info                ? is_info_file
							      : is_object;
	int fd = openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	bool opened = false;

	if (!d && fd >= 0)
		close(fd);
	if (!d)
		return errno == ENOTDIR ? not_a_store : "cannot be read";
	while ((ent = readdir(d))) {
		mode_t type = type_of(dirfd(d), ent);

		if (dir_is_dot(ent->d_name))
			continue;
		if (!belongs(ent->d_name) ||
			(S_ISDIR(type) && !(info && !strcmp(ent->d_name, "commit-graphs"))))
			return not_a_store;
		if (is_temporary(ent->d_name) || (opened && !ends(ent->d_name, ".pack")))
			continue;
		if (!begins_like_its_name(dirfd(d), ent->d_name))
			return not_a_store;
		opened = true;
	}
	return NULL;
}

static bool is_part(const char *name)
{
	return is_hex(name, 2) || !strcmp(name, "pack") || !strcmp(name, "info");
}

/* A directory with a temporary name: git's for what it receives, with the parts of a store, or Garth's, with parts or
 * objects. It may vanish meanwhile. */
static const char *shape_of_temporary(int store, const char *name)
{
	int fd = openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d && fd >= 0)
		close(fd);
	while (d && (ent = readdir(d))) {
		bool is_dir = S_ISDIR(type_of(dirfd(d), ent));

		if (dir_is_dot(ent->d_name))
			continue;
		if (is_dir ? !is_part(ent->d_name) : !is_object(ent->d_name) && !is_pack_file(ent->d_name))
			return not_a_store;
		if (is_dir && shape_of_part(dirfd(d), ent->d_name) == not_a_store)
			return not_a_store;
	}
	return NULL;
}

/* Why the directory is not an object store, or NULL. */
static const char *shape(const char *path)
{
	auto_dir d = opendir(path);
	struct dirent *ent;
	size_t parts = 0;

	if (!d)
		return "cannot be read";
	while ((ent = readdir(d))) {
		const char *name = ent->d_name, *why = NULL;

		if (dir_is_dot(name))
			continue;
		if (is_part(name)) {
			why = shape_of_part(dirfd(d), name);
			parts++;
		} else if (!is_temporary(name)) {
			why = not_a_store;
		} else if (S_ISDIR(type_of(dirfd(d), ent))) {
			why = shape_of_temporary(dirfd(d), name);
		}
		if (why)
			return why;
	}
	return parts ? NULL : "is not an object store";
}

static bool is_users(const char *path, const struct repo *r)
{
	struct stat st, own;

	if (stat(path, &st) < 0)
		return false;
	/* root also works in other users' repositories: root has confirmed that to git (safe.directory) */
	return st.st_uid == geteuid() || !st.st_uid ||
	       (!geteuid() && !stat(r->objects.v[0], &own) && own.st_uid == st.st_uid);
}

/* Whether these are the repository's own objects, as git makes them, and not behind a link. */
static bool is_own(const struct repo *r, const char *real)
{
	auto_str git_dir = canonicalize_file_name(r->git_dir),
		 own = git_dir ? path_join(git_dir, "objects") : NULL;

	return own && !strcmp(real, own);
}

int borrowed_check(const struct context *c, const struct repo *r, struct err *e)
{
	for (size_t i = 0; i < r->objects.n; i++) {
		auto_str real = canonicalize_file_name(r->objects.v[i]);
		const char *path = real ? real : r->objects.v[i], *why;

		if (is_own(r, path))
			continue;
		why = check_allow_read(path, c->user_home);
		if (!why && path_within(path, c->home.path))
			why = "is in the Garth home";
		if (!why && !is_users(path, r))
			why = "belongs to another user";
		if (!why)
			why = shape(path);
		if (!why)
			continue;
		err_set(e, ERR_REFUSED, "the repository borrows objects from '%s', which %s", path, why);
		auto_str top = shell_quoted(r->main_top), store = shell_quoted(r->objects.v[0]);
		return err_hint(e, "git -C %s repack -a -d && rm %s/info/alternates", top, store);
	}
	return 0;
}

int borrowed_check_submodules(const struct context *c, const struct workspace *ws, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(ws->dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_repo r = { 0 };

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (submodule_repo(ws, &s.v[i], &r, e) < 0 || borrowed_check(c, &r, e) < 0)
			return -1;
	}
	return 0;
}
