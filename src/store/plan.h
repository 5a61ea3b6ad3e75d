/*
 * Plans in the store: the plan as it was frozen at its start, its stages, what happened to them, and results of checks.
 *
 * Several processes write to a stage: the plan's runner, and commands of people (`garth plan hold`). Each reads the row,
 * changes the struct, and writes it: store_stage_write is ERR_BUSY if somebody else has written it meanwhile.
 * plan/stage_life.h has the states and the allowed changes between them.
 */
#ifndef STORE_PLAN_H
#define STORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/* The states of a stage (plan/stage_life.h). */
#define STAGE_WAITING   "waiting"
#define STAGE_APPROVAL  "approval"
#define STAGE_READY     "ready"
#define STAGE_RUNNING   "running"
#define STAGE_CHECKING  "checking"
#define STAGE_QUEUED    "queued"
#define STAGE_MERGING   "merging"
#define STAGE_DONE      "done"
#define STAGE_ASKING    "asking"
#define STAGE_QUOTA     "quota-until"
#define STAGE_REWORK    "rework"
#define STAGE_CONFLICT  "conflict"
#define STAGE_HELD      "held"
#define STAGE_FAILED    "failed"
#define STAGE_SKIPPED   "skipped"
#define STAGE_CANCELLED "cancelled"

struct plan_row {
	int64_t id, project_id;
	int64_t task_id; /* of the task whose branch is the integration branch; 0: not made yet */
	char *project;   /* the project's name */
	char *name;      /* of that task, too */
	char *file;      /* the plan's file, for people */
	char *digest;    /* of the file's content */
	char *target;    /* the user's branch, in full; "" if HEAD was detached */
	char *state;     /* see plan/stage_life.h */
	char *note;      /* for people */
	char *merged;    /* the commit that its work became in the target; "" before */
	int64_t created, changed, ended;
	bool tickets;  /* not a plan: the tickets of the task task_id (store/ticket.h) */
	int64_t waits; /* the run of that task that ended to wait for its tickets; 0: none */
};
void plan_row_release(struct plan_row *p);
#define auto_plan_row __attribute__((cleanup(plan_row_release))) struct plan_row
struct plan_row_list {
	struct plan_row *v;
	size_t n;
};
void plan_row_list_release(struct plan_row_list *l);
#define auto_plan_row_list __attribute__((cleanup(plan_row_list_release))) struct plan_row_list

struct stage_row {
	int64_t id, plan_id;
	int64_t number;  /* its index in the plan */
	char *name;      /* its id in the plan */
	char *task;      /* the name of its task */
	int64_t task_id; /* 0: not made yet */
	int64_t own_id; /* the stage's own task, if `task` is one for a conflict (plan/resolution.h); else 0 */
	char *state, *back; /* back: the state before it was held */
	char *note;         /* for people: why it waits or failed */
	char *gate;     /* what it waits for: GATE_BEFORE, GATE_AFTER, GATE_PATH (plan/stage_life.h) or "" */
	bool hold;      /* it is held before its next step */
	bool satisfied; /* it was skipped, but stages that depend on it can start */
	bool slot; /* it counts for the limits on parallel stages: from its start until its checks have passed */
	bool starting; /* a run is about to be started; `run` is the task's last run before that */
	int64_t run;
	int64_t attempt;           /* runs so far */
	int64_t crashes, failures; /* runs that ended badly, and rounds of checks that failed */
	int64_t conflicts;         /* how often its commit could not be merged */
	int64_t waits;             /* how often it waited because its model took no more requests */
	char *tip;                 /* the commit that is checked or merged; "" before there is one */
	char *failed_tip;          /* the commit whose checks failed last, and which failure that was */
	char *failure;
	char *approved; /* the commit that was approved; "start" before there is one; "" for none */
	char *prompt;   /* what the agent is told next; "" for the stage's brief */
	char *merged;   /* the commit of the integration branch that contains its work; "" before */
	int64_t queued; /* when it was ready to be merged */
	int64_t until;  /* it goes on then */
	int64_t started, ended, changed;
	int64_t version; /* counts the writes */
};
void stage_row_release(struct stage_row *s);
#define auto_stage_row __attribute__((cleanup(stage_row_release))) struct stage_row
struct stage_row_list {
	struct stage_row *v;
	size_t n;
};
void stage_row_list_release(struct stage_row_list *l);
#define auto_stage_row_list __attribute__((cleanup(stage_row_list_release))) struct stage_row_list

/* Adds a plan in state "making" with all of its stages, or nothing. Sets p->id. ERR_EXISTS if the project has a plan
 * of this name that is not over. */
int store_plan_add(struct store *s, struct plan_row *p, const char *frozen, const struct stage_row *stages,
	size_t n, struct err *e);
/* The text of plan_freeze; the caller frees it. */
int store_plan_frozen(struct store *s, int64_t id, char **ret, struct err *e);
/* The newest plan of this name in a project, or of all projects (0). ERR_NOTFOUND. */
int store_plan_by_name(
	struct store *s, int64_t project, const char *name, struct plan_row *ret, struct err *e);
int store_plan_by_id(struct store *s, int64_t id, struct plan_row *ret, struct err *e);
/* Oldest first; without those that are over, unless `over` is set. project 0: of all projects. */
int store_plan_list(struct store *s, int64_t project, bool over, struct plan_row_list *ret, struct err *e);
/* Writes task_id, target, state, note and merged. ERR_BUSY if the plan's state is not `from` any more. A plan with
 * `ended` set is over. */
int store_plan_write(struct store *s, struct plan_row *p, const char *from, struct err *e);

/* Replaces the text of a plan and its stages, in one transaction: stages with id 0 are new, stages that are not in the list
 * are removed. ERR_BUSY if a stage or the plan was changed meanwhile. Sets the plan's state, and p->state. */
struct plan_change {
	const char *frozen, *file, *digest, *state;
};
int store_plan_change(struct store *s, struct plan_row *p, const struct plan_change *change,
	const struct stage_row_list *stages, struct err *e);

/* The name of the plan that a task belongs to, as its own or a stage's, if that plan is not over; on the heap. NULL: none. */
int store_plan_of_task(struct store *s, int64_t task, char **ret, struct err *e);

/* The name of the plan whose own task this is, over or not; on the heap. NULL: none. */
int store_plan_by_task(struct store *s, int64_t task, char **ret, struct err *e);

/* The newest plan whose own task this is, over or not. ERR_NOTFOUND. */
int store_plan_own(struct store *s, int64_t task, struct plan_row *ret, struct err *e);

/* The stages of a plan, in its order. */
int store_stage_list(struct store *s, int64_t plan, struct stage_row_list *ret, struct err *e);
int store_stage_by_name(
	struct store *s, int64_t plan, const char *name, struct stage_row *ret, struct err *e);
/* The stage whose task this is, with its plan's name on the heap. ERR_NOTFOUND. */
int store_stage_of_task(struct store *s, int64_t task, struct stage_row *ret, char **ret_plan, struct err *e);
/* The tasks of stages, of conflicts too, and the tasks of their plans, as far as they exist. A plan's own task
 * comes with itself. */
struct stage_task {
	int64_t task, plan_task;
};
struct stage_task_list {
	struct stage_task *v;
	size_t n;
};
void stage_task_list_release(struct stage_task_list *l);
#define auto_stage_task_list __attribute__((cleanup(stage_task_list_release))) struct stage_task_list
int store_stage_tasks(struct store *s, struct stage_task_list *ret, struct err *e);
/* Writes all members that can change, the task's name too, and records the move if the state has changed. r->version goes
 * up. */
int store_stage_write(struct store *s, struct stage_row *r, struct err *e);
/* Takes a slot for the stage, unless `max` stages of plans that are not over have one. *ret: whether it has one now. */
int store_stage_take_slot(struct store *s, struct stage_row *r, uint64_t max, bool *ret, struct err *e);

/* What happened to a plan, oldest first. */
struct plan_event {
	int64_t at;
	char *stage; /* its name; "" for the plan as a whole */
	char *what;  /* a state, or a word such as "check" */
	char *text;  /* for people */
};
struct plan_event_list {
	struct plan_event *v;
	size_t n;
};
void plan_event_list_release(struct plan_event_list *l);
#define auto_plan_event_list __attribute__((cleanup(plan_event_list_release))) struct plan_event_list
/* stage is 0 for the plan as a whole. */
int store_plan_note(
	struct store *s, int64_t plan, int64_t stage, const char *what, const char *text, struct err *e);
int store_plan_events(
	struct store *s, int64_t plan, int64_t stage, struct plan_event_list *ret, struct err *e);

/* The result of a check. */
struct check_row {
	char *key;   /* what it depends on: a digest (plan/check_key.h) */
	char *title; /* for people */
	char *kind;  /* "acceptance" … */
	bool passed;
	bool cached;  /* the result was known, and the check did not run again */
	int64_t code; /* the command's exit code; -1 if there was none */
	int64_t ms;   /* how long it took */
	char *why;    /* for people: what is wrong; "" if it passed */
	char *output; /* the end of what it printed */
	int64_t attempt, at;
};
void check_row_release(struct check_row *r);
#define auto_check_row __attribute__((cleanup(check_row_release))) struct check_row
struct check_row_list {
	struct check_row *v;
	size_t n;
};
void check_row_list_release(struct check_row_list *l);
#define auto_check_row_list __attribute__((cleanup(check_row_list_release))) struct check_row_list
/* A known result for this key; ERR_NOTFOUND. The oldest ones are removed. */
int store_check_known(struct store *s, const char *key, struct check_row *ret, struct err *e);
int store_check_set_known(struct store *s, const struct check_row *r, struct err *e);
/* Adds a result to those of a stage. It replaces one of an earlier round with the same key, unless this one was only looked
 * up. */
int store_check_add(struct store *s, int64_t stage, const struct check_row *r, struct err *e);
/* How long the stage's checks have taken in all. */
int store_check_seconds(struct store *s, int64_t stage, uint64_t *ret, struct err *e);
int store_check_list(struct store *s, int64_t stage, struct check_row_list *ret, struct err *e);

#endif
