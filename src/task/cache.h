/* What Garth keeps so that tasks start fast: bases (workspace/base.h) and layers (workspace/layer.h,
 * workspace/cache_layer.h), with their sizes and users. */
#ifndef TASK_CACHE_H
#define TASK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"

struct cache_item {
	char *project;
	/* "base", "delta" (a base that is the difference from another), "submodule" (the base of one), "setup",
	 * "include", "cache" */
	const char *kind;
	char *name;  /* a commit, or a layer's name */
	char *about; /* what a layer was made of; "" */
	uint64_t bytes;
	struct strvec tasks;   /* names of tasks that use it */
	struct strvec trashed; /* … and of those in the trash: an undo brings them back */
};

struct cache {
	struct cache_item *v;
	size_t n;
	uint64_t bytes; /* of all together */
};
void cache_release(struct cache *c);
#define auto_cache __attribute__((cleanup(cache_release))) struct cache

/* Measures everything, which takes a while. */
int cache_list(struct context *c, struct cache *ret, struct err *e);

/* Calls fn for each project's number beneath a directory of the Garth home; no error if it is missing. */
typedef int cache_project_fn(struct context *c, int64_t project, void *arg, struct err *e);
int cache_projects(struct context *c, const char *place, cache_project_fn *fn, void *arg, struct err *e);

#endif
