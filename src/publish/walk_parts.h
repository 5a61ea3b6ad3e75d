/* What the files of the walk share: one run's state, bounded reading, and its two halves. */
#ifndef PUBLISH_WALK_PARTS_H
#define PUBLISH_WALK_PARTS_H

#include "base/oid.h"
#include "publish/walk.h"
#include "publish/walk_parse.h"

#define WALK_FRESH_MAX  1000000
#define WALK_OBJECT_MAX (64u << 20)
#define WALK_HELD_MAX   (512u << 20) /* trees that are open at once, the way down */
#define WALK_DEPTH_MAX  512
#define WALK_PATH_MAX   4096
#define WALK_TREES_MAX  200000  /* visits of directories for the net difference */
#define WALK_PATHS_MAX  1000000 /* that one fresh commit's tree may unfold into, beyond max_files */
#define WALK_SECONDS    60
#define WALK_BATCH      1024

struct walker {
	const struct walk_spec *spec;
	struct walk_result *ret;
	struct refusal *no;
	int64_t deadline; /* in milliseconds */
	size_t held;
	struct buf path;     /* where the walk is */
	struct strvec trees; /* of fresh commits, each once */
};

/* The agent's doing, and not to be repaired by policy: code "incomplete", ERR_FAILED. */
int walk_incomplete(struct walker *w, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A limit of the walk itself: code "too_large". */
int walk_too_large(struct walker *w, struct err *e, const char *what);

/* `ours` is an object that the shared repository must have: its lack is not the agent's doing. */
int walk_read_commit(
	struct walker *w, const char *oid, bool ours, struct buf *data, struct commit *ret, struct err *e);
int walk_read_tree(struct walker *w, const unsigned char *oid, bool ours, struct tree *ret, struct err *e);
void walk_drop_tree(struct walker *w, struct tree *t);

/* Appends "/name"; the length before it, to be given to buf_cut, or -1. */
int walk_enter(struct walker *w, const char *name, size_t *ret_before, struct err *e);

/* walk_fresh.c: the fresh commits and all that is fresh beneath them. tip_tree is filled. */
int walk_fresh(struct walker *w, char tip_tree[OID_SIZE], struct err *e);
/* walk_net.c: the net difference of a fresh commit's tree; only the tip's goes into the result. */
int walk_net(struct walker *w, const char *tree, bool tip, struct err *e);

#endif
