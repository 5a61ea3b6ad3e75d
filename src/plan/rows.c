#include "plan/rows.h"

const char *const plan_stage_types[] = { "standard", "knowledge", "integration-verify", "knowledge-distill",
	"code-review", NULL };
const char *const plan_check_kinds[] = { "before_stage", "artifacts", "setup", "acceptance",
	"regression_test", "wiring", "wiring_tests", "dead_code_check", "truths", "statement", "after_stage",
	NULL };
const char *const plan_merges[] = { "done", "each", "ask", "never", NULL };
/* enum plan_approve, and no approval */
const char *const plan_approvals[] = { "none", "before", "after", "both", NULL };
const char *const plan_conflicts[] = { "agent", "resolver", "human", NULL };
const char *const plan_bases[] = { "open", "working_dir", "root", "both", NULL };
static const char *const nets[] = { "none", "allow", "host", NULL };
static const char *const efforts[] = { "low", "medium", "high", "xhigh", "max", NULL };

/* Reasons why a key of loom has no effect. */
#define WHY_WALLS    "every command runs inside the walls"
#define WHY_OWN_NET  "a task has a loopback interface of its own, and no sockets of the host"
#define WHY_AGENT    "it is a setting of the agent's own sandbox; the walls hold without it"
#define WHY_PARALLEL "stages run at once unless they depend on each other"
#define WHY_SESSION  "the agent's own settings say it"
#define WHY_TIMEOUT  "'timeout' ends a stage that takes too long"
#define WHY_REVIEW   "the brief names all dimensions"
#define WHY_IMPACT   "'before_stage' and 'after_stage' are run"
#define WHY_AMEND    "checks stay as the plan has them"

/* clang-format off */
#define EXPECT(at) \
	{ "exit_code",           PLAN_CODE,  at(expect.exit_code), "the exit status that is a success; 0 unless given", .max = 255 }, \
	{ "stdout_contains",     PLAN_TEXTS, at(expect.stdout_contains), "texts that must be in the output" }, \
	{ "stdout_not_contains", PLAN_TEXTS, at(expect.stdout_not_contains), "texts that must not be in the output" }, \
	{ "stderr_contains",     PLAN_TEXTS, at(expect.stderr_contains), "texts that must be in the error output" }, \
	{ "stderr_empty",        PLAN_BOOL,  at(expect.stderr_empty), "whether the error output must be empty" }

#define CHECK(member) offsetof(struct plan_check, member)
#define DESCRIPTION { "description", PLAN_TEXT, CHECK(description), "what it is for" }
static const struct plan_key command_rows[] = {
	{ "command",      PLAN_TEXT, CHECK(command), "a line for a shell", .required = true },
	EXPECT(CHECK),
	DESCRIPTION,
	{ 0 },
};

static const struct plan_key truth_rows[] = {
	{ "command",      PLAN_TEXT, CHECK(command), "a line for a shell" },
	{ "text",         PLAN_TEXT, CHECK(text), "a statement for people, which no machine checks" },
	EXPECT(CHECK),
	DESCRIPTION,
	{ 0 },
};

static const struct plan_key wiring_rows[] = {
	{ "source",       PLAN_PATH, CHECK(path), "a file, relative to working_dir", .required = true },
	{ "pattern",      PLAN_REGEX, CHECK(pattern), "an extended regular expression that a line of the file must match", .required = true },
	DESCRIPTION,
	{ 0 },
};

static const struct plan_key criteria_rows[] = {
	EXPECT(CHECK),
	{ 0 },
};

static const struct plan_key wiring_test_rows[] = {
	{ "name",         PLAN_LINE, CHECK(name), "what it is called", .required = true },
	{ "command",      PLAN_TEXT, CHECK(command), "a line for a shell", .required = true },
	{ "success_criteria", PLAN_MAP, 0, "what makes it a success", .rows = criteria_rows },
	DESCRIPTION,
	{ 0 },
};

static const struct plan_key dead_code_rows[] = {
	{ "command",      PLAN_TEXT, CHECK(command), "a line for a shell, whose output is searched", .required = true },
	{ "fail_patterns", PLAN_TEXTS, CHECK(fail_patterns), "texts that no line of the output may have" },
	{ "ignore_patterns", PLAN_TEXTS, CHECK(ignore_patterns), "texts of lines that do not count" },
	DESCRIPTION,
	{ 0 },
};

static const struct plan_key regression_rows[] = {
	{ "file",         PLAN_PATH, CHECK(path), "a test's file, relative to working_dir", .required = true },
	{ "must_contain", PLAN_TEXTS, CHECK(must_contain), "texts that the file must have" },
	DESCRIPTION,
	{ 0 },
};

const struct plan_key plan_frozen_check_rows[] = {
	{ "kind",         PLAN_CHOICE, CHECK(kind), NULL, plan_check_kinds, .required = true },
	{ "at",           PLAN_AT,   CHECK(at) },
	{ "open",         PLAN_BOOL, CHECK(open) },
	{ "name",         PLAN_LINE, CHECK(name) },
	DESCRIPTION,
	{ "command",      PLAN_TEXT, CHECK(command) },
	EXPECT(CHECK),
	{ "glob",         PLAN_PATH, CHECK(glob) },
	{ "path",         PLAN_PATH, CHECK(path) },
	{ "pattern",      PLAN_REGEX, CHECK(pattern) },
	{ "text",         PLAN_TEXT, CHECK(text) },
	{ "must_contain", PLAN_TEXTS, CHECK(must_contain) },
	{ "fail_patterns", PLAN_TEXTS, CHECK(fail_patterns) },
	{ "ignore_patterns", PLAN_TEXTS, CHECK(ignore_patterns) },
	{ 0 },
};

#define PATTERN(member) offsetof(struct plan_pattern, member)
const struct plan_key plan_frozen_pattern_rows[] = {
	{ "text",         PLAN_TEXT, PATTERN(text), .required = true },
	{ "at",           PLAN_AT,   PATTERN(at) },
	{ "base",         PLAN_CHOICE, PATTERN(base), NULL, plan_bases },
	{ "glob",         PLAN_TEXT, PATTERN(glob) },
	{ "also",         PLAN_TEXT, PATTERN(also) },
	{ 0 },
};

#define NET(member) offsetof(struct plan_network, member)
static const struct plan_key network_rows[] = {
	{ "mode",         PLAN_CHOICE_TEXT, NET(mode), "what stages can reach; unset: what the configuration says", nets },
	{ "allow",        PLAN_HOSTS, NET(allow), "hosts that stages can reach beside those of the configuration" },
	{ 0 },
};

#define BOX(member) offsetof(struct plan_sandbox_draft, member)
static const struct plan_key filesystem_rows[] = {
	{ "deny_read",    PLAN_RULES, BOX(deny_read), "globs of paths that stages cannot read" },
	{ "deny_write",   PLAN_RULES, BOX(deny_write), "globs of paths that stages cannot write" },
	{ "allow_write",  PLAN_RULES, BOX(allow_write), "exceptions, within the repository" },
	{ 0 },
};

static const struct plan_key domains_rows[] = {
	{ "allowed_domains", PLAN_HOSTS, BOX(allowed_domains), "as network.allow", .place = BOX(domains_at) + 1 },
	{ "additional_domains", PLAN_HOSTS, BOX(additional_domains), "as network.allow" },
	{ "allow_local_binding", PLAN_IGNORED, 0, WHY_OWN_NET },
	{ "allow_unix_sockets", PLAN_IGNORED, 0, WHY_OWN_NET },
	{ "allow_all_unix_sockets", PLAN_IGNORED, 0, WHY_OWN_NET },
	{ 0 },
};

static const struct plan_key sandbox_rows[] = {
	{ "enabled",      PLAN_BOOL, BOX(enabled), "false is refused unless the user says so", .place = BOX(enabled_at) + 1 },
	{ "filesystem",   PLAN_MAP, 0, "rules on files, which add to those of the configuration", .rows = filesystem_rows },
	{ "network",      PLAN_MAP, 0, "hosts", .rows = domains_rows },
	{ "auto_allow",   PLAN_IGNORED, 0, WHY_AGENT },
	{ "allow_unsandboxed_escape", PLAN_IGNORED, 0, WHY_WALLS },
	{ "excluded_commands", PLAN_IGNORED, 0, WHY_WALLS },
	{ "permission_mode", PLAN_IGNORED, 0, WHY_AGENT },
	{ "linux",        PLAN_IGNORED, 0, WHY_AGENT },
	{ 0 },
};

#define STAGE(member) offsetof(struct plan_stage_draft, member)
static const struct plan_key review_rows[] = {
	{ "dimensions",   PLAN_TEXTS, STAGE(stage.review), "what a reviewing agent is asked to look at" },
	{ "require_all",  PLAN_IGNORED, 0, WHY_REVIEW },
	{ 0 },
};

const struct plan_key plan_stage_rows[] = {
	{ "id",           PLAN_ID,   STAGE(stage.id), "its name in dependencies and commands", .place = STAGE(stage.at) + 1, .required = true },
	{ "name",         PLAN_LINE, STAGE(stage.name), "its name for people; unset: the id" },
	{ "description",  PLAN_TEXT, STAGE(stage.description), "what the agent is to do" },
	{ "working_dir",  PLAN_DIR,  STAGE(stage.working_dir), "where the agent and the checks start; unset: the repository's top" },
	{ "dependencies", PLAN_NEEDS, STAGE(needs), "ids of stages that must be done first" },
	{ "stage_type",   PLAN_CHOICE, STAGE(stage.type), "what kind of work it is", plan_stage_types },
	{ "files",        PLAN_PATTERNS, STAGE(stage.files), "globs of the only paths that it may change" },
	{ "protect",      PLAN_PATTERNS, STAGE(stage.protect), "globs of paths that it must not change" },
	{ "agent",        PLAN_AGENT, STAGE(stage.agent), "the agent that runs it, or script" },
	{ "script",       PLAN_TEXT, STAGE(stage.script), "lines for a shell, run instead of an agent", .place = STAGE(script_at) + 1 },
	{ "model",        PLAN_LINE, STAGE(stage.model), "the model, for agents that have such an option" },
	{ "reasoning_effort", PLAN_CHOICE_TEXT, STAGE(stage.effort), "for agents that have such an option", efforts },
	{ "setup",        PLAN_CHECKS, STAGE(checks), "commands that run before acceptance", .kind = PLAN_CHECK_SETUP },
	{ "acceptance",   PLAN_CHECKS, STAGE(checks), "commands that must succeed on what the stage published", .kind = PLAN_CHECK_ACCEPTANCE },
	{ "artifacts",    PLAN_CHECKS, STAGE(checks), "globs, relative to working_dir; each must match a file that is more than a stub", .kind = PLAN_CHECK_ARTIFACT },
	{ "wiring",       PLAN_CHECKS, STAGE(checks), "files that must have a line that matches", .kind = PLAN_CHECK_WIRING },
	{ "wiring_tests", PLAN_CHECKS, STAGE(checks), "commands with a name", .kind = PLAN_CHECK_WIRING_TEST },
	{ "truths",       PLAN_CHECKS, STAGE(checks), "commands, or statements for people", .kind = PLAN_CHECK_TRUTH },
	{ "before_stage", PLAN_CHECKS, STAGE(checks), "checks before the agent starts", .kind = PLAN_CHECK_BEFORE },
	{ "after_stage",  PLAN_CHECKS, STAGE(checks), "checks after all others", .kind = PLAN_CHECK_AFTER },
	{ "dead_code_check", PLAN_CHECKS, STAGE(checks), "a command whose output is searched", .kind = PLAN_CHECK_DEAD_CODE },
	{ "bug_fix",      PLAN_BOOL, STAGE(stage.bug_fix), "whether it must come with a regression test" },
	{ "regression_test", PLAN_CHECKS, STAGE(checks), "the regression test's file", .kind = PLAN_CHECK_REGRESSION, .place = STAGE(regression_at) + 1 },
	{ "approve",      PLAN_CHOICE, STAGE(approve), "when a person must agree", plan_approvals, .place = STAGE(approve_at) + 1 },
	{ "auto_merge",   PLAN_BOOL, STAGE(auto_merge), "false: as approve: after", .place = STAGE(auto_merge_at) + 1 },
	{ "timeout",      PLAN_TIME, STAGE(stage.timeout), "how long the agent may take" },
	{ "check_timeout", PLAN_TIME, STAGE(stage.check_timeout), "how long each check may take" },
	{ "network",      PLAN_MAP, STAGE(stage.network), "what it can reach", .rows = network_rows },
	{ "sandbox",      PLAN_MAP, STAGE(sandbox), "walls of this stage, beside the plan's", .rows = sandbox_rows },
	{ "submodules",   PLAN_PATHS, STAGE(stage.submodules), "paths of the submodules that it may change" },
	{ "on_conflict",  PLAN_CHOICE, STAGE(stage.on_conflict), "who resolves a merge conflict", plan_conflicts },
	{ "code_review",  PLAN_MAP, 0, "for stages that review", .rows = review_rows },
	{ "parallel_group", PLAN_IGNORED, 0, WHY_PARALLEL },
	{ "implementers", PLAN_IGNORED, 0, WHY_SESSION },
	{ "execution_mode", PLAN_IGNORED, 0, WHY_SESSION },
	{ "ultracode",    PLAN_IGNORED, 0, WHY_SESSION },
	{ "skills",       PLAN_IGNORED, 0, WHY_SESSION },
	{ "context_budget", PLAN_IGNORED, 0, WHY_SESSION },
	{ "subagent_timeout_secs", PLAN_IGNORED, 0, WHY_TIMEOUT },
	{ "at",           PLAN_AT,   STAGE(stage.at), .frozen = true },
	{ "checks",       PLAN_CHECKS, STAGE(checks), .kind = PLAN_CHECK_KINDS, .frozen = true },
	{ "disabled",     PLAN_BOOL, STAGE(stage.sandbox.disabled), .frozen = true },
	{ "disabled_at",  PLAN_AT,   STAGE(stage.sandbox.disabled_at), .frozen = true },
	{ 0 },
};

#define RETRY(member) offsetof(struct plan_retries, member)
static const struct plan_key retries_rows[] = {
	{ "crash",        PLAN_COUNT, RETRY(crash), "attempts after an agent that crashed", .max = 100 },
	{ "check",        PLAN_COUNT, RETRY(check), "attempts after a check that failed", .max = 100 },
	{ 0 },
};

#define TOP(member) offsetof(struct plan_draft, member)
const struct plan_key plan_rows[] = {
	{ "version",      PLAN_COUNT, TOP(version), "of this format: 1", .min = 1, .max = 1 },
	{ "plan_id",      PLAN_NAME, TOP(plan.id), "the plan's name; unset: the file's", .place = TOP(plan.id_at) + 1 },
	{ "agent",        PLAN_AGENT, TOP(plan.agent), "the agent that runs stages; unset: the user's default" },
	{ "target",       PLAN_BRANCH, TOP(plan.target), "the branch that the plan is for; unset: the current one", .place = TOP(plan.target_at) + 1 },
	{ "merge",        PLAN_CHOICE, TOP(plan.merge), "when the target moves", plan_merges, .place = TOP(merge_at) + 1 },
	{ "auto_merge",   PLAN_BOOL, TOP(auto_merge), "false: as merge: ask", .place = TOP(auto_merge_at) + 1 },
	{ "max_parallel", PLAN_COUNT, TOP(plan.max_parallel), "how many stages run at once", .min = 1, .max = 1000 },
	{ "acceptance",   PLAN_CHECKS, TOP(checks), "commands that must succeed on every merged tree", .kind = PLAN_CHECK_ACCEPTANCE },
	{ "retries",      PLAN_MAP, TOP(plan.retries), "how often a stage is tried again", .rows = retries_rows },
	{ "network",      PLAN_MAP, TOP(network), "what stages can reach", .rows = network_rows },
	{ "sandbox",      PLAN_MAP, TOP(sandbox), "walls of all stages", .rows = sandbox_rows },
	{ "stages",       PLAN_STAGES, 0, "the stages", .required = true },
	{ "change_impact", PLAN_IGNORED, 0, WHY_IMPACT },
	{ "adjudication", PLAN_IGNORED, 0, WHY_AMEND },
	{ "file",         PLAN_TEXT, TOP(plan.file), .frozen = true },
	{ "task",         PLAN_TEXT, TOP(plan.task), .frozen = true },
	{ "decided",      PLAN_BOOL, TOP(plan.decided), .frozen = true },
	{ "checks",       PLAN_CHECKS, TOP(checks), .kind = PLAN_CHECK_KINDS, .frozen = true },
	{ "digest",       PLAN_TEXT, TOP(plan.digest), .frozen = true },
	{ "id_at",        PLAN_AT,   TOP(plan.id_at), .frozen = true },
	{ "target_at",    PLAN_AT,   TOP(plan.target_at), .frozen = true },
	{ 0 },
};
/* clang-format on */

const struct plan_key *plan_check_rows(enum plan_check_kind kind)
{
	static const struct plan_key *const rows[PLAN_CHECK_KINDS + 1] = {
		[PLAN_CHECK_BEFORE] = command_rows,
		[PLAN_CHECK_SETUP] = command_rows,
		[PLAN_CHECK_ACCEPTANCE] = command_rows,
		[PLAN_CHECK_REGRESSION] = regression_rows,
		[PLAN_CHECK_WIRING] = wiring_rows,
		[PLAN_CHECK_WIRING_TEST] = wiring_test_rows,
		[PLAN_CHECK_DEAD_CODE] = dead_code_rows,
		[PLAN_CHECK_TRUTH] = truth_rows,
		[PLAN_CHECK_AFTER] = command_rows,
		[PLAN_CHECK_KINDS] = plan_frozen_check_rows,
	};

	return rows[kind];
}
