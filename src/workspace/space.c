#include "workspace/space.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sys/fd.h"

/* With less free space than LITTLE nothing is started. With more than PLENTY, checkouts are not measured. */
#define LITTLE (16ull << 20)
#define PLENTY (20ull << 30)

/* Enough for the store, the log and a few renames. */
#define RESERVE      "reserve"
#define RESERVE_SIZE (1 << 20)

/* A file takes whole blocks, and space for its name and inode. */
#define PER_FILE 4096

static uint64_t available(const struct home *h)
{
	struct statvfs fs;

	return fstatvfs(h->fd, &fs) < 0 ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

static int full(const struct home *h, uint64_t need, uint64_t have, struct err *e)
{
	if (need)
		err_set(e, ERR_FAILED, "the workspace needs %.0f MB, and the disk of '%s' has %.0f MB",
			(double)need / 1e6, h->path, (double)have / 1e6);
	else
		err_set(e, ERR_FAILED, "the disk of '%s' is full", h->path);
	return err_hint(e, "garth gc");
}

void space_reserve(const struct home *h)
{
	auto_fd fd = -1;

	if (!faccessat(h->fd, RESERVE, F_OK, AT_SYMLINK_NOFOLLOW) || available(h) < 4 * LITTLE)
		return;
	fd = openat(h->fd, RESERVE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && posix_fallocate(fd, 0, RESERVE_SIZE))
		unlinkat(h->fd, RESERVE, 0);
}

void space_use_reserve(const struct home *h)
{
	if (available(h) < RESERVE_SIZE / 2)
		unlinkat(h->fd, RESERVE, 0);
}

int space_check_little(const struct home *h, struct err *e)
{
	uint64_t have = available(h);

	return have < LITTLE ? full(h, 0, have, e) : 0;
}

/* Each entry is "MODE blob OID SIZE\tPATH" and a NUL. */
static int count(const struct repo *r, const char *commit, uint64_t *ret, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_buf list = BUF_INIT(1u << 30);

	if (git_do(&g, &list, e, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, NULL) < 0) {
		if (repo_is_partial(r))
			repo_refuse_missing(r, commit, "a part of the commit", e);
		return -1;
	}
	*ret = 0;
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *p = list.data + at;

		for (int i = 0; i < 3; i++)
			p += strcspn(p, " "), p += strspn(p, " ");
		*ret += (strtoull(p, NULL, 10) + PER_FILE) / PER_FILE * PER_FILE + PER_FILE / 4;
	}
	return 0;
}

int space_check(const struct home *h, const struct repo *r, const char *commit, struct err *e)
{
	uint64_t need, have = available(h);

	if (have >= PLENTY)
		return 0;
	if (count(r, commit, &need, e) < 0)
		return -1;
	return need > have ? full(h, need, have, e) : 0;
}
