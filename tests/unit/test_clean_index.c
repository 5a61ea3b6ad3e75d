/* What Garth adds to the index of a base is what git itself writes at the first `git status` there. */
#include "scratch.h"

#include "base/alloc.h"
#include "base/path.h"
#include "git/clean_index.h"
#include "git/index.h"
#include "git/run.h"

#define TREES 12

static uint32_t state_of_random;

static unsigned pick(unsigned n)
{
	state_of_random = state_of_random * 1664525 + 1013904223;
	return (state_of_random >> 16) % n;
}

/* Names that sort differently with and without a slash behind them, and the same name as a file and a directory. */
static const char *const names[] = { "a", "a-b", "a.b", "ab", "b", "with space", "\303\251", "\377", "z",
	"0" };
/* None of them is the name of a directory: git leaves out tracked directories that are ignored, see clean_index.h. */
static const char *const patterns[] = { "", "*.o\n", "!x.o\n", "/other\n\nmany/x/\n", "# nothing" };

static void put_tree(int dir, unsigned depth)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i];

		if (pick(3))
			continue;
		if (depth && pick(2)) {
			auto_fd sub = -1;

			assert_int_equal(mkdirat(dir, name, 0755), 0);
			sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			put(sub, "file", name);
			put_tree(sub, depth - 1);
		} else if (pick(8)) {
			put(dir, name, name);
		} else {
			assert_int_equal(symlinkat("file", dir, name), 0);
		}
	}
	if (!pick(3))
		put(dir, ".gitignore", patterns[pick(ARRAY_SIZE(patterns))]);
}

static void put_many(int dir)
{
	for (int i = 0; i < 150; i++) {
		auto_str path = xasprintf("many%d", i);
		auto_fd sub = -1;

		assert_int_equal(mkdirat(dir, path, 0755), 0);
		sub = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		put(sub, "file", path);
	}
}

struct place {
	char top[128], dir[160], index[192], ignores[192];
	unsigned hash_len;
	int fd;
};

/* A repository whose files are committed, with a new index that has no extensions but the trees. */
static void make(const struct scratch *s, unsigned n, struct place *p)
{
	static const char user[] = "user.name=T", mail[] = "user.email=t@example.com";
	struct git git = { .cwd = s->path, .writes_index = true };
	struct err e = ERR_INIT;

	p->hash_len = n % 3 ? 20 : 32;
	snprintf(p->top, sizeof(p->top), "%s/%u", s->path, n);
	snprintf(p->dir, sizeof(p->dir), "%s/.git", p->top);
	snprintf(p->index, sizeof(p->index), "%s/index", p->dir);
	snprintf(p->ignores, sizeof(p->ignores), "%s/ignores-%u", s->path, n);
	assert_int_equal(
		git_do(&git, NULL, &e, "init", "-q",
			p->hash_len == 20 ? "--object-format=sha1" : "--object-format=sha256", p->top, NULL),
		0);
	p->fd = open(p->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(p->fd, "always", "there\n");
	put_tree(p->fd, 3);
	if (n == 1)
		put_many(p->fd);
	put(p->fd, ".git/info/exclude", n % 2 ? "# a comment\n*.mine\n" : "");
	put(s->fd, path_base(p->ignores), n % 4 ? "*.user\n" : "");
	git = (struct git){ .dir = p->dir, .work_tree = p->top, .cwd = p->top, .writes_index = true };
	assert_int_equal(git_do(&git, NULL, &e, "add", "-A", "-f", NULL), 0);
	assert_int_equal(git_do(&git, NULL, &e, "-c", user, "-c", mail, "commit", "-qm", "all", NULL), 0);
	assert_int_equal(unlinkat(p->fd, ".git/index", 0), 0);
	assert_int_equal(git_do(&git, NULL, &e, "read-tree", "HEAD", NULL), 0);
	assert_int_equal(git_do(&git, NULL, &e, "update-index", "-q", "--refresh", NULL), 0);
}

struct part {
	const unsigned char *at;
	size_t left;
};

static const unsigned char *take(struct part *p, size_t n)
{
	const unsigned char *at = p->at;

	assert_true(n <= p->left);
	p->at += n;
	p->left -= n;
	return at;
}

static size_t take_number(struct part *p)
{
	unsigned char c = *take(p, 1);
	size_t n = c & 127u;

	while (c & 128u) {
		c = *take(p, 1);
		n = ((n + 1) << 7) | (c & 127u);
	}
	return n;
}

static uint64_t take_be(struct part *p, size_t bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | *take(p, 1);
	return n;
}

/* A bitmap as digits: git compresses runs of equal words. */
static void take_bitmap(struct part *p, struct buf *out)
{
	uint64_t bits = take_be(p, 4), words = take_be(p, 4), at = 0;

	while (words--) {
		uint64_t head = take_be(p, 8), run = head >> 1 & UINT32_MAX;

		for (uint64_t i = 0; i < run * 64 && at < bits; i++, at++)
			buf_addch(out, head & 1 ? '1' : '0');
		for (uint64_t n = head >> 33; n--; words--) {
			uint64_t word = take_be(p, 8);

			for (int i = 0; i < 64 && at < bits; i++, at++)
				buf_addch(out, word >> i & 1 ? '1' : '0');
		}
	}
	assert_int_equal(at, bits);
	take_be(p, 4);
	buf_addch(out, '\n');
}

/* Copies the untracked cache without what two of them may differ in: the place, the times of the two ignore files, about
 * which git asks again if they are zero, and how bitmaps are compressed. */
static void untracked_of(const struct buf *b, unsigned hash_len, struct buf *out)
{
	const size_t fixed = 4 + 2 * hash_len + sizeof(".gitignore");
	struct index_reader r;
	struct index_entry entry;
	struct err e = ERR_INIT;
	struct part p;
	size_t n;

	assert_int_equal(index_open(&r, b->data, b->len, hash_len, &e), 0);
	while (index_next(&r, &entry, &e) > 0)
		;
	p.at = index_extension(&r, "UNTR", &p.left);
	assert_non_null(p.at);
	take(&p, take_number(&p));
	take(&p, 2 * 36);
	buf_add(out, take(&p, fixed), fixed);
	n = take_number(&p);
	for (size_t i = 0; i < n; i++) {
		size_t untracked = take_number(&p), dirs = take_number(&p),
		       len = strlen((const char *)p.at) + 1;

		buf_printf(out, "%zu %zu %s\n", untracked, dirs, (const char *)take(&p, len));
	}
	for (int i = 0; i < 3; i++)
		take_bitmap(&p, out);
	buf_add(out, p.at, p.left);
	index_close(&r);
}

static void same_as_git(const struct scratch *s, unsigned n)
{
	auto_buf mine = BUF_INIT(1 << 24), gits = BUF_INIT(1 << 24), a = BUF_INIT(1 << 24),
		 b = BUF_INIT(1 << 24);
	auto_buf exclude = BUF_SMALL, ignores = BUF_SMALL;
	struct err e = ERR_INIT;
	struct place p;

	make(s, n, &p);
	auto_str setting = xasprintf("core.excludesFile=%s", p.ignores);
	struct git git = { .dir = p.dir, .work_tree = p.top, .cwd = p.top, .writes_index = true };

	assert_int_equal(read_file(p.fd, ".git/info/exclude", &exclude, &e), 0);
	assert_int_equal(read_file(AT_FDCWD, p.ignores, &ignores, &e), 0);
	assert_int_equal(read_file(AT_FDCWD, p.index, &mine, &e), 0);
	struct clean_index c = { "token", &exclude, &ignores, false };

	assert_int_equal(clean_index_add(&mine, p.hash_len, p.fd, &c, &e), 0);
	assert_int_equal(git_do(&git, NULL, &e, "-c", "core.untrackedCache=true", "-c", setting, "status",
				 "--porcelain", NULL),
		0);
	assert_int_equal(read_file(AT_FDCWD, p.index, &gits, &e), 0);
	untracked_of(&mine, p.hash_len, &a);
	untracked_of(&gits, p.hash_len, &b);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	close(p.fd);
}

static void test_same_as_git(void **state)
{
	for (unsigned n = 0; n < TREES; n++) {
		state_of_random = n;
		same_as_git(*state, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_same_as_git),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
