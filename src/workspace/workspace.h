/*
 * A workspace: the directory tree that an agent works in. One table of functions, an implementation for each
 * backend; nothing above asks which one it has.
 *
 *	struct workspace ws;
 *	workspace_open(&ws, home, repo, task, e);
 *	workspace_create(&ws, …)            once
 *	workspace_describe(&ws, &jail, e)   before each start
 *	workspace_scan(&ws, &changes, e)    what differs from the base, read from outside
 *	workspace_export(&ws, dir, …)
 *	workspace_remove(&ws, …)
 *
 * Everything that is read here from a workspace is hostile; it is opened beneath a descriptor.
 *
 * A workspace has two paths. task->workspace is where it is inside the jail; for overlay and clone that is
 * the project's own path, at which the host has the user's checkout. ws->host is where its files are on the
 * host. Nothing outside a jail opens task->workspace.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/repo.h"
#include "jail/jail.h"
#include "store/store.h"
#include "workspace/home.h"

struct changes;
struct export_report;
struct backend;

struct workspace {
	const struct backend *backend;
	const struct home *home;
	const struct repo *repo;
	struct task *task;
	int dir;    /* tasks/<id>, made if it is not there */
	char *host; /* workspace_host_dir */
};

int workspace_open(
	struct workspace *ws, const struct home *h, const struct repo *r, struct task *t, struct err *e);
void workspace_close(struct workspace *ws);
#define auto_workspace __attribute__((cleanup(workspace_close))) struct workspace

/* Makes the workspace and the private repository for task->base. shown: "OID REFNAME" lines. On failure what
 * was made is removed by workspace_remove. */
int workspace_create(struct workspace *ws, const struct buf *shown, struct err *e);
/* Adds the workspace's and the git view's rows to a jail. */
int workspace_describe(struct workspace *ws, struct jail *j, struct err *e);
/* What differs from the commit workspace_since(ws). */
int workspace_scan(struct workspace *ws, struct changes *ret, struct err *e);
/* The directory with the files that the agent made or changed, and perhaps others; -1 and errno. */
int workspace_files(struct workspace *ws);
/* The commit that the scan compares with, on the heap: the layer it stands on, or what the host's index was
 * last brought to. */
char *workspace_since(struct workspace *ws);
/* The branch has moved to tip: what the host sees of the workspace follows (W2). */
int workspace_published(struct workspace *ws, const char *tip, struct err *e);
/* Plain files of the workspace into the empty directory `out`. */
int workspace_export(struct workspace *ws, int out, struct export_report *ret, struct err *e);
/* Takes the workspace away from the user's repository and moves its files into the task's directory, which
 * the caller then removes or keeps. Does nothing twice. */
int workspace_remove(struct workspace *ws, struct err *e);
/* The other way round, out of the task's directory; the branch is there already. After a failure,
 * workspace_remove takes back what was done. */
int workspace_restore(struct workspace *ws, struct err *e);

/* Its files are gone, and its place is there: makes those of the commit again, which is the task's layer
 * where its backend has bases. The private repository stays as it is. */
int workspace_refill(struct workspace *ws, const char *commit, struct err *e);

/* Variables that commands in the task's workspace get, "NAME=VALUE", up to a NULL. */
const char *const *workspace_env(const struct task *t);

/* What a task's backend can do: fields of struct backend, below. Nothing above this room asks which backend it
 * is; the name is for people. A name that this version does not know gives one that cannot be chosen. */
const struct backend *backend_of(const struct task *t);
const struct backend *backend_named(const char *name);
/* The name of the backend for tasks whose user named none: by what the kernel can do. */
const char *backend_by_default(void);
/* The backend of tasks without a repository. */
#define WORKSPACE_EMPTY "empty"
/* The clone on Landlock alone, if there are no mount namespaces. */
#define WORKSPACE_ALONE "alone"
/* Where inside something of Garth's is ("/bin"; one of the INSIDE_ names without INSIDE_DIR), on the heap. */
char *workspace_inside(const struct home *h, const struct task *t, const char *name);
/* Where the host has its files, on the heap; NULL where it has none. */
char *workspace_host_dir(const struct home *h, const struct task *t);

/* In the task's directory: the user's own ignore file, as it was when the task was made. */
#define WORKSPACE_IGNORES "ignores"

struct backend {
	const char *name;
	const char *const *env;
	/* What it can do, for those who use it: */
	bool can_be_chosen; /* the user can ask for it by its name */
	bool has_git;       /* the task has a repository: a branch, git inside, commits to publish */
	bool on_host;       /* its files are on the host, at workspace_host_dir; else it stands on a base */
	/* inside, new tasks are at the project's own path; else at their place on the host */
	bool at_project;
	bool own_objects;    /* it borrows nothing from the user's repository */
	bool follows_remote; /* it starts from the remote's branch, and what the remote has counts as merged */
	bool git_worktree;   /* the user's git has it in its list of worktrees */
	bool landlock_only;  /* it needs no namespaces: all paths inside are those of the host */
	/* the backend in its stead if there are no namespaces; NULL: there is none */
	const char *without_namespaces;
	const char *place; /* the directory of the Garth home that its tasks' directories are in */
	/* How it does it, called by workspace_…: */
	int (*create)(struct workspace *ws, const struct buf *shown, struct err *e);
	int (*describe)(struct workspace *ws, struct jail *j, struct err *e);
	int (*files)(struct workspace *ws);
	int (*scan)(struct workspace *ws, struct changes *ret, struct err *e);
	int (*export)(struct workspace *ws, int out, struct export_report *ret, struct err *e);
	int (*remove)(struct workspace *ws, struct err *e);
	int (*refill)(struct workspace *ws, const char *commit, struct err *e);
	/* NULL where removing takes nothing away from its place: */
	int (*restore)(struct workspace *ws, struct err *e);
	/* NULL where the host sees nothing of it, and the scan is against the base: */
	int (*published)(struct workspace *ws, const char *tip, struct err *e);
};

extern const struct backend backend_overlay, backend_worktree, backend_clone, backend_empty,
	backend_landlock_only;

struct private_spec;
/* Makes tasks/<id>/git, with objects of its own where they cannot or must not be borrowed. */
int workspace_make_private(struct workspace *ws, struct private_spec *s, struct err *e);
/* The pack that the private repository was made with, on the heap: NULL where it borrows. */
char *workspace_own_pack(const struct workspace *ws);
bool workspace_borrows(const struct workspace *ws);
/* What info/alternates of the private repository was made with; nothing where it borrows nothing. */
void workspace_alternates(const struct workspace *ws, struct buf *out);
/* Adds the private repository at `at`, and the objects that it borrows, to a jail. */
int workspace_describe_git(struct workspace *ws, const char *at, struct jail *j, struct err *e);

/* Places inside that do not depend on the task. */
#define INSIDE_DIR        "/run/garth"
#define INSIDE_FSMONITOR  INSIDE_DIR "/fsmonitor"
#define INSIDE_UPPER      INSIDE_DIR "/upper"
#define INSIDE_BIN        INSIDE_DIR "/bin"
#define INSIDE_HOOK       INSIDE_DIR "/hook"
#define INSIDE_GATEWAY    INSIDE_DIR "/gateway"
#define INSIDE_TASK       INSIDE_DIR "/task"
#define INSIDE_OPERATIONS INSIDE_DIR "/operations"
#define INSIDE_BASE_INDEX INSIDE_DIR "/base-index"
#define INSIDE_BASE_ID    INSIDE_DIR "/base-id"
#define INSIDE_OBJECTS    INSIDE_DIR "/objects" /* /0: the repository's own, /1 …: what it borrows from */
#define INSIDE_IGNORES    INSIDE_DIR "/ignores"

#endif
