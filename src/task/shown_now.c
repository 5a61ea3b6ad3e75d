/* What a repository shows its tasks. git takes a tenth of a second to list 100,000 tags, and a new task needs the
 * list. So a long list of packed tags is kept in the Garth home, as
 *
 *	cache/tags-<digest of the repository's path>: a line that names the state of packed-refs, then "OID REFNAME" lines
 *
 * and used for as long as packed-refs is the same file with the same times. git replaces the file to change it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/shown.h"

#define TAGS "refs/tags/"
/* Shorter lists are not kept: git is as fast. */
#define LONG_LIST ((size_t)64 << 10)

/* The state of packed-refs, if it alone has all tags; else "". */
static void name_state(const struct repo *r, struct buf *ret)
{
	auto_fd dir = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	buf_reset(ret);
	/* loose refs first: if one is packed meanwhile, packed-refs has another state */
	if (dir < 0 || !ref_none_loose(r, TAGS) ||
		fstatat(dir, "packed-refs", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
		(size_t)st.st_size < LONG_LIST)
		return;
	buf_printf(ret, "%llu %llu %lld %lld.%09ld %lld.%09ld\n", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

static char *cache_name(const struct repo *r)
{
	uint8_t digest[8];
	auto_buf hex = BUF_SMALL;
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, strlen(r->git_dir), (const uint8_t *)r->git_dir);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		buf_printf(&hex, "%02x", digest[i]);
	return xasprintf(SHOWN_CACHE "/tags-%s", buf_str(&hex));
}

static void keep(int home, const char *name, const struct buf *state, const struct buf *tags)
{
	auto_buf text = BUF_INIT(SHOWN_MAX);
	struct err ignored = ERR_INIT;

	buf_add(&text, buf_str(state), state->len);
	buf_add(&text, buf_str(tags), tags->len);
	if (text.overflow || (mkdirat(home, SHOWN_CACHE, 0700) < 0 && errno != EEXIST))
		return;
	/* it fails on a full disk: then git lists them again */
	write_file(home, name, buf_str(&text), text.len, 0600, &ignored);
}

/* The tags' lines, sorted; at least LONG_LIST bytes of packed refs are there. */
static int list_tags(int home, const struct repo *r, const struct buf *state, struct buf *ret, struct err *e)
{
	auto_str name = cache_name(r);
	auto_buf kept = BUF_INIT(SHOWN_MAX), after = BUF_SMALL, tags = BUF_INIT(SHOWN_MAX);
	struct err ignored = ERR_INIT;

	if (!read_file(home, name, &kept, &ignored) && kept.len >= state->len &&
		!memcmp(kept.data, state->data, state->len)) {
		buf_add(ret, kept.data + state->len, kept.len - state->len);
		return 0;
	}
	if (ref_list(r, TAGS, &tags, e) < 0)
		return -1;
	name_state(r, &after);
	if (tags.len >= LONG_LIST && after.len == state->len && !memcmp(after.data, state->data, after.len))
		keep(home, name, state, &tags);
	buf_add(ret, buf_str(&tags), tags.len);
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

int shown_now(const struct context *c, const struct repo *r, const char *target, const char *also,
	struct buf *ret, struct err *e)
{
	auto_buf state = BUF_SMALL;
	bool also_first = also && strcmp(also, target) < 0;
	struct err ignored = ERR_INIT;

	name_state(r, &state);
	/* a ref that is after the tags, or broken, is rare: git knows what to do with it */
	if (!state.len || strcmp(target, TAGS) >= 0 || (also && strcmp(also, TAGS) >= 0))
		return ref_shown(r, target, also, ret, e);
	if (add_ref(r, also_first ? also : target, ret, &ignored) < 0 ||
		(also && strcmp(also, target) != 0 &&
			add_ref(r, also_first ? target : also, ret, &ignored) < 0)) {
		buf_reset(ret);
		return ref_shown(r, target, also, ret, e);
	}
	return list_tags(c->home.fd, r, &state, ret, e);
}
