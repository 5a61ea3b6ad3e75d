/*
 * The subcommands of `garth plan`: each has a function in a file plan_NAME.c and a row in cmd_plan.c. They share one set of
 * options; the row says which of them a subcommand accepts.
 */
#ifndef CLI_PLAN_CMD_H
#define CLI_PLAN_CMD_H

#include <jansson.h>
#include <stdbool.h>

#include "git/repo.h"
#include "plan/plan.h"
#include "task/context.h"

struct plan_line {
	char **words; /* after the subcommand's name; the first is NULL if there is none */
	int n;
	bool json, dot, mermaid, dry_run, keep_walls;
	bool detach, fail_fast, watch, all, satisfied, check, replan;
	const char *tip, *message;
};

/* Each returns the exit code. */
int plan_cmd_check(const struct plan_line *l);
int plan_cmd_schema(const struct plan_line *l);
int plan_cmd_graph(const struct plan_line *l);
int plan_cmd_run(const struct plan_line *l);
int plan_cmd_resume(const struct plan_line *l);
int plan_cmd_status(const struct plan_line *l);
int plan_cmd_log(const struct plan_line *l);
int plan_cmd_ls(const struct plan_line *l);
int plan_cmd_approve(const struct plan_line *l);
int plan_cmd_reject(const struct plan_line *l);
int plan_cmd_hold(const struct plan_line *l);
int plan_cmd_release(const struct plan_line *l);
int plan_cmd_retry(const struct plan_line *l);
int plan_cmd_skip(const struct plan_line *l);
int plan_cmd_cancel(const struct plan_line *l);
int plan_cmd_merge(const struct plan_line *l);

/* A plan that was read from a file, and the repository that it is for. */
struct plan_file {
	struct plan plan;
	struct repo repo; /* around the current directory; top is NULL if there is none */
	char *commit;     /* where the plan starts; NULL: not known */
};
void plan_file_release(struct plan_file *f);
#define auto_plan_file __attribute__((cleanup(plan_file_release))) struct plan_file

/* Reads a plan's file ("-" is the standard input), checks it, and decides what depends on the repository around the
 * current directory and on the machine. */
int plan_file_load(struct context *c, const char *path, struct plan_file *ret, struct err *e);
/* The same with all mistakes of the file, as plan_read_all adds them. */
int plan_file_load_all(
	struct context *c, const char *path, struct strvec *mistakes, struct plan_file *ret, struct err *e);
/* Adds warnings about agents and the commit, if `garth plan run` would refuse them or fail. */
void plan_file_refusals(struct context *c, struct plan_file *f);
/* Prints the keys without effect, and the warnings. */
void plan_file_say(const struct plan_file *f);
/* Warns of `enabled: false`, or refuses it. */
int plan_file_walls(const struct plan_file *f, bool keep_walls, struct err *e);

json_t *plan_json(const struct plan *p);

#endif
