/* Reading plans: keys, values, places, what is refused; freezing. */
#include "plan_text.h"

static void test_least(void **state)
{
	auto_plan p = { 0 };

	(void)state;
	read_plan(STAGE_A, &p);
	assert_string_equal(p.id, "plan");
	assert_string_equal(p.task, "plan");
	assert_int_equal(p.merge, PLAN_MERGE_DONE);
	assert_int_equal(p.retries.crash, 2);
	assert_int_equal(p.retries.check, 3);
	assert_int_equal(p.nstages, 1);
	assert_string_equal(p.stages[0].name, "a");
	assert_string_equal(p.stages[0].task, "plan.a");
	assert_string_equal(p.stages[0].working_dir, ".");
	assert_null(p.stages[0].agent);
	assert_null(p.stages[0].network.mode);
	assert_false(p.stages[0].has_files);
	assert_int_equal(p.stages[0].approve, 0);
	assert_int_equal(p.stages[0].at.line, 2);
	assert_int_equal(p.stages[0].at.column, 7);
	assert_int_equal(p.no_effect.n, 0);
}

/* Values of a plan that hold for its stages, and a stage's own. */
static void test_inherited(void **state)
{
	auto_plan p = { 0 };

	(void)state;
	read_plan("agent: claude\n"
		  "auto_merge: false\n"
		  "network: {allow: [a.example]}\n"
		  "sandbox:\n"
		  "  filesystem: {deny_read: [secrets, ~/.ssh/**], deny_write: ./lock}\n"
		  "  network: {allowed_domains: [b.example], additional_domains: [c.example]}\n"
		  "stages:\n"
		  "- id: a\n"
		  "  sandbox: {filesystem: {deny_read: more, allow_write: [lock/mine]}}\n"
		  "- {id: b, agent: codex, network: {mode: none}, auto_merge: false}\n"
		  "- {id: c, script: make, network: {mode: host}, approve: before}\n",
		&p);
	assert_int_equal(p.merge, PLAN_MERGE_ASK);
	assert_string_equal(p.stages[0].agent, "claude");
	assert_string_equal(p.stages[0].network.mode, "allow");
	assert_int_equal(p.stages[0].network.allow.n, 3);
	assert_int_equal(p.stages[0].sandbox.deny_read.n, 3);
	assert_string_equal(p.stages[0].sandbox.deny_read.v[1], "~/.ssh/**");
	assert_string_equal(p.stages[0].sandbox.deny_read.v[2], "more");
	assert_string_equal(p.stages[0].sandbox.deny_write.v[0], "lock");
	assert_string_equal(p.stages[0].sandbox.allow_write.v[0], "lock/mine");
	assert_string_equal(p.stages[1].agent, "codex");
	assert_string_equal(p.stages[1].network.mode, "none");
	assert_int_equal(p.stages[1].network.allow.n, 0);
	assert_int_equal(p.stages[1].approve, PLAN_APPROVE_AFTER);
	assert_int_equal(p.stages[1].sandbox.allow_write.n, 0);
	assert_string_equal(p.stages[2].agent, "script");
	assert_string_equal(p.stages[2].network.mode, "host");
	assert_int_equal(p.stages[2].approve, PLAN_APPROVE_BEFORE);
}

static const struct plan_check *check_of(const struct plan_stage *s, enum plan_check_kind kind)
{
	for (size_t i = 0; i < s->nchecks; i++)
		if (s->checks[i].kind == kind)
			return &s->checks[i];
	fail_msg("no check of kind %d", kind);
	return NULL;
}

static void test_checks(void **state)
{
	const struct plan_check *c;
	auto_plan p = { 0 };

	(void)state;
	read_plan("acceptance: [make all]\n" STAGE_A "  after_stage: [{command: after, exit_code: 3}]\n"
		  "  before_stage: before\n"
		  "  truths: [one two, {command: three}, {text: Four is true}]\n"
		  "  wiring: [{source: ./src/a.c, pattern: 'main\\(', description: it is used}]\n"
		  "  wiring_tests:\n"
		  "  - {name: n, command: c, success_criteria: {stdout_contains: [x], stderr_empty: true}}\n"
		  "  acceptance:\n"
		  "  - make test\n"
		  "  - {command: b, stdout_not_contains: no, stderr_contains: [e]}\n"
		  "  setup: [make deps]\n"
		  "  artifacts: [\"a/*.c\", b]\n"
		  "  dead_code_check: {command: d, fail_patterns: [unused], ignore_patterns: [old]}\n"
		  "  bug_fix: true\n"
		  "  regression_test: {file: t/a.c, must_contain: [fix]}\n",
		&p);
	assert_int_equal(p.nchecks, 1);
	assert_string_equal(p.checks[0].command, "make all");
	assert_int_equal(p.stages[0].nchecks, 14);
	for (size_t i = 1; i < p.stages[0].nchecks; i++)
		assert_true(p.stages[0].checks[i - 1].kind <= p.stages[0].checks[i].kind);
	assert_string_equal(check_of(p.stages, PLAN_CHECK_BEFORE)->command, "before");
	assert_int_equal(check_of(p.stages, PLAN_CHECK_AFTER)->expect.exit_code, 3);
	c = check_of(p.stages, PLAN_CHECK_ACCEPTANCE);
	assert_string_equal(c[0].command, "make test");
	assert_int_equal(c[0].at.line, 11);
	assert_int_equal(c[0].at.column, 5);
	assert_string_equal(c[1].expect.stdout_not_contains.v[0], "no");
	assert_string_equal(c[1].expect.stderr_contains.v[0], "e");
	c = check_of(p.stages, PLAN_CHECK_WIRING);
	assert_string_equal(c->path, "src/a.c");
	assert_string_equal(c->pattern, "main\\(");
	assert_string_equal(c->description, "it is used");
	c = check_of(p.stages, PLAN_CHECK_WIRING_TEST);
	assert_string_equal(c->name, "n");
	assert_true(c->expect.stderr_empty);
	assert_string_equal(c->expect.stdout_contains.v[0], "x");
	c = check_of(p.stages, PLAN_CHECK_DEAD_CODE);
	assert_string_equal(c->fail_patterns.v[0], "unused");
	assert_string_equal(c->ignore_patterns.v[0], "old");
	c = check_of(p.stages, PLAN_CHECK_REGRESSION);
	assert_string_equal(c->path, "t/a.c");
	c = check_of(p.stages, PLAN_CHECK_TRUTH);
	assert_true(c[0].open);
	assert_false(c[1].open);
	assert_string_equal(check_of(p.stages, PLAN_CHECK_STATEMENT)->text, "Four is true");
	assert_string_equal(check_of(p.stages, PLAN_CHECK_ARTIFACT)->glob, "a/*.c");
}

static void test_refused_values(void **state)
{
	static const char *const table[][2] = {
		{ "", "plan.yaml:1:1: 'stages' is missing" },
		{ "[]", "plan.yaml:1:1: the plan must be a mapping" },
		{ "stages: []", "plan.yaml:1:9: 'stages' is empty" },
		{ "stages: a", "plan.yaml:1:9: 'stages' must be a list of stages" },
		{ "stages: [a]", "plan.yaml:1:10: 'stages' must be a mapping" },
		{ "stages: [{name: x}]", "plan.yaml:1:10: 'stages.id' is missing" },
		{ "stages: [{id: }]", "plan.yaml:1:15: 'stages.id' is missing" },
		{ "stages: [{id: a.b}]", "plan.yaml:1:15: 'stages.id' can have only A-Z" },
		{ "stages: [{id: a/b}]", "plan.yaml:1:15: 'stages.id' can have only A-Z" },
		{ "version: 2\n" STAGE_A, "plan.yaml:1:10: 'version' must be 1" },
		{ "stage: []\n" STAGE_A, "plan.yaml:1:1: unknown key 'stage' (is 'stages' meant?)" },
		{ "loom: {}\nstages: []", "plan.yaml:2:1: a key beside 'loom'" },
		{ STAGE_A "  desciption: x",
			"plan.yaml:3:3: unknown key 'stages.a.desciption' (is 'description' meant?)" },
		{ STAGE_A "  checks: []", "plan.yaml:3:3: unknown key 'stages.a.checks'" },
		{ "decided: true\n" STAGE_A, "plan.yaml:1:1: unknown key 'decided'" },
		{ STAGE_A "  sandbox: {filesystem: {deny_reed: [x]}}",
			"plan.yaml:3:26: unknown key 'stages.a.sandbox.filesystem.deny_reed' (is 'deny_read' meant?)" },
		{ STAGE_A "  working_dir: ../x",
			"plan.yaml:3:16: 'stages.a.working_dir' must be a path within the repository" },
		{ STAGE_A "  working_dir: /x", "plan.yaml:3:16: 'stages.a.working_dir' must be a path" },
		{ STAGE_A "  stage_type: knowlege",
			"plan.yaml:3:15: 'stages.a.stage_type' must be 'standard', 'knowledge', 'integration-verify', "
			"'knowledge-distill' or 'code-review', not 'knowlege' (is 'knowledge' meant?)" },
		{ STAGE_A "  timeout: 0", "plan.yaml:3:12: 'stages.a.timeout' must be a time" },
		{ STAGE_A "  approve: yes",
			"plan.yaml:3:12: 'stages.a.approve' must be 'none', 'before', 'after' or 'both'" },
		{ STAGE_A "  name: \"a\\nb\"", "plan.yaml:3:9: 'stages.a.name' must be a single line" },
		{ STAGE_A "  name: \"a\\eb\"",
			"plan.yaml:3:9: 'stages.a.name' contains a control character" },
		{ STAGE_A "  acceptance: [' ']", "plan.yaml:3:16: 'stages.a.acceptance' is empty" },
		{ STAGE_A "  acceptance: [{exit_code: 1}]",
			"plan.yaml:3:16: 'stages.a.acceptance.command' is missing" },
		{ STAGE_A "  acceptance: [{command: x, exit_code: 256}]",
			"plan.yaml:3:40: 'stages.a.acceptance.exit_code' must be a number from 0 to 255" },
		{ STAGE_A "  wiring: [x]", "plan.yaml:3:12: 'stages.a.wiring' must be made of mappings" },
		{ STAGE_A "  wiring: [{source: ../x, pattern: y}]",
			"plan.yaml:3:21: 'stages.a.wiring.source' must be a path" },
		{ STAGE_A "  wiring: [{source: x, pattern: '('}]",
			"plan.yaml:3:33: 'stages.a.wiring.pattern': '(' is not a regular expression" },
		{ STAGE_A "  truths: [{command: x, text: y}]",
			"plan.yaml:3:12: 'stages.a.truths' must have either" },
		{ STAGE_A "  bug_fix: true", "plan.yaml:2:3: 'stages.a.regression_test' is missing" },
		{ STAGE_A "  regression_test: {file: x}",
			"plan.yaml:3:20: 'stages.a.regression_test.must_contain' is missing" },
		{ STAGE_A "  files: [../x]", "plan.yaml:3:11: '../x' leads out of the repository" },
		{ STAGE_A "  working_dir: d\n  protect: [../../x]", "plan.yaml:4:13: '../../x' leads out" },
		{ STAGE_A "  files: ['*/../x']", "plan.yaml:3:11: '*/../x' leads out" },
		{ STAGE_A "  network: {allow: ['*']}",
			"plan.yaml:3:21: '*' in 'stages.a.network.allow' is not a host" },
		{ STAGE_A "  network: {allow: ['a b']}", "plan.yaml:3:21: 'stages.a.network.allow': " },
		{ STAGE_A "  agent: script", "plan.yaml:2:3: 'stages.a.script' is missing" },
		{ STAGE_A "  agent: claude\n  script: x",
			"plan.yaml:4:11: 'stages.a.script' is for agent 'script'" },
		{ "merge: each\nauto_merge: false\n" STAGE_A,
			"plan.yaml:2:13: 'auto_merge: false' contradicts" },
		{ "max_parallel: 0\n" STAGE_A,
			"plan.yaml:1:15: 'max_parallel' must be a number from 1 to 1000" },
		{ "target: a..b\n" STAGE_A, "plan.yaml:1:9: 'a..b' in 'target' is not a branch's name" },
		{ "sandbox: {filesystem: {deny_read: [a//b]}}\n" STAGE_A,
			"plan.yaml:1:36: 'a//b' in 'sandbox.filesystem.deny_read' is not a glob" },
		{ "id: x\n" STAGE_A, "plan.yaml:1:1: unknown key 'id'" },
		{ "a: &x 1\n", "plan.yaml:1:4: anchors are not allowed" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_plan_refused(table[i][0], table[i][1]);
}

static void test_graph_refused(void **state)
{
	(void)state;
	assert_plan_refused("stages:\n- id: a\n- id: b\n- id: a\n",
		"plan.yaml:4:7: stage 'a' appears twice, first in line 2");
	assert_plan_refused("stages:\n- id: build\n- id: b\n  dependencies: [biuld]\n",
		"plan.yaml:4:18: stage 'b' depends on 'biuld', and there is no such stage (is 'build' meant?)");
	assert_plan_refused("stages: [{id: a, dependencies: [a]}]",
		"plan.yaml:1:33: stages wait for each other in a circle: 'a' waits for 'a'");
	/* 'd' only waits for the circle, and is not in it */
	assert_plan_refused("stages:\n"
			    "- {id: d, dependencies: [a]}\n"
			    "- {id: a, dependencies: [x, b]}\n"
			    "- {id: x}\n"
			    "- {id: b, dependencies: [c]}\n"
			    "- {id: c, dependencies: [a]}\n",
		"plan.yaml:3:29: stages wait for each other in a circle: 'a' waits for 'b' waits for 'c' waits for 'a'");
}

static void test_order(void **state)
{
	auto_plan p = { 0 };

	(void)state;
	read_plan("stages:\n"
		  "- {id: last, dependencies: [b, a, b]}\n"
		  "- {id: b, dependencies: [a]}\n"
		  "- {id: a}\n"
		  "- {id: alone}\n",
		&p);
	assert_int_equal(p.stages[0].nneeds, 2);
	assert_int_equal(p.order[0], 2);
	assert_int_equal(p.order[3], 0);
	assert_true(plan_is_after(&p, 0, 2));
	assert_true(plan_is_after(&p, 1, 2));
	assert_false(plan_is_after(&p, 2, 0));
	assert_false(plan_is_after(&p, 3, 2));
	assert_false(plan_is_after(&p, 0, 0));
	assert_int_equal(plan_stage_find(&p, "alone"), 3);
	assert_int_equal(plan_stage_find(&p, "none"), -1);
}

/* Keys of other systems are named once each, and what leads out of the repository. */
static void test_no_effect(void **state)
{
	auto_plan p = { 0 };

	(void)state;
	read_plan("sandbox:\n"
		  "  excluded_commands: [x]\n"
		  "  filesystem: {deny_write: [../../**, ok], allow_write: [~/.cache/x]}\n"
		  "stages:\n"
		  "- {id: a, context_budget: 5, sandbox: {excluded_commands: [x]}}\n"
		  "- {id: b, context_budget: 5}\n",
		&p);
	assert_int_equal(p.no_effect.n, 4);
	assert_non_null(strstr(p.no_effect.v[0], "plan.yaml:2:3: 'excluded_commands' has no effect here: "));
	assert_non_null(strstr(p.no_effect.v[1], "'../../**'"));
	assert_non_null(strstr(p.no_effect.v[2], "'~/.cache/x'"));
	assert_non_null(strstr(p.no_effect.v[3], "plan.yaml:5:11: 'context_budget'"));
	assert_int_equal(p.stages[0].sandbox.deny_write.n, 1);
	assert_int_equal(p.stages[0].sandbox.allow_write.n, 0);
}

static void test_walls(void **state)
{
	struct err e = ERR_INIT;
	auto_plan on = { 0 }, off = { 0 };

	(void)state;
	read_plan("sandbox: {enabled: false}\nstages: [{id: a, sandbox: {enabled: true}}]", &on);
	assert_int_equal(plan_check_walls(&on, &e), 0);
	read_plan("sandbox: {enabled: false}\nstages: [{id: a, sandbox: {enabled: true}}, {id: b}]", &off);
	assert_int_equal(plan_check_walls(&off, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_non_null(strstr(e.msg, "plan.yaml:1:20: "));
}

static void test_names(void **state)
{
	struct err e = ERR_INIT;
	auto_plan p = { 0 };

	(void)state;
	read_plan("plan_id: My.Plan_1\n"
		  "stages:\n"
		  "- id: Build\n"
		  "- id: build\n"
		  "- id: _x\n"
		  "- id: lock\n"
		  "- id: a-very-long-name-of-a-stage-that-does-not-fit-beside-the-name-of-its-plan-1\n"
		  "- id: a-very-long-name-of-a-stage-that-does-not-fit-beside-the-name-of-its-plan-2\n",
		&p);
	assert_string_equal(p.id, "My.Plan_1");
	assert_string_equal(p.task, "my-plan_1");
	assert_string_equal(p.stages[0].task, "my-plan_1.build");
	assert_int_equal(strncmp(p.stages[1].task, "my-plan_1.build-", 16), 0);
	assert_string_equal(p.stages[2].task, "my-plan_1.xx");
	/* no branch can be named so */
	assert_int_equal(strncmp(p.stages[3].task, "my-plan_1.lock-", 15), 0);
	assert_int_equal(strlen(p.stages[4].task), 64);
	assert_string_not_equal(p.stages[4].task, p.stages[5].task);
	assert_int_equal(plan_name_tasks(&p, "other", &e), 0);
	assert_string_equal(p.stages[0].task, "other.build");
}

static char *frozen(const struct plan *p)
{
	auto_buf out = BUF_INIT(PLAN_FROZEN_MAX);

	plan_freeze(p, &out);
	return buf_steal(&out);
}

/* What is kept of a plan is the same when it is read back, with its decisions. */
static void test_frozen(void **state)
{
	static const char *const paths[] = { "d", "d/src", NULL }, *const programs[] = { "make", NULL };
	struct plan_world world = { paths, programs };
	auto_plan p = { 0 }, q = { 0 };
	auto_str first = NULL, second = NULL;
	struct err e = ERR_INIT;

	(void)state;
	read_plan(
		"plan_id: every\n"
		"agent: claude\n"
		"target: main\n"
		"merge: each\n"
		"max_parallel: 3\n"
		"retries: {crash: 0}\n"
		"acceptance: [{command: make, description: \"all \\u2028\\x85 \\ufeff \\U0001f600\"}]\n"
		"sandbox: {enabled: false, filesystem: {deny_read: [x]}, network: {allowed_domains: [h]}}\n"
		"stages:\n"
		"- id: a\n"
		"  working_dir: d\n"
		"  description: |\n"
		"    two\n"
		"     lines \\ \" # ' \xc3\xbc\n"
		"  files: [src/**, 'no/*']\n"
		"  truths: [a sentence, make x]\n"
		"- {id: b, files: [d/src/x], bug_fix: true, regression_test: {file: t, must_contain: [y]},\n"
		"   wiring: [{source: s, pattern: '\\d'}], timeout: 2h, approve: both, on_conflict: human}\n"
		"- {id: c, script: \"a\\nb\", dependencies: [b, a]}\n",
		&p);
	decide_plan(&p, &world);
	first = frozen(&p);
	if (plan_thaw(first, strlen(first), &q, &e) < 0)
		fail_msg("%s", e.msg);
	second = frozen(&q);
	assert_string_equal(first, second);
	assert_string_equal(p.digest, q.digest);
	assert_string_equal(q.file, "plan.yaml");
	assert_string_equal(q.checks[0].description, p.checks[0].description);
	assert_string_equal(q.stages[0].description, p.stages[0].description);
	assert_string_equal(q.stages[0].files.v[0].glob, "/d/src/**");
	assert_int_equal(q.stages[0].files.v[1].base, PLAN_BASE_BOTH);
	assert_int_equal(q.stages[0].checks[0].kind, PLAN_CHECK_TRUTH);
	assert_int_equal(q.stages[0].checks[1].kind, PLAN_CHECK_STATEMENT);
	assert_int_equal(q.stages[0].checks[1].at.line, p.stages[0].checks[1].at.line);
	assert_int_equal(q.stages[1].noverlaps, 1);
	assert_true(q.stages[1].sandbox.disabled);
	assert_int_equal(q.retries.crash, 0);
	assert_int_equal(q.stages[1].timeout, 7200);
	assert_true(plan_is_after(&q, 2, 0));
}

static void digest_of_text(const char *text, char out[65])
{
	auto_plan p = { 0 };

	read_plan(text, &p);
	assert_int_equal(strlen(p.digest), 64);
	memcpy(out, p.digest, 65);
}

static void test_digest(void **state)
{
	char one[65], same[65], other[65], walls[65];
	struct err e = ERR_INIT;
	auto_plan p = { 0 };

	(void)state;
	digest_of_text("plan_id: x\nstages:\n- id: a\n  acceptance: make\n", one);
	digest_of_text(
		"# said in another way\n{plan_id: 'x', version: 1, stages: [{acceptance: [make], id: a, name: a}]}",
		same);
	digest_of_text("plan_id: x\nstages:\n- id: a\n  acceptance: make all\n", other);
	digest_of_text(
		"plan_id: x\nsandbox: {enabled: false}\nstages:\n- id: a\n  acceptance: make\n", walls);
	assert_string_equal(one, same);
	assert_int_equal(
		plan_read("plan_id: x\nstages: [{id: a, acceptance: make}]", 46, "other.yaml", &p, &e), 0);
	assert_string_equal(one, p.digest);
	assert_string_not_equal(one, other);
	assert_string_not_equal(one, walls);
}

/* What is kept is read like a file: nothing in it is taken on trust. */
static void test_thaw_refused(void **state)
{
	static const char *const broken[] = { "", "{", "stages: [{id: a, dependencies: [b]}]",
		"stages: [{id: a, checks: [{command: x}]}]", "stages: [{id: a, checks: [x]}]",
		"stages: [{id: a, checks: [{kind: wiring, path: x}]}]", "stages: [{id: a, at: 1}]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		auto_plan p = { 0 };
		struct err e = ERR_INIT;

		assert_int_equal(plan_thaw(broken[i], strlen(broken[i]), &p, &e), -1);
		assert_non_null(strstr(e.msg, "a kept plan cannot be read: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_least), cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_checks), cmocka_unit_test(test_refused_values),
		cmocka_unit_test(test_graph_refused), cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_effect), cmocka_unit_test(test_walls), cmocka_unit_test(test_names),
		cmocka_unit_test(test_frozen), cmocka_unit_test(test_digest),
		cmocka_unit_test(test_thaw_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
