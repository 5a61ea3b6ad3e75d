/* How globs are read, which of them can meet, what is a command, waves and graphs. */
#include "plan_text.h"

#include "plan/command.h"
#include "plan/graph.h"
#include "plan/overlap.h"
#include "plan/scope.h"
#include "plan/waves.h"

static void reads(const char *dir, const char *text, const char *want)
{
	auto_str got = scope_read(dir, text);

	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_read(void **state)
{
	(void)state;
	reads(".", "src/**", "/src/**");
	reads("loom", "src/**", "/loom/src/**");
	reads("loom", "/src/**", "/src/**");
	reads("loom", "./src//x/", "/loom/src/x");
	reads("a/b", "../../x", "/x");
	reads("a/b", "../..", "/**");
	reads("a", "../../x", NULL);
	reads("a", "*/../x", NULL);
	reads(".", "..", NULL);
	reads(".", ".", "/**");
}

static void based(
	const struct plan_stage *s, size_t i, enum plan_base base, const char *glob, const char *also)
{
	assert_int_equal(s->files.v[i].base, base);
	assert_string_equal(s->files.v[i].glob, glob);
	if (also)
		assert_string_equal(s->files.v[i].also, also);
	else
		assert_null(s->files.v[i].also);
}

static void test_bases(void **state)
{
	static const char *const paths[] = { "loom", "loom/src", "loom/src/a.rs", "loom/README.md",
		"README.md", "doc", "doc/x", "loom/doc", NULL };
	static const char *const programs[] = { NULL };
	struct plan_world world = { paths, programs };
	struct err e = ERR_INIT;
	auto_plan p = { 0 }, open = { 0 };

	(void)state;
	read_plan(
		"stages:\n"
		"- id: a\n"
		"  working_dir: loom\n"
		"  files: [src/**, loom/src/**, ../.github/x, /doc, README.md, doc/x/y, new/z, src/a.rs, '*.md']\n"
		"- {id: b, files: [src/**]}\n",
		&p);
	decide_plan(&p, &world);
	based(p.stages, 0, PLAN_BASE_DIR, "/loom/src/**", NULL);
	based(p.stages, 1, PLAN_BASE_ROOT, "/loom/src/**", NULL);
	based(p.stages, 2, PLAN_BASE_DIR, "/.github/x", NULL);
	based(p.stages, 3, PLAN_BASE_ROOT, "/doc", NULL);
	based(p.stages, 4, PLAN_BASE_BOTH, "/loom/README.md", "/README.md");
	/* more of it exists from the root */
	based(p.stages, 5, PLAN_BASE_ROOT, "/doc/x/y", NULL);
	based(p.stages, 6, PLAN_BASE_BOTH, "/loom/new/z", "/new/z");
	based(p.stages, 7, PLAN_BASE_DIR, "/loom/src/a.rs", NULL);
	based(p.stages, 8, PLAN_BASE_BOTH, "/loom/*.md", "/*.md");
	based(&p.stages[1], 0, PLAN_BASE_ROOT, "/src/**", NULL);
	/* without a repository, both */
	read_plan("stages: [{id: a, working_dir: loom, files: [src/**]}]", &open);
	assert_int_equal(plan_decide(&open, &(struct plan_host){ 0 }, &e), 0);
	based(open.stages, 0, PLAN_BASE_BOTH, "/loom/src/**", "/src/**");
}

static void test_meet(void **state)
{
	static const struct {
		const char *a, *b;
		bool meet;
	} table[] = {
		{ "/src/**", "/src/x/y.c", true },
		{ "/src/**", "/tests/**", false },
		{ "/src", "/src/x", true },
		{ "/src/a", "/src/ab", false },
		{ "/src/ab", "/src/a/b", false },
		{ "/**/x.c", "/src/**", true },
		{ "/**/x.c", "/src/y.c", true }, /* src/y.c could be a directory */
		{ "/*.c", "/a.c", true },
		{ "/*.c", "/a.h", false },
		{ "/*.c", "/b*", true },
		{ "/a*.c", "/b*.c", false },
		{ "/*a.c", "/*b.c", false },
		{ "/a*", "/*b", true },
		{ "/a?c", "/abc", true },
		{ "/a[0-9]", "/a5", true },
		{ "/a[0-9]", "/ab", false },
		{ "/*/x", "/a/y", false },
		{ "/*/x", "/a/x/z", true },
		{ "/SRC/x", "/src/*", true },
		{ "/a/**/z", "/a/b/c/z", true },
		{ "/a/**/b/**/c", "/a/x/**/d", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (globs_may_meet(table[i].a, table[i].b) != table[i].meet)
			fail_msg("%s and %s", table[i].a, table[i].b);
		assert_int_equal(globs_may_meet(table[i].b, table[i].a), table[i].meet);
	}
}

static void test_overlaps(void **state)
{
	static const char *const none[] = { NULL };
	struct plan_world world = { none, none };
	size_t waves[5];
	auto_plan p = { 0 };

	(void)state;
	read_plan("stages:\n"
		  "- {id: a, files: [src/**]}\n"
		  "- {id: b, files: [src/x.c]}\n"
		  "- {id: c, files: [src/x.c], dependencies: [a]}\n"
		  "- {id: d}\n"
		  "- {id: e, files: [doc/**]}\n",
		&p);
	decide_plan(&p, &world);
	assert_int_equal(p.stages[0].noverlaps, 0);
	assert_int_equal(p.stages[1].noverlaps, 1);
	assert_int_equal(p.stages[1].overlaps[0], 0);
	assert_int_equal(p.stages[2].noverlaps, 1);
	assert_int_equal(p.stages[2].overlaps[0], 1);
	assert_int_equal(p.stages[3].noverlaps, 0);
	assert_int_equal(p.stages[4].noverlaps, 0);
	assert_int_equal(p.warnings.n, 2);
	assert_non_null(strstr(p.warnings.v[0], "plan.yaml:3:8: stage 'b' may change the same files as 'a'"));
	/* b is not beside a, nor c beside b */
	assert_int_equal(plan_waves(&p, waves), 3);
	assert_int_equal(waves[0], 0);
	assert_int_equal(waves[1], 1);
	assert_int_equal(waves[2], 2);
	assert_int_equal(waves[3], 0);
	assert_int_equal(waves[4], 0);
}

static void test_warnings(void **state)
{
	static const char *const none[] = { NULL }, *const programs[] = { "make", "grep", "find", NULL };
	struct plan_world world = { none, programs };
	auto_plan p = { 0 };

	(void)state;
	read_plan("acceptance: [make]\n"
		  "stages:\n"
		  "- id: a\n"
		  "  files: [src/**]\n"
		  "  artifacts: [src/x.c, doc/y.md]\n"
		  "  bug_fix: true\n"
		  "  regression_test: {file: t/z, must_contain: [x]}\n"
		  "  acceptance:\n"
		  "  - cargo test && make | grep x\n"
		  "  - cargo build\n"
		  "  truths:\n"
		  "  - The walls hold\n"
		  "  - cargo test x\n"
		  "  - find the answer\n"
		  "  - pytest -q\n"
		  "  - test -f x\n"
		  "  - ./x y\n",
		&p);
	decide_plan(&p, &world);
	assert_int_equal(p.warnings.n, 5);
	assert_non_null(strstr(p.warnings.v[0], "plan.yaml:14:5: 'find the answer' is read as a command"));
	assert_non_null(strstr(p.warnings.v[1], "plan.yaml:15:5: 'pytest -q' is read as a statement"));
	assert_non_null(
		strstr(p.warnings.v[2], "plan.yaml:5:24: stage 'a' may not write its artifact 'doc/y.md'"));
	assert_non_null(
		strstr(p.warnings.v[3], "plan.yaml:7:20: stage 'a' may not write its regression test"));
	assert_non_null(strstr(p.warnings.v[4], "plan.yaml:9:5: a stage would have no program 'cargo'"));
	assert_int_equal(p.stages[0].checks[p.stages[0].nchecks - 1].kind, PLAN_CHECK_STATEMENT);
	assert_string_equal(p.stages[0].checks[p.stages[0].nchecks - 2].text, "The walls hold");
	assert_int_equal(p.stages[0].checks[p.stages[0].nchecks - 3].kind, PLAN_CHECK_TRUTH);
}

static void names(const char *line, const char *want)
{
	auto_strvec v = STRVEC_INIT;
	auto_buf all = BUF_SMALL;

	command_names(line, &v);
	for (size_t i = 0; i < v.n; i++)
		buf_printf(&all, "%s%s", i ? " " : "", v.v[i]);
	assert_string_equal(buf_str(&all), want);
}

static void test_command_names(void **state)
{
	(void)state;
	names("", "");
	names("cargo test", "cargo");
	names("a && b || c; d | e & f", "a b c d e f");
	names("cd x && make", "make");
	names("X=1 Y='a b' run z", "run");
	names("! grep -q x y", "grep");
	names("if a; then b; else c; fi", "a b c");
	names("for i in a b; do c; done", "c");
	names("a '&& b' \"; c\" \\; d", "a");
	names("$X y; ./z; \"q\" r; a/b", "");
	names("a >b 2>&1 <c && d", "a d");
	names("(a; b)", "a b");
	names("a # b; c\nd", "a d");
	names("f() { g; }; a", "g a");
	names("cat <<E\nnot a command\nE", "cat");
	names("a a a; a", "a");
	names("a 'open", "a");
}

static void test_sentences(void **state)
{
	(void)state;
	assert_true(command_reads_as_sentence("The proxy refuses it"));
	assert_true(command_reads_as_sentence("make sure that all is well"));
	assert_false(command_reads_as_sentence("make test"));
	assert_false(command_reads_as_sentence("grep -q the x"));
	assert_false(command_reads_as_sentence("cat a | grep is"));
	assert_false(command_reads_as_sentence("Makefile=1 make"));
}

/* Names cannot leave their quotes. */
static void test_graphs(void **state)
{
	static const char *const marks[] = { "done", NULL, "run\"ning" };
	auto_buf text = BUF_SMALL, dot = BUF_SMALL, mermaid = BUF_SMALL;
	auto_plan p = { 0 };

	(void)state;
	read_plan("stages:\n"
		  "- {id: a}\n"
		  "- {id: bb, name: 'x\"] --> \"\\<b>', dependencies: [a]}\n"
		  "- {id: c, dependencies: [a, bb]}\n",
		&p);
	plan_graph(&p, GRAPH_TEXT, marks, &text);
	assert_string_equal(
		buf_str(&text), "1  a   [done]\n2  bb  after a\n3  c   [run\"ning]  after a, bb\n");
	plan_graph(&p, GRAPH_DOT, NULL, &dot);
	assert_non_null(
		strstr(buf_str(&dot), "\ts1 [label=\"bb: x&#34;] --&#62; &#34;&#92;&#60;b&#62;\"];\n"));
	assert_non_null(strstr(buf_str(&dot), "\ts0 -> s1;\n"));
	plan_graph(&p, GRAPH_MERMAID, marks, &mermaid);
	assert_non_null(strstr(buf_str(&mermaid), "  s2[\"c (run&#34;ning)\"]\n"));
	assert_non_null(strstr(buf_str(&mermaid), "  s1 --> s2\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read), cmocka_unit_test(test_bases),
		cmocka_unit_test(test_meet), cmocka_unit_test(test_overlaps), cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_command_names), cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_graphs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
