#include "publish/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/tree.h"
#include "task/task.h"

#define ENTRIES_MAX 100000

/* The names in a directory; none if there is no such directory. Names with a leading dot are skipped: git
 * makes none. */
static int list(int dir, const char *path, struct strvec *ret, struct err *e)
{
	int fd = open_beneath(dir, path, O_RDONLY | O_DIRECTORY, 0);
	struct dirent *ent;
	DIR *d;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, "cannot open '%s'", path);
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return err_sys(e, "cannot read '%s'", path);
	}
	while ((ent = readdir(d)) && ret->n < ENTRIES_MAX)
		if (ent->d_name[0] != '.')
			strvec_push(ret, ent->d_name);
	closedir(d);
	return ret->n < ENTRIES_MAX ? 0
				    : err_set(e, ERR_FAILED, "there are too many files in the quarantine");
}

static int here(const struct quarantine *q)
{
	return q->areas[q->area];
}

static int make(struct quarantine *q, struct err *e)
{
	struct stat st;

	if (fstat(q->objects, &st) < 0)
		return err_sys(e, "cannot look at the shared objects");
	q->uid = st.st_uid;
	q->gid = st.st_gid;
	q->mode = st.st_mode & 07777;
	if (tree_remove(q->objects, q->name, e) < 0)
		return -1;
	if (mkdirat(q->objects, q->name, 0700) < 0)
		return err_sys(e, "cannot make '%s'", q->name);
	q->areas[QUARANTINE_DISK] = open_beneath(q->objects, q->name, O_RDONLY | O_DIRECTORY, 0);
	/* with the mode of the other object directories: a closed one would look like a repository that
	 * root's tasks cannot borrow from */
	if (here(q) < 0 || owner_give(here(q), "") < 0 || fchmod(here(q), (q->mode & 0777) | 0700) < 0)
		return err_sys(e, "cannot open '%s'", q->name);
	return 0;
}

int quarantine_open(const struct repo *r, int64_t task, struct quarantine *ret, struct err *e)
{
	struct quarantine q = QUARANTINE_INIT;

	q.hash_len = r->hash_len;
	snprintf(q.name, sizeof(q.name), TASK_QUARANTINE, (long long)task);
	q.objects = open(r->objects.v[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (q.objects < 0)
		return err_sys(e, "cannot open '%s'", r->objects.v[0]);
	if (make(&q, e) < 0) {
		quarantine_close(&q);
		return err_wrap(e, "cannot make a quarantine in '%s'", r->objects.v[0]);
	}
	*ret = q;
	return 0;
}

void quarantine_close(struct quarantine *q)
{
	struct err ignored = ERR_INIT;

	if (q->areas[QUARANTINE_DISK] >= 0)
		tree_remove(q->objects, q->name, &ignored);
	for (size_t i = 0; i < QUARANTINE_AREAS; i++)
		fd_closep(&q->areas[i]);
	fd_closep(&q->objects);
	strvec_release(&q->loose);
	strvec_release(&q->packs);
	*q = (struct quarantine)QUARANTINE_INIT;
}

/* Loose objects as "xx/rest". */
static int list_loose(const struct quarantine *q, struct strvec *ret, struct err *e)
{
	auto_strvec dirs = STRVEC_INIT;

	if (list(here(q), "", &dirs, e) < 0)
		return -1;
	for (size_t i = 0; i < dirs.n; i++) {
		auto_strvec names = STRVEC_INIT;

		if (!hex_is(dirs.v[i], 2))
			continue;
		if (list(here(q), dirs.v[i], &names, e) < 0)
			return -1;
		for (size_t j = 0; j < names.n; j++)
			if (hex_is(names.v[j], 2 * (size_t)q->hash_len - 2))
				strvec_pushf(ret, "%s/%s", dirs.v[i], names.v[j]);
		if (ret->n > ENTRIES_MAX)
			return err_set(e, ERR_FAILED, "there are too many files in the quarantine");
	}
	return 0;
}

static int list_packs(const struct quarantine *q, struct strvec *ret, struct err *e)
{
	auto_strvec names = STRVEC_INIT;

	if (list(here(q), "pack", &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		char *dot = strrchr(names.v[i], '.');

		if (!dot || strcmp(dot, ".idx") || strncmp(names.v[i], "pack-", 5))
			continue;
		*dot = '\0';
		if (oid_is(names.v[i] + 5, q->hash_len))
			strvec_pushf(ret, "pack/%s", names.v[i]);
	}
	return 0;
}

int quarantine_scan(struct quarantine *q, struct err *e)
{
	strvec_release(&q->loose);
	strvec_release(&q->packs);
	return list_loose(q, &q->loose, e) < 0 ? -1 : list_packs(q, &q->packs, e);
}

void quarantine_loose(const struct quarantine *q, struct oidset *ret)
{
	for (size_t i = 0; i < q->loose.n; i++) {
		auto_str oid = xasprintf("%.2s%s", q->loose.v[i], q->loose.v[i] + 3);

		oidset_add(ret, oid);
	}
}

/* Makes the object's directory, with the same owner and mode as git's. */
static int make_place(const struct quarantine *q, const char *path)
{
	auto_str dir = xstrndup(path, strcspn(path, "/"));
	auto_str made = xasprintf("%s-%s", q->name, dir);

	/* made under another name and renamed when complete: other tasks check whether they can read every
	 * directory here */
	if (mkdirat(q->objects, made, 0700) < 0 && errno != EEXIST)
		return -1;
	if (owner_is_other() && fchownat(q->objects, made, q->uid, q->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (fchmodat(q->objects, made, q->mode, 0) < 0)
		return -1;
	if (!renameat2(q->objects, made, q->objects, dir, RENAME_NOREPLACE))
		return 0;
	if (errno != EEXIST)
		return -1;
	unlinkat(q->objects, made, AT_REMOVEDIR);
	return 0;
}

/* Links the very file that was checked, even if its name was replaced meanwhile. */
static int link_in(const struct quarantine *q, int fd, const char *path)
{
	char self[40];
	int rc;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	rc = linkat(AT_FDCWD, self, q->objects, path, AT_SYMLINK_FOLLOW);
	if (rc < 0 && errno == ENOENT && !make_place(q, path))
		rc = linkat(AT_FDCWD, self, q->objects, path, AT_SYMLINK_FOLLOW);
	/* a file system without hard links */
	if (rc < 0 && (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS))
		rc = renameat2(here(q), path, q->objects, path, RENAME_NOREPLACE);
	return rc < 0 && errno == EEXIST ? 0 : rc;
}

static int link_one(const struct quarantine *q, int fd, const char *path)
{
	if ((owner_is_other() && fchown(fd, q->uid, q->gid) < 0) || fchmod(fd, 0444) < 0)
		return -1;
	return link_in(q, fd, path);
}

static int copy_bytes(int from, int to)
{
	char data[64 << 10];
	ssize_t n;

	while ((n = read_full(from, data, sizeof(data))) > 0)
		if (write_full(to, data, (size_t)n) < 0)
			return -1;
	return (int)n;
}

/* 1: it exists already. */
static int link_in_place(const struct quarantine *q, const char *name, const char *path)
{
	int rc = renameat2(q->objects, name, q->objects, path, RENAME_NOREPLACE);

	if (rc < 0 && (errno == EINVAL || errno == ENOSYS))
		rc = linkat(q->objects, name, q->objects, path, 0) < 0 ? -1 : 1;
	return rc < 0 && errno == EEXIST ? 1 : rc;
}

/* Copies to a temporary name and renames when complete. git gc removes a temporary file of that name that a
 * crash left. */
static int copy_one(const struct quarantine *q, int from, const char *path)
{
	auto_str name = xasprintf("%.2s/tmp_obj_%s", path, q->name);
	auto_fd to = -1;
	int rc = -1, saved;

	for (int tries = 0; to < 0 && tries < 3; tries++) {
		to = openat(q->objects, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (to < 0 && errno == ENOENT ? make_place(q, path) < 0
					      : to < 0 && unlinkat(q->objects, name, 0) < 0)
			return -1;
	}
	if (to < 0)
		return -1;
	if (copy_bytes(from, to) == 0 && (!owner_is_other() || !fchown(to, q->uid, q->gid)) &&
		!fchmod(to, 0444))
		rc = link_in_place(q, name, path);
	saved = errno;
	if (rc)
		unlinkat(q->objects, name, 0);
	errno = saved;
	return rc < 0 ? -1 : 0;
}

static int keep_one(const struct quarantine *q, const char *path, struct err *e)
{
	auto_fd fd = -1;
	int rc;

	if (!faccessat(q->objects, path, F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	fd = open_regular_beneath(here(q), path);
	rc = fd < 0 ? -1 : q->area == QUARANTINE_DISK ? link_one(q, fd, path) : copy_one(q, fd, path);
	return rc < 0 ? err_sys(e, "cannot keep object '%s'", path) : 0;
}

static int keep_pack(const struct quarantine *q, const char *stem, struct err *e)
{
	auto_str rev = xasprintf("%s.rev", stem), pack = xasprintf("%s.pack", stem),
		 idx = xasprintf("%s.idx", stem);
	struct stat st;

	if (!lstat_beneath(here(q), rev, &st) && keep_one(q, rev, e) < 0)
		return -1;
	/* git uses a pack as soon as its .idx exists, so that comes last */
	return keep_one(q, pack, e) < 0 ? -1 : keep_one(q, idx, e);
}

int quarantine_keep(const struct quarantine *q, const struct oidset *wanted, struct err *e)
{
	for (size_t i = 0; i < q->loose.n; i++) {
		auto_str oid = xasprintf("%.2s%s", q->loose.v[i], q->loose.v[i] + 3);

		if (oidset_has(wanted, oid) && keep_one(q, q->loose.v[i], e) < 0)
			return -1;
	}
	for (size_t i = 0; i < q->packs.n; i++)
		if (keep_pack(q, q->packs.v[i], e) < 0)
			return -1;
	return 0;
}

/* Removes what the scan found, with directories: each one that stays has to be read by the next scan. */
static bool drop_known(const struct quarantine *q)
{
	for (size_t i = 0; i < q->loose.n; i++) {
		auto_str dir = xstrndup(q->loose.v[i], 2);

		if (unlinkat(here(q), q->loose.v[i], 0) < 0 ||
			(unlinkat(here(q), dir, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY))
			return false;
	}
	return q->loose.n && !q->packs.n;
}

static int empty(int area, struct err *e)
{
	auto_strvec names = STRVEC_INIT;

	if (list(area, "", &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (tree_remove(area, names.v[i], e) < 0)
			return -1;
	return 0;
}

static int drop_all(const struct quarantine *q, struct err *e)
{
	for (size_t i = 0; i < QUARANTINE_AREAS; i++)
		if (q->areas[i] >= 0 && empty(q->areas[i], e) < 0)
			return -1;
	return 0;
}

int quarantine_drop(struct quarantine *q, struct err *e)
{
	int rc = drop_known(q) ? 0 : drop_all(q, e);

	strvec_release(&q->loose);
	strvec_release(&q->packs);
	return rc;
}
