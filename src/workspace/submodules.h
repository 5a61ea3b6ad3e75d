/*
 * The submodules of a task. Each that the task may use has its files inside, at the commit that the
 * superproject names, and a private repository that borrows the objects of the user's own repository of it.
 * The directories of the others are empty.
 *
 *	tasks/<id>/submodules      which there are (submodules_load): written before anything of them is made
 *	tasks/<id>/sub/<n>/git     the private repository, mounted at PATH/.git
 *	tasks/<id>/sub/<n>/tree    backends with files on the host: the files, mounted at PATH. They are not among
 *	                           the workspace's files on the host, where the user's git would find an agent's
 *	                           repository
 *	tasks/<id>/sub/<n>/index   … and the index to compare them with from outside
 *	bases/<project>/<commit>@… overlay: a base with the files at PATH (base_get_submodule), a lower layer
 *
 * Names and paths come from .gitmodules and from the commit, and are hostile: they are checked
 * (git/gitmodules.h) and opened beneath directories.
 */
#ifndef WORKSPACE_SUBMODULES_H
#define WORKSPACE_SUBMODULES_H

#include "git/repo.h"
#include "workspace/workspace.h"

/* A file in its private repository, with its number: the hook of a commit there tells it to the gateway. */
#define SUBMODULE_NUMBER "garth-submodule"

/* A task can use so many; each is a mount or two. The others are empty directories. */
#define SUBMODULES_MAX 200

struct submodule {
	char *path;    /* from the top of the workspace */
	char *git_dir; /* the user's repository of it */
	char commit[OID_SIZE];
	char tip[OID_SIZE]; /* of submodules_find_tips: what the superproject's tip names; else the commit */
	char *why;          /* "" if its files are in the task; else why its directory is empty */
	bool missing;       /* the task may use it, but it could not be made */
};

struct submodules {
	struct submodule *v;
	size_t n;
};

void submodules_release(struct submodules *s);
#define auto_submodules __attribute__((cleanup(submodules_release))) struct submodules

/* Those of an existing task, parents before what is nested in them. dir is the task's directory. */
int submodules_load(int dir, struct submodules *ret, struct err *e);
/* Finds what the superproject names at its commit `tip`, and what is nested in that: after a sync it may be
 * another commit than the one that the files were made of. */
void submodules_find_tips(const struct workspace *ws, const char *tip, struct submodules *s);
/* Whether it has files in the task. */
bool submodule_is_here(const struct submodule *s);
/* The user's repository of a submodule, on the heap: modules/NAME of the repository around it (git_dir; name may be
 * NULL), or the directory .git among its files, at `path` beneath the checkout `top`. NULL if there is none. A .git
 * file is not followed: it leads to the former. */
char *submodule_find_repository(const char *git_dir, const char *top, const char *name, const char *path);
/* Opens the user's repository of a submodule; its commit is s->commit. */
int submodule_repo(const struct workspace *ws, const struct submodule *s, struct repo *ret, struct err *e);

/* Makes the submodules of a new workspace, as ws->submodules asks; before anything runs inside. */
int submodules_make(struct workspace *ws, struct err *e);
/* Makes the files and the private repository of the n-th. *ret_index is the path of the files' index, on the heap. */
int submodule_make(
	struct workspace *ws, const struct submodule *s, size_t n, char **ret_index, struct err *e);
/* Adds their mounts to a jail, after those of the workspace. */
int submodules_describe(struct workspace *ws, struct jail *j, struct err *e);
/* The names of the bases that a task's submodules use. */
int submodules_bases(int dir, struct strvec *ret, struct err *e);
/* The base of a submodule, for an overlay. */
struct base;
int submodule_base(struct workspace *ws, const struct submodule *s, struct base *ret, struct err *e);

/* A submodule as a workspace of its own, for scan.h, review.h and export.h. It uses the memory of ws and s. */
struct submodule_view {
	struct workspace ws;
	struct task task;
	struct repo repo;
};
int submodule_view(struct workspace *ws, const struct submodules *s, size_t n, struct submodule_view *ret,
	struct err *e);
void submodule_view_release(struct submodule_view *v);
#define auto_submodule_view __attribute__((cleanup(submodule_view_release))) struct submodule_view

/* The number of the submodule around the n-th; s->n if that is the superproject. */
size_t submodule_around(const struct submodules *s, size_t n);
/* The paths of the submodules beneath `within` ("" for all) that have files, relative to it. */
void submodules_paths(const struct submodules *s, const char *within, struct strvec *ret);

#endif
