/*
 * The keys of a plan's file as rows of data. The reader (read.c), the schema (schema.c) and the writer of frozen plans
 * (freeze.c) use the same rows.
 *
 * Values go into a draft, which has the file's content key by key; finish.c makes a plan out of it. A frozen plan has some
 * keys that a file cannot have.
 */
#ifndef PLAN_ROWS_H
#define PLAN_ROWS_H

#include "plan/plan.h"

enum plan_type {
	PLAN_TEXT,        /* char *: not empty */
	PLAN_LINE,        /* char *: one line, not empty */
	PLAN_ID,          /* char *: of a stage */
	PLAN_NAME,        /* char *: of a plan */
	PLAN_AGENT,       /* char *: of an agent */
	PLAN_BRANCH,      /* char * */
	PLAN_DIR,         /* char *: relative, without ".."; "." is the top */
	PLAN_PATH,        /* char *: the same, but not "." */
	PLAN_REGEX,       /* char *: an extended regular expression */
	PLAN_BOOL,        /* bool */
	PLAN_COUNT,       /* uint64_t, from the row's min to its max */
	PLAN_CODE,        /* int, from the row's min to its max */
	PLAN_TIME,        /* uint64_t: seconds */
	PLAN_CHOICE,      /* unsigned, or an enum: index of the row's choices */
	PLAN_CHOICE_TEXT, /* char *: one of the row's choices */
	PLAN_TEXTS,       /* struct strvec: texts that are not empty */
	PLAN_HOSTS,       /* struct strvec: base/hosts.h */
	PLAN_PATHS,       /* struct strvec: of PLAN_PATH */
	PLAN_NEEDS,       /* struct plan_needs */
	PLAN_PATTERNS,    /* struct plan_patterns */
	PLAN_RULES,       /* struct plan_rules: globs with their places */
	PLAN_CHECKS, /* struct plan_checks: texts or mappings, of the row's kind; also a single one without a list */
	PLAN_STAGES,  /* struct plan_draft's stages */
	PLAN_MAP,     /* what the row's rows say */
	PLAN_IGNORED, /* anything; it has no effect */
	PLAN_AT,      /* struct plan_place, as "12:5"; in frozen plans */
};

struct plan_key {
	const char *key;
	enum plan_type type;
	size_t offset;    /* in the struct that the table is for */
	const char *help; /* for the schema; with PLAN_IGNORED why it has no effect */
	const char *const *choices;
	const struct plan_key *rows; /* of a mapping */
	uint64_t min, max;
	enum plan_check_kind kind;
	size_t place; /* 1 + offset of a struct plan_place for the value's place; 0: none */
	bool required;
	bool frozen; /* only in frozen plans */
};

struct plan_checks {
	struct plan_check *v;
	size_t n;
};

/* Names of stages, as they are written. */
struct plan_needs {
	struct strvec ids;
	struct plan_place *at;
};

struct plan_rules {
	struct strvec globs;
	struct plan_place *at;
};

struct plan_sandbox_draft {
	bool enabled; /* with enabled_at */
	struct plan_place enabled_at, domains_at;
	struct plan_rules deny_read, deny_write, allow_write;
	struct strvec allowed_domains, additional_domains;
};

struct plan_stage_draft {
	struct plan_stage stage;
	struct plan_checks checks;
	struct plan_needs needs;
	struct plan_sandbox_draft sandbox;
	struct plan_place at, script_at, auto_merge_at, approve_at, regression_at;
	unsigned approve;
	bool auto_merge;
};

struct plan_draft {
	struct plan plan;
	struct plan_checks checks;
	struct plan_sandbox_draft sandbox;
	struct plan_network network;
	struct plan_place merge_at, auto_merge_at, id_at, max_at;
	bool auto_merge;
	uint64_t version;
	struct plan_stage_draft *stages;
	size_t nstages;
	struct strvec *mistakes; /* plan_mistake */
};

/* Called with the result rc of reading a part of the plan. If rc is a mistake in the file and `mistakes` is not NULL, adds the
 * message to the list and returns 0, so that reading goes on. */
int plan_mistake(struct strvec *mistakes, int rc, struct err *e);

void plan_draft_release(struct plan_draft *d);

/* Each table ends in a row without a key. */
extern const struct plan_key plan_rows[];
extern const struct plan_key plan_stage_rows[];
/* The mapping form of a check; NULL: it has none. */
const struct plan_key *plan_check_rows(enum plan_check_kind kind);
/* A check, and an entry of `files`, in a frozen plan. */
extern const struct plan_key plan_frozen_check_rows[];
extern const struct plan_key plan_frozen_pattern_rows[];

/* The words of enums; each list ends in NULL. */
extern const char *const plan_stage_types[];
extern const char *const plan_check_kinds[];
extern const char *const plan_merges[];
extern const char *const plan_approvals[];
extern const char *const plan_conflicts[];
extern const char *const plan_bases[];

#endif
