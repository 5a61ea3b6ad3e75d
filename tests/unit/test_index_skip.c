/* J4: the flag skip-worktree set and cleared in an index, which is otherwise as it was. */
#include "testing.h"

#include "git/index.h"
#include "git/index_skip.h"
#include "make_index.h"
#include "sys/digest.h"

static void make(struct maker *m, unsigned version, unsigned hash_len, const char *ext)
{
	maker_begin(m, version, hash_len);
	maker_add(m, "a", 0100644, 'a', 0, 0);
	maker_add(m, "dir/b", 0100755, 'b', 0, 0);
	maker_add(m, "dir/bcdefgh", 0120000, 'c', 0, 0);
	maker_add(m, "dir/conflict", 0100644, 'd', 2, 0);
	maker_add(m, "sub", 0160000, 'e', 0, 0);
	maker_extension(m, "TREE", "tree", 4);
	if (ext)
		maker_extension(m, ext, "offsets", 7);
	maker_extension(m, "FSMN", "fsmonitor", 9);
	maker_end(m);
}

static bool below_dir(const char *path, bool skipped, void *arg)
{
	(void)skipped;
	(void)arg;
	assert_string_not_equal(path, "dir/conflict");
	assert_string_not_equal(path, "sub");
	return !strncmp(path, "dir/", 4);
}

static bool none(const char *path, bool skipped, void *arg)
{
	(void)path;
	(void)skipped;
	(void)arg;
	return false;
}

static void check_flags(const struct buf *b, unsigned hash_len, const char *flags)
{
	unsigned char sum[DIGEST_MAX];
	struct index_reader r;
	struct index_entry ent;
	struct err e = ERR_INIT;
	size_t len;
	int more;

	assert_int_equal(index_open(&r, b->data, b->len, hash_len, &e), 0);
	while ((more = index_next(&r, &ent, &e)) > 0) {
		assert_int_equal(ent.skip_worktree, *flags++ == 'S');
		assert_int_equal(ent.ino, 6);
		assert_int_equal(ent.oid[hash_len - 1], "abcde"[r.seen - 1]);
	}
	assert_int_equal(more, 0);
	assert_int_equal(*flags, '\0');
	assert_memory_equal(index_extension(&r, "TREE", &len), "tree", 4);
	assert_memory_equal(index_extension(&r, "FSMN", &len), "fsmonitor", 9);
	assert_null(index_extension(&r, "EOIE", &len));
	digest_of(hash_len, b->data, b->len - hash_len, sum);
	assert_memory_equal(r.end, sum, hash_len);
	index_close(&r);
}

static void there_and_back(unsigned version, unsigned hash_len)
{
	auto_buf set = BUF_SMALL, cleared = BUF_SMALL, again = BUF_SMALL;
	struct err e = ERR_INIT;
	struct maker m;
	bool changed = false;

	make(&m, version, hash_len, "EOIE");
	assert_int_equal(index_skip(m.b.data, m.b.len, hash_len, below_dir, NULL, &set, &changed, &e), 0);
	assert_true(changed);
	check_flags(&set, hash_len, "-SS--");
	assert_int_equal(set.data[7], version == 4 ? 4 : 3);
	/* a second time there is nothing to do */
	assert_int_equal(index_skip(set.data, set.len, hash_len, below_dir, NULL, &again, &changed, &e), 0);
	assert_false(changed);
	assert_int_equal(again.len, 0);
	assert_int_equal(index_skip(set.data, set.len, hash_len, none, NULL, &cleared, &changed, &e), 0);
	assert_true(changed);
	check_flags(&cleared, hash_len, "-----");
	buf_release(&m.b);
	/* except for extensions with offsets, and the hash, it is unchanged */
	make(&m, version == 3 ? 2 : version, hash_len, NULL);
	assert_int_equal(cleared.len, m.b.len);
	assert_memory_equal(cleared.data, m.b.data, m.b.len - hash_len);
	buf_release(&m.b);
}

static void test_versions(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		there_and_back(version, 20);
		there_and_back(version, 32);
	}
}

static void test_refused(void **state)
{
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	struct maker m;
	bool changed = true;

	(void)state;
	make(&m, 2, 20, "link");
	assert_int_equal(index_skip(m.b.data, m.b.len, 20, below_dir, NULL, &out, &changed, &e), -1);
	assert_int_equal(index_skip(m.b.data, m.b.len - 9, 20, below_dir, NULL, &out, &changed, &e), -1);
	assert_int_equal(out.len, 0);
	buf_release(&m.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
