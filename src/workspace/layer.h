/*
 * Layers: frozen directories of files that Garth brings into workspaces. A set-up layer is what the set-up
 * command left; an include layer has untracked files of the user's checkout. An overlay workspace has its
 * layers between its own files and its base, so all tasks share them. Other workspaces get a copy.
 *
 *	layers/<project>/<name>/tree    the files: regular files, directories and links, nothing else
 *	layers/<project>/<name>/caches  a set-up layer: what the command wrote to caches, each as in cache_layer.h
 *	layers/<project>/<name>/about   what it was made of, a line for people
 *	layers/<project>/<name>/log     a set-up layer: what the command printed
 *	layers/<project>/<name>/roots   written last: the topmost paths that no commit has, each ending in NUL
 *	layers/<project>/<name>/boot    until the files are synced: the boot during which they were made
 *	layers/<project>/<name>.lock    held while the layer is made
 *	layers/<project>/<name>.failed  the log of a set-up that failed
 *
 * The name is the kind and a hash of everything that decides about the content. A layer is made in
 * <name>.part and renamed when it is complete, so a layer that exists is complete. After a crash of the
 * machine, one that was not synced is made again. Nothing changes in the tree after `roots` is written.
 *
 *	layer_begin(h, project, name, &l, e);      then fill l.tree: layer_add_file, layer_move
 *	layer_finish(&l, tracked, about, e);       or layer_drop(&l)
 *
 * The file tasks/<id>/layers has the names of a task's layers, topmost first. No layer has a path that the
 * task's base tracks.
 */
#ifndef WORKSPACE_LAYER_H
#define WORKSPACE_LAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "workspace/home.h"
#include "workspace/scan.h"

#define LAYER_SETUP   "setup-"
#define LAYER_INCLUDE "include-"
#define LAYER_CACHE   "cache-" /* of cache_layer.h */
#define LAYER_CACHES  "caches" /* the directory in a set-up layer */
/* At most so many for one task. */
#define LAYERS_MAX 4

struct layer {
	char *name;
	char *path;          /* of its tree */
	struct strvec roots; /* paths in it that no tracked directory has */
};
void layer_release(struct layer *l);
#define auto_layer __attribute__((cleanup(layer_release))) struct layer

/* Opens a complete layer; ERR_NOTFOUND. */
int layer_open(const struct home *h, int64_t project, const char *name, struct layer *ret, struct err *e);
/* Whether the commit with these paths tracks something in one of the layer's places. */
bool layer_collides(const struct layer *l, const struct tracked *t);
/* Marks the layer as used now, so that it is the last one to be removed. */
void layer_touch(const struct home *h, int64_t project, const char *name);

/* The names of a task's layers; no error if it has none. */
int layers_of_dir(int task_dir, struct strvec *ret, struct err *e);
int layers_put(int task_dir, const struct strvec *names, struct err *e);

/* A layer that is being made. */
struct layer_part {
	const struct home *home;
	int64_t project;
	char *name, *part;
	int place, dir, tree; /* the project's directory, that of the part, and the part's tree */
	size_t files;
	uint64_t bytes;
	/* the directory that was written to last, and its path */
	int last;
	char *last_path;
};
#define LAYER_PART_INIT                                                                                      \
	{                                                                                                    \
		.place = -1, .dir = -1, .tree = -1, .last = -1                                               \
	}
/* The caller holds the layer's lock (layer_lock). */
int layer_begin(
	const struct home *h, int64_t project, const char *name, struct layer_part *ret, struct err *e);
/* Copies a regular file, or a link, from a directory to a path of the layer. *ret_taken is false if it is
 * neither, or is gone. */
int layer_add_file(struct layer_part *l, int from, const char *path, bool *ret_taken, struct err *e);
/* The directory of the layer in which the path's last name belongs, made if it is missing; it belongs to l. -1 and
 * errno. */
int layer_parent(struct layer_part *l, const char *path);
/* Copies an open file to a name in a directory, with its mode and times. Returns 1 if the name exists. */
int layer_copy_file(int in, const struct stat *st, int to, const char *name, struct err *e);
/* Moves everything that may become part of a layer out of an overlay's upper directory: what the commit does
 * not track, without repositories, special files, set-id bits and the overlay's own marks. The paths of
 * tracked files that were changed are added to *changed, what is left out to *left_out (at most
 * LAYER_NAMES_MAX each). */
#define LAYER_NAMES_MAX 100
int layer_move(struct layer_part *l, int upper, const struct tracked *t, struct strvec *changed,
	struct strvec *left_out, struct err *e);
/* Begins to add caches to a layer: *ret is a part whose tree is the layer's `caches`, for cache_layer_fill. */
int layer_begin_caches(struct layer_part *l, struct layer_part *ret, struct err *e);
/* Ends that, and releases *ret. Its files count as the layer's. Without `keep`, or if there are none, the layer has no
 * caches. */
int layer_end_caches(struct layer_part *l, struct layer_part *ret, bool keep, struct err *e);
/* Writes the roots and puts the layer in place. */
int layer_finish(struct layer_part *l, const struct tracked *t, const char *about, struct err *e);
/* Removes the part unless it is finished; frees everything. */
void layer_drop(struct layer_part *l);
#define auto_layer_part __attribute__((cleanup(layer_drop))) struct layer_part

/* Opens layers/<project>, made if it is missing. */
int layer_place(const struct home *h, int64_t project, int *ret_fd, struct err *e);
/* One process at a time makes a layer. ERR_BUSY if !wait and somebody holds it. */
int layer_lock(
	const struct home *h, int64_t project, const char *name, bool wait, int *ret_fd, struct err *e);

/* The names of a project's layers; with `parts`, of half-made and half-removed ones instead. */
int layer_list(const struct home *h, int64_t project, bool parts, struct strvec *ret, struct err *e);
/* Removes the project's layers that nobody uses, except the newest set-up layer, and what a crash left. With
 * `all`, the newest goes too. is_used is asked while the layer's lock is held: whoever makes a task holds the locks
 * of its layers until the task names them. */
typedef int layer_used_fn(const char *name, bool *ret, void *arg, struct err *e);
int layer_prune(const struct home *h, int64_t project, layer_used_fn *is_used, void *arg, bool all,
	bool later, struct err *e);
/* Moves a layer out of the way, to a name that is never used, and removes it. */
int layer_remove(const struct home *h, int64_t project, const char *name, bool later, struct err *e);
/* Whether something in the tree, or in the caches, was changed after the layer was made. */
bool layer_was_touched(const struct home *h, int64_t project, const char *name);

#endif
