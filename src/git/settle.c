#include "git/settle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/gitlinks.h"
#include "git/index.h"
#include "sys/fd.h"

/* How old the files become, in seconds. One would do if the clocks of file systems did not lag a little. */
#define AGE 3
/* Below this, threads cost more than they save. */
#define FEW_ENTRIES 500
#define MAX_PARTS   8

/* The directory of the last entry, kept open because entries are sorted. */
struct holder {
	char *path;
	int fd;
};

static void holder_release(struct holder *h)
{
	free(h->path);
	fd_closep(&h->fd);
}

static int holder_of(struct holder *h, int tree, const struct index_entry *ent)
{
	size_t len = (size_t)(path_base(ent->path) - ent->path);

	errno = ENOENT;
	if (h->path && strlen(h->path) == len && !memcmp(h->path, ent->path, len))
		return h->fd;
	free(h->path);
	fd_closep(&h->fd);
	h->path = xstrndup(ent->path, len);
	h->fd = open_beneath(tree, h->path, O_RDONLY | O_DIRECTORY, 0);
	return h->fd;
}

static void put_be32(unsigned char *p, uint64_t n)
{
	p[0] = (unsigned char)(n >> 24);
	p[1] = (unsigned char)(n >> 16);
	p[2] = (unsigned char)(n >> 8);
	p[3] = (unsigned char)n;
}

/* As git fills an entry: in this order, cut to 32 bits. The mode is not changed. */
static void put_stat(unsigned char *p, const struct stat *st)
{
	put_be32(p, (uint64_t)st->st_ctim.tv_sec);
	put_be32(p + 4, (uint64_t)st->st_ctim.tv_nsec);
	put_be32(p + 8, (uint64_t)st->st_mtim.tv_sec);
	put_be32(p + 12, (uint64_t)st->st_mtim.tv_nsec);
	put_be32(p + 16, st->st_dev);
	put_be32(p + 20, st->st_ino);
	put_be32(p + 28, st->st_uid);
	put_be32(p + 32, st->st_gid);
	/* if git stores another number for it, that stays */
	if ((uint32_t)st->st_size || !st->st_size)
		put_be32(p + 36, (uint64_t)st->st_size);
}

static int settle_entry(struct holder *h, int tree, const struct index_entry *ent, time_t old,
	unsigned char *at, struct err *e)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = old } };
	int dir = holder_of(h, tree, ent);
	struct stat st;

	if (dir < 0 || utimensat(dir, path_base(ent->path), times, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? 0
			       : err_sys(e, "cannot set the time of '%s'", ent->path);
	if (fstatat(dir, path_base(ent->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "cannot look at '%s'", ent->path);
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		put_stat(at, &st);
	return 0;
}

/* A part of the entries, for one thread. */
struct part {
	struct buf *index;
	unsigned hash_len;
	int tree;
	time_t old;
	uint32_t from, to;
	pthread_t thread;
	struct err why;
	int rc;
};

static int settle_entries(struct part *p, struct index_reader *r, struct err *e)
{
	__attribute__((cleanup(holder_release))) struct holder h = { NULL, -1 };
	struct index_entry ent;
	int got;

	for (uint32_t i = 0; i < p->to; i++) {
		size_t at = (size_t)(r->at - r->data);

		got = index_next(r, &ent, e);
		if (got <= 0)
			return got;
		/* an mtime of 0 means that the entry has no stat data */
		if (i < p->from || ent.stage || (ent.mode & S_IFMT) == GITLINK_MODE ||
			(ent.mtime_s && (time_t)ent.mtime_s <= p->old))
			continue;
		if (settle_entry(&h, p->tree, &ent, p->old, (unsigned char *)p->index->data + at, e) < 0)
			return -1;
	}
	return 0;
}

static void *settle_part(void *arg)
{
	struct part *p = arg;
	struct index_reader r;

	p->rc = index_open(&r, p->index->data, p->index->len, p->hash_len, &p->why);
	if (!p->rc)
		p->rc = settle_entries(p, &r, &p->why);
	index_close(&r);
	return NULL;
}

/* The calls spend all their time in the kernel, and scale with the number of processors. */
static uint32_t count_parts(uint32_t entries)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 2 || entries < FEW_ENTRIES)
		return 1;
	return n > MAX_PARTS ? MAX_PARTS : (uint32_t)n;
}

int settle_index(struct buf *index, unsigned hash_len, int tree, struct err *e)
{
	struct part parts[MAX_PARTS];
	time_t old = time(NULL) - AGE;
	struct index_reader r;
	int rc = index_open(&r, index->data, index->len, hash_len, e);
	uint32_t n = rc ? 0 : count_parts(r.entries), running = 1;

	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct part){ .index = index,
			.hash_len = hash_len,
			.tree = tree,
			.old = old,
			.from = (uint32_t)((uint64_t)r.entries * i / n),
			.to = (uint32_t)((uint64_t)r.entries * (i + 1) / n),
			.why = ERR_INIT };
	index_close(&r);
	while (running < n && !pthread_create(&parts[running].thread, NULL, settle_part, &parts[running]))
		running++;
	/* the first part, and those for which no thread could be made */
	for (uint32_t i = 0; i < n; i = i ? i + 1 : running)
		settle_part(&parts[i]);
	for (uint32_t i = 1; i < running && i < n; i++)
		pthread_join(parts[i].thread, NULL);
	for (uint32_t i = 0; i < n && !rc; i++)
		if (parts[i].rc < 0) {
			*e = parts[i].why;
			rc = -1;
		}
	return rc;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int settle_paths(struct buf *index, unsigned hash_len, int tree, const struct strvec *paths,
	bool (*mine)(const char *path, const struct stat *st, void *arg), void *arg, struct err *e)
{
	struct index_reader r;
	struct index_entry ent;
	int got = -1;

	if (index_open(&r, index->data, index->len, hash_len, e) < 0)
		return index_close(&r), -1;
	for (;;) {
		size_t at = (size_t)(r.at - r.data);
		struct stat st;

		got = index_next(&r, &ent, e);
		if (got <= 0)
			break;
		if (ent.stage || !paths->n ||
			!bsearch(&ent.path, paths->v, paths->n, sizeof(*paths->v), compare))
			continue;
		if (!lstat_beneath(tree, ent.path, &st) && S_ISREG(st.st_mode) && st.st_size <= UINT32_MAX &&
			(!mine || mine(ent.path, &st, arg)))
			put_stat((unsigned char *)index->data + at, &st);
	}
	index_close(&r);
	return got;
}
