#include "git/clean_index.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/index.h"
#include "git/untracked.h"
#include "sys/digest.h"
#include "sys/fd.h"

#define IGNORES ".gitignore"
/* What `git status` shows: untracked files, a directory of them as one name, no empty directories. */
#define DIR_FLAGS 6

struct dir {
	char *path; /* without a slash at the end; "" for the top */
	size_t children;
	bool has_ignores;
	unsigned char ignores[DIGEST_MAX]; /* the object id of its ignore file */
};

struct dirs {
	struct dir *v;
	size_t n, room;
};

static void dirs_release(struct dirs *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->v[i].path);
	free(d->v);
}

#define auto_dirs __attribute__((cleanup(dirs_release))) struct dirs

static struct dir *add_dir(struct dirs *d, const char *path, size_t len)
{
	if (d->n == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->v = xrealloc(d->v, d->room, sizeof(*d->v));
	}
	d->v[d->n] = (struct dir){ .path = xstrndup(path, len) };
	return &d->v[d->n++];
}

/* The directories of a path that the path before it is not in. Entries of one directory follow each other, with
 * those of its subdirectories between them. */
static void add_new_dirs(struct dirs *d, const char *before, const char *path)
{
	size_t common = 0;

	for (size_t i = 0; path[i] && path[i] == before[i]; i++)
		if (path[i] == '/')
			common = i + 1;
	for (const char *slash = strchr(path + common, '/'); slash; slash = strchr(slash + 1, '/'))
		add_dir(d, path, (size_t)(slash - path));
}

/* In the order of git's cache: a directory before what is in it, and the directories in one by their names. */
static int compare(const void *a, const void *b)
{
	const unsigned char *p = (const unsigned char *)((const struct dir *)a)->path,
			    *q = (const unsigned char *)((const struct dir *)b)->path;

	while (*p && *p == *q)
		p++, q++;
	if (!*p || !*q)
		return *p ? 1 : *q ? -1 : 0;
	if (*p == '/' || *q == '/')
		return *p == '/' ? -1 : 1;
	return *p - *q;
}

/* The length of the path of the directory that a path is in. */
static size_t parent_len(const char *path)
{
	const char *base = path_base(path);

	return base == path ? 0 : (size_t)(base - path) - 1;
}

static struct dir *find_parent(const struct dirs *d, const char *path)
{
	auto_str name = xstrndup(path, parent_len(path));
	struct dir key = { .path = name };

	return bsearch(&key, d->v, d->n, sizeof(*d->v), compare);
}

static bool is_plain(const struct index_entry *ent)
{
	bool is_file = (ent->mode & S_IFMT) == S_IFREG;

	if (ent->stage || ent->skip_worktree || ent->intent_to_add || ent->assume_valid)
		return false;
	return is_file || ((ent->mode & S_IFMT) == S_IFLNK && strcmp(path_base(ent->path), IGNORES));
}

static bool has_only_trees(const struct index_reader *r)
{
	for (const unsigned char *p = r->at; p < r->end;) {
		uint32_t len;

		if (r->end - p < 8 || memcmp(p, "TREE", 4) != 0)
			return false;
		memcpy(&len, p + 4, 4);
		p += 8;
		if (be32toh(len) > (size_t)(r->end - p))
			return false;
		p += be32toh(len);
	}
	return true;
}

/* If there are ignore files and attributes, only git knows which ids it compares: those of the index, or, for files
 * that attributes convert, those of what it reads. */
static int read_dirs(const struct buf *index, unsigned hash_len, bool attributes, struct dirs *ret,
	struct dirs *ignores, struct err *e)
{
	struct index_reader r;
	struct index_entry ent;
	auto_str before = xstrdup("");
	int got = index_open(&r, index->data, index->len, hash_len, e);

	add_dir(ret, "", 0);
	while (!got && (got = index_next(&r, &ent, e)) > 0) {
		if (!is_plain(&ent))
			break;
		add_new_dirs(ret, before, ent.path);
		attributes |= !strcmp(path_base(ent.path), ".gitattributes");
		if (!strcmp(path_base(ent.path), IGNORES))
			memcpy(add_dir(ignores, ent.path, ent.path_len)->ignores, ent.oid, hash_len);
		free(before);
		before = xstrdup(ent.path);
		got = 0;
	}
	if (!got)
		got = !has_only_trees(&r) || (attributes && ignores->n);
	index_close(&r);
	return got;
}

/* git reads an ignore file when it first asks whether something is ignored: a subdirectory, or an untracked file. */
static void put_ignores(struct dirs *d, const struct dirs *ignores)
{
	for (size_t i = 0; i < ignores->n; i++) {
		struct dir *in = find_parent(d, ignores->v[i].path);

		in->has_ignores = in->children;
		memcpy(in->ignores, ignores->v[i].ignores, sizeof(in->ignores));
	}
}

static void count_children(struct dirs *d)
{
	for (size_t i = 1; i < d->n; i++)
		find_parent(d, d->v[i].path)->children++;
}

static void add_be32(struct buf *out, uint64_t n)
{
	uint32_t v = htobe32((uint32_t)n);

	buf_add(out, &v, sizeof(v));
}

static void add_be64(struct buf *out, uint64_t n)
{
	uint64_t v = htobe64(n);

	buf_add(out, &v, sizeof(v));
}

static bool every(const struct dir *d)
{
	return d->path;
}

static bool none(const struct dir *d)
{
	return !d->path;
}

static bool with_ignores(const struct dir *d)
{
	return d->has_ignores;
}

/* A bitmap in git's compressed form (ewah): here one run of words as they are. */
static void add_bitmap(struct buf *out, const struct dirs *d, bool (*is_set)(const struct dir *))
{
	size_t bits = d->n;

	while (bits && !is_set(&d->v[bits - 1]))
		bits--;
	add_be32(out, bits);
	add_be32(out, 1 + (bits + 63) / 64);
	add_be64(out, (uint64_t)((bits + 63) / 64) << 33);
	for (size_t at = 0; at < bits; at += 64) {
		uint64_t word = 0;

		for (size_t i = at; i < bits && i < at + 64; i++)
			word |= (uint64_t)is_set(&d->v[i]) << (i - at);
		add_be64(out, word);
	}
	add_be32(out, 0);
}

/* As git stores it, in this order, cut to 32 bits. */
static int add_stat(struct buf *out, int tree, const char *path, struct err *e)
{
	struct stat st;

	if ((*path ? lstat_beneath(tree, path, &st) : fstat(tree, &st)) < 0 || !S_ISDIR(st.st_mode))
		return err_sys(e, "cannot look at '%s'", path);
	const uint64_t words[] = { (uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec,
		(uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec, st.st_dev, st.st_ino, st.st_uid,
		st.st_gid, (uint64_t)st.st_size };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		add_be32(out, words[i]);
	return 0;
}

/* git compares this with the id of the file that it reads, to which it has added a line end. */
static void add_file_id(struct buf *out, const struct buf *text, unsigned hash_len)
{
	unsigned char id[DIGEST_MAX] = { 0 };
	auto_buf blob = BUF_INIT(SIZE_MAX);

	if (text) {
		buf_printf(&blob, "blob %zu", text->len + !!text->len);
		buf_add(&blob, "", 1);
		buf_add(&blob, buf_str(text), text->len);
		if (text->len)
			buf_addch(&blob, '\n');
		digest_of(hash_len, buf_str(&blob), blob.len, id);
	}
	buf_add(out, id, hash_len);
}

/* The layout is that of git's write_untracked_extension(). */
static int add_untracked(struct buf *out, struct dirs *d, int tree, unsigned hash_len,
	const struct clean_index *c, struct err *e)
{
	static const char no_stat[2 * 36], place[] = "\1";

	buf_add(out, place, sizeof(place));
	buf_add(out, no_stat, sizeof(no_stat));
	add_be32(out, DIR_FLAGS);
	add_file_id(out, c->exclude, hash_len);
	add_file_id(out, c->ignores, hash_len);
	buf_add(out, IGNORES, sizeof(IGNORES));
	untracked_add_number(out, d->n);
	for (size_t i = 0; i < d->n; i++) {
		const char *name = path_base(d->v[i].path);

		untracked_add_number(out, 0);
		untracked_add_number(out, d->v[i].children);
		buf_add(out, name, strlen(name) + 1);
	}
	add_bitmap(out, d, every);
	add_bitmap(out, d, none); /* those that were only looked into for any file at all */
	add_bitmap(out, d, with_ignores);
	for (size_t i = 0; i < d->n; i++)
		if (add_stat(out, tree, d->v[i].path, e) < 0)
			return -1;
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].has_ignores)
			buf_add(out, d->v[i].ignores, hash_len);
	buf_add(out, "", 1);
	return 0;
}

/* Version 2: the token, and a bitmap of the files that may have changed. */
static void add_monitor(struct buf *out, const char *token)
{
	static const struct dirs nothing;
	auto_buf changed = BUF_SMALL;

	add_bitmap(&changed, &nothing, none);
	add_be32(out, 2);
	buf_add(out, token, strlen(token) + 1);
	add_be32(out, changed.len);
	buf_add(out, buf_str(&changed), changed.len);
}

static void add_extension(struct buf *index, const char *name, const struct buf *body)
{
	buf_add(index, name, 4);
	add_be32(index, body->len);
	buf_add(index, buf_str(body), body->len);
}

int clean_index_add(
	struct buf *index, unsigned hash_len, int tree, const struct clean_index *c, struct err *e)
{
	auto_dirs d = { 0 }, ignores = { 0 };
	auto_buf untracked = BUF_INIT(1u << 30), monitor = BUF_SMALL;
	unsigned char hash[DIGEST_MAX];
	int rc = read_dirs(index, hash_len, c->attributes, &d, &ignores, e);

	if (rc)
		return rc;
	qsort(d.v, d.n, sizeof(*d.v), compare);
	count_children(&d);
	put_ignores(&d, &ignores);
	if (add_untracked(&untracked, &d, tree, hash_len, c, e) < 0)
		return -1;
	add_monitor(&monitor, c->token);
	memcpy(hash, index->data + index->len - hash_len, hash_len);
	buf_cut(index, index->len - hash_len);
	add_extension(index, "UNTR", &untracked);
	add_extension(index, "FSMN", &monitor);
	buf_add(index, hash, hash_len);
	return untracked.overflow || monitor.overflow || index->overflow
		       ? err_set(e, ERR_FAILED, "the git index is too large")
		       : 0;
}
