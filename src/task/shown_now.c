/* What a repository shows its tasks. git takes a tenth of a second to list 100,000 tags, and a new task needs the
 * list. So a long list of packed tags is kept in the Garth home, as
 *
 *	cache/list-<its digest>                         "OID REFNAME" lines; tasks have hard links to it (shown.c)
 *	cache/tags-<digest of the repository's path>     the state of packed-refs, and the digest and size of the list
 *
 * and used for as long as packed-refs is the same file with the same times. git replaces the file to change it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/shown.h"

#define TAGS "refs/tags/"

/* The state of packed-refs, if it alone has all tags; else "". */
static void name_state(const struct repo *r, struct buf *ret)
{
	auto_fd dir = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	buf_reset(ret);
	/* loose refs first: if one is packed meanwhile, packed-refs has another state */
	if (dir < 0 || !ref_none_loose(r, TAGS) ||
		fstatat(dir, "packed-refs", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
		(size_t)st.st_size < SHOWN_LONG)
		return;
	buf_printf(ret, "%llu %llu %lld %lld.%09ld %lld.%09ld\n", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

static char *cache_name(const struct repo *r)
{
	char digest[33];

	shown_digest(r->git_dir, strlen(r->git_dir), digest);
	return xasprintf(SHOWN_CACHE "/tags-%.16s", digest);
}

/* The digest and size of the list that was kept, whatever the state was. */
static bool read_kept_name(const struct buf *kept, char digest[33], size_t *ret_size)
{
	const char *line = strchr(buf_str(kept), '\n');

	return line && sscanf(line + 1, "%32[0-9a-f] %zu", digest, ret_size) == 2;
}

/* Another repository may use it too: then git lists that one's tags again. */
static void drop_list(int home, const char *name, const char *except)
{
	auto_buf kept = BUF_SMALL;
	struct err ignored = ERR_INIT;
	auto_str list = NULL;
	char digest[33];
	size_t size;

	if (read_file(home, name, &kept, &ignored) < 0 || !read_kept_name(&kept, digest, &size) ||
		!strcmp(digest, except))
		return;
	list = xasprintf(SHOWN_LIST "%s", digest);
	unlinkat(home, list, 0);
}

/* The list comes first: a name of a list that is not there does no harm. */
static void keep(int home, const char *name, const struct buf *state, const struct shown *s)
{
	size_t len = s->lines.len - s->tags;
	auto_str list = xasprintf(SHOWN_LIST "%s", s->digest);
	auto_str text = xasprintf("%s%s %zu\n", buf_str(state), s->digest, len);
	struct err ignored = ERR_INIT;

	if (mkdirat(home, SHOWN_CACHE, 0700) < 0 && errno != EEXIST)
		return;
	drop_list(home, name, s->digest);
	/* it fails on a full disk: then git lists them again */
	if (!write_file(home, list, s->lines.data + s->tags, len, 0600, &ignored))
		write_file(home, name, text, strlen(text), 0600, &ignored);
}

/* Adds the list that was kept for this state. */
static bool read_kept(int home, const char *name, const struct buf *state, struct shown *ret)
{
	auto_buf kept = BUF_SMALL;
	struct err ignored = ERR_INIT;
	size_t size = 0, before = ret->lines.len;
	auto_str list = NULL;

	if (read_file(home, name, &kept, &ignored) < 0 || kept.len < state->len ||
		memcmp(kept.data, state->data, state->len) != 0 || !read_kept_name(&kept, ret->digest, &size))
		return false;
	list = xasprintf(SHOWN_LIST "%s", ret->digest);
	if (!read_file(home, list, &ret->lines, &ignored) && ret->lines.len - before == size) {
		ret->tags = before;
		return true;
	}
	buf_cut(&ret->lines, before);
	return false;
}

/* Adds the tags' lines, sorted; at least SHOWN_LONG bytes of packed refs are there. */
static int list_tags(
	int home, const struct repo *r, const struct buf *state, struct shown *ret, struct err *e)
{
	auto_str name = cache_name(r);
	auto_buf after = BUF_SMALL;

	if (read_kept(home, name, state, ret))
		return 0;
	if (ref_list(r, TAGS, &ret->lines, e) < 0)
		return -1;
	shown_find_tags(ret);
	name_state(r, &after);
	if (ret->tags < ret->lines.len && after.len == state->len &&
		!memcmp(after.data, state->data, after.len))
		keep(home, name, state, ret);
	return 0;
}

static int add_ref(const struct repo *r, const char *name, struct buf *ret, struct err *e)
{
	char oid[OID_SIZE];

	if (!name || !*name)
		return 0;
	if (ref_read(r, name, oid, e) < 0)
		return -1;
	if (*oid)
		buf_printf(ret, "%s %s\n", oid, name);
	return 0;
}

static int ask_git(
	const struct repo *r, const char *target, const char *also, struct shown *ret, struct err *e)
{
	buf_reset(&ret->lines);
	if (ref_shown(r, target, also, &ret->lines, e) < 0)
		return -1;
	shown_find_tags(ret);
	return 0;
}

int shown_now(const struct context *c, const struct repo *r, const char *target, const char *also,
	struct shown *ret, struct err *e)
{
	auto_buf state = BUF_SMALL;
	bool also_first = also && strcmp(also, target) < 0;
	struct err ignored = ERR_INIT;

	name_state(r, &state);
	/* a ref that is after the tags, or broken, is rare: git knows what to do with it */
	if (!state.len || strcmp(target, TAGS) >= 0 || (also && strcmp(also, TAGS) >= 0) ||
		add_ref(r, also_first ? also : target, &ret->lines, &ignored) < 0 ||
		(also && strcmp(also, target) != 0 &&
			add_ref(r, also_first ? target : also, &ret->lines, &ignored) < 0))
		return ask_git(r, target, also, ret, e);
	return list_tags(c->home.fd, r, &state, ret, e);
}
