/* Internal to enter.c and the files that it calls: the state and the functions of the steps of entering. */
#ifndef JAIL_STEPS_H
#define JAIL_STEPS_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "jail/jail.h"

/* The host's side of a row, opened before anything else. */
struct source {
	int fd;          /* of a bind or cache: the detached clone; -1 if an optional one does not exist */
	int upper, work; /* of a cache; -1 if it has no layer and is shown read-only */
	int lowers[JAIL_CACHE_LOWERS_MAX];
	size_t nlowers;
	struct buf data; /* of a copy */
	mode_t mode;
	bool there;
};

#define DEV_NODES 6
extern const char *const dev_nodes[DEV_NODES];

struct entering {
	const struct jail *j;
	struct source *sources; /* one per row */
	int nodes[DEV_NODES];
	int *lowers; /* clones of the overlay's lower layers */
	int layers;  /* clone of the directory with its upper and work directories */
	int upper, work;
	bool caches_staged, shared_staged;
	int caches;        /* clone of the directory with the layers of CACHE rows */
	int shared;        /* clone of the directory with frozen layers of CACHE rows */
	const int *mapped; /* see idmap.h */
	int stage;         /* a temporary tmpfs outside the new root; disappears with the old root */
	int root;          /* the new root */
	size_t row;        /* the current row */
	char *holder_path; /* the directory of the last mount point */
	int holder_fd;
	int listener; /* of a Landlock-only jail */
};

/* sources.c */
int sources_open(struct entering *in, struct err *e);

/* mount_points.c: finds or creates the current row's mount point. If an agent left something there in a
 * writable place, it is moved aside; for an optional row the target then counts as occupied. */
struct place {
	int dir; /* owned by struct entering, valid until the next place */
	const char *name;
};
int place_mount(struct entering *in, const char *path, bool is_dir, struct place *ret, struct err *e);
/* Creates a file or a link instead of a mount point. */
int place_data(
	struct entering *in, const char *path, const void *data, size_t len, mode_t mode, struct err *e);
int place_link(struct entering *in, const char *path, const char *to, struct err *e);

/* root.c */
int root_new(struct entering *in, struct err *e);
int root_rows(struct entering *in, struct err *e);
int root_pivot(struct entering *in, struct err *e);
int root_freeze(struct entering *in, struct err *e);

/* special.c: the kinds that are separate file systems. */
int special_tmpfs(struct entering *in, const struct jail_row *r, struct err *e);
int special_proc(struct entering *in, const struct jail_row *r, struct err *e);
int special_dev(struct entering *in, const struct jail_row *r, struct err *e);

/* cache_mount.c */
int cache_mount(struct entering *in, const struct jail_row *r, struct err *e);

/* cover.c: cover_names makes places for denied names that do not exist, in a layer of the workspace's overlay,
 * before it is mounted; returns whether it made any. cover_rules puts the rules into effect. */
int cover_names(struct entering *in, int layer, bool *ret_any, struct err *e);
int cover_rules(struct entering *in, struct err *e);

/* overlay.c */
int overlay_mount(struct entering *in, const struct jail_row *r, struct err *e);

/* rights.c */
int rights_become(struct entering *in, struct err *e);
int rights_limits(struct entering *in, struct err *e);
int rights_drop(struct entering *in, struct err *e);
int rights_no_new(struct entering *in, struct err *e);
int rights_hide(struct entering *in, struct err *e);
int rights_die_with_parent(struct entering *in, struct err *e);

#endif
