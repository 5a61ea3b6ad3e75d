#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "workspace/identity.h"

static void opened(const char *path, struct home *h)
{
	struct err e = ERR_INIT;

	if (home_open(path, NULL, h, &e) < 0)
		fail_msg("%s", e.msg);
}

static void place(const char *home, const char *name, const char *text)
{
	auto_str path = path_join(home, name);
	struct err e = ERR_INIT;

	assert_int_equal(write_file(AT_FDCWD, path, text, strlen(text), 0600, &e), 0);
}

static void copy_identity(const char *from, const char *to)
{
	auto_str path = path_join(from, IDENTITY_FILE);
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(read_file(AT_FDCWD, path, &text, &e), 0);
	place(to, IDENTITY_FILE, buf_str(&text));
}

/* A copy has the original's file. So has a moved home, but nothing is left at the old place. */
static void test_copied_and_moved(void **state)
{
	struct scratch *s = *state;
	auto_str a = path_join(s->path, "a"), b = path_join(s->path, "b"), c = path_join(s->path, "c");

	for (int i = 0; i < 2; i++) {
		auto_home h = { .fd = -1 };

		opened(a, &h);
		assert_null(h.copy_of);
	}
	assert_int_equal(mkdir(b, 0700), 0);
	copy_identity(a, b);
	for (int i = 0; i < 2; i++) {
		auto_home h = { .fd = -1 };
		struct err e = ERR_INIT;

		opened(b, &h);
		assert_string_equal(h.copy_of, a);
		assert_int_equal(identity_refuse_copy(&h, &e), -1);
		assert_int_equal(e.kind, ERR_REFUSED);
	}
	assert_int_equal(rename(a, c), 0);
	auto_home gone = { .fd = -1 }, moved = { .fd = -1 };
	opened(b, &gone);
	assert_null(gone.copy_of);
	/* the copy has replaced the original, and there are two homes now */
	copy_identity(b, c);
	opened(c, &moved);
	assert_string_equal(moved.copy_of, b);
}

/* The same directory under another name. */
static void test_another_name(void **state)
{
	struct scratch *s = *state;
	auto_str a = path_join(s->path, "a"), link = path_join(s->path, "link");
	auto_home h = { .fd = -1 }, l = { .fd = -1 }, again = { .fd = -1 };

	opened(a, &h);
	assert_int_equal(symlink(a, link), 0);
	opened(link, &l);
	assert_null(l.copy_of);
	/* for example in a container that has it elsewhere */
	place(a, IDENTITY_FILE, "0123456789abcdef0123456789abcdef\n/nowhere/there\n");
	opened(a, &again);
	assert_null(again.copy_of);
}

/* An earlier version's home has no identity: the first line of its audit log is used instead. */
static void test_an_old_home(void **state)
{
	struct scratch *s = *state;
	auto_str a = path_join(s->path, "a"), b = path_join(s->path, "b");
	auto_home old = { .fd = -1 }, copy = { .fd = -1 }, later = { .fd = -1 };

	assert_int_equal(mkdir(a, 0700), 0);
	assert_int_equal(mkdir(b, 0700), 0);
	place(a, "garth.db", "");
	place(b, "garth.db", "");
	place(a, "audit.jsonl", "{\"first\": 1}\n{\"second\": 1}\n");
	place(b, "audit.jsonl", "{\"first\": 1}\n");
	opened(b, &copy);
	assert_true(copy.unnamed);
	identity_settle(&copy, a);
	assert_string_equal(copy.copy_of, a);
	opened(a, &old);
	assert_true(old.unnamed);
	identity_settle(&old, a);
	assert_null(old.copy_of);
	opened(b, &later);
	assert_string_equal(later.copy_of, a);
}

/* An invalid file is made anew, and causes no error. */
static void test_a_broken_file(void **state)
{
	static const char *const texts[] = { "", "x\n", "0123456789abcdef0123456789abcdef\nrelative\n",
		"0123456789abcdef0123456789abcdef\n/no-end", "0123456789ABCDEF0123456789abcdef\n/a\n" };
	struct scratch *s = *state;
	auto_str a = path_join(s->path, "a");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_home h = { .fd = -1 }, again = { .fd = -1 };

		opened(a, &h);
		place(a, IDENTITY_FILE, texts[i]);
		opened(a, &again);
		assert_null(again.copy_of);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_copied_and_moved),
		scratch_test(test_another_name),
		scratch_test(test_an_old_home),
		scratch_test(test_a_broken_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
