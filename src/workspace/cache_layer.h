/*
 * The project's own cache of package managers (jail.caches: project): what set-ups, and tasks that the user names,
 * wrote to cache directories. It is a chain of frozen layers (layer.h), between the host's directories and the
 * layers of the tasks. Nobody writes to a layer that is in use: new files become a new layer on top.
 *
 *	layers/<project>/cache-<project>-<n>/tree/<NAME>   what belongs to one cache; NAME is cache_layer_name
 *	layers/<project>/caches        the chain: names of layers, the top one first, a line each
 *	layers/<project>/caches.lock   held to change the chain, and by a task that begins to use it
 *
 * Unlike other layers they have whiteouts and opaque directories: what was removed from the cache stays removed.
 *
 *	cache_layer_begin(h, project, &l, &lock, e);
 *	cache_layer_fill(&l, path, from, move, &left_out, e);      for each cache
 *	cache_layer_lock(h, project, &chain, e);
 *	cache_layer_put(&l, merge, e);                             or layer_drop(&l)
 */
#ifndef WORKSPACE_CACHE_LAYER_H
#define WORKSPACE_CACHE_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "workspace/home.h"
#include "workspace/layer.h"

/* A chain has at most CACHE_LAYERS_MAX layers. It is merged to one when it has CACHE_LAYERS_MERGE and nobody uses it. */
#define CACHE_LAYERS_MAX   8
#define CACHE_LAYERS_MERGE 4

/* The name of a cache's directory, on the heap: its path with "%2F" for each slash. */
char *cache_layer_name(const char *path);

int cache_layer_lock(const struct home *h, int64_t project, int *ret_lock, struct err *e);
/* Whether the project ever had a chain. */
bool cache_layer_exists(const struct home *h, int64_t project);

/* The chain, the top layer first. Empty if one of its layers is missing, since those above build on it. */
int cache_layer_chain(const struct home *h, int64_t project, struct strvec *ret, struct err *e);
/* Makes the chain empty. The caller holds the lock. */
int cache_layer_forget(const struct home *h, int64_t project, struct err *e);

/* Begins a layer with a free name; *ret_lock is the lock of that layer (layer_lock), held until it is put. */
int cache_layer_begin(
	const struct home *h, int64_t project, struct layer_part *ret, int *ret_lock, struct err *e);

/* Takes what is in the directory `from`, which may be hostile, as the content of a cache: files without set-id bits
 * and marks of the overlay, directories, links, and whiteouts. Special files are added to *left_out (at most
 * LAYER_NAMES_MAX). With `move`, the files are moved; afterwards `from` can only be removed. */
int cache_layer_fill(
	struct layer_part *l, const char *path, int from, bool move, struct strvec *left_out, struct err *e);

/* Puts the layer on top of the chain. The caller holds the lock. With `merge` (nobody uses a layer of the chain), a
 * long chain becomes one layer. ERR_BUSY if the chain is too long and cannot be merged. */
int cache_layer_put(struct layer_part *l, bool merge, struct err *e);

#endif
