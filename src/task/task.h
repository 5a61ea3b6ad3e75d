/*
 * Creates tasks, finds them, settles them after a crash, discards them: the rules of a task's life.
 *
 * A process that works on a task holds its lock (tasks/<id>/lock): its creator, its keeper, a command that
 * discards it. If the state says that somebody works on it and the lock is free, that process died.
 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"
#include "workspace/layer.h"
#include "workspace/workspace.h"

/* Layers for a new task. Their locks are held until the task is in the store, so that nobody removes them
 * meanwhile. */
struct task_layers {
	struct strvec names; /* topmost first */
	int locks[LAYERS_MAX];
	size_t nlocks;
};
void task_layers_release(struct task_layers *l);
#define auto_task_layers __attribute__((cleanup(task_layers_release))) struct task_layers

struct task_spec {
	const char *dir; /* the user's current directory; not used for a task without a repository */
	const char *
		name; /* NULL: made from `title` ("fix-login", "fix-login-2"), else from `program` ("make-1") */
	const char *title;  /* what the task is about, in words; may be NULL */
	const char *suffix; /* added to the name that is made from the title, with a dash; may be NULL */
	const char *program;
	const char *rev;          /* NULL: HEAD */
	const char *backend;      /* NULL: as configured, else what the kernel supports */
	const char *on_dirty;     /* NULL: as configured */
	const char *also_shown;   /* full name of one more ref to show; NULL: none */
	struct strvec submodules; /* --submodule: paths, "all" or "none"; empty: as configured */
	bool strict;
	bool empty;  /* without a repository: empty.h */
	bool weaker; /* accept a jail by Landlock only if no namespaces can be made */
	/* Called after the repository was opened and checked, so git may be run in it; may be NULL. Not called
	 * for a task without a repository. */
	void (*on_checked)(const struct repo *r, void *arg);
	void *on_checked_arg;
	/* Called when the base is known (r->commit) and nothing is made yet; may be NULL. If it fails, no task is
	 * made. For a task without a repository, r is NULL. */
	int (*on_base)(const struct repo *r, void *arg, struct err *e);
	void *on_base_arg;
	/* Called before anything of the task is made: names the layers that its workspace gets (workspace/layer.h),
	 * and makes them if they are missing. The task has its project, base and backend. It may close the store.
	 * May be NULL; not called for a task without a repository. */
	int (*add_layers)(struct context *c, const struct repo *r, const struct task *t,
		struct task_layers *ret, void *arg, struct err *e);
	void *add_layers_arg;
	/* Called if the repository's file asks for something that the user has not approved (approval.h): returns
	 * 0 after it was approved, -1 if not. NULL: refused. */
	int (*approve)(struct context *c, int64_t project, const struct config *asks, struct err *e);
	/* a task file's text, which goes over the repository's file; NULL: none */
	const struct buf *task_file;
	/* gets values of the repository's file that are not taken, and why; may be NULL */
	struct strvec *notes;
};

/* Makes a task in state "created". */
int task_create(struct context *c, const struct task_spec *s, struct task *ret, struct err *e);

/* Finds a task by what the user typed (lookup.h), and settles it. */
int task_find(struct context *c, const char *word, struct task *ret, struct err *e);
/* The same for a task that is known already: reads it again. */
int task_find_id(struct context *c, int64_t id, struct task *ret, struct err *e);
/* Finishes what a process that died left half done: a running task becomes interrupted, a half-made one is
 * removed, a half-discarded one is discarded, a half-renamed one is renamed. *ret_gone: the task no longer exists. */
int task_settle(struct context *c, struct task *t, bool *ret_gone, struct err *e);
/* Whether a process died and left work for task_settle. */
bool task_is_left(struct context *c, const struct task *t);
/* Whether a process works on it (its keeper runs). */
bool task_is_busy(struct context *c, const struct task *t);

/* A task with its repository and workspace opened. */
struct task_at {
	struct task *task;
	struct repo repo;
	struct workspace ws;
};
int task_open(struct context *c, struct task *t, struct task_at *ret, struct err *e);
/* Like task_open, but the repository may be missing; then *ret_gone says so (NULL: the caller does not use
 * git). */
int task_open_files(
	struct context *c, struct task *t, struct task_at *ret, struct err *ret_gone, struct err *e);
/* Like task_open, but the task's directory may be missing: makes an empty one, so that the rest can be
 * removed. */
int task_open_again(struct context *c, struct task *t, struct task_at *ret, struct err *e);
void task_at_close(struct task_at *a);
#define auto_task_at __attribute__((cleanup(task_at_close))) struct task_at

/* What would be lost with a task. */
struct task_work {
	struct strvec files; /* "A path" …, compared with the last published commit, else with the base */
	size_t drafts;       /* objects of the private repository that the shared one does not have */
	size_t unmerged; /* commits not in its target: of its branch, and of snapshots by request or rollback */
	bool merged;     /* its branch has commits, and its target has all of them: merged.h */
	size_t ignored;
	char tip[OID_SIZE]; /* of its branch; if the branch is gone, its last known tip */
};
void task_work_release(struct task_work *w);
#define auto_task_work __attribute__((cleanup(task_work_release))) struct task_work
int task_work(struct context *c, struct task_at *a, struct task_work *ret, struct err *e);
/* Only tip and unmerged, which need no files. */
int task_work_branch(
	struct context *c, const struct repo *r, const struct task *t, struct task_work *ret, struct err *e);

struct discard_opts {
	bool files;         /* -f: changed files may be lost */
	bool drafts;        /* -D: commits that are nowhere else, or not merged, may be lost */
	bool look;          /* dry run: only check whether it would be refused */
	bool archive;       /* for archive.h: it goes to the trash in any case, until it is packed */
	bool merged;        /* it was just merged: one undo takes back both */
	const char *reason; /* why, for the audit log and the deed; NULL: none */
	const char *tip;    /* the branch must be at this commit, which the user has seen; NULL: anywhere */
};
/* Removes the task. ERR_REFUSED if it has the only copy of some work and no option gives that up. What it had
 * goes to the trash, from which undo.h restores it; *ret_trash is the path there, on the heap, or NULL. Its
 * branch is removed too, unless a checkout has it (task_branch_kept_by). */
int task_discard(
	struct context *c, struct task *t, const struct discard_opts *o, char **ret_trash, struct err *e);

/* The checkout because of which a removed task's branch still exists: its path, on the heap. NULL if the
 * branch is gone, or that cannot be found out. */
char *task_branch_kept_by(struct context *c, const struct task *t);

#define TASK_TRASH_DAYS 7
/* A file in a task's directory: an undo restored the task from the trash. */
#define TASK_BROUGHT_BACK "brought-back"
/* In the shared object directory, with the task's id: objects that the gateway has not checked yet. */
#define TASK_QUARANTINE "garth-%lld"

/* Copies the workspace's files to dir, which must be empty or not exist. */
struct export_report;
int task_export(struct context *c, struct task *t, const char *dir, struct export_report *ret, struct err *e);

#endif
