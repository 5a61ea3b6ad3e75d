/* The pack that the hook sends along: the same as git would pack, for every kind of move. */
#include "shim_world.h"

/* Runs a script in the workspace that moves its branch, and makes the pack for that move. */
static bool offer(struct world *w, const char *script, struct buf *ret)
{
	auto_str text =
		xasprintf("cd ws && git rev-parse HEAD >../from && export GARTH_GATEWAY=1 && { %s; } && "
			  "git rev-parse HEAD >../to",
			script);
	auto_buf from = BUF_SMALL, to = BUF_SMALL;
	auto_fd git = -1;
	struct err e = ERR_INIT;

	assert_int_equal(shell(w->s, text), 0);
	assert_int_equal(read_file(w->s->fd, "from", &from, &e), 0);
	assert_int_equal(read_file(w->s->fd, "to", &to, &e), 0);
	from.data[strcspn(from.data, "\n")] = '\0';
	to.data[strcspn(to.data, "\n")] = '\0';
	git = openat(w->s->fd, "ws/.git", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return offer_pack(git, from.data, to.data, ret);
}

/* Whoever has the old tip and gets the pack has the complete new tip. */
static void assert_offered(struct world *w, const char *script)
{
	auto_buf pack = BUF_INIT(OFFER_MAX);
	struct err e = ERR_INIT;

	assert_int_equal(shell(w->s, "rm -rf other && git clone -q --bare --no-local ws other"), 0);
	assert_true(offer(w, script, &pack));
	assert_int_equal(write_file(w->s->fd, "pack", pack.data, pack.len, 0600, &e), 0);
	assert_int_equal(
		shell(w->s,
			"base64 -d pack >raw && git -C other unpack-objects -q --strict <raw && "
			"git -C other update-ref refs/heads/moved $(cat to) && git -C other fsck --strict 2>&1"),
		0);
}

static void every_move_is_offered(void **state)
{
	static const char *const moves[] = {
		"echo 1 >>a; git commit -qam 1",
		"mkdir -p x/y/z && echo 1 >x/y/z/f && git add . && git commit -qm deep",
		"echo 2 >x/y/z/g && git add . && git commit -qm beside",
		"git rm -q x/y/z/f && git commit -qm gone",
		"chmod +x a && git commit -qam mode",
		"ln -s a link && : >empty && git add . && git commit -qm odd",
		"seq 30000 >long && git add . && git commit -qm long",
		"git commit -q --amend -m again",
		"git commit -q --allow-empty -m same",
		"git mv x moved && git commit -qm moved",
		"for i in 1 2 3; do echo $i >>a; git commit -qam $i; done",
		("git checkout -qb side HEAD~1 && echo s >s && git add s && git commit -qm side && "
		 "git checkout -q - && git merge -q --no-edit side"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		assert_offered(*state, moves[i]);
}

static void what_is_large_is_left_to_git(void **state)
{
	static const char *const moves[] = {
		"head -c 600000 /dev/urandom >big && git add big && git commit -qm big",
		"for i in $(seq 200); do echo $i >n$i; done; git add . && git commit -qm many",
		"for i in $(seq 12); do git commit -q --allow-empty -m $i; done",
	};

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		auto_buf pack = BUF_INIT(OFFER_MAX);

		assert_false(offer(*state, moves[i], &pack));
	}
}

/* The objects are the agent's files, and may have any content. */
static void broken_storage_offers_nothing_bad(void **state)
{
	auto_buf pack = BUF_INIT(OFFER_MAX);

	assert_false(offer(*state,
		"echo b >>a; git commit -qam b; f=.git/objects/$(git rev-parse HEAD | sed 's,..,&/,'); rm -f $f; "
		"mkfifo $f",
		&pack));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		world_test(every_move_is_offered),
		world_test(what_is_large_is_left_to_git),
		world_test(broken_storage_offers_nothing_bad),
	};
	int code;

	if (world_begin(argc, argv, &code))
		return code;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
