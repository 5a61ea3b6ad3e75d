/*
 * How the globs of `files` and `protect` are read. Plans write them relative to working_dir or to the repository's root,
 * and nothing in a plan says which. So both readings are compared with the repository: the reading with more existing
 * leading directories is taken. If they are equal, both are allowed.
 *
 *	working_dir: loom     src/x.rs          /loom/src/x.rs, if loom/src exists and src does not
 *	                      loom/src/x.rs     /loom/src/x.rs, if loom/loom does not exist
 *	                      ../.github/x      /.github/x
 *	                      /src/x            /src/x: a leading slash is the root
 */
#ifndef PLAN_SCOPE_H
#define PLAN_SCOPE_H

#include "plan/plan.h"

/* `text`, read relative to `dir` ("." is the root), as a glob from the repository's root: with a leading slash, without
 * ".", ".." and a final slash. NULL if it leads out of the repository. On the heap. */
char *scope_read(const char *dir, const char *text);

/* Decides all patterns of the plan. */
int scope_decide(struct plan *p, const struct plan_host *host, struct err *e);

/* Whether one of the patterns could match a path that the glob matches. */
bool scope_may_meet(const struct plan_patterns *p, const char *glob);

/* Sets each stage's `overlaps`; the patterns must be decided. */
void scope_find_overlaps(struct plan *p);

#endif
