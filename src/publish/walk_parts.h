/* Shared by the files of the walk: its state, bounded reading, and its two halves. */
#ifndef PUBLISH_WALK_PARTS_H
#define PUBLISH_WALK_PARTS_H

#include "base/oid.h"
#include "publish/walk.h"
#include "publish/walk_parse.h"

#define WALK_FRESH_MAX  1000000
#define WALK_OBJECT_MAX (64u << 20)
#define WALK_HELD_MAX   (512u << 20) /* all trees on the path down from the root, in bytes */
#define WALK_DEPTH_MAX  512
#define WALK_PATH_MAX   4096
#define WALK_TREES_MAX  200000  /* directories visited for the net difference */
#define WALK_PATHS_MAX  1000000 /* paths in one fresh commit's tree, beyond max_files */
#define WALK_SECONDS    60
#define WALK_BATCH      1024

struct walker {
	const struct walk_spec *spec;
	struct walk_result *ret;
	struct refusal *no;
	int64_t deadline; /* in milliseconds */
	size_t held;
	struct buf path;     /* the path that is being checked */
	struct strvec trees; /* of fresh commits, each once */
};

/* The agent's fault, and no rule of the policy: code "incomplete", ERR_FAILED. */
int walk_incomplete(struct walker *w, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A limit of the walk is exceeded: code "too_large". */
int walk_too_large(struct walker *w, struct err *e, const char *what);

/* ours: the shared repository must have the object; if it does not, that is not the agent's fault. */
int walk_read_commit(
	struct walker *w, const char *oid, bool ours, struct buf *data, struct commit *ret, struct err *e);
int walk_read_tree(struct walker *w, const unsigned char *oid, bool ours, struct tree *ret, struct err *e);
void walk_drop_tree(struct walker *w, struct tree *t);

/* Appends "/name" to the path. *ret_before is the length to give to buf_cut afterwards. */
int walk_enter(struct walker *w, const char *name, size_t *ret_before, struct err *e);

/* walk_fresh.c: checks the fresh commits and all fresh objects beneath them. Fills tip_tree. */
int walk_fresh(struct walker *w, char tip_tree[OID_SIZE], struct err *e);
/* walk_net.c: applies the policy to the net difference of a fresh commit's tree; only the tip's goes into the
 * result. */
int walk_net(struct walker *w, const char *tree, bool tip, struct err *e);

#endif
