#include "testing.h"

#include "base/alloc.h"
#include "git/index.h"
#include "make_index.h"

static void make(struct maker *m, unsigned version, unsigned hash_len)
{
	maker_begin(m, version, hash_len);
	maker_add(m, ".gitignore", 0100644, 'a', 0, 0);
	maker_add(m, "dir/file", 0100755, 'b', 0, version >= 3 ? 0x4000 : 0);
	maker_add(m, "dir/fill", 0100644, 'c', 1, 0);
	maker_add(m, "dir/fill", 0100644, 'd', 2, version >= 3 ? 0x2000 : 0);
	maker_add(m, "z", 0120000, 'e', 0, 0);
	maker_extension(m, "TREE", "tree", 4);
	maker_extension(m, "UNTR", "", 0);
	maker_end(m);
}

/* Reads to the end from an allocation of exactly its size; the number of entries or -1. */
static int count(const void *data, size_t len, unsigned hash_len)
{
	auto_str exact = xcalloc(1, len + 1);
	struct index_reader r;
	struct index_entry entry;
	struct err e = ERR_INIT;
	int n = 0, more = -1;
	char *at = exact + 1; /* unaligned, and its end is the allocation's end */

	memcpy(at, data, len);
	if (index_open(&r, at, len, hash_len, &e) == 0)
		while ((more = index_next(&r, &entry, &e)) > 0)
			n++;
	index_close(&r);
	assert_int_equal(more < 0, e.kind == ERR_FAILED);
	return more < 0 ? -1 : n;
}

static void expect(struct index_reader *r, const char *path, unsigned mode, char id, unsigned stage)
{
	struct index_entry entry;
	struct err e = ERR_INIT;

	assert_int_equal(index_next(r, &entry, &e), 1);
	assert_string_equal(entry.path, path);
	assert_int_equal(entry.path_len, strlen(path));
	assert_int_equal(entry.mode, mode);
	assert_int_equal(entry.stage, stage);
	assert_int_equal(entry.oid[0], id);
	assert_int_equal(entry.oid[r->hash_len - 1], id);
	assert_int_equal(entry.ctime_s, 1);
	assert_int_equal(entry.mtime_ns, 4);
	assert_int_equal(entry.ino, 6);
	assert_int_equal(entry.size, 10);
	assert_int_equal(entry.skip_worktree, r->version >= 3 && id == 'b');
	assert_int_equal(entry.intent_to_add, r->version >= 3 && id == 'd');
}

static void read_one(unsigned version, unsigned hash_len)
{
	struct index_reader r;
	struct index_entry entry;
	struct err e = ERR_INIT;
	struct maker m;
	size_t len = 9;

	make(&m, version, hash_len);
	assert_int_equal(index_open(&r, m.b.data, m.b.len, hash_len, &e), 0);
	assert_int_equal(r.entries, 5);
	expect(&r, ".gitignore", 0100644, 'a', 0);
	expect(&r, "dir/file", 0100755, 'b', 0);
	expect(&r, "dir/fill", 0100644, 'c', 1);
	expect(&r, "dir/fill", 0100644, 'd', 2);
	expect(&r, "z", 0120000, 'e', 0);
	assert_int_equal(index_next(&r, &entry, &e), 0);
	assert_int_equal(index_next(&r, &entry, &e), 0);
	assert_memory_equal(index_extension(&r, "TREE", &len), "tree", 4);
	assert_int_equal(len, 4);
	assert_non_null(index_extension(&r, "UNTR", &len));
	assert_int_equal(len, 0);
	assert_null(index_extension(&r, "FSMN", &len));
	index_close(&r);
	assert_int_equal(count(m.b.data, m.b.len, hash_len == 20 ? 32 : 20), -1);
	buf_release(&m.b);
}

static void test_versions(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		read_one(version, 20);
		read_one(version, 32);
	}
}

static void test_long_names(void **state)
{
	char name[4200];

	(void)state;
	for (size_t len = 4090; len < 4110; len++) {
		struct maker m;

		memset(name, 'n', len);
		name[len] = '\0';
		maker_begin(&m, 2, 20);
		maker_add(&m, name, 0100644, 'a', 0, 0);
		maker_add(&m, "o", 0100644, 'a', 0, 0);
		maker_end(&m);
		assert_int_equal(count(m.b.data, m.b.len, 20), 2);
		buf_release(&m.b);
	}
}

static void test_empty(void **state)
{
	struct maker m;

	(void)state;
	maker_begin(&m, 2, 20);
	maker_end(&m);
	assert_int_equal(count(m.b.data, m.b.len, 20), 0);
	assert_int_equal(count(m.b.data, m.b.len, 32), -1);
	assert_int_equal(count(m.b.data, 0, 20), -1);
	assert_int_equal(count(m.b.data, m.b.len, 0), -1);
	buf_release(&m.b);
}

/* Cut anywhere but between two extensions, it is not a complete index, and nothing beyond its end is read. */
static void test_cut(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		struct maker m;

		make(&m, version, 20);
		for (size_t len = 0; len < m.b.len; len++)
			assert_int_equal(
				count(m.b.data, len, 20), len + 8 == m.b.len || len + 20 == m.b.len ? 5 : -1);
		buf_release(&m.b);
	}
}

/* Every byte is changed once: read or refused, never out of bounds. */
static void test_flipped(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		struct maker m;

		make(&m, version, 20);
		for (size_t i = 0; i < m.b.len * 8; i++) {
			m.b.data[i / 8] ^= (char)(1 << i % 8);
			count(m.b.data, m.b.len, 20);
			m.b.data[i / 8] ^= (char)(1 << i % 8);
		}
		buf_release(&m.b);
	}
}

static void refused(unsigned version, unsigned claim, const char *path, const char *ext)
{
	struct maker m;

	maker_begin(&m, version, 20);
	maker_add(&m, path, 0100644, 'a', 0, 0);
	m.n = claim;
	if (ext)
		maker_extension(&m, ext, "data", 4);
	maker_end(&m);
	assert_int_equal(count(m.b.data, m.b.len, 20), -1);
	buf_release(&m.b);
}

static void test_refused(void **state)
{
	(void)state;
	refused(1, 1, "a", NULL);
	refused(5, 1, "a", NULL);
	refused(2, 2, "a", NULL);
	refused(2, 0xffff, "a", NULL);
	refused(2, 0, "a", NULL);
	refused(2, 1, "", NULL);
	refused(4, 1, "", NULL);
	refused(2, 1, "a", "link");
	refused(2, 1, "a", "sdir");
}

/* Version 4: a name that drops more than there is, or a number without an end. */
static void test_bad_prefix(void **state)
{
	struct maker m;
	size_t at;

	(void)state;
	maker_begin(&m, 4, 20);
	at = m.b.len + 62;
	maker_add(&m, "aaaa", 0100644, 'a', 0, 0);
	maker_end(&m);
	assert_int_equal(count(m.b.data, m.b.len, 20), 1);
	m.b.data[at] = 1;
	assert_int_equal(count(m.b.data, m.b.len, 20), -1);
	memset(m.b.data + at, 0xff, m.b.len - at);
	assert_int_equal(count(m.b.data, m.b.len, 20), -1);
	buf_release(&m.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
