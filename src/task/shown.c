#include "task/shown.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"

#define TAGS      "refs/tags/"
#define FILE_NAME "shown"
#define TAGS_NAME "shown-tags"
#define TAGS_NEW  "shown-tags.new"
/* Bytes of what was shown before; the oldest lines are dropped. */
#define BEFORE_MAX ((size_t)4 << 20)

#define FORM "2-"
/* Of nested directories of refs. */
#define DEPTH_MAX 8

void shown_release(struct shown *s)
{
	buf_release(&s->lines);
}

void shown_digest(const void *data, size_t len, char out[33])
{
	struct sha256_ctx ctx;
	uint8_t digest[16];

	sha256_init(&ctx);
	sha256_update(&ctx, len, data);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* Where a long list of tags begins, with which the lines end; else their length. */
static size_t tags_at(const struct buf *lines)
{
	static const char name[] = " " TAGS;
	const char *tags =
		lines->len < SHOWN_LONG ? NULL : memmem(lines->data, lines->len, name, strlen(name));
	const char *last = tags ? memrchr(lines->data, '\n', lines->len - 1) : NULL;

	while (tags && tags > lines->data && tags[-1] != '\n')
		tags--;
	if (!last || lines->len - (size_t)(tags - lines->data) < SHOWN_LONG)
		return lines->len;
	last = strchr(last, ' ');
	return last && !strncmp(last, name, strlen(name)) ? (size_t)(tags - lines->data) : lines->len;
}

void shown_find_tags(struct shown *s)
{
	s->tags = tags_at(&s->lines);
	if (s->tags < s->lines.len)
		shown_digest(s->lines.data + s->tags, s->lines.len - s->tags, s->digest);
}

void shown_name(const struct shown *now, char out[35])
{
	auto_buf text = BUF_INIT(SHOWN_MAX);

	snprintf(out, 35, FORM);
	if (now->tags == now->lines.len) {
		shown_digest(buf_str(&now->lines), now->lines.len, out + strlen(FORM));
		return;
	}
	buf_add(&text, now->lines.data, now->tags);
	buf_printf(&text, "%s\n", now->digest);
	shown_digest(buf_str(&text), text.len, out + strlen(FORM));
}

bool shown_is_known(const struct task *t)
{
	return !strncmp(t->shown, FORM, strlen(FORM));
}

static int read_part(const struct context *c, int64_t task, const char *file, struct buf *ret, struct err *e)
{
	static const char *const places[] = { "tasks", "trash" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_str name = xasprintf("%s/%lld/%s", places[i], (long long)task, file);

		if (!read_file(c->home.fd, name, ret, e))
			return 0;
		if (e->kind != ERR_NOTFOUND)
			return -1;
	}
	*e = (struct err)ERR_INIT;
	return 0;
}

int shown_read_branches(const struct context *c, int64_t task, struct buf *ret, struct err *e)
{
	return read_part(c, task, FILE_NAME, ret, e);
}

/* Where the lines begin that were shown before. No ref's name has a '~'. */
static size_t now_len(const struct buf *lines)
{
	const char *before = lines->len ? memmem(lines->data, lines->len, " ~", 2) : NULL;

	while (before && before > lines->data && before[-1] != '\n')
		before--;
	return before ? (size_t)(before - lines->data) : lines->len;
}

int shown_read(const struct context *c, int64_t task, struct buf *ret, struct err *e)
{
	auto_buf lines = BUF_INIT(SHOWN_MAX);
	size_t now;

	if (shown_read_branches(c, task, &lines, e) < 0)
		return -1;
	now = now_len(&lines);
	buf_add(ret, buf_str(&lines), now);
	if (read_part(c, task, TAGS_NAME, ret, e) < 0)
		return -1;
	buf_add(ret, buf_str(&lines) + now, lines.len - now);
	return ret->overflow ? err_set(e, ERR_FAILED, "there are too many refs") : 0;
}

/* A line and its two parts; the id ends where the name begins. */
struct line {
	const char *oid, *name;
	size_t oid_len, name_len;
};

static bool next(const char **at, struct line *ret)
{
	if (!**at)
		return false;
	ret->oid = *at;
	ret->oid_len = strcspn(*at, " \n");
	ret->name = *at + ret->oid_len + ((*at)[ret->oid_len] == ' ');
	ret->name_len = strcspn(ret->name, "\n");
	*at = ret->name + ret->name_len + (ret->name[ret->name_len] == '\n');
	return true;
}

static int by_name(const struct line *a, const struct line *b)
{
	size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
	int d = memcmp(a->name, b->name, n);

	return d ? d : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static bool is_same(const struct line *a, const struct line *b)
{
	return a->oid_len == b->oid_len && !memcmp(a->oid, b->oid, a->oid_len);
}

/* Adds what is no longer shown, or has another value now. Both lists are sorted by name. */
static void add_replaced(struct buf *out, const struct buf *old, const struct buf *now)
{
	const char *at = buf_str(now), *old_at = buf_str(old);
	struct line l, n;
	bool more = next(&at, &n);

	while (next(&old_at, &l) && *l.name != '~') {
		while (more && by_name(&n, &l) < 0)
			more = next(&at, &n);
		if (!more || by_name(&n, &l) || !is_same(&n, &l))
			buf_printf(out, "%.*s ~%.*s\n", (int)l.oid_len, l.oid, (int)l.name_len, l.name);
	}
}

static void add_before(struct buf *out, const struct buf *old)
{
	const char *at = buf_str(old);
	struct line l;

	while (next(&at, &l) && out->len < BEFORE_MAX) {
		auto_str line = xstrndup(l.oid, (size_t)(l.name + l.name_len + 1 - l.oid));

		if (*l.name == '~' && !strstr(buf_str(out), line))
			buf_addstr(out, line);
	}
}

/* Links the kept list to the directory, as TAGS_NEW. */
static bool link_list(int home, int dir, const struct shown *now)
{
	auto_str list = xasprintf(SHOWN_LIST "%s", now->digest);
	struct stat st;

	return !fstatat(home, list, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       (size_t)st.st_size == now->lines.len - now->tags && !linkat(home, list, dir, TAGS_NEW, 0);
}

static int put_tags(const struct context *c, int dir, const struct shown *now, struct err *e)
{
	if (now->tags == now->lines.len)
		return unlinkat(dir, TAGS_NAME, 0) < 0 && errno != ENOENT
			       ? err_sys(e, "cannot remove '%s'", TAGS_NAME)
			       : 0;
	unlinkat(dir, TAGS_NEW, 0);
	if (!link_list(c->home.fd, dir, now))
		return write_file(
			dir, TAGS_NAME, now->lines.data + now->tags, now->lines.len - now->tags, 0600, e);
	if (renameat(dir, TAGS_NEW, dir, TAGS_NAME) < 0)
		return err_sys(e, "cannot write '%s'", TAGS_NAME);
	/* if both were the same file, both are still there */
	unlinkat(dir, TAGS_NEW, 0);
	return 0;
}

int shown_write(const struct context *c, int64_t task, const struct shown *now, struct err *e)
{
	auto_buf old = BUF_INIT(SHOWN_MAX), text = BUF_INIT(SHOWN_MAX), before = BUF_INIT(SHOWN_MAX);
	auto_fd dir = -1;

	if (shown_read(c, task, &old, e) < 0 || home_task_dir(&c->home, task, &dir, e) < 0)
		return -1;
	add_replaced(&before, &old, &now->lines);
	add_before(&before, &old);
	buf_add(&text, buf_str(&now->lines), now->tags);
	buf_add(&text, buf_str(&before), before.len);
	if (text.overflow)
		return err_set(e, ERR_FAILED, "there are too many refs");
	/* this file first: it has the tags that are replaced */
	if (write_file(dir, FILE_NAME, buf_str(&text), text.len, 0600, e) < 0)
		return -1;
	return put_tags(c, dir, now, e);
}

void shown_branches(const struct buf *lines, struct strvec *now, struct strvec *before)
{
	const char *at = buf_str(lines);
	struct line l;

	while (next(&at, &l)) {
		bool was = *l.name == '~';
		auto_str oid = xstrndup(l.oid, l.oid_len);
		struct strvec *to = was ? before : now;

		if (strncmp(l.name + was, TAGS, strlen(TAGS)) != 0 && !strvec_has(to, oid))
			strvec_push(to, oid);
	}
}

void shown_ids(const struct buf *lines, struct strvec *ret)
{
	const char *at = buf_str(lines);
	struct line l;

	while (next(&at, &l))
		strvec_pushn(ret, l.oid, l.oid_len);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void look_at(int dir, const char *path, struct timespec *newest)
{
	struct stat st;

	if (!fstatat(dir, path, &st, 0) && is_later(&st.st_mtim, newest))
		*newest = st.st_mtim;
}

/* git writes a ref by renaming a file, which changes the directory's time. */
static void look_below(int dir, const char *path, int depth, struct timespec *newest)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d)
		return fd_closep(&fd);
	look_at(fd, ".", newest);
	while (depth < DEPTH_MAX && (ent = readdir(d)))
		if (ent->d_type == DT_DIR && ent->d_name[0] != '.')
			look_below(fd, ent->d_name, depth + 1, newest);
	closedir(d);
}

static void look_for(int dir, const char *ref, struct timespec *newest)
{
	auto_str parent = ref && strrchr(ref, '/') ? xstrndup(ref, (size_t)(strrchr(ref, '/') - ref)) : NULL;

	if (parent)
		look_at(dir, parent, newest);
}

bool shown_has_changed(struct context *c, const struct repo *r, const struct task *t, const char *also)
{
	auto_fd git = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC), dir = -1;
	struct timespec newest = { 0 }, times[2] = { { .tv_nsec = UTIME_OMIT } };
	auto_shown now = SHOWN_INIT;
	struct err ignored = ERR_INIT;
	struct stat st;
	char name[35];

	if (git < 0 || home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return false;
	look_at(git, "packed-refs", &newest);
	look_at(git, "reftable", &newest);
	look_below(git, "refs/tags", 0, &newest);
	look_for(git, t->target, &newest);
	look_for(git, also, &newest);
	if (!fstatat(dir, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) && is_later(&st.st_mtim, &newest))
		return false;
	clock_gettime(CLOCK_REALTIME_COARSE, &times[1]);
	if (shown_now(c, r, t->target, also, &now, &ignored) < 0)
		return false;
	shown_name(&now, name);
	if (strcmp(name, t->shown) != 0)
		return true;
	utimensat(dir, FILE_NAME, times, AT_SYMLINK_NOFOLLOW);
	return false;
}
