/*
 * A plan file: stages that depend on each other, each for an agent in its own task.
 *
 *	auto_plan p = { 0 };
 *	plan_read(text, len, "plan.md", &p, e)     every key; types, ranges, names, cycles
 *	plan_decide(&p, &host, e)                  decides what depends on the repository and the machine
 *	p.warnings, p.stages[i].files[j].glob …
 *
 * plan_read looks only at the text. Errors are ERR_CONFIG "FILE:LINE:COLUMN: …". The file is YAML, or Markdown with YAML in
 * it. The keys are described in garth-plan(1).
 *
 * plan_decide says how `files` is read and which truths are commands, and adds warnings. It is called
 * once, at the start: what it decides depends on files that stages change.
 *
 * plan_freeze writes a plan, with all decisions and positions, as text that plan_thaw reads back. Two files say the same if
 * the digests of their plans are equal.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

#define PLAN_ID_MAX     128
#define PLAN_STAGES_MAX 1000
#define PLAN_FROZEN_MAX (16u << 20)

/* A position in the plan's file, from 1; 0: it is not from the file. */
struct plan_place {
	unsigned line, column;
};

/* What makes a command's result a success. */
struct plan_expect {
	int exit_code;                     /* 0 unless given */
	struct strvec stdout_contains;     /* each must be in the output */
	struct strvec stdout_not_contains; /* none may be */
	struct strvec stderr_contains;
	bool stderr_empty; /* errors must be empty */
};

/* In the order in which they run; BEFORE runs before the agent starts. */
enum plan_check_kind {
	PLAN_CHECK_BEFORE,      /* before_stage: command, expect */
	PLAN_CHECK_ARTIFACT,    /* artifacts: glob */
	PLAN_CHECK_SETUP,       /* setup: command; not a test, but it must succeed */
	PLAN_CHECK_ACCEPTANCE,  /* acceptance: command, expect */
	PLAN_CHECK_REGRESSION,  /* bug_fix, regression_test: path, must_contain */
	PLAN_CHECK_WIRING,      /* wiring: path, pattern */
	PLAN_CHECK_WIRING_TEST, /* wiring_tests: name, command, expect */
	PLAN_CHECK_DEAD_CODE,   /* dead_code_check: command, fail_patterns, ignore_patterns */
	PLAN_CHECK_TRUTH,       /* truths: command, expect */
	PLAN_CHECK_STATEMENT,   /* truths: text; for people, not machine-checked */
	PLAN_CHECK_AFTER,       /* after_stage: command, expect */
	PLAN_CHECK_KINDS
};

/* One check of a stage, or of a plan. The list of kinds says which members are set; all others are NULL or empty. Commands
 * are lines for a shell, run in working_dir, and may contain ${WORKTREE}, ${PROJECT_ROOT} and ${STAGE_ID}. */
struct plan_check {
	enum plan_check_kind kind;
	struct plan_place at;
	bool open; /* a truth that is a text: plan_decide says whether it is a command or a statement */
	char *name, *description; /* may be NULL in every kind */
	char *command;
	struct plan_expect expect;
	char *glob;                 /* from working_dir; as written */
	char *path;                 /* of a file, from working_dir */
	char *pattern;              /* an extended regular expression, looked for in each line of the file */
	char *text;                 /* of a statement */
	struct strvec must_contain; /* texts that the file must have */
	struct strvec fail_patterns, ignore_patterns; /* texts in lines of the output */
};

/* One entry of `files`, `protect` or a list of `sandbox`. */
enum plan_base {
	PLAN_BASE_OPEN, /* not decided yet */
	PLAN_BASE_DIR,  /* read from working_dir */
	PLAN_BASE_ROOT, /* read from the repository's root */
	PLAN_BASE_BOTH, /* neither exists: both are allowed */
};

struct plan_pattern {
	struct plan_place at;
	char *text; /* as written */
	enum plan_base base;
	char *glob; /* base/glob.h, from the repository's root: /loom/src/x; NULL until it is decided */
	char *also; /* the second reading of PLAN_BASE_BOTH, else NULL */
};

struct plan_patterns {
	struct plan_pattern *v;
	size_t n;
};

/* What `sandbox` adds to the walls of a stage: the plan's rules and the stage's own, together. */
struct plan_sandbox {
	bool disabled; /* `enabled: false`; only the user can accept such a plan: plan_check_walls */
	struct plan_place disabled_at;
	struct strvec deny_read, deny_write; /* rules as jail.deny_read has them: "secrets", "~/.ssh" */
	struct strvec allow_write;           /* the same for jail.allow_write; only within the repository */
};

/* The network of a stage: `network`, and what `sandbox.network` says. */
struct plan_network {
	char *mode;          /* "none", "allow", "host"; NULL: what the user's configuration says */
	struct strvec allow; /* base/hosts.h, in addition to the configuration's */
};

enum plan_stage_type {
	PLAN_STANDARD,
	PLAN_KNOWLEDGE,          /* knowledge */
	PLAN_INTEGRATION_VERIFY, /* integration-verify: checks run in a fresh checkout */
	PLAN_KNOWLEDGE_DISTILL,  /* knowledge-distill */
	PLAN_CODE_REVIEW,        /* code-review */
};

enum plan_approve { PLAN_APPROVE_BEFORE = 1, PLAN_APPROVE_AFTER = 2 };

enum plan_on_conflict {
	PLAN_CONFLICT_AGENT,    /* the stage's agent goes on, and is told */
	PLAN_CONFLICT_RESOLVER, /* a new conversation, which is told what both sides were to do */
	PLAN_CONFLICT_HUMAN,
};

struct plan_stage {
	struct plan_place at; /* of its id */
	char *id;
	char *task; /* the name of its task: "PLAN.STAGE", in a form that task names have */
	char *name;
	char *description; /* NULL if there is none */
	enum plan_stage_type type;
	char *working_dir; /* relative and clean; "." is the repository's root */
	size_t *needs;     /* dependencies, as indexes of the plan's stages; no index is there twice */
	size_t nneeds;
	struct plan_place *needs_at;
	char *agent;          /* the stage's own or the plan's; NULL: the user's default agent */
	char *script;         /* with agent "script": lines for a shell, which are run instead of an agent */
	char *model, *effort; /* for agents that have such an option; NULL if not given */
	bool has_files;       /* whether `files` has entries; false: everything but protected paths */
	struct plan_patterns files, protect;
	unsigned approve;       /* enum plan_approve, together; `auto_merge: false` is PLAN_APPROVE_AFTER */
	uint64_t timeout;       /* of the agent, seconds; 0: none */
	uint64_t check_timeout; /* of each check; 0: not given */
	struct plan_network network;
	struct plan_sandbox sandbox;
	struct strvec submodules; /* paths, as workspace.submodules; empty: not given */
	struct strvec review;     /* code_review.dimensions, for the brief */
	enum plan_on_conflict on_conflict;
	bool bug_fix;
	struct plan_check *checks; /* in the order of the kinds, then of the file */
	size_t nchecks;
	/* From plan_decide: earlier stages of the file that may change the same files, where neither stage depends on the
	 * other. They must not run at the same time. */
	size_t *overlaps;
	size_t noverlaps;
};

enum plan_merge { PLAN_MERGE_DONE, PLAN_MERGE_EACH, PLAN_MERGE_ASK, PLAN_MERGE_NEVER };

struct plan_retries {
	uint64_t crash, check;
};
#define PLAN_RETRIES_CRASH 2
#define PLAN_RETRIES_CHECK 3

struct plan {
	char *file; /* for messages */
	char *id;   /* plan_id, or made from the file's name */
	char *task; /* the name of its task */
	struct plan_place id_at, target_at;
	char *agent;  /* NULL: the user's default agent */
	char *target; /* a branch; NULL: the current one */
	enum plan_merge merge;
	uint64_t max_parallel;       /* 0: not given */
	struct plan_retries retries; /* after the first attempt */
	struct plan_check *checks;   /* acceptance: on every merged tree */
	size_t nchecks;
	struct plan_stage *stages; /* in the file's order */
	size_t nstages;
	size_t *order;   /* indexes of the stages, each after those that it needs */
	uint64_t *after; /* for plan_is_after */
	char *digest;    /* of the file's content; a file that is only formatted differently has the same */
	bool decided;
	struct strvec no_effect; /* "FILE:12:5: 'excluded_commands' has no effect here: …"; each key once */
	struct strvec warnings;  /* "FILE:12:5: …"; from plan_decide */
};

void plan_release(struct plan *p);
#define auto_plan __attribute__((cleanup(plan_release))) struct plan

/* Reads and checks a plan's text. `file` is for messages, and the plan's id is made from it if the text has none. */
int plan_read(const char *text, size_t len, const char *file, struct plan *ret, struct err *e);
/* The same, but it does not stop at the first mistake: adds the messages of at most PLAN_MISTAKES_MAX, of which *e is the first.
 * A text that is no YAML, and what can only be said of a plan without other mistakes, adds none. */
#define PLAN_MISTAKES_MAX 20
int plan_read_all(const char *text, size_t len, const char *file, struct strvec *mistakes, struct plan *ret,
	struct err *e);

/* What plan_decide asks about the repository and the machine. If a function is NULL, what it would decide stays undecided. */
struct plan_host {
	void *ctx;
	/* Which paths, relative to the repository's root, are in the commit that the plan starts from. Called once. */
	int (*have_paths)(void *ctx, const struct strvec *paths, bool *ret, struct err *e);
	/* whether a task would have the program; a name without a slash */
	bool (*has_program)(void *ctx, const char *name);
};
int plan_decide(struct plan *p, const struct plan_host *host, struct err *e);

/* ERR_REFUSED if the plan, written for another system, asks for a stage without walls: there is no run without them. The
 * user can choose to run it with walls. */
int plan_check_walls(const struct plan *p, struct err *e);

/* Gives the plan's task and its stages' tasks another name than the plan's id. ERR_USAGE. */
int plan_name_tasks(struct plan *p, const char *name, struct err *e);

/* ERR_CONFIG "FILE:LINE:COLUMN: …", cleaned for a terminal; without the position if the plan does not have it. */
int plan_error(const struct plan *p, struct plan_place at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The index of a stage; -1 if there is none. */
long plan_stage_find(const struct plan *p, const char *id);
/* Whether stage a comes after stage b, directly or not. */
bool plan_is_after(const struct plan *p, size_t a, size_t b);

/* Writes the plan as text for plan_thaw. */
void plan_freeze(const struct plan *p, struct buf *out);
int plan_thaw(const char *text, size_t len, struct plan *ret, struct err *e);

#endif
