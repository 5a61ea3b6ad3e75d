#include "scratch.h"

#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include "base/alloc.h"
#include "git/index.h"
#include "git/untracked.h"
#include "make_index.h"

static void digest(const void *data, size_t len, unsigned hash_len, unsigned char *ret)
{
	struct sha1_ctx a;
	struct sha256_ctx b;

	sha1_init(&a);
	sha256_init(&b);
	sha1_update(&a, len, data);
	sha256_update(&b, len, data);
	if (hash_len == 20)
		sha1_digest(&a, 20, ret);
	else
		sha256_digest(&b, 32, ret);
}

static void make(struct maker *m, unsigned hash_len, const char *place, bool with_end)
{
	auto_buf body = BUF_SMALL;
	char end[36] = "\0\0\0\x60";

	maker_begin(m, 2, hash_len);
	for (int i = 0; i < 7; i++) {
		char name[] = "file0";

		name[4] = (char)('0' + i);
		maker_add(m, name, 0100644, 'a', 0, 0);
	}
	maker_extension(m, "TREE", "tree", 4);
	buf_addch(&body, (char)(strlen("Location , system Linux") + strlen(place) + 1));
	buf_printf(&body, "Location %s, system Linux", place);
	buf_add(&body, "\0rest", 5);
	maker_extension(m, "UNTR", body.data, body.len);
	maker_extension(m, "FSMN", "fsmonitor", 9);
	if (with_end)
		maker_extension(m, "EOIE", end, 4 + hash_len);
	maker_end(m);
}

static struct index_reader whole(const struct buf *b, unsigned hash_len)
{
	struct index_reader r;
	struct index_entry entry;
	struct err e = ERR_INIT;
	int more;

	assert_int_equal(index_open(&r, b->data, b->len, hash_len, &e), 0);
	while ((more = index_next(&r, &entry, &e)) > 0)
		;
	assert_int_equal(more, 0);
	return r;
}

/* EOIE: the offset as before, and a hash over the other extensions' heads. */
static void check_end_of_entries(struct index_reader *r)
{
	static const char *const names[] = { "TREE", "UNTR", "FSMN" };
	unsigned char heads[24], want[32];
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		memcpy(heads + 8 * i, index_extension(r, names[i], &len) - 8, 8);
	digest(heads, sizeof(heads), r->hash_len, want);
	assert_memory_equal(index_extension(r, "EOIE", &len), "\0\0\0\x60", 4);
	assert_memory_equal(index_extension(r, "EOIE", &len) + 4, want, r->hash_len);
}

static void retarget(unsigned hash_len, const char *from, const char *to, bool with_end)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str ident = xasprintf("Location %s, system Linux", to);
	const unsigned char *ext;
	unsigned char want[32];
	struct err e = ERR_INIT;
	struct index_reader r;
	struct maker m;
	size_t len, skip = strlen(ident) + 1 < 128 ? 1 : 2;

	make(&m, hash_len, from, with_end);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len, hash_len, to, &out, &e), 0);
	r = whole(&out, hash_len);
	ext = index_extension(&r, "UNTR", &len);
	assert_int_equal(len, skip + strlen(ident) + 5);
	assert_string_equal((const char *)ext + skip, ident);
	assert_memory_equal(ext + len - 4, "rest", 4);
	assert_memory_equal(index_extension(&r, "FSMN", &len), "fsmonitor", 9);
	if (with_end)
		check_end_of_entries(&r);
	digest(out.data, out.len - hash_len, hash_len, want);
	assert_memory_equal(out.data + out.len - hash_len, want, hash_len);
	buf_release(&m.b);
}

static void test_retarget(void **state)
{
	char longer[300];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	for (unsigned hash_len = 20; hash_len <= 32; hash_len += 12) {
		retarget(hash_len, "/base", "/workspaces/a", false);
		retarget(hash_len, "/base/with/a/long/name", "/w", true);
		retarget(hash_len, "/base", longer, true);
		retarget(hash_len, "", "", false);
	}
}

static void test_nothing_to_do(void **state)
{
	auto_buf out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	struct maker m;

	(void)state;
	maker_begin(&m, 4, 20);
	maker_add(&m, "a", 0100644, 'a', 0, 0);
	maker_end(&m);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len, 20, "/w", &out, &e), 0);
	assert_int_equal(out.len, m.b.len);
	assert_memory_equal(out.data, m.b.data, m.b.len - 20);
	buf_release(&m.b);
}

/* index.skipHash */
static void test_zero_hash(void **state)
{
	static const char zero[20];
	auto_buf out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	struct maker m;

	(void)state;
	make(&m, 20, "/base", false);
	memset(m.b.data + m.b.len - 20, 0, 20);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len, 20, "/w", &out, &e), 0);
	assert_memory_equal(out.data + out.len - 20, zero, 20);
	buf_release(&m.b);
}

static void test_refused(void **state)
{
	auto_buf out = BUF_INIT(1 << 20), tight = BUF_INIT(100);
	struct err e = ERR_INIT;
	struct maker m;

	(void)state;
	make(&m, 20, "/base", true);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len - 1, 20, "/w", &out, &e), -1);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len, 20, "/w", &tight, &e), -1);
	buf_release(&m.b);
	maker_begin(&m, 2, 20);
	maker_extension(&m, "UNTR", "\xff\xff", 2);
	maker_end(&m);
	assert_int_equal(untracked_retarget(m.b.data, m.b.len, 20, "/w", &out, &e), -1);
	assert_int_equal(out.len, 0);
	buf_release(&m.b);
}

/* git in the directory, its messages appended to a file `said`; its exit status. */
static int git(const char *dir, const char *config, const char *command, const char *option)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = chdir(dir) == 0 ? open("../said", O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

		if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
			_exit(99);
		setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
		setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
		execlp("git", "git", "-c", config, command, option, NULL);
		_exit(98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static bool said(const struct scratch *s, const char *text)
{
	auto_buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	bool yes;

	assert_int_equal(read_file(s->fd, "said", &b, &e), 0);
	yes = strstr(buf_str(&b), text) != NULL;
	unlinkat(s->fd, "said", 0);
	return yes;
}

/* With "true" git would silently drop a foreign cache. */
#define FILL "core.untrackedCache=true"
#define KEEP "core.untrackedCache=keep"

/* W4: git accepts the moved cache as its own, and the hash as right */
static void test_git_believes(void **state)
{
	struct scratch *s = *state;
	auto_str from = xasprintf("%s/from", s->path), to = xasprintf("%s/to", s->path);
	auto_buf in = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	assert_int_equal(mkdirat(s->fd, "from", 0700), 0);
	put(s->fd, "from/file", "text");
	assert_int_equal(git(from, FILL, "init", "-q"), 0);
	assert_int_equal(git(from, FILL, "add", "file"), 0);
	assert_int_equal(git(from, FILL, "status", "--porcelain"), 0);
	assert_int_equal(read_file(s->fd, "from/.git/index", &in, &e), 0);
	assert_int_equal(renameat(s->fd, "from", s->fd, "to"), 0);
	unlinkat(s->fd, "said", 0);
	assert_int_equal(git(to, KEEP, "status", "--porcelain"), 0);
	assert_true(said(s, "untracked cache is disabled"));

	assert_int_equal(untracked_retarget(in.data, in.len, 20, to, &out, &e), 0);
	assert_int_equal(write_file(s->fd, "to/.git/index", out.data, out.len, 0600, &e), 0);
	assert_int_equal(git(to, KEEP, "status", "--porcelain"), 0);
	assert_false(said(s, "untracked cache is disabled"));
	assert_int_equal(write_file(s->fd, "to/.git/index", out.data, out.len, 0600, &e), 0);
	assert_int_equal(git(to, KEEP, "fsck", "--no-dangling"), 0);
	out.data[out.len - 1] ^= 1;
	assert_int_equal(write_file(s->fd, "to/.git/index", out.data, out.len, 0600, &e), 0);
	assert_int_not_equal(git(to, KEEP, "fsck", "--no-dangling"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retarget),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_zero_hash),
		cmocka_unit_test(test_refused),
		scratch_test(test_git_believes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
