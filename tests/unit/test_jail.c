/* J6: the jail as plain data: what is refused, and that packing loses nothing. */
#include "testing.h"

#include "base/alloc.h"
#include "jail/jail.h"

static void describe(struct jail *j)
{
	auto_strvec lowers = STRVEC_INIT;

	jail_init(j);
	j->uid = j->gid = 1000;
	j->net = JAIL_NET_NONE;
	j->without = JAIL_WALL_PROC;
	j->hostname = xstrdup("garth");
	j->upper = xstrdup("/t/upper");
	j->work = xstrdup("/t/work");
	j->max_procs = 512;
	j->max_file_size = UINT64_MAX;
	strvec_push(&j->lowers, "/b/delta");
	strvec_push(&j->lowers, "/b/base");
	jail_add(j, JAIL_BIND, JAIL_OPTIONAL, "/usr", "/usr");
	jail_add(j, JAIL_LINK, 0, "usr/bin", "/bin");
	jail_add(j, JAIL_DATA, 0, "", "/etc/empty");
	jail_add(j, JAIL_PROC, 0, NULL, "/proc");
	jail_add(j, JAIL_TMPFS, JAIL_NOEXEC, "1048576", "/tmp");
	jail_add(j, JAIL_OVERLAY, JAIL_WRITE, NULL, "/w");
	jail_add(j, JAIL_BIND, JAIL_WRITE, "/t/git", "/w/.git");
	j->caches = xstrdup("/t/caches");
	j->ruled = xstrdup("/w");
	rules_add(&j->rules, RULE_DENY_WRITE, "docs", "");
	strvec_pushl(&j->git_dirs, "", "/w/.git", NULL);
	j->hash_len = 20;
	j->shared = xstrdup("/g/layers/1");
	jail_add_cache(j, "/home/u/.npm", "/h/.npm", ".npm", NULL);
	strvec_push(&lowers, "cache-1-2/tree/go");
	strvec_push(&lowers, "cache-1-1/tree/go");
	jail_add_cache(j, NULL, "/h/go", "go", &lowers);
}

static void packing_loses_nothing(void **state)
{
	auto_jail j, back;
	auto_buf first = BUF_INIT(JAIL_PACKED_MAX), second = BUF_INIT(JAIL_PACKED_MAX);
	struct err e = ERR_INIT;

	(void)state;
	describe(&j);
	jail_init(&back);
	jail_pack(&j, &first);
	assert_int_equal(jail_unpack(first.data, first.len, &back, &e), 0);
	assert_int_equal(back.nrows, j.nrows);
	assert_int_equal(back.uid, 1000);
	assert_true(back.max_file_size == UINT64_MAX);
	assert_string_equal(back.lowers.v[1], "/b/base");
	assert_null(back.rows[3].source);
	assert_string_equal(back.rows[2].source, "");
	assert_int_equal(back.rows[4].flags, JAIL_NOEXEC);
	assert_null(back.rows[4].layer);
	assert_string_equal(back.rows[7].layer, ".npm");
	assert_string_equal(back.caches, "/t/caches");
	assert_string_equal(back.shared, "/g/layers/1");
	assert_int_equal(back.rows[7].lowers.n, 0);
	assert_null(back.rows[8].source);
	assert_string_equal(back.rows[8].lowers.v[1], "cache-1-1/tree/go");
	assert_string_equal(back.ruled, "/w");
	assert_string_equal(back.git_dirs.v[1], "/w/.git");
	assert_int_equal(back.hash_len, 20);
	assert_string_equal(back.rules.v[0].glob, "docs");
	assert_int_equal(back.rules.v[0].kind, RULE_DENY_WRITE);
	jail_pack(&back, &second);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

static void every_cut_is_refused(void **state)
{
	auto_jail j;
	auto_buf packed = BUF_INIT(JAIL_PACKED_MAX);

	(void)state;
	describe(&j);
	jail_pack(&j, &packed);
	for (size_t len = 0; len < packed.len; len++) {
		struct err e = ERR_INIT;
		auto_jail back;

		jail_init(&back);
		assert_int_equal(jail_unpack(packed.data, len, &back, &e), -1);
		assert_int_equal(e.kind, ERR_START);
	}
	buf_addch(&packed, 'x');
	{
		struct err e = ERR_INIT;
		auto_jail back;

		jail_init(&back);
		assert_int_equal(jail_unpack(packed.data, packed.len, &back, &e), -1);
	}
}

static void a_good_one_passes(void **state)
{
	auto_jail j;
	struct err e = ERR_INIT;

	(void)state;
	describe(&j);
	assert_int_equal(jail_check(&j, &e), 0);
}

/* J10: nobody is root inside. */
static void be_root(struct jail *j)
{
	j->uid = 0;
}

static void be_roots_group(struct jail *j)
{
	j->gid = 0;
}

static void add_dots(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "/a", "/x/../etc");
}

static void add_relative(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "/a", "x");
}

static void add_relative_source(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "a", "/x");
}

static void add_root(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "/", "/");
}

static void add_twice(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "/a", "/usr");
}

static void add_cover(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, "/a", "/etc");
}

static void add_writable_data(struct jail *j)
{
	jail_add(j, JAIL_DATA, JAIL_WRITE, "x", "/data");
}

static void add_sourceless(struct jail *j)
{
	jail_add(j, JAIL_BIND, 0, NULL, "/x");
}

static void add_bad_size(struct jail *j)
{
	jail_add(j, JAIL_TMPFS, 0, "1m,mode=0", "/x");
}

static void add_cache_without_layer(struct jail *j)
{
	jail_add(j, JAIL_CACHE, 0, "/c", "/c");
}

static void add_cache_elsewhere(struct jail *j)
{
	jail_add_cache(j, "/c", "/c", "../home", NULL);
}

static void add_cache_of_nothing(struct jail *j)
{
	jail_add_cache(j, NULL, "/c", "c", NULL);
}

static void add_lower(struct jail *j, const char *path, size_t n)
{
	auto_strvec lowers = STRVEC_INIT;

	while (n--)
		strvec_push(&lowers, path);
	jail_add_cache(j, "/c", "/c", "c", &lowers);
}

static void add_layer_above(struct jail *j)
{
	add_lower(j, "../../tasks/1/home", 1);
}

static void add_absolute_layer(struct jail *j)
{
	add_lower(j, "/etc", 1);
}

static void add_many_layers(struct jail *j)
{
	add_lower(j, "cache-1-1/tree/c", JAIL_CACHE_LOWERS_MAX + 1);
}

static void lose_shared(struct jail *j)
{
	free(j->shared);
	j->shared = NULL;
}

static void add_half_a_git_dir(struct jail *j)
{
	strvec_push(&j->git_dirs, "sub");
}

static void add_relative_git_dir(struct jail *j)
{
	strvec_pushl(&j->git_dirs, "sub", "../git", NULL);
}

static void lose_hash(struct jail *j)
{
	j->hash_len = 0;
}

static void lose_ruled(struct jail *j)
{
	free(j->ruled);
	j->ruled = NULL;
}

static void add_absolute_rule(struct jail *j)
{
	rules_add(&j->rules, RULE_DENY_READ, "/etc", "");
}

static void lose_caches(struct jail *j)
{
	free(j->caches);
	j->caches = NULL;
}

static void add_second_overlay(struct jail *j)
{
	jail_add(j, JAIL_OVERLAY, 0, NULL, "/w2");
}

static void lose_upper(struct jail *j)
{
	free(j->upper);
	j->upper = NULL;
}

static void move_work(struct jail *j)
{
	free(j->work);
	j->work = xstrdup("/elsewhere/work");
}

static void share_upper(struct jail *j)
{
	free(j->work);
	j->work = xstrdup("/t/upper");
}

static void lose_lowers(struct jail *j)
{
	strvec_release(&j->lowers);
}

static void add_lowers(struct jail *j)
{
	for (int i = 0; i < 500; i++)
		strvec_push(&j->lowers, "/b/base");
}

static void name_too_long(struct jail *j)
{
	free(j->hostname);
	j->hostname = xasprintf("%0100d", 1);
}

static void bad_ones_are_refused(void **state)
{
	static void (*const spoil[])(struct jail *) = { be_root, be_roots_group, add_dots, add_relative,
		add_relative_source, add_root, add_twice, add_cover, add_writable_data, add_sourceless,
		add_bad_size, add_cache_without_layer, add_cache_elsewhere, add_cache_of_nothing,
		add_layer_above, add_absolute_layer, add_many_layers, lose_shared, add_half_a_git_dir,
		add_relative_git_dir, lose_hash, lose_caches, lose_ruled, add_absolute_rule,
		add_second_overlay, lose_upper, move_work, share_upper, lose_lowers, add_lowers,
		name_too_long };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spoil); i++) {
		struct err e = ERR_INIT;
		auto_jail j;

		describe(&j);
		spoil[i](&j);
		if (!jail_check(&j, &e))
			fail_msg("number %zu was not refused", i);
		assert_int_equal(e.kind, ERR_START);
		assert_true(e.msg[0]);
	}
}

static void printing_names_everything(void **state)
{
	auto_buf out = BUF_INIT(1 << 16);
	auto_jail j;

	(void)state;
	describe(&j);
	jail_add(&j, JAIL_BIND, 0, "/a\033[2J", "/x");
	jail_print(&j, &out);
	assert_non_null(strstr(buf_str(&out), "user     1000:1000"));
	assert_non_null(strstr(buf_str(&out), "/t/upper"));
	assert_non_null(strstr(buf_str(&out), "/b/delta"));
	assert_non_null(strstr(buf_str(&out), "loopback only"));
	assert_non_null(strstr(buf_str(&out), "without  a /proc of its own"));
	assert_null(strchr(buf_str(&out), '\033'));
}

static void prefix_neighbours_are_two(void **state)
{
	auto_jail j;
	struct err e = ERR_INIT;

	(void)state;
	describe(&j);
	jail_add(&j, JAIL_DIR, 0, NULL, "/t-10/x");
	jail_add(&j, JAIL_DIR, 0, NULL, "/t-1");
	assert_int_equal(jail_check(&j, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing_loses_nothing),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(a_good_one_passes),
		cmocka_unit_test(bad_ones_are_refused),
		cmocka_unit_test(printing_names_everything),
		cmocka_unit_test(prefix_neighbours_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
