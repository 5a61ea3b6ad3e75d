#include "reader.h"

#include "base/strvec.h"

/* more requests, and more answers, than a pipe holds */
static void test_many(void **state)
{
	auto_strvec oids = STRVEC_INIT;
	enum object_type *types = xcalloc(20000, sizeof(*types));
	uint64_t *sizes = xcalloc(20000, sizeof(*sizes));
	struct err e = ERR_INIT;
	auto_str blob = NULL;
	struct objects o;
	pid_t pid;

	run(*state, "git init -q .");
	blob = sh(*state, "echo a | git hash-object -w --stdin");
	for (size_t i = 0; i < 20000; i++)
		strvec_push(&oids, i % 7 ? blob : NO_OBJECT);
	pid = start(*state, cat_file, &o);
	assert_int_equal(objects_info_many(&o, oids.v, oids.n, types, sizes, &e), 0);
	for (size_t i = 0; i < oids.n; i++) {
		assert_int_equal(types[i], i % 7 ? OBJECT_BLOB : OBJECT_MISSING);
		assert_int_equal(sizes[i], i % 7 ? 2 : 0);
	}
	stop(pid, &o);
	free(types);
	free(sizes);
}

/* types, limits, and a reader that is still good after a refusal */
static void test_objects(void **state)
{
	auto_buf out = BUF_INIT(100), wide = BUF_INIT(10 << 20);
	auto_str big = NULL, blob = NULL, tree = NULL;
	struct err e = ERR_INIT;
	enum object_type type;
	struct objects o;
	uint64_t size;
	pid_t pid;

	run(*state, "git init -q .");
	big = sh(*state, "head -c 3000000 /dev/urandom | git hash-object -w --stdin");
	blob = sh(*state, "echo a | git hash-object -w --stdin");
	tree = sh(*state, "git mktree </dev/null");
	pid = start(*state, cat_file, &o);
	assert_int_equal(objects_info(&o, big, &type, &size, &e), 0);
	assert_int_equal(type, OBJECT_BLOB);
	assert_int_equal(size, 3000000);
	assert_int_equal(objects_read(&o, big, OBJECT_BLOB, &out, &e), -1);
	assert_true(out.overflow && e.kind == ERR_FAILED);
	assert_int_equal(objects_read(&o, big, OBJECT_TREE, &wide, &e), -1);
	assert_int_equal(objects_read(&o, blob, OBJECT_BLOB, &out, &e), 0);
	assert_string_equal(buf_str(&out), "a\n");
	assert_int_equal(objects_read(&o, big, OBJECT_BLOB, &wide, &e), 0);
	assert_int_equal(wide.len, 3000000);
	assert_int_equal(objects_read(&o, NO_OBJECT, OBJECT_BLOB, &out, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(objects_read(&o, tree, OBJECT_TREE, &out, &e), 0);
	assert_int_equal(objects_info(&o, tree, &type, &size, &e), 0);
	assert_int_equal(type, OBJECT_TREE);
	assert_int_equal(size, 0);
	stop(pid, &o);
}

/* a process that is not git: every call fails, and none of its later answers is used */
static void test_nonsense(void **state)
{
	static const char *const scripts[] = {
		"exit 0",
		"read x; exit 0",
		"read x; echo",
		"read x; echo hello",
		"read x; echo 0" NO_OBJECT " blob 1; echo a",
		"read x; echo 0234567890123456789012345678901234567890 blob 1; echo a",
		"read x; echo " NO_OBJECT,
		"read x; echo " NO_OBJECT " blob",
		"read x; echo " NO_OBJECT " blob -1",
		"read x; echo " NO_OBJECT " blob 99999999999999999999999",
		"read x; echo " NO_OBJECT " blob 1x",
		"read x; echo " NO_OBJECT " blub 1",
		"read x; echo " NO_OBJECT " blob 3; echo abcdef; sleep 5",
		"read x; echo " NO_OBJECT " blob 300; echo abcdef",
		"read x; head -c 1000000 /dev/zero; sleep 5",
		"read x; yes",
		"sleep 30",
		"read x; printf " NO_OBJECT "; sleep 30",
		"read x; while :; do printf x; sleep 0.2; done",
	};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		char *const argv[] = { "/bin/bash", "-c", (char *)scripts[i], NULL };
		auto_buf out = BUF_INIT(4096);
		struct timespec from;
		struct objects o;
		pid_t pid = start(*state, argv, &o);

		o.seconds = 1;
		clock_gettime(CLOCK_MONOTONIC, &from);
		e = (struct err)ERR_INIT;
		if (!objects_read(&o, NO_OBJECT, OBJECT_BLOB, &out, &e))
			fail_msg("believed: %s", scripts[i]);
		assert_int_equal(e.kind, ERR_FAILED);
		assert_true(o.broken);
		assert_true(seconds_since(&from) < 4);
		assert_int_equal(objects_read(&o, NO_OBJECT, OBJECT_BLOB, &out, &e), -1);
		stop(pid, &o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_many),
		scratch_test(test_objects),
		scratch_test(test_nonsense),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
