#include "scratch.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "fsmonitor/report.h"
#include "make_index.h"

/* The names of an answer, sorted, with a blank behind each. */
static char *sorted(const struct buf *answer)
{
	auto_strvec names = STRVEC_INIT;
	struct buf text = BUF_SMALL;

	for (size_t at = 0; at < answer->len; at += strlen(answer->data + at) + 1)
		strvec_push(&names, answer->data + at);
	strvec_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		buf_printf(&text, "%s ", names.v[i]);
	return buf_steal(&text);
}

static void assert_upper(const struct scratch *s, const char *want)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str got = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(report_upper(s->fd, &out, &e), 0);
	got = sorted(&out);
	assert_string_equal(got, want);
}

static void test_empty_upper(void **state)
{
	assert_upper(*state, REPORT_DUMMY " ");
}

static void test_upper(void **state)
{
	struct scratch *s = *state;

	close(mkdirs_beneath(s->fd, "d/e", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, ".git/objects", 0700, -1, -1));
	put(s->fd, "file", "");
	put(s->fd, "d/e/file", "");
	assert_int_equal(symlinkat("/etc", s->fd, "d/link"), 0);
	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_upper(s, REPORT_DUMMY " d/" REPORT_DUMMY " d/e/" REPORT_DUMMY
				     " d/e/file d/e/file/ d/link d/link/ fifo fifo/ file file/ ");
}

static void test_whiteout(void **state)
{
	struct scratch *s = *state;

	if (mknodat(s->fd, "gone", S_IFCHR | 0600, makedev(0, 0)) < 0) {
		print_message("no whiteouts here\n");
		skip();
	}
	assert_upper(s, REPORT_DUMMY " gone gone/ ");
}

/* What lies in an opaque directory is reported with it; a directory that may have lost a name, by itself. */
static void test_opaque(void **state)
{
	struct scratch *s = *state;
	auto_str dir = xasprintf("%s/o", s->path);

	close(mkdirs_beneath(s->fd, "o/sub", 0700, -1, -1));
	put(s->fd, "o/file", "");
	put(s->fd, "o/sub/file", "");
	if (setxattr(dir, "user.overlay.opaque", "n", 1, 0) < 0) {
		print_message("no extended attributes here\n");
		skip();
	}
	assert_upper(s, REPORT_DUMMY " o/" REPORT_DUMMY " o/file o/file/ o/sub/" REPORT_DUMMY
				     " o/sub/file o/sub/file/ ");
	assert_int_equal(setxattr(dir, "user.overlay.opaque", "y", 1, 0), 0);
	assert_upper(s, REPORT_DUMMY " o o/ o/" REPORT_DUMMY " o/sub/" REPORT_DUMMY " ");
}

static void test_upper_too_deep(void **state)
{
	struct scratch *s = *state;
	int at = openat(s->fd, ".", O_RDONLY | O_DIRECTORY);
	auto_buf out = BUF_INIT(1 << 20), tight = BUF_INIT(10);
	struct err e = ERR_INIT;

	assert_int_equal(report_upper(s->fd, &tight, &e), -1);
	for (int i = 0; i < REPORT_MAX_DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0700), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(report_upper(s->fd, &out, &e), -1);
}

static void assert_drift(const struct maker *base, const struct maker *own, const char *want)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str got = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(report_index((struct bytes){ base->b.data, base->b.len },
				 (struct bytes){ own->b.data, own->b.len }, &out, &e),
		0);
	got = sorted(&out);
	assert_string_equal(got, want);
}

static void make_base(struct maker *m, unsigned version, unsigned hash_len)
{
	maker_begin(m, version, hash_len);
	maker_add(m, "a", 0100644, '1', 0, 0);
	maker_add(m, "b", 0100644, '1', 0, 0);
	maker_add(m, "b/x", 0100644, '1', 0, 0);
	maker_add(m, "c", 0100644, '1', 0, 0);
	maker_add(m, "d", 0100644, '1', 0, 0);
	maker_extension(m, "TREE", "", 0);
	maker_end(m);
}

static void make_own(struct maker *m, unsigned version, unsigned hash_len)
{
	maker_begin(m, version, hash_len);
	maker_add(m, "0new", 0100644, '1', 0, 0);
	maker_add(m, "a", 0100644, '1', 0, 0);
	maker_add(m, "b", 0100644, '2', 0, 0);
	maker_add(m, "b-", 0100644, '1', 0, 0);
	maker_add(m, "c", 0100755, '1', 0, 0);
	maker_add(m, "d", 0100644, '1', 1, 0);
	maker_add(m, "e", 0100644, '1', 0, 0);
	maker_end(m);
}

static void test_drift(void **state)
{
	static const unsigned lens[] = { 20, 32 };

	(void)state;
	for (unsigned i = 0; i < 3 * 3 * 2; i++) {
		struct maker base, own, empty;

		make_base(&base, 2 + i % 3, lens[i / 9]);
		make_own(&own, 2 + i / 3 % 3, lens[i / 9]);
		maker_begin(&empty, 2, lens[i / 9]);
		maker_end(&empty);
		assert_drift(&base, &own, "0new b b- c d e ");
		assert_drift(&base, &base, "");
		assert_drift(&base, &empty, "");
		assert_drift(&empty, &base, "a b b/x c d ");
		buf_release(&base.b);
		buf_release(&own.b);
		buf_release(&empty.b);
	}
}

static void test_drift_refused(void **state)
{
	auto_buf out = BUF_INIT(1 << 20), tight = BUF_INIT(8);
	struct err e = ERR_INIT;
	struct maker base, own;
	struct bytes b, o;

	(void)state;
	make_base(&base, 2, 20);
	make_own(&own, 2, 20);
	b = (struct bytes){ base.b.data, base.b.len };
	o = (struct bytes){ own.b.data, own.b.len };
	assert_int_equal(report_index(b, o, &tight, &e), -1);
	for (size_t cut = 1; cut < own.b.len; cut++) {
		buf_reset(&out);
		assert_int_equal(report_index(b, (struct bytes){ own.b.data, own.b.len - cut }, &out, &e), -1);
	}
	assert_int_equal(report_index((struct bytes){ NULL, 0 }, o, &out, &e), -1);
	buf_release(&base.b);
	buf_release(&own.b);
	make_own(&own, 2, 32);
	make_base(&base, 2, 20);
	buf_reset(&out);
	assert_int_equal(report_index((struct bytes){ base.b.data, base.b.len },
				 (struct bytes){ own.b.data, own.b.len }, &out, &e),
		-1);
	buf_release(&base.b);
	buf_release(&own.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_empty_upper), scratch_test(test_upper),
		scratch_test(test_whiteout),    scratch_test(test_opaque),
		scratch_test(test_upper_too_deep), cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
