#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>

#include "keeper/log.h"
#include "keeper/log_reader.h"

static int gather(const char *data, size_t len, void *arg, struct err *e)
{
	return buf_add(arg, data, len) ? 0 : err_set(e, ERR_FAILED, "too much");
}

static int log_read(int dir, log_fn *fn, void *arg, struct err *e)
{
	auto_log_reader r = LOG_READER_INIT;

	return log_reader_open(&r, dir, e) < 0 ? -1 : log_reader_read(&r, fn, arg, e);
}

static void read_all(int dir, struct buf *out)
{
	struct err e = ERR_INIT;

	buf_reset(out);
	if (log_read(dir, gather, out, &e) < 0)
		fail_msg("%s", e.msg);
}

static off_t size_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -1 : st.st_size;
}

static void runs_follow_each_other(void **state)
{
	const struct scratch *s = *state;
	auto_buf b = BUF_SMALL;
	struct log l;

	read_all(s->fd, &b);
	assert_int_equal(b.len, 0);
	for (int i = 0; i < 2; i++) {
		log_open(&l, s->fd, 1000);
		log_write(&l, "a\0b", 3);
		log_close(&l);
	}
	read_all(s->fd, &b);
	assert_int_equal(b.len, 6);
	assert_memory_equal(b.data, "a\0ba\0b", 6);
}

/* The newest bytes are kept, without a gap, and no file is ever larger than half of the limit. */
static void size_is_bounded(void **state)
{
	const struct scratch *s = *state;
	auto_buf b = BUF_SMALL, all = BUF_INIT(1 << 20);
	struct log l;

	log_open(&l, s->fd, 1000);
	for (int i = 0; i < 3000; i++) {
		char text[8];
		int n = snprintf(text, sizeof(text), "%d,", i);

		log_write(&l, text, (size_t)n);
		buf_add(&all, text, (size_t)n);
		assert_true(size_of(s->fd, "log") <= 500);
		assert_true(size_of(s->fd, "log.1") <= 500);
	}
	read_all(s->fd, &b);
	assert_true(b.len >= 500 && b.len <= 1000);
	assert_memory_equal(b.data, all.data + all.len - b.len, b.len);
	log_write(&l, all.data, all.len);
	read_all(s->fd, &b);
	assert_true(b.len >= 500 && b.len <= 1000);
	assert_memory_equal(b.data, all.data + all.len - b.len, b.len);
	log_close(&l);
}

static void nothing_is_kept_without_a_limit(void **state)
{
	const struct scratch *s = *state;
	struct log l;

	log_open(&l, s->fd, 0);
	log_write(&l, "x", 1);
	log_close(&l);
	assert_false(there(s->fd, "log"));
}

/* A limit on the file's size simulates a full disk. */
static void full_disk_is_noted(void **state)
{
	const struct scratch *s = *state;
	struct rlimit before, small;
	auto_buf b = BUF_SMALL;
	struct log l;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ 10, before.rlim_max };
	log_open(&l, s->fd, 100000);
	log_write(&l, "12345", 5);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	log_write(&l, "67890abc", 8);
	log_write(&l, "def", 3);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	log_write(&l, "end", 3);
	log_write(&l, ".", 1);
	log_close(&l);
	read_all(s->fd, &b);
	assert_string_equal(
		buf_str(&b), "1234567890\n[garth: 6 bytes of output were not kept: disk full]\nend.");
}

static void links_and_fifos_are_not_followed(void **state)
{
	const struct scratch *s = *state;
	struct err e = ERR_INIT;
	auto_buf b = BUF_SMALL;
	struct log l;

	put(s->fd, "victim", "safe");
	assert_int_equal(symlinkat("victim", s->fd, "log"), 0);
	log_open(&l, s->fd, 1000);
	log_write(&l, "x", 1);
	log_close(&l);
	assert_content(s->fd, "victim", "safe");
	assert_int_equal(log_read(s->fd, gather, &b, &e), -1);
	unlinkat(s->fd, "log", 0);
	assert_int_equal(mkfifoat(s->fd, "log", 0600), 0);
	log_open(&l, s->fd, 1000);
	log_write(&l, "x", 1);
	log_close(&l);
	assert_int_equal(log_read(s->fd, gather, &b, &e), -1);
}

/* A reader that follows gets every byte, although the log is renamed once or twice between two looks. */
static void reader_follows_renames(void **state)
{
	const struct scratch *s = *state;
	auto_buf b = BUF_SMALL, all = BUF_INIT(1 << 20);
	auto_log_reader r = LOG_READER_INIT;
	struct err e = ERR_INIT;
	struct log l;

	assert_int_equal(log_reader_open(&r, s->fd, &e), 0);
	assert_int_equal(log_reader_follow(&r, gather, &b, &e), 0);
	assert_int_equal(b.len, 0);
	log_open(&l, s->fd, 100);
	for (int i = 0; i < 300; i++) {
		char text[8];
		int n = snprintf(text, sizeof(text), "%d,", i);

		log_write(&l, text, (size_t)n);
		buf_add(&all, text, (size_t)n);
		/* 50 bytes are written to a file: looks come after 4 to 60 bytes */
		if (i % 15 == 0 || i % 7 == 0)
			assert_int_equal(log_reader_follow(&r, gather, &b, &e), 0);
	}
	log_close(&l);
	assert_int_equal(log_reader_follow(&r, gather, &b, &e), 0);
	assert_string_equal(buf_str(&b), buf_str(&all));
}

static void assert_tail(int dir, uint64_t lines, const char *want)
{
	auto_log_reader r = LOG_READER_INIT;
	struct err e = ERR_INIT;
	auto_buf b = BUF_SMALL;

	assert_int_equal(log_reader_open(&r, dir, &e), 0);
	assert_int_equal(log_reader_tail(&r, lines, &e), 0);
	assert_int_equal(log_reader_read(&r, gather, &b, &e), 0);
	assert_string_equal(buf_str(&b), want);
}

static void last_lines(void **state)
{
	const struct scratch *s = *state;

	assert_tail(s->fd, 3, "");
	put(s->fd, "log", "1\n2\n\n3");
	assert_tail(s->fd, 0, "");
	assert_tail(s->fd, 1, "3");
	assert_tail(s->fd, 3, "2\n\n3");
	assert_tail(s->fd, 9, "1\n2\n\n3");
	/* a line can begin in the older file */
	put(s->fd, "log.1", "a\nb");
	assert_tail(s->fd, 3, "2\n\n3");
	assert_tail(s->fd, 4, "b1\n2\n\n3");
	assert_tail(s->fd, 5, "a\nb1\n2\n\n3");
	put(s->fd, "log", "1\n");
	assert_tail(s->fd, 1, "b1\n");
	put(s->fd, "log", "");
	assert_tail(s->fd, 1, "b");
	put(s->fd, "log.1", "a\nb\n");
	assert_tail(s->fd, 1, "b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(runs_follow_each_other),
		scratch_test(size_is_bounded),
		scratch_test(nothing_is_kept_without_a_limit),
		scratch_test(full_disk_is_noted),
		scratch_test(links_and_fifos_are_not_followed),
		scratch_test(reader_follows_renames),
		scratch_test(last_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
