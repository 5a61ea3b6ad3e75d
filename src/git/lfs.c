#include "git/lfs.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "base/path.h"
#include "git/index.h"
#include "git/settle.h"
#include "git/untracked.h"
#include "sys/fd.h"
#include "sys/owner.h"

#define VERSION "version https://git-lfs.github.com/spec/v1\n"
#define OID     "oid sha256:"
#define SIZE    "size "

/* Lines "key value", sorted, the version first. Extensions ("ext-0-…") are not known here: such files stay pointers. */
bool lfs_parse(const char *data, size_t len, struct lfs_pointer *ret)
{
	auto_str text = xstrndup(data, len < LFS_POINTER_MAX ? len : 0);
	const char *p = text;
	char *end;

	if (strlen(text) != len || strncmp(p, VERSION, strlen(VERSION)))
		return false;
	p += strlen(VERSION);
	if (strncmp(p, OID, strlen(OID)) || strlen(p) < strlen(OID) + 65 || p[strlen(OID) + 64] != '\n')
		return false;
	snprintf(ret->oid, sizeof(ret->oid), "%s", p + strlen(OID));
	p += strlen(OID) + 65;
	if (!hex_is(ret->oid, 64) || strncmp(p, SIZE, strlen(SIZE)) ||
		!strchr("0123456789", p[strlen(SIZE)]) || !p[strlen(SIZE)])
		return false;
	errno = 0;
	ret->size = strtoull(p + strlen(SIZE), &end, 10);
	return !errno && ret->size <= INT64_MAX && (!*end || !strcmp(end, "\n"));
}

void lfs_print(const struct lfs_pointer *p, struct buf *out)
{
	buf_printf(out, VERSION OID "%s\n" SIZE "%llu\n", p->oid, (unsigned long long)p->size);
}

/* The hash and number of the bytes from the beginning. */
static int hash_file(int fd, struct lfs_pointer *ret)
{
	unsigned char chunk[65536], digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	ssize_t n;

	sha256_init(&ctx);
	ret->size = 0;
	while ((n = pread(fd, chunk, sizeof(chunk), (off_t)ret->size)) > 0) {
		sha256_update(&ctx, (size_t)n, chunk);
		ret->size += (uint64_t)n;
	}
	if (n < 0)
		return -1;
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret->oid + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

bool lfs_of_file(int fd, struct lfs_pointer *ret)
{
	char start[LFS_POINTER_MAX];
	ssize_t n = pread(fd, start, sizeof(start), 0);
	struct lfs_pointer p;

	ret->size = UINT64_MAX;
	if (n <= 0 || lfs_parse(start, (size_t)n, &p) || hash_file(fd, &p) < 0)
		return false;
	*ret = p;
	return true;
}

int lfs_open_store(const struct repo *r)
{
	auto_fd dir = open(r->git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1 : open_beneath(dir, LFS_STORE, O_RDONLY | O_DIRECTORY, 0);
}

/* "ab/cd/abcd…" */
static char *name_in_store(const struct lfs_pointer *p)
{
	return xasprintf("%.2s/%.2s/%s", p->oid, p->oid + 2, p->oid);
}

bool lfs_is_content(int fd, const struct lfs_pointer *p)
{
	struct lfs_pointer got;
	struct stat st;

	return !fstat(fd, &st) && (uint64_t)st.st_size == p->size && !hash_file(fd, &got) &&
	       got.size == p->size && !strcmp(got.oid, p->oid);
}

/* Opens the content, which may have other bytes than it should; -1 and errno. */
static int open_content(int store, const struct lfs_pointer *p)
{
	auto_str name = name_in_store(p);
	auto_fd fd = open_regular_beneath(store, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if ((uint64_t)st.st_size != p->size)
		return errno = ENOENT, -1;
	return fd_steal(&fd);
}

static bool read_pointer(int tree, const char *path, struct lfs_pointer *ret, struct stat *st)
{
	auto_fd fd = open_regular_beneath(tree, path);
	char data[LFS_POINTER_MAX];
	ssize_t n;

	if (fd < 0 || fstat(fd, st) < 0 || st->st_size >= (off_t)sizeof(data))
		return false;
	n = read_full(fd, data, sizeof(data));
	return n > 0 && lfs_parse(data, (size_t)n, ret);
}

/* A new file with a name that no commit can have foreseen. */
static int make_temporary(int dir, char name[32])
{
	uint64_t random;
	int fd;

	do {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, 32, ".garth-lfs-%016llx", (unsigned long long)random);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

/* 1: the content is not there, or is not the pointer's. The file gets its content in one step. */
static int fill_one(int store, int tree, const char *path, struct err *e)
{
	char temporary[32];
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd dir = -1, from = -1, to = -1;
	struct lfs_pointer p;
	struct stat st;

	if (!read_pointer(tree, path, &p, &st) || (from = open_content(store, &p)) < 0)
		return 1;
	dir = open_beneath(tree, parent, O_RDONLY | O_DIRECTORY, 0);
	to = dir < 0 ? -1 : make_temporary(dir, temporary);
	if (to < 0)
		return err_sys(e, "cannot write '%s'", path);
	if (copy_part(from, to, p.size) < 0) {
		err_sys(e, "cannot write '%s'", path);
		return unlinkat(dir, temporary, 0), -1;
	}
	if (!lfs_is_content(to, &p))
		return unlinkat(dir, temporary, 0) < 0 ? err_sys(e, "cannot remove '%s'", temporary) : 1;
	if ((owner_is_other() && fchown(to, st.st_uid, st.st_gid) < 0) || fchmod(to, st.st_mode & 0777) < 0 ||
		renameat(dir, temporary, dir, path_base(path)) < 0)
		return err_sys(e, "cannot write '%s'", path);
	return 0;
}

/* Small regular files of an index, NUL-separated: the others are no pointers. */
static int list_small(const struct repo *r, const char *index, struct buf *ret, struct err *e)
{
	auto_buf data = BUF_INIT(1u << 30);
	struct index_reader reader;
	struct index_entry ent;
	int got;

	if (read_file(AT_FDCWD, index, &data, e) < 0 ||
		index_open(&reader, data.data, data.len, r->hash_len, e) < 0)
		return -1;
	while ((got = index_next(&reader, &ent, e)) > 0)
		if (S_ISREG(ent.mode) && ent.size < LFS_POINTER_MAX)
			buf_add(ret, ent.path, ent.path_len + 1);
	index_close(&reader);
	return got < 0 ? -1 : ret->overflow ? err_set(e, ERR_FAILED, "too many files") : 0;
}

/* Calls fill_one for each path whose filter is LFS: "path\0filter\0value\0". */
static int fill_all(int store, int tree, const struct buf *answer, struct strvec *filled, struct err *e)
{
	for (size_t at = 0; at < answer->len;) {
		const char *path = answer->data + at, *name = path + strlen(path) + 1,
			   *value = name + strlen(name) + 1;
		int rc = 1;

		if (value >= answer->data + answer->len)
			return err_set(e, ERR_FAILED, "cannot understand git check-attr");
		if (!strcmp(value, LFS_FILTER) && (rc = fill_one(store, tree, path, e)) < 0)
			return -1;
		if (!rc)
			strvec_push(filled, path);
		at = (size_t)(value - answer->data) + strlen(value) + 1;
	}
	strvec_sort(filled);
	return 0;
}

int lfs_fill(const struct repo *r, const struct git *g, const char *tree, const struct buf *paths,
	struct strvec *filled, struct err *e)
{
	auto_fd store = lfs_open_store(r), at = -1;
	auto_buf small = BUF_INIT(512u << 20), answer = BUF_INIT(1u << 30);
	auto_strvec args = STRVEC_INIT;

	if (store < 0)
		return 0;
	at = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return err_sys(e, "cannot open '%s'", tree);
	if (!paths && list_small(r, g->index, &small, e) < 0)
		return -1;
	if (!(paths ? paths : &small)->len)
		return 0;
	strvec_pushl(&args, "check-attr", "--cached", "-z", "--stdin", "filter", NULL);
	if (git_run(g, &args, paths ? paths : &small, &answer, e) < 0)
		return -1;
	return fill_all(store, at, &answer, filled, e);
}

int lfs_stamp(const struct repo *r, const char *index, int tree, const char *work_tree,
	const struct strvec *paths, lfs_mine_fn *mine, void *arg, struct err *e)
{
	auto_buf text = BUF_INIT(1u << 30), out = BUF_INIT(1u << 30);
	struct stat st;

	if (!paths->n)
		return 0;
	if (stat(index, &st) < 0)
		return err_sys(e, "cannot look at '%s'", index);
	if (read_file(AT_FDCWD, index, &text, e) < 0 ||
		settle_paths(&text, r->hash_len, tree, paths, mine, arg, e) < 0 ||
		untracked_retarget(text.data, text.len, r->hash_len, work_tree, &out, e) < 0 ||
		write_file(AT_FDCWD, index, out.data, out.len, st.st_mode & 0777, e) < 0)
		return -1;
	return owner_is_other() && chown(index, st.st_uid, st.st_gid) < 0
		       ? err_sys(e, "cannot write '%s'", index)
		       : 0;
}

/* The directory in the user's store, with the owner of the git directory. */
static int make_place(const struct repo *r, const char *dir)
{
	auto_fd git = open(r->git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (git < 0 || fstat(git, &st) < 0)
		return -1;
	return mkdirs_beneath(git, dir, 0777, owner_is_other() ? st.st_uid : (uid_t)-1, st.st_gid);
}

bool lfs_is_in(int store, const struct lfs_pointer *p)
{
	auto_fd fd = open_content(store, p);

	return fd >= 0;
}

bool lfs_has(const struct repo *r, const struct lfs_pointer *p)
{
	auto_fd store = lfs_open_store(r);

	return store >= 0 && lfs_is_in(store, p);
}

/* Only the copy is checked: the original may be changed at any time. */
int lfs_carry(const struct repo *r, int from, const struct lfs_pointer *p, struct err *e)
{
	auto_str dir = xasprintf(LFS_STORE "/%.2s/%.2s", p->oid, p->oid + 2);
	auto_fd store = lfs_open_store(r), have = store < 0 ? -1 : open_content(store, p), src = -1, to = -1,
		place = -1;
	char self[40];
	struct stat st;

	if (have >= 0)
		return 0;
	src = from < 0 ? -1 : open_content(from, p);
	if (src < 0)
		return 1;
	place = make_place(r, dir);
	to = place < 0 ? -1 : openat(place, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	if (to < 0 || copy_part(src, to, p->size) < 0 || fstat(place, &st) < 0)
		return err_sys(e, "cannot write to the LFS store '%s/%s'", r->git_dir, dir);
	if (!lfs_is_content(to, p))
		return 1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", to);
	if ((owner_is_other() && fchown(to, st.st_uid, st.st_gid) < 0) || fsync(to) < 0 ||
		(linkat(AT_FDCWD, self, place, p->oid, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST))
		return err_sys(e, "cannot write to the LFS store '%s/%s'", r->git_dir, dir);
	return 0;
}
