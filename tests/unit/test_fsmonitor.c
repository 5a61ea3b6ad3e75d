#include "scratch.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/alloc.h"
#include "base/strvec.h"
#include "fsmonitor/report.h"
#include "make_index.h"

/* The names of an answer, sorted, each followed by a blank. */
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

static void assert_upper_known(const struct scratch *s, const struct known *known, const char *want)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str got = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(report_upper(s->fd, known, &out, &e), 0);
	got = sorted(&out);
	assert_string_equal(got, want);
}

/* Nothing is known about git's index, so nothing is skipped. */
static void assert_upper(const struct scratch *s, const char *want)
{
	const struct known nothing = KNOWN_INIT;

	assert_upper_known(s, &nothing, want);
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

	/* every user may make this device */
	assert_int_equal(mknodat(s->fd, "gone", S_IFCHR | 0600, makedev(0, 0)), 0);
	assert_upper(s, REPORT_DUMMY " gone gone/ ");
}

/* A scratch directory on a file system with user extended attributes, which a tmpfs before Linux 6.6 lacks.
 * Without one, no overlay workspace can be made on this machine either. */
static int setup_with_attributes(void **state)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", "." };
	static struct scratch s;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(s.path, sizeof(s.path), "%s/garth-unit.XXXXXX", places[i]);
		if (!mkdtemp(s.path))
			continue;
		s.fd = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*state = &s;
		if (s.fd >= 0 && !fsetxattr(s.fd, "user.overlay.test", "y", 1, 0))
			return 0;
		close(s.fd);
		rmdir(s.path);
	}
	return -1;
}

/* An opaque directory is reported as a whole; a directory that may have lost a name is reported by itself. */
static void test_opaque(void **state)
{
	struct scratch *s = *state;
	auto_str dir = xasprintf("%s/o", s->path);

	close(mkdirs_beneath(s->fd, "o/sub", 0700, -1, -1));
	put(s->fd, "o/file", "");
	put(s->fd, "o/sub/file", "");
	assert_int_equal(setxattr(dir, "user.overlay.opaque", "n", 1, 0), 0);
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
	const struct known nothing = KNOWN_INIT;
	struct err e = ERR_INIT;

	assert_int_equal(report_upper(s->fd, &nothing, &tight, &e), -1);
	for (int i = 0; i < REPORT_MAX_DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0700), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(report_upper(s->fd, &nothing, &out, &e), -1);
}

/* New directories are listed only if the untracked cache has them. */
static void test_passed_over(void **state)
{
	struct scratch *s = *state;
	auto_known known = KNOWN_INIT;

	known.base_whole = known.cache_whole = true;
	known_add_base(&known, "base.c");
	known_add_base(&known, "base/f");
	known_add_base(&known, "bases");
	strvec_push(&known.cache, "new/");
	strvec_push(&known.cache, "new/in/");
	close(mkdirs_beneath(s->fd, "base/more", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "bas", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "new/in", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "new/modules/a/b", 0700, -1, -1));
	put(s->fd, "base/f", "");
	put(s->fd, "base/more/f", "");
	put(s->fd, "new/in/f", "");
	put(s->fd, "new/modules/a/f", "");
	assert_upper_known(s, &known,
		REPORT_DUMMY " bas bas/ base/" REPORT_DUMMY
			     " base/f base/f/ base/more base/more/ new new/ new/" REPORT_DUMMY
			     " new/in/" REPORT_DUMMY " ");
}

static void put_place(struct buf *b, size_t stats)
{
	buf_addch(b, 6);
	buf_add(b, "place", 6);
	for (size_t i = 0; i < stats; i++)
		buf_addch(b, (char)i);
	buf_add(b, ".gitignore", 11);
}

static void test_cache(void **state)
{
	static const char body[] = "\x05"
				   "\x01\x02\0untracked\0"
				   "\0\x02"
				   "a\0"
				   "\x02\0"
				   "b\0one\0two\0"
				   "\0\0"
				   "c\0"
				   "\0\0"
				   "d";
	auto_buf b = BUF_SMALL;

	(void)state;
	put_place(&b, 2 * 36 + 4 + 2 * 20);
	buf_add(&b, body, sizeof(body));
	for (size_t cut = 0; cut <= b.len; cut++) {
		auto_known known = KNOWN_INIT;
		auto_str exact = xcalloc(1, b.len - cut + 1);

		memcpy(exact + 1, b.data, b.len - cut);
		known_add_cache(&known, (unsigned char *)exact + 1, b.len - cut, 20);
		assert_int_equal(known.cache_whole, cut == 0);
		assert_true(known_in_cache(&known, "a/b/"));
		assert_true(known_in_cache(&known, "d/"));
		assert_int_equal(known_in_cache(&known, "b/"), cut > 0);
		assert_int_equal(known_in_cache(&known, "a/untracked/"), cut > 0);
	}
}

static void assert_drift(const struct maker *base, const struct maker *own, const char *want)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str got = NULL;
	auto_known known = KNOWN_INIT;
	struct err e = ERR_INIT;

	assert_int_equal(report_index((struct bytes){ base->b.data, base->b.len },
				 (struct bytes){ own->b.data, own->b.len }, &out, &known, &e),
		0);
	got = sorted(&out);
	assert_string_equal(got, want);
	assert_true(known.cache_whole);
	assert_int_equal(known.base_whole, base->version < 4);
	assert_int_equal(known_in_base(&known, "b/"), base->n > 0 || base->version == 4);
	assert_int_equal(known_in_base(&known, "b-/"), base->version == 4);
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
	auto_known known = KNOWN_INIT;
	struct maker base, own;
	struct bytes b, o;

	(void)state;
	make_base(&base, 2, 20);
	make_own(&own, 2, 20);
	b = (struct bytes){ base.b.data, base.b.len };
	o = (struct bytes){ own.b.data, own.b.len };
	assert_int_equal(report_index(b, o, &tight, &known, &e), -1);
	for (size_t cut = 1; cut < own.b.len; cut++) {
		buf_reset(&out);
		known_release(&known);
		assert_int_equal(
			report_index(b, (struct bytes){ own.b.data, own.b.len - cut }, &out, &known, &e), -1);
	}
	assert_int_equal(report_index((struct bytes){ NULL, 0 }, o, &out, &known, &e), -1);
	buf_release(&base.b);
	buf_release(&own.b);
	make_own(&own, 2, 32);
	make_base(&base, 2, 20);
	buf_reset(&out);
	assert_int_equal(report_index((struct bytes){ base.b.data, base.b.len },
				 (struct bytes){ own.b.data, own.b.len }, &out, &known, &e),
		-1);
	buf_release(&base.b);
	buf_release(&own.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_empty_upper),
		scratch_test(test_upper),
		scratch_test(test_whiteout),
		cmocka_unit_test_setup_teardown(test_opaque, setup_with_attributes, teardown),
		scratch_test(test_upper_too_deep),
		scratch_test(test_passed_over),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
