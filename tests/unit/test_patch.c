#include "testing.h"

#include <string.h>

#include "feedback/fold.h"
#include "feedback/patch.h"

#define A_TXT                                                                                                \
	"diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n"                          \
	"@@ -2,3 +2,4 @@ f\n two\n-three\n+3\n+3a\n four\n@@ -20 +21 @@\n-x\n\\ No newline at end of file\n+y\n"

static const char two_files[] = ":100644 100644 1 2 M\ta.txt\n"
				":100644 100644 3 3 R100\t\"o\\tld\"\t\"n\\303\\274\\\"\\n\"\n"
				"\n" A_TXT "diff --git \"a/o\\tld\" \"b/n\"\nsimilarity index 100%\n";

static struct patch parsed(const char *text)
{
	struct err e = ERR_INIT;
	struct patch p = { 0 };

	assert_int_equal(patch_parse(text, strlen(text), &p, &e), 0);
	return p;
}

static void assert_refused(const char *text)
{
	struct err e = ERR_INIT;
	struct patch p = { 0 };

	assert_int_equal(patch_parse(text, strlen(text), &p, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_null(p.v);
}

static void test_files_are_listed(void **state)
{
	auto_patch p = parsed(two_files);

	(void)state;
	assert_int_equal(p.n, 2);
	assert_string_equal(p.v[0].path, "a.txt");
	assert_int_equal(p.v[0].status, 'M');
	assert_int_equal(p.v[0].added, 3);
	assert_int_equal(p.v[0].removed, 2);
	assert_int_equal(p.v[0].lines, 14);
	assert_string_equal(p.v[1].path, "n\xc3\xbc\"\n");
	assert_int_equal(p.v[1].status, 'R');
	assert_int_equal(p.v[1].lines, 2);
}

static void assert_line(struct patch_walk *w, const char *text, enum patch_side side, unsigned long number)
{
	struct patch_line l = { 0 };

	assert_true(patch_next(w, &l));
	assert_int_equal(l.len, strlen(text));
	assert_memory_equal(l.text, text, l.len);
	assert_int_equal(l.side, side);
	assert_int_equal(l.number, number);
}

static void test_lines_have_numbers(void **state)
{
	auto_patch p = parsed(two_files);
	struct patch_walk w = patch_walk(&p, 0);
	struct patch_line l;

	(void)state;
	assert_line(&w, "diff --git a/a.txt b/a.txt", PATCH_WHOLE, 0);
	assert_line(&w, "index 1..2 100644", PATCH_WHOLE, 0);
	assert_line(&w, "--- a/a.txt", PATCH_WHOLE, 0);
	assert_line(&w, "+++ b/a.txt", PATCH_WHOLE, 0);
	assert_line(&w, "@@ -2,3 +2,4 @@ f", PATCH_WHOLE, 0);
	assert_line(&w, " two", PATCH_NEW, 2);
	assert_line(&w, "-three", PATCH_OLD, 3);
	assert_line(&w, "+3", PATCH_NEW, 3);
	assert_line(&w, "+3a", PATCH_NEW, 4);
	assert_line(&w, " four", PATCH_NEW, 5);
	assert_line(&w, "@@ -20 +21 @@", PATCH_WHOLE, 0);
	assert_line(&w, "-x", PATCH_OLD, 20);
	assert_line(&w, "\\ No newline at end of file", PATCH_OLD, 20);
	assert_line(&w, "+y", PATCH_NEW, 21);
	assert_false(patch_next(&w, &l));
}

/* Git shows a file that becomes a link as removed and added. */
static void test_a_changed_type_has_two_parts(void **state)
{
	auto_patch p = parsed(":100644 120000 1 2 T\tl\n:000000 100644 0 1 A\tm\n\n"
			      "diff --git a/l b/l\ndeleted file mode 100644\n"
			      "diff --git a/l b/l\nnew file mode 120000\n@@ -0,0 +1 @@\n+m\n"
			      "diff --git a/m b/m\nnew file mode 100644\n");
	struct patch_walk w = patch_walk(&p, 0);
	struct patch_line l;
	int heads = 0;

	(void)state;
	assert_int_equal(p.n, 2);
	while (patch_next(&w, &l))
		heads += l.begins_file;
	assert_int_equal(heads, 2);
	assert_int_equal(p.v[1].lines, 2);
}

/* Lines of a file that look like git's own have a mark in front. */
static void test_contents_cannot_be_headers(void **state)
{
	auto_patch p =
		parsed(":000000 100644 0 1 A\te\n\ndiff --git a/e b/e\n--- /dev/null\n+++ b/e\n"
		       "@@ -0,0 +1,4 @@\n+diff --git a/x b/x\n+@@ -1 +1 @@\n+Binary files differ\n+-- y\n");

	(void)state;
	assert_int_equal(p.n, 1);
	assert_int_equal(p.v[0].added, 4);
	assert_int_equal(p.v[0].removed, 0);
	assert_false(p.v[0].binary);
}

static void test_what_git_does_not_print_is_refused(void **state)
{
	(void)state;
	assert_refused(":100644 100644 1 2 M\ta\n\n");
	assert_refused("diff --git a/a b/a\n");
	assert_refused(":100644 100644 1 2 M\ta\n\njunk\n");
	assert_refused(":100644 100644 1 2 M\t\n\ndiff --git a/a b/a\n");
	assert_refused(":100644 100644 1 2 M\t\"a\n\ndiff --git a/a b/a\n");
	assert_refused(":100644 100644 1 2 M\t\"a\\q\"\n\ndiff --git a/a b/a\n");
	assert_refused(":100644 100644 1 2 M\t\"a\\\"\n\ndiff --git a/a b/a\n");
	assert_refused(":\n\ndiff --git a/a b/a\n");
	assert_refused(":100644 120000 1 2 T\tl\n\ndiff --git a/l b/l\n");
	assert_refused(":100644 100644 1 2 M\ta\n\ndiff --git a/a b/a\n> x\n");
	assert_refused(":100644 100644 1 2 M\ta\n\ndiff --git a/a b/a\n@@ -1 +1 @@\n> x\n");
}

static void test_nothing_changed(void **state)
{
	auto_patch p = parsed("");

	(void)state;
	assert_int_equal(p.n, 0);
}

static const char *folded(const char *path, size_t lines, bool binary, size_t before)
{
	struct patch_file f = { .path = (char *)path, .lines = lines, .binary = binary };

	return fold_why(&f, &before);
}

static void test_folding(void **state)
{
	(void)state;
	assert_null(folded("src/a.c", 10, false, 0));
	assert_string_equal(folded("web/package-lock.json", 10, false, 0), "lock file");
	assert_string_equal(folded("go.sum", 1, false, 0), "lock file");
	assert_string_equal(folded("x/jquery.min.js", 1, false, 0), "generated");
	assert_null(folded("min.js", 1, false, 0));
	assert_string_equal(folded("logo.png", 4, true, 0), "binary");
	assert_null(folded("a", FOLD_FILE_LINES, false, 0));
	assert_string_equal(folded("a", FOLD_FILE_LINES + 1, false, 0), "long");
	assert_string_equal(folded("a", 10, false, FOLD_ALL_LINES - 9), "long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_listed),
		cmocka_unit_test(test_lines_have_numbers),
		cmocka_unit_test(test_a_changed_type_has_two_parts),
		cmocka_unit_test(test_contents_cannot_be_headers),
		cmocka_unit_test(test_what_git_does_not_print_is_refused),
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_folding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
