/* G5, G6, ESCAPES 12: what an agent sends is unpacked in a jail, and accepted completely or not at all. */
#include "gitrepo.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "publish/verifier_parts.h"
#include "sys/owner.h"

#define TASK 7

/* The shared repository, the agent's repository that borrows from it, and the verifier between them. */
struct fixture {
	struct gitrepo shared, drafts;
	char first[65];
	struct verifier v;
	struct oidset fresh; /* of the last take */
	struct err e;
};

/* Which area of the quarantine is used: every test runs with both. */
static bool small;

static void make(void **state, struct fixture *f)
{
	struct scratch *s = *state;
	auto_str alternate = NULL;

	*f = (struct fixture){ 0 };
	gitrepo_make(s, "shared", &f->shared);
	gitrepo_make(s, "drafts", &f->drafts);
	snprintf(f->first, sizeof(f->first), "%s", git_in(&f->shared, "rev-parse", "HEAD"));
	alternate = xasprintf("%s/objects\n", f->shared.dir);
	put(s->fd, "drafts/.git/objects/info/alternates", alternate);
	if (verifier_open(&f->shared.repo, TASK, NULL, &f->v, &f->e) < 0)
		fail_msg("%s", f->e.msg);
}

static void release(struct fixture *f)
{
	verifier_close(&f->v);
	oidset_release(&f->fresh);
	repo_release(&f->shared.repo);
	repo_release(&f->drafts.repo);
}

/* The objects between the two commits, as a pack in a file. */
static void pack(struct fixture *f, const char *tip, const char *without, struct buf *out)
{
	struct git git = repo_git(&f->drafts.repo);
	auto_strvec args = STRVEC_INIT;
	auto_buf in = BUF_SMALL;

	buf_printf(&in, "%s\n", tip);
	if (without)
		buf_printf(&in, "^%s\n", without);
	strvec_pushl(
		&args, "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q", NULL);
	assert_int_equal(git_run(&git, &args, &in, out, &f->e), 0);
}

static int take(struct fixture *f, const struct buf *pack, uint64_t max, size_t *ret_fresh)
{
	auto_fd fd = fd_of_bytes("pack", buf_str(pack), pack->len);
	int rc;

	oidset_release(&f->fresh);
	f->fresh = (struct oidset){ 0 };
	rc = verifier_take(&f->v, fd, small, max, &f->fresh, &f->e);
	*ret_fresh = f->fresh.n;
	return rc;
}

static size_t count(const struct fixture *f)
{
	return (size_t)strtoul(git_in(&f->shared, "count-objects"), NULL, 10);
}

static bool is_empty(struct fixture *f)
{
	struct quarantine *q = &f->v.at;

	return !quarantine_scan(q, &f->e) && !q->loose.n && !q->packs.n;
}

/* Nothing was changed, and the next one works. */
static void assert_nothing_happened(struct fixture *f, size_t before)
{
	assert_int_equal(verifier_drop(&f->v, &f->e), 0);
	assert_true(is_empty(f));
	assert_int_equal(count(f), before);
	assert_fsck_clean(&f->shared);
	assert_true(verifier_is_alive(&f->v));
}

static const char *commit_file(struct fixture *f, const char *name, const char *text)
{
	auto_fd top = open(f->drafts.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	git_in(&f->drafts, "reset", "-q", "--hard", f->first);
	put(top, name, text);
	git_in(&f->drafts, "add", "-A");
	git_in(&f->drafts, "commit", "-q", "-m", "work");
	return git_in(&f->drafts, "rev-parse", "HEAD");
}

static void a_good_pack_is_taken_and_kept(void **state)
{
	auto_buf p = BUF_INIT(1 << 20);
	enum object_type type;
	struct fixture f;
	struct stat st, objects;
	uint64_t size;
	auto_str tip = NULL, path = NULL;
	size_t fresh, before;

	make(state, &f);
	before = count(&f);
	tip = xstrdup(commit_file(&f, "new", "text\n"));
	pack(&f, tip, f.first, &p);
	assert_int_equal(take(&f, &p, 1 << 20, &fresh), 0);
	assert_int_equal(fresh, 3);
	/* not in the shared repository yet, but the reader sees it */
	assert_int_equal(count(&f), before);
	assert_int_equal(objects_info(&f.v.objects, tip, &type, &size, &f.e), 0);
	assert_int_equal(type, OBJECT_COMMIT);
	assert_int_equal(verifier_keep(&f.v, &f.fresh, &f.e), 0);
	assert_int_equal(verifier_drop(&f.v, &f.e), 0);
	assert_true(is_empty(&f));
	assert_int_equal(count(&f), before + 3);
	assert_string_equal(git_in(&f.shared, "cat-file", "-t", tip), "commit");
	assert_int_equal(objects_info(&f.v.objects, tip, &type, &size, &f.e), 0);
	assert_int_equal(type, OBJECT_COMMIT);
	path = xasprintf("shared/.git/objects/%.2s/%s", tip, tip + 2);
	assert_int_equal(fstatat(((struct scratch *)*state)->fd, path, &st, 0), 0);
	assert_int_equal(fstatat(((struct scratch *)*state)->fd, "shared/.git/objects", &objects, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0444);
	assert_int_equal(st.st_uid, objects.st_uid);
	assert_int_equal(st.st_nlink, 1);
	assert_fsck_clean(&f.shared);
	/* again: existing objects stay */
	assert_int_equal(take(&f, &p, 1 << 20, &fresh), 0);
	assert_int_equal(verifier_keep(&f.v, &f.fresh, &f.e), 0);
	assert_int_equal(verifier_drop(&f.v, &f.e), 0);
	assert_int_equal(count(&f), before + 3);
	release(&f);
}

/* Many files, and a large one that is a delta against the shared repository's. */
static const char *commit_many(struct fixture *f, unsigned n)
{
	auto_fd top = open(f->drafts.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	git_in(&f->drafts, "reset", "-q", "--hard", "shared-large");
	for (unsigned i = 0; i < n; i++) {
		auto_str name = xasprintf("f%u", i), text = xasprintf("text of %u\n", i);

		put(top, name, text);
	}
	auto_fd large = openat(top, "large", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write_full(large, "one more\n", 9), 0);
	git_in(&f->drafts, "add", "-A");
	git_in(&f->drafts, "commit", "-q", "-m", "many");
	return git_in(&f->drafts, "rev-parse", "HEAD");
}

static void many_objects_come_as_a_pack(void **state)
{
	struct scratch *s = *state;
	auto_buf p = BUF_INIT(4 << 20), large = BUF_INIT(1 << 20);
	enum object_type type;
	struct fixture f;
	uint64_t size;
	auto_str tip = NULL, base = NULL;
	size_t fresh;

	make(state, &f);
	for (unsigned i = 0; i < 3000; i++)
		buf_printf(&large, "line %u of a file\n", i * 7919);
	put(s->fd, "shared/large", large.data);
	git_in(&f.shared, "add", "large");
	git_in(&f.shared, "commit", "-q", "-m", "large");
	base = xstrdup(git_in(&f.shared, "rev-parse", "HEAD"));
	git_in(&f.drafts, "branch", "shared-large", base);
	tip = xstrdup(commit_many(&f, 150));
	pack(&f, tip, base, &p);
	assert_int_equal(take(&f, &p, 4 << 20, &fresh), 0);
	/* the commit, its tree, 150 files and the large one; not the base that git added to make the pack
	 * whole */
	assert_int_equal(fresh, 153);
	assert_int_equal(objects_info(&f.v.objects, tip, &type, &size, &f.e), 0);
	assert_int_equal(type, OBJECT_COMMIT);
	assert_int_equal(verifier_keep(&f.v, &f.fresh, &f.e), 0);
	assert_int_equal(verifier_drop(&f.v, &f.e), 0);
	assert_true(is_empty(&f));
	assert_string_equal(git_in(&f.shared, "cat-file", "-t", tip), "commit");
	git_in(&f.shared, "update-ref", "refs/heads/many", tip);
	assert_fsck_clean(&f.shared);
	/* the reader finds it at its new place */
	assert_int_equal(objects_info(&f.v.objects, tip, &type, &size, &f.e), 0);
	assert_int_equal(type, OBJECT_COMMIT);
	release(&f);
}

static void broken_packs_are_refused(void **state)
{
	auto_buf p = BUF_INIT(1 << 20);
	struct fixture f;
	size_t fresh, before, len;

	make(state, &f);
	before = count(&f);
	pack(&f, commit_file(&f, "new", "some text\n"), f.first, &p);
	len = p.len;
	/* one byte in the middle, in the checksum, in the number of objects */
	for (int i = 0; i < 3; i++) {
		size_t at = i == 0 ? len / 2 : i == 1 ? len - 1 : 11;

		p.data[at] ^= 1;
		assert_int_equal(take(&f, &p, 1 << 20, &fresh), -1);
		assert_int_equal(f.e.kind, ERR_REFUSED);
		assert_nothing_happened(&f, before);
		p.data[at] ^= 1;
	}
	for (size_t cut = 1; cut < len; cut += len / 7) {
		auto_buf part = BUF_INIT(1 << 20);

		buf_add(&part, p.data, len - cut);
		assert_int_equal(take(&f, &part, 1 << 20, &fresh), -1);
		assert_int_equal(f.e.kind, ERR_REFUSED);
		assert_nothing_happened(&f, before);
	}
	assert_int_equal(take(&f, &p, 100, &fresh), -1);
	assert_int_equal(f.e.kind, ERR_REFUSED);
	assert_int_equal(f.e.sys, EFBIG);
	assert_nothing_happened(&f, before);
	release(&f);
}

static void what_is_no_pack_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum err_kind kind;
	} cases[] = {
		{ "", 0, ERR_NOTFOUND },
		{ "PACK", 4, ERR_REFUSED },
		{ "PACK\0\0\0\3\0\0\0\1", 12, ERR_REFUSED },
		{ "pack\0\0\0\2\0\0\0\1", 12, ERR_REFUSED },
		{ "PACK\0\0\0\2\0\0\0\1", 12, ERR_REFUSED },
		{ "PACK\0\0\0\2\xff\xff\xff\xff", 12, ERR_REFUSED },
		{ "PACK\0\0\0\2\0\1\0\0", 12, ERR_REFUSED },
	};
	static const char none[] = "PACK\0\0\0\2\0\0\0";
	auto_buf empty = BUF_SMALL;
	struct fixture f;
	size_t fresh, before;

	make(state, &f);
	before = count(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf p = BUF_SMALL;

		buf_add(&p, cases[i].bytes, cases[i].len);
		assert_int_equal(take(&f, &p, 1 << 20, &fresh), -1);
		assert_int_equal(f.e.kind, cases[i].kind);
		assert_nothing_happened(&f, before);
	}
	buf_add(&empty, none, sizeof(none));
	assert_int_equal(take(&f, &empty, 1 << 20, &fresh), 0);
	assert_int_equal(fresh, 0);
	assert_nothing_happened(&f, before);
	release(&f);
}

/* Only these objects: git's own walk from a commit fails on odd ones. */
static void pack_these(struct fixture *f, struct buf *out, const char *first, ...) __attribute__((sentinel));
static void pack_these(struct fixture *f, struct buf *out, const char *first, ...)
{
	struct git git = repo_git(&f->drafts.repo);
	auto_strvec args = STRVEC_INIT;
	auto_buf in = BUF_SMALL;
	va_list ap;

	va_start(ap, first);
	for (const char *oid = first; oid; oid = va_arg(ap, const char *))
		buf_printf(&in, "%s\n", oid);
	va_end(ap);
	strvec_pushl(&args, "pack-objects", "--stdout", "-q", NULL);
	assert_int_equal(git_run(&git, &args, &in, out, &f->e), 0);
}

/* A commit with a tree of these entries, whatever git thinks of them, as a pack. */
static void odd_pack(struct fixture *f, const char *const *names, size_t n, struct buf *ret)
{
	auto_str blob = xstrdup(git_line(&f->drafts, "x\n", "hash-object", "-w", "--stdin", NULL));
	auto_buf bytes = BUF_SMALL, out = BUF_SMALL;
	struct git git = repo_git(&f->drafts.repo);
	auto_strvec args = STRVEC_INIT;
	char oid[65];

	for (size_t i = 0; i < n; i++) {
		buf_printf(&bytes, "100644 %s", names[i]);
		buf_addch(&bytes, '\0');
		for (size_t j = 0; j < 40; j += 2) {
			char two[3] = { blob[j], blob[j + 1], '\0' };

			buf_addch(&bytes, (char)strtoul(two, NULL, 16));
		}
	}
	strvec_pushl(&args, "hash-object", "--literally", "-t", "tree", "-w", "--stdin", NULL);
	assert_int_equal(git_run(&git, &args, &bytes, &out, &f->e), 0);
	snprintf(oid, sizeof(oid), "%.40s", buf_str(&out));
	pack_these(f, ret, gitrepo_commit(&f->drafts, oid, f->first), oid, blob, NULL);
}

static void odd_trees_are_refused(void **state)
{
	static const char *const cases[][2] = { { ".git", NULL }, { ".GIT", NULL }, { "git~1", NULL },
		{ "..", NULL }, { ".", NULL }, { "a", "a" }, { "b", "a" }, { "d/e", NULL }, { "", NULL } };
	struct fixture f;
	size_t fresh, before;

	make(state, &f);
	before = count(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf p = BUF_INIT(1 << 20);

		odd_pack(&f, cases[i], cases[i][1] ? 2 : 1, &p);
		if (!take(&f, &p, 1 << 20, &fresh))
			fail_msg("a tree with '%s' was taken", cases[i][0]);
		assert_int_equal(f.e.kind, ERR_REFUSED);
		assert_nothing_happened(&f, before);
	}
	/* control: the same steps with a good name */
	auto_buf p = BUF_INIT(1 << 20);
	odd_pack(&f, (const char *const[]){ "fine" }, 1, &p);
	assert_int_equal(take(&f, &p, 1 << 20, &fresh), 0);
	assert_int_equal(fresh, 3);
	release(&f);
}

/* The shared repository has a tree, but not all of its objects, as after an incomplete prune. --strict checks
 * only what is sent, and that the tree exists. */
static void a_missing_blob_is_found(void **state)
{
	static const char gone[] = "100644 blob 1234567890123456789012345678901234567890\tgone\n";
	auto_buf p = BUF_INIT(1 << 20), sent = BUF_INIT(1 << 20);
	auto_str good = NULL, bad = NULL, tree = NULL;
	struct fixture f;
	size_t fresh;

	make(state, &f);
	good = xstrdup(commit_file(&f, "new", "text\n"));
	pack(&f, good, f.first, &p);
	assert_int_equal(take(&f, &p, 1 << 20, &fresh), 0);
	assert_int_equal(verifier_connected(&f.v, good, &f.e), 0);
	tree = xstrdup(git_line(&f.shared, gone, "mktree", "--missing", NULL));
	bad = xstrdup(gitrepo_commit(&f.drafts, tree, f.first));
	pack_these(&f, &sent, bad, NULL);
	assert_int_equal(take(&f, &sent, 1 << 20, &fresh), 0);
	assert_int_equal(verifier_connected(&f.v, bad, &f.e), -1);
	assert_int_equal(f.e.kind, ERR_REFUSED);
	release(&f);
}

static void knows_what_is_reached(void **state)
{
	struct strvec first = STRVEC_INIT, second = STRVEC_INIT;
	struct fixture f;
	bool reached;

	make(state, &f);
	strvec_push(&first, f.first);
	strvec_push(&second, gitrepo_commit(&f.shared, "HEAD^{tree}", f.first));
	assert_int_equal(verifier_reached(&f.v, &first, &second, &reached, &f.e), 0);
	assert_true(reached);
	assert_int_equal(verifier_reached(&f.v, &second, &first, &reached, &f.e), 0);
	assert_false(reached);
	strvec_push(&first, "1234567890123456789012345678901234567890");
	assert_int_equal(verifier_reached(&f.v, &first, &second, &reached, &f.e), 0);
	assert_false(reached);
	strvec_release(&first);
	strvec_release(&second);
	release(&f);
}

/* Kills the verifier while it waits for the rest of a pack. */
static void dies_in_the_middle(void **state)
{
	auto_buf p = BUF_INIT(1 << 20);
	auto_oidset fresh = { 0 };
	struct fixture f;
	size_t before, n;
	int pair[2];
	pid_t pid;

	make(state, &f);
	before = count(&f);
	pack(&f, commit_file(&f, "new", "text\n"), f.first, &p);
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_int_equal(write_full(pair[1], p.data, p.len / 2), 0);
	pid = fork();
	if (!pid) {
		usleep(300000);
		_exit(kill(f.v.first, SIGKILL) ? 1 : 0);
	}
	assert_int_equal(verifier_take(&f.v, pair[0], false, 1 << 20, &fresh, &f.e), -1);
	assert_int_equal(f.e.kind, ERR_FAILED);
	waitpid(pid, NULL, 0);
	assert_int_equal(waitid(P_PID, (id_t)f.v.first, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_false(verifier_is_alive(&f.v));
	verifier_close(&f.v);
	assert_int_equal(count(&f), before);
	assert_false(there(((struct scratch *)*state)->fd, "shared/.git/objects/garth-7"));
	assert_fsck_clean(&f.shared);
	assert_int_equal(verifier_open(&f.shared.repo, TASK, NULL, &f.v, &f.e), 0);
	assert_int_equal(take(&f, &p, 1 << 20, &n), 0);
	assert_int_equal(n, 3);
	close(pair[0]);
	close(pair[1]);
	release(&f);
}

/* garth-fast-unpack gives up: a git that it started may still write to the same area, so the verifier is closed,
 * and nothing of the pack is accepted. */
static void a_helper_that_gave_up_spoils_it(void **state)
{
	auto_buf p = BUF_INIT(1 << 20);
	struct fixture f;
	size_t before, n;
	int null;

	make(state, &f);
	before = count(&f);
	pack(&f, commit_file(&f, "new", "text\n"), f.first, &p);
	verifier_start_fast(&f.v);
	assert_int_not_equal(f.v.fast.id, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_true(null >= 0 && dup3(null, f.v.fast.in, O_CLOEXEC) >= 0);
	close(null);
	assert_int_equal(poll(&(struct pollfd){ f.v.fast.out, POLLIN, 0 }, 1, 10000), 1);
	{
		auto_fd fd = fd_of_bytes("pack", buf_str(&p), p.len);

		assert_int_equal(verifier_take(&f.v, fd, true, 1 << 20, &f.fresh, &f.e), -1);
	}
	assert_false(verifier_is_alive(&f.v));
	verifier_close(&f.v);
	assert_int_equal(count(&f), before);
	assert_int_equal(verifier_open(&f.shared.repo, TASK, NULL, &f.v, &f.e), 0);
	assert_int_equal(take(&f, &p, 1 << 20, &n), 0);
	assert_int_equal(n, 3);
	release(&f);
}

static void what_a_crash_left_is_removed(void **state)
{
	struct scratch *s = *state;
	struct fixture f;

	make(state, &f);
	verifier_close(&f.v);
	assert_int_equal(mkdirat(s->fd, "shared/.git/objects/garth-7", 0755), 0);
	assert_int_equal(mkdirat(s->fd, "shared/.git/objects/garth-7/ab", 0700), 0);
	put(s->fd, "shared/.git/objects/garth-7/ab/cdef", "left");
	if (verifier_open(&f.shared.repo, TASK, NULL, &f.v, &f.e) < 0)
		fail_msg("%s", f.e.msg);
	assert_true(is_empty(&f));
	release(&f);
}

static int sh(struct fixture *f, const char *script, struct buf *out)
{
	auto_order_cmd c = { .cwd = xstrdup("/") };
	int code = -1;

	strvec_pushl(&c.argv, "/bin/sh", "-c", script, NULL);
	strvec_push(&c.env, "PATH=/usr/bin:/bin");
	assert_int_equal(runner_run(&f->v.runner, &c, NULL, out, out, 20, &code, &f->e), 0);
	return code;
}

static void its_walls_stand(void **state)
{
	struct scratch *s = *state;
	auto_buf out = BUF_SMALL;
	auto_str script = NULL, view = NULL;
	struct fixture f;

	make(state, &f);
	put(s->fd, "secret", "secret\n");
	script = xasprintf(
		"! touch %s/objects/x && ! touch %s/objects/pack/x && touch %s/x && rm %s/x &&"
		" ! cat %s/secret && ! ls %s/HEAD && ! ls /home/* && ! ls /root && ! ls /etc/shadow &&"
		" [ $(id -u) != 0 ] && ! grep -v '^ *lo:' /proc/net/dev | grep : && ulimit -t | grep -x 120 &&"
		" [ $(ls / | wc -l) -lt 14 ]",
		f.shared.dir, f.shared.dir, f.v.quarantine, f.v.quarantine, s->path, f.shared.dir);
	if (sh(&f, script, &out))
		fail_msg("%s", buf_str(&out));
	view = xasprintf("[ -r %s/objects/pack ]", f.shared.dir);
	assert_int_equal(sh(&f, view, &out), 0);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_good_pack_is_taken_and_kept),
		scratch_test(many_objects_come_as_a_pack),
		scratch_test(broken_packs_are_refused),
		scratch_test(what_is_no_pack_is_refused),
		scratch_test(odd_trees_are_refused),
		scratch_test(a_missing_blob_is_found),
		scratch_test(knows_what_is_reached),
		scratch_test(dies_in_the_middle),
		scratch_test(a_helper_that_gave_up_spoils_it),
		scratch_test(what_a_crash_left_is_removed),
		scratch_test(its_walls_stand),
	};

	signal(SIGPIPE, SIG_IGN);
	int failed = 0;

	for (int room = 0; room < 2; room++) {
		small = room;
		failed += cmocka_run_group_tests_name(small ? "in memory" : "on disk", tests, NULL, NULL);
	}
	return failed;
}
