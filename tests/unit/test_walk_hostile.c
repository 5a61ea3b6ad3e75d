/* Objects that only an attacker makes. */
#include "walked.h"

#define BOMB(leaf)                                                                                                \
	"t=$(" leaf "); for l in 1 2 3 4 5 6 7 8 9 10; do"                                                        \
	" t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $t $i; done | git mktree); done;" \
	"t=$({ git ls-tree main; printf '040000 tree %s\\tz\\n' $t; } | git mktree);"                             \
	"c=$(git commit-tree -p main -m bomb $t);"

/* ESCAPES 12: ten objects, ten thousand million paths */
static void test_tree_bomb(void **state)
{
	static const char *const bombs[] = {
		BOMB("printf '100644 blob %s\\tf\\n' $(git rev-parse main:a) | git mktree") "echo $c",
		BOMB("git mktree </dev/null") "echo $c",
		/* removed again: a walk over every commit still finds it */
		BOMB("printf '100644 blob %s\\tf\\n' $(git rev-parse main:a) | git mktree") "git commit-tree -p $c -m gone main^{tree}",
		/* made of existing objects */
		BOMB("git rev-parse main^{tree}") "echo $c",
	};
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(bombs); i++) {
		struct timespec from;
		auto_str tip = sh(f.s, bombs[i]);

		clock_gettime(CLOCK_MONOTONIC, &from);
		assert_int_equal(look_at(&f, tip), -1);
		assert_true(!strcmp(f.no.code, "too_large") || !strcmp(f.no.code, "too_many_files"));
		assert_int_equal(f.e.kind, ERR_REFUSED);
		assert_true(seconds_since(&from) < 10);
	}
	fixture_close(&f);
}

/* a smaller one, with fewer paths than the walk's limit: max_files finds it */
static void test_small_bomb(void **state)
{
	static const char *const leaves[] = { "printf '100644 blob %s\\tf\\n' $(git rev-parse main:a)",
		"true" };
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(leaves); i++) {
		auto_str script = xasprintf(
			"t=$(%s | git mktree); for l in 1 2 3 4 5; do t=$(for i in 0 1 2 3 4 5 6 7 8 9; do"
			" printf '040000 tree %%s\\td%%s\\n' $t $i; done | git mktree); done;"
			"t=$({ git ls-tree main; printf '040000 tree %%s\\tz\\n' $t; } | git mktree);"
			"git commit-tree -p main -m bomb $t",
			leaves[i]);

		assert_no(&f, look(&f, script), "too_many_files", NULL);
	}
	fixture_close(&f);
}

static void test_depth(void **state)
{
	static const char deep[] =
		"python3 - <<'end'\n"
		"import hashlib, os, subprocess, zlib\n"
		"def put(kind, data):\n"
		"  data = kind + b' %d\\0' % len(data) + data; h = hashlib.sha1(data).hexdigest()\n"
		"  os.makedirs('.git/objects/' + h[:2], exist_ok=True)\n"
		"  open('.git/objects/' + h[:2] + '/' + h[2:], 'wb').write(zlib.compress(data)); return h\n"
		"t = subprocess.check_output(['git', 'rev-parse', 'main:dir'], text=True).strip()\n"
		"for i in range(600): t = put(b'tree', b'40000 d\\0' + bytes.fromhex(t))\n"
		"print(subprocess.check_output(['git', 'commit-tree', '-p', 'main', '-m', 'deep', t], text=True).strip())\n"
		"end\n";
	static const char wide[] =
		"t=$(git rev-parse main:dir); n=$(head -c 200 /dev/zero | tr '\\0' n); for l in $(seq 24); do"
		" t=$(printf '040000 tree %s\\t%s\\n' $t $n | git mktree); done; git commit-tree -p main -m long $t";
	struct fixture f;

	fixture_open(&f, state, 20);
	assert_no(&f, look(&f, deep), "too_large", NULL);
	assert_no(&f, look(&f, wide), "too_large", NULL);
	fixture_close(&f);
}

/* ESCAPES 12: objects that are named and missing */
static void test_missing(void **state)
{
	static const char *const cases[] = {
		/* a blob, a tree, a parent, a commit's tree that never existed */
		"t=$({ git ls-tree main; printf '100644 blob %s\\tz\\n' $none; } | git mktree --missing);"
		"git commit-tree -p main -m x $t",
		"t=$({ git ls-tree main; printf '040000 tree %s\\tz\\n' $none; } | git mktree --missing);"
		"git commit-tree -p main -m x $t",
		"printf 'tree %s\\nparent %s\\nauthor A <a@x> 1 +0000\\ncommitter A <a@x> 1 +0000\\n\\nx\\n'"
		" $(git rev-parse main^{tree}) $none | git hash-object -w -t commit --stdin",
		"printf 'tree %s\\nauthor A <a@x> 1 +0000\\ncommitter A <a@x> 1 +0000\\n\\nx\\n' $none |"
		" git hash-object -w -t commit --stdin",
		"echo $none",
		/* beneath a directory that is fresh itself */
		"t=$(printf '100644 blob %s\\tz\\n' $none | git mktree --missing);"
		"t=$(printf '040000 tree %s\\td\\n' $t | git mktree); git commit-tree -p main -m x $t",
		/* in a commit before the tip */
		"t=$({ git ls-tree main; printf '100644 blob %s\\tz\\n' $none; } | git mktree --missing);"
		"c=$(git commit-tree -p main -m x $t); git commit-tree -p $c -m y main^{tree}",
		/* at its old name with another type, and restored later */
		"t=$(git ls-tree main | sed 's/^040000 tree\\(.*\\tdir\\)$/100644 blob\\1/' | python3 -c \"$mktree\");"
		"c=$(git commit-tree -p main -m x $t); git commit-tree -p $c -m y main^{tree}",
		/* existing objects of another type: a commit as a file, a file as a directory, a tree as
		 * parent or tip */
		"t=$({ git ls-tree main; printf '100644 blob %s\\tz\\n' $(git rev-parse main); } | python3 -c \"$mktree\");"
		"git commit-tree -p main -m x $t",
		"t=$({ git ls-tree main; printf '040000 tree %s\\tz\\n' $(git rev-parse main:a); } | python3 -c \"$mktree\");"
		"git commit-tree -p main -m x $t",
		"t=$({ git ls-tree main; printf '100644 blob %s\\tz\\n' $(git rev-parse main:dir); } | python3 -c \"$mktree\");"
		"git commit-tree -p main -m x $t",
		"t=$(echo new | git hash-object -w --stdin); t=$(printf '040000 tree %s\\tz\\n' $t | python3 -c \"$mktree\");"
		"git commit-tree -p main -m x $t",
		/* a new tree that is a file at its first place and a directory at its second */
		"t=$(printf '100644 blob %s\\tnew\\n' $(git rev-parse main:a) | git mktree);"
		"t=$(printf '040000 tree %s\\ta\\n100644 blob %s\\tb\\n' $t $t | python3 -c \"$mktree\");"
		"git commit-tree -p main -m x $t",
		"printf 'tree %s\\nparent %s\\nauthor A <a@x> 1 +0000\\ncommitter A <a@x> 1 +0000\\n\\nx\\n'"
		" $(git rev-parse main^{tree} main^{tree}) | git hash-object -w -t commit --literally --stdin",
		"git rev-parse main^{tree}",
	};
	static const char before[] =
		"none=1234567890123456789012345678901234567890;"
		"mktree='import sys,subprocess as s\n"
		"d=b\"\"\n"
		"for l in sys.stdin.read().splitlines():\n"
		"  h,n=l.split(\"\\t\"); m,_,o=h.split(); d+=(m.lstrip(\"0\")+\" \"+n).encode()+b\"\\0\"+bytes.fromhex(o)\n"
		"print(s.run(\"git hash-object -w -t tree --literally --stdin\".split(),input=d,capture_output=True,"
		"check=True).stdout.decode().strip())';";
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_str script = xasprintf("%s%s", before, cases[i]);
		int rc = look(&f, script);

		if (!rc)
			fail_msg("taken: %s", cases[i]);
		assert_no(&f, rc, "incomplete", NULL);
	}
	fixture_close(&f);
}

/* trees and commits that no git makes; --strict refuses them before, and the walk does again */
static void test_malformed(void **state)
{
	static const char *const trees[] = {
		"b'100644 a'",
		"b'100644 a\\0short'",
		"b'100644 \\0' + oid",
		"b'100644 a/b\\0' + oid",
		"b'100644 ..\\0' + oid",
		"b'40000 .GIT\\0' + tree",
		"b'100644 a\\0' + oid + b'100755 a\\0' + oid",
		"b'100644 a\\0' + oid + b'100644 a.b\\0' + oid + b'40000 a\\0' + tree",
		"b' a\\0' + oid",
		"b'1006448888 a\\0' + oid",
		"b'100648 a\\0' + oid",
		"b'60644 a\\0' + oid",
		"b'40755 a\\0' + tree",
	};
	static const char *const commits[] = { "", "tree x\n", "author A <a@x> 1 +0000\n", "tree %s\n\nx\n",
		"tree %s\nauthor A 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\n",
		"tree %s\nparent 12\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\n",
		"tree %s\nauthor A <a@x> 1 +0000\n\nx\n",
		"tree %s\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\\000y\n" };
	struct fixture f;

	fixture_open(&f, state, 20);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		auto_str script = xasprintf(
			"t=$(python3 -c \"import sys; oid=bytes.fromhex('$(git rev-parse main:a)');"
			"tree=bytes.fromhex('$(git rev-parse main:dir)'); sys.stdout.buffer.write(%s)\" |"
			" git hash-object -w -t tree --literally --stdin); git commit-tree -p main -m x $t",
			trees[i]);
		int rc = look(&f, script);

		if (!rc)
			fail_msg("taken: %s", trees[i]);
		assert_no(&f, rc, "incomplete", NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(commits); i++) {
		auto_str script = xasprintf("printf '%s' $(git rev-parse main^{tree}) |"
					    " git hash-object -w -t commit --literally --stdin",
			commits[i]);

		assert_no(&f, look(&f, script), "incomplete", NULL);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_tree_bomb),
		scratch_test(test_small_bomb),
		scratch_test(test_depth),
		scratch_test(test_missing),
		scratch_test(test_malformed),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
