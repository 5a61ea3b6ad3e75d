#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "feedback/comments.h"
#include "feedback/prompt.h"

#define TIP  "1111111111111111111111111111111111111111"
#define FORK "2222222222222222222222222222222222222222"

/* Two files with a hunk that looks the same, and one that is folded. */
static const char git_says[] =
	":100644 100644 1 2 M\ta.c\n:100644 100644 1 2 M\tb.c\n:100644 100644 1 2 M\tgo.sum\n\n"
	"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
	"@@ -1,3 +1,3 @@\n one\n-two\n+2\n \n@@ -9 +9 @@\n-nine\n+9\n"
	"diff --git a/b.c b/b.c\n--- a/b.c\n+++ b/b.c\n"
	"@@ -1,3 +1,3 @@\n uno\n-dos\n+2\n tres\n"
	"diff --git a/go.sum b/go.sum\n@@ -1 +1 @@\n-x\n+y\n";

struct setup {
	struct patch p;
	struct annotated a;
	struct comment_list l;
};

static void release(struct setup *s)
{
	comment_list_release(&s->l);
	annotated_release(&s->a);
	patch_release(&s->p);
}
#define auto_setup __attribute__((cleanup(release))) struct setup

static void prepare(struct setup *s, const char *diff)
{
	struct err e = ERR_INIT;

	*s = (struct setup){ 0 };
	assert_int_equal(patch_parse(diff, strlen(diff), &s->p, &e), 0);
	assert_int_equal(annotated_build(&s->p, "fix", &s->a, &e), 0);
}

static char *written(const struct setup *s)
{
	const struct strvec none = STRVEC_INIT;
	const struct annotated_heading h = {
		.task = "fix", .tip = TIP, .fork = FORK, .commits = &none, .uncommitted = &none
	};
	auto_buf out = BUF_INIT(1 << 20);

	annotated_head(&s->a, &h, &out);
	comments_print(&s->a, &s->l, &out);
	annotated_tail(&h, &out);
	return buf_steal(&out);
}

/* Replaces the first `from` by `to`. */
static char *edited(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from), *out;

	assert_non_null(at);
	out = xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	free(text);
	return out;
}

/* Reads the file after the replacements, which end in NULL. */
static void read_edited(struct setup *s, const char *const *edits)
{
	auto_str text = NULL;

	prepare(s, git_says);
	text = written(s);
	for (; *edits; edits += 2)
		text = edited(steal_ptr(text), edits[0], edits[1]);
	comments_read(&s->a, &s->p, text, strlen(text), &s->l);
}
#define READ(s, ...) read_edited(&(s), (const char *const[]){ __VA_ARGS__, NULL })

static void assert_comment(const struct setup *s, size_t i, const char *path, unsigned long line,
	enum patch_side side, const char *code, const char *text)
{
	const struct comment *c = &s->l.v[i];

	assert_true(i < s->l.n);
	assert_true(c->placed);
	if (path)
		assert_string_equal(c->path, path);
	else
		assert_null(c->path);
	assert_int_equal(c->line, line);
	assert_int_equal(c->side, side);
	assert_string_equal(c->code, code);
	assert_string_equal(c->text, text);
}

static void test_comments_belong_to_the_line_above(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, " one\n", " one\n> on one\n>\n>  more \n", "-nine\n", "-nine\n>removed\n", "+2\n tres\n",
		"+2\n> on b\n tres\n> end\n");
	assert_int_equal(s.l.n, 4);
	assert_int_equal(s.l.lost, 0);
	assert_comment(&s, 0, "a.c", 1, PATCH_NEW, "one", "on one\n\n more");
	assert_comment(&s, 1, "a.c", 9, PATCH_OLD, "nine", "removed");
	assert_comment(&s, 2, "b.c", 2, PATCH_NEW, "2", "on b");
	assert_comment(&s, 3, "b.c", 3, PATCH_NEW, "tres", "end");
}

static void test_comments_on_files_and_hunks(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, "diff --git a/b.c b/b.c\n", "diff --git a/b.c b/b.c\n> whole\n", "@@ -9 +9 @@\n",
		"@@ -9 +9 @@\n> hunk\n", "go.sum\nfolded", "go.sum\n> why\nfolded");
	assert_int_equal(s.l.n, 3);
	assert_comment(&s, 0, "a.c", 0, PATCH_WHOLE, "", "hunk");
	assert_comment(&s, 1, "b.c", 0, PATCH_WHOLE, "", "whole");
	assert_comment(&s, 2, "go.sum", 0, PATCH_WHOLE, "", "why");
}

static void test_general_remarks(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, "# Review", "> first\n# Review", "\ndiff --git a/a.c",
		"\n> second\n\n> third\ndiff --git a/a.c");
	assert_int_equal(s.l.n, 3);
	assert_comment(&s, 0, NULL, 0, PATCH_WHOLE, "", "first");
	assert_comment(&s, 1, NULL, 0, PATCH_WHOLE, "", "second");
	assert_comment(&s, 2, NULL, 0, PATCH_WHOLE, "", "third");
}

static void test_no_comments(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, " one\n", " one\n>\n>  \n");
	assert_int_equal(s.l.n, 0);
	assert_int_equal(s.l.lost, 0);
	assert_false(comments_any("a\n>\n> \n", 7));
	assert_true(comments_any("a\n> x", 5));
	assert_false(comments_any("a > x\n", 6));
}

/* Editors remove blanks at line ends, and people add blank lines. */
static void test_what_does_not_matter(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, "+2\n \n", "+2\n\n", "+9\n", "+9\n\n\n> nine\n\n", " uno\n", " uno\r\n> crlf\r\n");
	assert_int_equal(s.l.n, 2);
	assert_int_equal(s.l.lost, 0);
	assert_comment(&s, 0, "a.c", 9, PATCH_NEW, "9", "nine");
	assert_comment(&s, 1, "b.c", 1, PATCH_NEW, "uno", "crlf");
}

static void test_changed_lines_around(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, " one\n-two\n", " one\n> lost\n");
	assert_int_equal(s.l.lost, 1);
	assert_false(s.l.v[0].placed);
	assert_string_equal(s.l.v[0].text, "lost");
	assert_int_equal(s.l.v[0].row, 16);
	release(&s);
	READ(s, " one\n", " ONE\n> lost\n");
	assert_int_equal(s.l.lost, 1);
	release(&s);
	/* the end of the file is gone */
	READ(s, " tres\n", "> lost\n", "diff --git a/go.sum b/go.sum\n", "", "folded", "");
	assert_int_equal(s.l.lost, 1);
}

static void test_the_place_is_found_again(void **state)
{
	auto_setup s;

	(void)state;
	/* in the next hunk, in the next file, and without a file in between */
	READ(s, " one\n", "", "-nine\n", "-nine\n> here\n", " uno\n", " uno\n> there\n");
	assert_int_equal(s.l.lost, 0);
	assert_comment(&s, 0, "a.c", 9, PATCH_OLD, "nine", "here");
	assert_comment(&s, 1, "b.c", 1, PATCH_NEW, "uno", "there");
	release(&s);
	READ(s, "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n \n@@ -9 +9 @@\n-nine\n+9\n",
		"", "-dos\n", "-dos\n> there\n");
	assert_int_equal(s.l.lost, 0);
	assert_comment(&s, 0, "b.c", 2, PATCH_OLD, "dos", "there");
}

/* The second file's hunk has the same head as the first one's. */
static void test_a_hunk_is_not_taken_for_another_files(void **state)
{
	auto_setup s;

	(void)state;
	READ(s, "diff --git a/b.c b/b.c\n--- a/b.c\n+++ b/b.c\n", "", " uno\n", " uno\n> where?\n");
	assert_int_equal(s.l.lost, 1);
	release(&s);
	READ(s, "diff --git a/b.c b/b.c\n", "diff --git a/x.c b/x.c\n", " uno\n", " uno\n> where?\n");
	assert_int_equal(s.l.lost, 1);
}

static void test_kept_comments_are_written_again(void **state)
{
	auto_setup s;
	auto_comment_list again = { 0 };
	auto_str text = NULL;

	(void)state;
	READ(s, "\ndiff --git a/a.c", "\n> general\ndiff --git a/a.c", "+9\n", "+9\n> nine\n> more\n",
		" tres\n", "> lost\n");
	assert_int_equal(s.l.lost, 1);
	text = written(&s);
	comments_read(&s.a, &s.p, text, strlen(text), &again);
	assert_int_equal(again.n, 3);
	assert_int_equal(again.lost, 0);
	assert_string_equal(again.v[0].text, "general");
	assert_string_equal(again.v[1].text, "lost");
	assert_null(again.v[1].path);
	assert_string_equal(again.v[2].text, "nine\nmore");
	assert_int_equal(again.v[2].line, 9);
}

/* Names and contents that try to be comments, lines of the heading, or commands. */
static void test_hostile_names_and_contents(void **state)
{
	static const char diff[] =
		":000000 100644 0 1 A\t\"\\n> sent\\n\"\n:000000 100644 0 1 A\t$(touch x)'.min.js\n\n"
		"diff --git \"a/\\n> sent\" \"b/\\n> sent\"\n--- /dev/null\n+++ \"b/\\n> sent\"\n@@ -0,0 +1,4 @@\n"
		"+> sent\n+a\xe2\x80\xa8> sent\n+b\r> sent\n+\xe2\x80\xae\033[2J\xff\n"
		"diff --git a/$(touch x)'.min.js b/$(touch x)'.min.js\n@@ -0,0 +1 @@\n+x\n";
	auto_setup s;
	auto_str text = NULL;

	(void)state;
	prepare(&s, diff);
	text = written(&s);
	comments_read(&s.a, &s.p, text, strlen(text), &s.l);
	assert_int_equal(s.l.n, 0);
	assert_non_null(strstr(text, "\n+a<U+2028>> sent\n+b^M> sent\n+<U+202E>^[[2J\\xff\n"));
	assert_non_null(strstr(text, "garth diff --published fix '$(touch x)'\\''.min.js'\n"));
	assert_null(strchr(text, '\033'));
	assert_int_equal(s.a.n, 10);
}

static void test_long_lines_are_cut(void **state)
{
	auto_buf diff = BUF_INIT(1 << 20);
	auto_setup s;

	(void)state;
	buf_addstr(&diff, ":000000 100644 0 1 A\tx\n\ndiff --git a/x b/x\n@@ -0,0 +1 @@\n+");
	for (int i = 0; i < 5000; i++)
		buf_addch(&diff, 'y');
	prepare(&s, buf_str(&diff));
	assert_in_range(s.a.v[2].len, ANNOTATED_LINE_MAX, ANNOTATED_LINE_MAX + 30);
	assert_non_null(strstr(buf_str(&s.a.text), "yyy ... (3001 more bytes)\n"));
}

static void test_ids(void **state)
{
	char tip[OID_SIZE] = "", fork[OID_SIZE] = "";
	auto_setup s;
	auto_str text = NULL;

	(void)state;
	prepare(&s, git_says);
	text = written(&s);
	assert_true(annotated_ids(text, strlen(text), tip, fork));
	assert_string_equal(tip, TIP);
	assert_string_equal(fork, FORK);
	text = edited(steal_ptr(text), "# garth-review 1 1", "# garth-review 1 ");
	assert_false(annotated_ids(text, strlen(text), tip, fork));
	assert_false(annotated_ids("diff --git\n# garth-review 1 " TIP " " FORK "\n", 120, tip, fork));
	assert_false(annotated_ids("", 0, tip, fork));
}

static void test_prompt(void **state)
{
	auto_buf out = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	auto_setup s;

	(void)state;
	READ(s, "# Review", "> in general\n# Review", "-nine\n", "-nine\n> removed\n", " uno\n",
		" uno\n> one\n> two\n", "go.sum\nfolded", "go.sum\n> why\nfolded");
	assert_int_equal(prompt_write(&s.l, TIP, &out, &e), 0);
	assert_string_equal(buf_str(&out),
		"The user has reviewed your commits up to 111111111111. Please deal with these comments:\n"
		"\nGeneral remarks:\nin general\n"
		"\na.c:9 (removed)\n    nine\nremoved\n"
		"\nb.c:1\n    uno\none\ntwo\n"
		"\ngo.sum\nwhy\n");
	prompt_carry(&s.l, TIP);
	assert_string_equal(s.l.v[0].text, "in general");
	assert_string_equal(s.l.v[2].text, "At 111111111111, b.c:1\n    uno\none\ntwo\n");
	assert_null(s.l.v[2].path);
}

static void test_a_prompt_has_a_limit(void **state)
{
	auto_buf out = BUF_INIT(1 << 20);
	auto_str words = xcalloc(PROMPT_MAX + 1, 1), comment = NULL;
	struct err e = ERR_INIT;
	auto_setup s;

	(void)state;
	memset(words, 'w', PROMPT_MAX);
	comment = xasprintf("> %s\n# Review", words);
	READ(s, "# Review", comment);
	assert_int_equal(s.l.n, 1);
	assert_int_equal(prompt_write(&s.l, TIP, &out, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comments_belong_to_the_line_above),
		cmocka_unit_test(test_comments_on_files_and_hunks),
		cmocka_unit_test(test_general_remarks),
		cmocka_unit_test(test_no_comments),
		cmocka_unit_test(test_what_does_not_matter),
		cmocka_unit_test(test_changed_lines_around),
		cmocka_unit_test(test_the_place_is_found_again),
		cmocka_unit_test(test_a_hunk_is_not_taken_for_another_files),
		cmocka_unit_test(test_kept_comments_are_written_again),
		cmocka_unit_test(test_hostile_names_and_contents),
		cmocka_unit_test(test_long_lines_are_cut),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_a_prompt_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
