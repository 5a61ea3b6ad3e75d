/*
 * Tasks: made, found, settled after a crash, discarded. The rules of a task's life over the libraries.
 *
 * A task's lock (tasks/<id>/lock) is held by whoever is at work on it: its creator, its keeper, whoever
 * discards it. A state that says "somebody is at work" with the lock free means that they died.
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
#include "workspace/workspace.h"

struct task_spec {
	const char *dir;  /* where the user stands; not looked at where it has no repository */
	const char *name; /* NULL: one is made of `program` */
	const char *program;
	const char *rev;        /* NULL: HEAD */
	const char *backend;    /* NULL: as configured, else what the kernel allows */
	const char *on_dirty;   /* NULL: as configured */
	const char *also_shown; /* one more ref that the task is shown, by its full name; NULL for none */
	bool strict;
	bool empty;  /* without a repository: empty.h */
	bool weaker; /* a clone on Landlock alone, where no namespaces can be made */
};

/* Makes a task: state "created". */
int task_create(struct context *c, const struct task_spec *s, struct task *ret, struct err *e);

/* A task by its name, settled. */
int task_find(struct context *c, const char *name, struct task *ret, struct err *e);
/* Finishes what a process that died left half done: running → interrupted, half-made ones removed, half
 * discarded ones discarded. *ret_gone tells that the task is no more. */
int task_settle(struct context *c, struct task *t, bool *ret_gone, struct err *e);
/* Whether a process that died left it so: what task_settle would finish. */
bool task_is_left(struct context *c, const struct task *t);
/* Whether somebody is at work on it (its keeper runs). */
bool task_is_busy(struct context *c, const struct task *t);

/* A task with its repository and workspace opened. */
struct task_at {
	struct task *task;
	struct repo repo;
	struct workspace ws;
};
int task_open(struct context *c, struct task *t, struct task_at *ret, struct err *e);
/* The same where its repository may be gone, which *ret_gone tells (NULL: whoever asks does not ask git). */
int task_open_files(
	struct context *c, struct task *t, struct task_at *ret, struct err *ret_gone, struct err *e);
/* The same where the task's directory may be gone, to remove the rest: an empty one is made. */
int task_open_again(struct context *c, struct task *t, struct task_at *ret, struct err *e);
void task_at_close(struct task_at *a);
#define auto_task_at __attribute__((cleanup(task_at_close))) struct task_at

/* What would be lost with a task. */
struct task_work {
	struct strvec files; /* "A path" … against what was published last, else the base */
	size_t drafts;       /* objects in private storage that the shared repository does not have */
	size_t unmerged;     /* commits of its branch, and of snapshots that were asked for or that a rollback
				left, that its target does not have */
	bool merged;         /* its branch has commits, and its target has all of them: merged.h */
	size_t ignored;
	char tip[OID_SIZE]; /* its branch's; where the branch is gone, what it was */
};
void task_work_release(struct task_work *w);
#define auto_task_work __attribute__((cleanup(task_work_release))) struct task_work
int task_work(struct context *c, struct task_at *a, struct task_work *ret, struct err *e);
/* Only what refs tell: tip, unmerged. */
int task_work_branch(
	struct context *c, const struct repo *r, const struct task *t, struct task_work *ret, struct err *e);

struct discard_opts {
	bool files;   /* -f: changed files may go */
	bool drafts;  /* -D: commits that are nowhere else, or not merged, may go */
	bool look;    /* only tell whether it would be refused */
	bool archive; /* for archive.h: it goes to the trash whatever it has, until it is packed */
	bool merged;  /* it goes because it was just merged: one undo takes back both */
};
/* Removes the task: nothing that exists only here without the option that says so (ERR_REFUSED). Whatever it
 * had goes to the trash, from where undo.h brings it back; *ret_trash is where, on the heap, or NULL. Its
 * branch goes too, unless it is checked out somewhere: task_branch_kept_by. */
int task_discard(
	struct context *c, struct task *t, const struct discard_opts *o, char **ret_trash, struct err *e);

/* The checkout because of which the branch of a removed task is still there: its path, on the heap; NULL
 * where the branch is gone, or where that cannot be told. */
char *task_branch_kept_by(struct context *c, const struct task *t);

#define TASK_TRASH_DAYS 7
/* In a task's directory: an undo brought it out of the trash. */
#define TASK_BROUGHT_BACK "brought-back"
/* In the shared object directory, by the task's id: what the gateway has not checked yet. */
#define TASK_QUARANTINE "garth-%lld"

/* Plain files of the workspace into dir, which must not exist or be empty. */
struct export_report;
int task_export(struct context *c, struct task *t, const char *dir, struct export_report *ret, struct err *e);

#endif
