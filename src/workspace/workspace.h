/*
 * A workspace is the directory tree that an agent works in. A backend (overlay, worktree, clone …) implements
 * it as a table of functions. Nothing above this room asks which backend a task has.
 *
 *	struct workspace ws;
 *	workspace_open(&ws, home, repo, task, e);
 *	workspace_create(&ws, …)            once
 *	workspace_describe(&ws, &jail, e)   before each start
 *	workspace_scan(&ws, &changes, e)    what differs from the base, read from outside
 *	workspace_export(&ws, dir, …)
 *	workspace_remove(&ws, …)
 *	workspace_close(&ws)
 *
 * The content of a workspace is hostile: every path is opened beneath a descriptor.
 *
 * A workspace has two paths. task->workspace is its path inside the jail; for overlay and clone that is the
 * project's own path, where the host has the user's checkout. ws->host is where its files are on the host.
 * Nothing outside a jail opens task->workspace.
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
struct submodules;

struct workspace {
	const struct backend *backend;
	const struct home *home;
	const struct repo *repo;
	struct task *task;
	int dir;    /* tasks/<id>, made if it is missing */
	char *host; /* see workspace_host_dir; NULL if there is none */
	/* For workspace_create: paths of the submodules that the task may use, or "all", or "none"; NULL or
	 * empty: those that are checked out in the user's checkout. */
	const struct strvec *submodules;
	bool submodules_must; /* one of these paths that cannot be used is an error */
	/* After workspace_create: the repository of a submodule borrows objects from another one. */
	bool submodules_borrow;
	/* In a view of a submodule (submodules.h) only: which one of them. */
	const struct submodules *seen;
	size_t seen_at;
};

int workspace_open(
	struct workspace *ws, const struct home *h, const struct repo *r, struct task *t, struct err *e);
void workspace_close(struct workspace *ws);
#define auto_workspace __attribute__((cleanup(workspace_close))) struct workspace

/* Makes the workspace, with its layers (layer.h), and the private repository for task->base. `shown` has lines "OID
 * REFNAME". After a failure, workspace_remove removes what was made. */
int workspace_create(struct workspace *ws, const struct buf *shown, struct err *e);
/* Adds the mounts of the workspace and of the git view to a jail. */
int workspace_describe(struct workspace *ws, struct jail *j, struct err *e);
/* Lists the differences from the commit workspace_since(ws). */
int workspace_scan(struct workspace *ws, struct changes *ret, struct err *e);
/* Opens the directory with the files that the agent made or changed (it may have others too); -1 and
 * errno. */
int workspace_files(struct workspace *ws);
/* The commit that the scan compares with, on the heap: that of the layer below the workspace, or the one that
 * the host's index was last updated to. If the task has published nothing and its branch has moved, its branch's tip. */
char *workspace_since(struct workspace *ws);
/* After the branch has moved to `tip`: updates what the host sees of the workspace (W2). */
int workspace_published(struct workspace *ws, const char *tip, struct err *e);
/* After the branch got a new name: updates what the host sees of the workspace and `git worktree list` does not
 * list. `old` is the branch's full name before. */
int workspace_renamed(struct workspace *ws, const char *old, struct err *e);
/* Copies the workspace's files into the empty directory `out`. */
int workspace_export(struct workspace *ws, int out, struct export_report *ret, struct err *e);
/* Removes the workspace from the user's repository and moves its files into the task's directory, which the
 * caller then removes or keeps. Idempotent. */
int workspace_remove(struct workspace *ws, struct err *e);
/* Undoes workspace_remove, from the files in the task's directory. The branch must exist. After a failure,
 * workspace_remove takes back what was done. */
int workspace_restore(struct workspace *ws, struct err *e);

/* If the files are lost but their directory exists: makes the commit's files again. For a backend with bases,
 * the commit must be the task's layer. The private repository does not change. */
int workspace_refill(struct workspace *ws, const char *commit, struct err *e);

/* Variables "NAME=VALUE" for commands in the task's workspace; ends in NULL. */
const char *const *workspace_env(const struct task *t);

/* The backend of a task. Callers ask for what it can do (the fields of struct backend below), never which one
 * it is; its name is for people. A name that this version does not know gives a backend that cannot be
 * chosen. */
const struct backend *backend_of(const struct task *t);
const struct backend *backend_named(const char *name);
/* The backend for tasks whose user chose none; it depends on what the kernel supports. */
const char *backend_by_default(void);
/* The backend of tasks without a repository. */
#define WORKSPACE_EMPTY "empty"
/* A clone in a jail made by Landlock only, for machines without mount namespaces. `alone` is its name in the store, on
 * disk and in answers. */
#define WORKSPACE_LANDLOCK_ONLY "alone"
/* The path inside of one of Garth's files, on the heap. `name` is one of the INSIDE_ paths without INSIDE_DIR
 * ("/bin"). */
char *workspace_inside(const struct home *h, const struct task *t, const char *name);
/* The directory on the host with the task's files, on the heap; NULL if there is none. */
char *workspace_host_dir(const struct home *h, const struct task *t);

/* A file in the task's directory: the user's ignore file as it was when the task was made. */
#define WORKSPACE_IGNORES "ignores"

struct backend {
	const char *name;
	const char *const *env;
	/* What it can do: */
	bool can_be_chosen; /* the user may choose it by its name */
	bool has_git;       /* the task has a repository: a branch, git inside, commits to publish */
	bool on_host;       /* its files are on the host, at workspace_host_dir; else it uses a base */
	/* new tasks are at the project's path inside; else at their path on the host */
	bool at_project;
	bool own_objects;    /* it does not borrow objects from the user's repository */
	bool follows_remote; /* it starts from the remote's branch, and is merged if that has its work */
	bool git_worktree;   /* it is in the list of `git worktree list` */
	bool landlock_only;  /* it needs no namespaces; all paths inside are those of the host */
	/* the backend to use instead if there are no namespaces; NULL: none */
	const char *without_namespaces;
	const char *place; /* the directory of the Garth home that has its tasks' directories */
	/* How it does it; called by workspace_…: */
	int (*create)(struct workspace *ws, const struct buf *shown, struct err *e);
	int (*describe)(struct workspace *ws, struct jail *j, struct err *e);
	int (*files)(struct workspace *ws);
	int (*scan)(struct workspace *ws, struct changes *ret, struct err *e);
	int (*export)(struct workspace *ws, int out, struct export_report *ret, struct err *e);
	int (*remove)(struct workspace *ws, struct err *e);
	int (*refill)(struct workspace *ws, const char *commit, struct err *e);
	/* NULL if remove leaves the files where they are: */
	int (*restore)(struct workspace *ws, struct err *e);
	/* NULL if the host sees nothing of it and the scan compares with the base: */
	int (*published)(struct workspace *ws, const char *tip, struct err *e);
	/* NULL if nothing outside the user's repository names the branch: */
	int (*renamed)(struct workspace *ws, const char *old, struct err *e);
};

extern const struct backend backend_overlay, backend_worktree, backend_clone, backend_empty,
	backend_landlock_only;

struct private_spec;
/* Makes tasks/<id>/git. It gets its own objects if they cannot or must not be borrowed. */
int workspace_make_private(struct workspace *ws, struct private_spec *s, struct err *e);
/* The name of the pack with which the private repository was made, on the heap; NULL if it borrows. */
char *workspace_own_pack(const struct workspace *ws);
bool workspace_borrows(const struct workspace *ws);
/* The content that info/alternates of the private repository was made with; empty if it does not borrow. */
void workspace_alternates(const struct workspace *ws, struct buf *out);
/* Adds the private repository, at the path `at`, and the objects that it borrows to a jail. */
int workspace_describe_git(struct workspace *ws, const char *at, struct jail *j, struct err *e);

/* Paths inside that are the same for every task. */
#define INSIDE_DIR        "/run/garth"
#define INSIDE_FSMONITOR  INSIDE_DIR "/fsmonitor"
#define INSIDE_UPPER      INSIDE_DIR "/upper"
#define INSIDE_BIN        INSIDE_DIR "/bin"
#define INSIDE_GUARD      INSIDE_BIN "/garth-guard"
#define INSIDE_SHELL      INSIDE_BIN "/garth-shell"
#define INSIDE_HOOK       INSIDE_DIR "/hook"
#define INSIDE_MCP        INSIDE_DIR "/mcp"
#define INSIDE_GATEWAY    INSIDE_DIR "/gateway"
#define INSIDE_TASK       INSIDE_DIR "/task"
#define INSIDE_OPERATIONS INSIDE_DIR "/operations"
#define INSIDE_BRIEF      INSIDE_DIR "/brief.md"
#define INSIDE_BASE_INDEX INSIDE_DIR "/base-index"
#define INSIDE_BASE_ID    INSIDE_DIR "/base-id"
#define INSIDE_BROUGHT    INSIDE_DIR "/brought" /* paths of layers, each ending in NUL */
#define INSIDE_LAYERS     INSIDE_DIR "/layers"  /* /0 …: the layers themselves, topmost first */
#define INSIDE_OBJECTS    INSIDE_DIR "/objects" /* /0: the repository's own; /1 …: those that it borrows */
#define INSIDE_IGNORES    INSIDE_DIR "/ignores"

#endif
