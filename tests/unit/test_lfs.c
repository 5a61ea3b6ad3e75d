/* Pointers of Git LFS, and how content comes into the user's store. */
#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/lfs.h"
#include "scratch.h"
#include "sys/fd.h"

#define VERSION "version https://git-lfs.github.com/spec/v1\n"
/* of "planted\n" */
#define HASH "60f97c7b5bf55c5f186c5d1c79c8e3b6929c83bf2766434df9f1e1b9069db73a"
#define AT   "60/f9/" HASH

static bool parses(const char *text)
{
	struct lfs_pointer p;

	return lfs_parse(text, strlen(text), &p);
}

static void test_parse(void **state)
{
	struct lfs_pointer p;
	auto_buf text = BUF_SMALL;

	(void)state;
	assert_true(lfs_parse(VERSION "oid sha256:" HASH "\nsize 8\n", strlen(VERSION) + 83, &p));
	assert_string_equal(p.oid, HASH);
	assert_int_equal(p.size, 8);
	lfs_print(&p, &text);
	assert_string_equal(buf_str(&text), VERSION "oid sha256:" HASH "\nsize 8\n");
	assert_false(parses(""));
	assert_false(parses(VERSION));
	assert_false(parses(VERSION "oid sha256:" HASH "\n"));
	assert_false(parses(VERSION "oid sha256:" HASH "\nsize \n"));
	assert_false(parses(VERSION "oid sha256:" HASH "\nsize -8\n"));
	assert_false(parses(VERSION "oid sha256:" HASH "\nsize 8 \n"));
	assert_false(parses(VERSION "oid sha256:" HASH "\nsize 8\nmore\n"));
	assert_false(parses(VERSION "oid sha256:" HASH "0\nsize 8\n"));
	assert_false(parses(VERSION
		"oid sha256:../f9/7c7b5bf55c5f186c5d1c79c8e3b6929c83bf2766434df9f1e1b9069db7\nsize 8\n"));
	assert_false(parses("oid sha256:" HASH "\nsize 8\n"));
}

static void put_deep(int dir, const char *parents, const char *path, const char *text)
{
	auto_fd made = mkdirs_beneath(dir, parents, 0700, (uid_t)-1, (gid_t)-1);

	assert_true(made >= 0);
	put(dir, path, text);
}

static void test_carry(void **state)
{
	struct scratch *s = *state;
	struct lfs_pointer p = { HASH, 8 };
	auto_str git = xasprintf("%s/git", s->path);
	struct repo r = { .git_dir = git };
	struct err e = ERR_INIT;
	auto_fd from = -1;

	assert_int_equal(mkdirat(s->fd, "git", 0700), 0);
	put_deep(s->fd, "from/60/f9", "from/" AT, "plantex\n");
	from = openat(s->fd, "from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* other bytes, and nothing at all */
	assert_int_equal(lfs_carry(&r, from, &p, &e), 1);
	assert_int_equal(lfs_carry(&r, -1, &p, &e), 1);
	assert_int_not_equal(faccessat(s->fd, "git/lfs/objects/" AT, F_OK, 0), 0);
	put_deep(s->fd, "from/60/f9", "from/" AT, "planted\n");
	assert_int_equal(lfs_carry(&r, from, &p, &e), 0);
	assert_int_equal(faccessat(s->fd, "git/lfs/objects/" AT, F_OK, 0), 0);
	/* it is there already */
	assert_int_equal(lfs_carry(&r, -1, &p, &e), 0);
	/* a link in the task's store is not followed */
	assert_int_equal(unlinkat(s->fd, "git/lfs/objects/" AT, 0), 0);
	assert_int_equal(renameat(s->fd, "from/" AT, s->fd, "outside"), 0);
	assert_int_equal(symlinkat("../../../outside", s->fd, "from/" AT), 0);
	assert_int_equal(lfs_carry(&r, from, &p, &e), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parse),
		cmocka_unit_test_setup_teardown(test_carry, setup, teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
