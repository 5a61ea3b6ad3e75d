/*
 * The store keeps the list of projects, tasks, runs, snapshots and deeds in $GARTH_HOME/garth.db (SQLite, WAL
 * mode). All SQL of Garth is in this room.
 *
 *	auto_store s = NULL;
 *	if (store_open(home, &s, e) < 0) → e says why
 *	store_begin(s, e); … several writes … store_commit(s, e);
 *
 * store_open upgrades an older schema and refuses a newer one. Every call may wait up to 10 seconds while another
 * process writes, then fails with ERR_BUSY.
 *
 * A struct owns its strings; its *_release function frees them. Times are seconds since 1970, UTC; 0 means
 * "never".
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/oid.h"

struct store;

/* home is the path of the Garth home. */
int store_open(const char *home, struct store **ret, struct err *e);
void store_close(struct store *s);
void store_closep(struct store **s);
#define auto_store __attribute__((cleanup(store_closep))) struct store *

/* A transaction: all writes between begin and commit take effect together or not at all. It cannot be
 * nested. */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

struct project {
	int64_t id;
	char *path;    /* of its main checkout */
	char *git_dir; /* its common git directory; two checkouts with the same one are the same project */
	char *name;
};

void project_release(struct project *p);
#define auto_project __attribute__((cleanup(project_release))) struct project

/* Finds the project with this git directory and registers it if it is new. Updates the path if the checkout
 * has moved. */
int store_project(struct store *s, const char *path, const char *git_dir, struct project *ret, struct err *e);
/* Like store_project, but does not register: ERR_NOTFOUND if the project is unknown. */
int store_project_by_git_dir(struct store *s, const char *git_dir, struct project *ret, struct err *e);
int store_project_by_id(struct store *s, int64_t id, struct project *ret, struct err *e);

struct project_list {
	struct project *v;
	size_t n;
};

void project_list_release(struct project_list *l);
#define auto_project_list __attribute__((cleanup(project_list_release))) struct project_list
/* All projects, oldest first. */
int store_project_list(struct store *s, struct project_list *ret, struct err *e);

#define TASK_LAYOUT 1

struct task {
	int64_t id;
	int64_t project_id;
	char *project;    /* the project's name */
	char *repository; /* the project's main checkout */
	char *name;
	char *branch;
	char *base;      /* the commit it starts from */
	char *layer;     /* the name of the base below its workspace; "" if its backend has no bases */
	char *target;    /* the branch to merge it into; "" if HEAD was detached */
	char *backend;   /* its name, see workspace/workspace.h */
	char *state;     /* see task/life.h */
	char *workspace; /* its path inside the jail; for the host see workspace/workspace.h */
	char *place;     /* the name of its directory on the host: see store_task_place; "" if it has none */
	int layout;      /* 0: made by an old version, with the host's paths of borrowed objects inside */
	char *shown;     /* a digest of the refs the task can see (task/shown.h) */
	bool strict;
	char *published;  /* the branch's tip after the last publish; "" before the first */
	int64_t commits;  /* published so far */
	int64_t bytes;    /* size of all objects ever published, including those removed again */
	int64_t disk;     /* bytes on disk at the last measurement; 0: not measured yet */
	int64_t disk_max; /* the limit in force then */
	/* The remote and branch of the last push, and the tip that was pushed; "" if there was none. */
	char *pushed_remote, *pushed_branch, *pushed_tip;
	/* Its branch's name before a rename, until the shared repository has the new one; and until the task's
	 * own repository has it. "" otherwise. */
	char *ref_was, *inside_was;
	char *note;     /* for people: why the task failed or is paused; "" */
	char *seen;     /* what the user has looked at: task/seen.h */
	char *on_dirty; /* "fail", "commit" or "keep": what to do with uncommitted work at the end */
	int64_t created, changed, removed;
	/* About its last run: */
	char *command; /* on one line; "" if it had none */
	char *argv;    /* a JSON array of strings; "" if there was no command, or an older version ran it */
	char *session;
	int64_t started, ended;
	int exit_code;   /* the command's exit code */
	char *verdict;   /* why the task failed although the command did not, or ""; see task/verdict.h */
	char *leftover;  /* for people: uncommitted work at the end; "" */
	char *elsewhere; /* if it ended on another branch with new commits: that branch, or "HEAD"; else "" */
	char *drafts;    /* for people: commits that were not published; "" */
};

void task_release(struct task *t);
#define auto_task __attribute__((cleanup(task_release))) struct task

struct task_list {
	struct task *v;
	size_t n;
};

void task_list_release(struct task_list *l);
#define auto_task_list __attribute__((cleanup(task_list_release))) struct task_list

/* Chooses the name of the directory in which a task of this project and name has its files on the host; on the
 * heap. It is the task's name, unless a task of another project, or one with another name, has that directory
 * or had it and may come back. Call it in the transaction that inserts the task. */
int store_task_place(struct store *s, int64_t project, const char *name, char **ret, struct err *e);
/* Inserts a task in state "creating" and sets t->id. on_dirty NULL means "fail", place NULL none.
 * ERR_EXISTS if another task of the project that is not removed has the name. */
int store_task_insert(struct store *s, struct task *t, struct err *e);
/* Writes every field except id, project, name and those with a function of their own below. on_dirty NULL
 * keeps the stored value. */
int store_task_update(struct store *s, const struct task *t, struct err *e);
/* Changes the state from `from` to `to`. ERR_BUSY if the task is in another state by now. */
int store_task_move(struct store *s, int64_t id, const char *from, const char *to, struct err *e);
/* Marks the task as removed. Its name can be used again. */
int store_task_remove(struct store *s, int64_t id, const char *state, struct err *e);
/* Deletes the row of a task whose creation failed. A task that has ever run is kept. */
int store_task_forget(struct store *s, int64_t id, struct err *e);
/* These three skip removed tasks: ERR_NOTFOUND. */
int store_task_by_name(struct store *s, int64_t project, const char *name, struct task *ret, struct err *e);
int store_task_by_place(struct store *s, const char *place, struct task *ret, struct err *e);
int store_task_by_id(struct store *s, int64_t id, struct task *ret, struct err *e);
/* The tasks of all projects with this name, oldest first; removed ones too if `removed` is set. */
int store_task_named(struct store *s, const char *name, bool removed, struct task_list *ret, struct err *e);
/* Gives the task a new name and branch; ref_was becomes the old branch, and inside_was the one that the task's
 * own repository has, if it has one (`inside`). ERR_EXISTS if another task of the project has the name. */
int store_task_rename(
	struct store *s, int64_t id, const char *name, const char *branch, bool inside, struct err *e);
/* A rename has reached the shared repository, or the task's own. */
int store_task_renamed(struct store *s, int64_t id, bool inside, struct err *e);
/* Gives a removed task another directory; workspace is its path inside. */
int store_task_set_place(
	struct store *s, int64_t id, const char *place, const char *workspace, struct err *e);
/* All tasks, oldest first; removed ones too if `removed` is set. */
int store_task_list(struct store *s, bool removed, struct task_list *ret, struct err *e);
/* How many tasks of a project use a layer, or see a set of refs. Removed tasks do not count. */
int store_task_count_layer(struct store *s, int64_t project, const char *layer, size_t *ret, struct err *e);
int store_task_count_shown(struct store *s, int64_t project, const char *shown, size_t *ret, struct err *e);

/* Called after a publish: sets the tip and the totals of commits and bytes. If a merged task has a new tip,
 * its state goes back to "done". */
int store_task_published(
	struct store *s, int64_t id, const char *tip, int64_t commits, int64_t bytes, struct err *e);
int store_task_note(struct store *s, int64_t id, const char *note, struct err *e);
/* Records what the user has looked at. Not a change of the task. */
int store_task_seen(struct store *s, int64_t id, const char *seen, struct err *e);
/* Records that the task's branch was pushed with this tip. */
int store_task_pushed(
	struct store *s, int64_t id, const char *remote, const char *branch, const char *tip, struct err *e);
/* Records which commit the tip of a task's branch became when it was merged or pushed. It is a different
 * commit if the merge squashed or rebased. store_landed lists the results for a tip, newest first. */
struct strvec;
int store_landed_add(struct store *s, int64_t task, const char *tip, const char *result, struct err *e);
int store_landed(struct store *s, int64_t task, const char *tip, struct strvec *ret, struct err *e);
/* Records a measurement of the task's disk usage. */
int store_task_measured(struct store *s, int64_t id, int64_t disk, int64_t disk_max, struct err *e);
/* Records the new base commit and the set of visible refs after a sync. */
int store_task_rebased(struct store *s, int64_t id, const char *base, const char *shown, struct err *e);
/* Sets `shown` alone, also for a removed task, and leaves the time of the last change as it is. */
int store_task_shown(struct store *s, int64_t id, const char *shown, struct err *e);

/* Globs of protected paths that the user allows this task to publish. */
int store_allow(struct store *s, int64_t task, const char *glob, struct err *e);
/* Allows the same paths for another task, which continues the work of this one. Idempotent. */
int store_allow_also(struct store *s, int64_t task, int64_t other, struct err *e);
struct strvec;
int store_allowed(struct store *s, int64_t task, struct strvec *ret, struct err *e);

/* What a project's repository asks for and the user approved (task/approval.h), by a digest. */
struct approved {
	char *digest;
	char *what; /* a JSON array of strings, for people */
	int64_t created;
};
struct approved_list {
	struct approved *v;
	size_t n;
};
void approved_list_release(struct approved_list *l);
#define auto_approved_list __attribute__((cleanup(approved_list_release))) struct approved_list
int store_approve(struct store *s, int64_t project, const char *digest, const char *what, struct err *e);
int store_is_approved(struct store *s, int64_t project, const char *digest, bool *ret, struct err *e);
/* Oldest first. */
int store_approved_list(struct store *s, int64_t project, struct approved_list *ret, struct err *e);
/* Forgets all approvals of the project. */
int store_unapprove(struct store *s, int64_t project, struct err *e);

/* Facts: small values by key. ERR_NOTFOUND if the key is unknown. */
int store_fact(struct store *s, const char *key, char **ret, struct err *e);
int store_set_fact(struct store *s, const char *key, const char *value, struct err *e);

/* A cache of what git answered about a pair of commits; `kind` names the question. ERR_NOTFOUND if the answer
 * is not cached. The oldest answers are dropped. */
int store_compared(
	struct store *s, const char *kind, const char *a, const char *b, char **ret, struct err *e);
int store_set_compared(
	struct store *s, const char *kind, const char *a, const char *b, const char *result, struct err *e);

/* The same for many pairs: one question to the store, and one transaction. Fills in `result`, on the heap; NULL
 * if the answer is not cached. A pair without a result is not stored. */
struct compared_pair {
	const char *a, *b;
	char *result;
};
int store_compared_many(struct store *s, const char *kind, struct compared_pair *v, size_t n, struct err *e);
int store_set_compared_many(
	struct store *s, const char *kind, const struct compared_pair *v, size_t n, struct err *e);

/* A number that changes when another process has written to the store. */
int store_version_seen(struct store *s, int64_t *ret, struct err *e);

/* Whether this is the tip that a task published from one of its submodules. */
int store_submodule_has(struct store *s, int64_t task, const char *published, bool *ret, struct err *e);
/* What a task has published from one of its submodules; all 0 if there is nothing. path is from the top of the
 * workspace. */
struct submodule_row {
	char published[OID_SIZE]; /* the tip of its branch in the submodule's repository */
	int64_t commits, bytes;
};
int store_submodule(
	struct store *s, int64_t task, const char *path, struct submodule_row *ret, struct err *e);
/* The tip of a submodule's branch when a snapshot was taken; "" if it had none. */
int store_snapshot_submodule(
	struct store *s, int64_t task, int64_t number, const char *path, char tip[OID_SIZE], struct err *e);
int store_snapshot_submodule_add(
	struct store *s, int64_t task, int64_t number, const char *path, const char *tip, struct err *e);
/* What was published from all submodules of the task together. */
int store_submodule_sum(struct store *s, int64_t task, int64_t *commits, int64_t *bytes, struct err *e);
int store_submodule_set(
	struct store *s, int64_t task, const char *path, const struct submodule_row *row, struct err *e);

/* A snapshot of a task. Numbers start at 1 in each task. */
struct snapshot {
	int64_t id, task_id, number;
	char *commit; /* the branch's tip at that time */
	char *state;  /* a commit of the task's snapshot repository that has all files; "" if there is none */
	char *reason; /* "start", "every", "sync", "rollback", "merge", "rewrite", "asked",
			 "moved" */
	char *message;
	int64_t commits; /* published up to then */
	int64_t created;
};
void snapshot_release(struct snapshot *s);
#define auto_snapshot __attribute__((cleanup(snapshot_release))) struct snapshot
struct snapshot_list {
	struct snapshot *v;
	size_t n;
};
void snapshot_list_release(struct snapshot_list *l);
#define auto_snapshot_list __attribute__((cleanup(snapshot_list_release))) struct snapshot_list
/* Inserts a snapshot; sets snap->id and snap->number (the next free one of the task). */
int store_snapshot_add(struct store *s, struct snapshot *snap, struct err *e);
int store_snapshot(struct store *s, int64_t task, int64_t number, struct snapshot *ret, struct err *e);
int store_snapshot_list(struct store *s, int64_t task, struct snapshot_list *ret, struct err *e);

/* A deed is a completed action that can be undone: a rollback, discard, archive, merge or rename. */
struct deed {
	int64_t id, task_id;
	char *task; /* its name now */
	char *kind; /* "rollback", "discard", "archive", "merge", "rename" */
	char *data; /* JSON: what undo needs */
	int64_t created, undone;
	int64_t project_id;
	int64_t batch; /* deeds of one command have the same number here; 0: a single deed */
};
void deed_release(struct deed *d);
#define auto_deed __attribute__((cleanup(deed_release))) struct deed
int store_deed_add(
	struct store *s, int64_t task, const char *kind, const char *data, int64_t *ret_id, struct err *e);
/* All deeds added between begin and end form one batch. It cannot be nested. */
void store_batch_begin(struct store *s);
/* The same as begin, but they belong to a deed that is there already, which began a batch or is in none. */
int store_batch_join(struct store *s, int64_t deed, struct err *e);
void store_batch_end(struct store *s);
struct deed_list {
	struct deed *v;
	size_t n;
};
void deed_list_release(struct deed_list *l);
#define auto_deed_list __attribute__((cleanup(deed_list_release))) struct deed_list
/* Lists deeds that are not undone, newest first, at most `max`. `task` is a task's name, or NULL for all
 * tasks; `project` is 0 for all projects. */
int store_deed_list(
	struct store *s, const char *task, int64_t project, size_t max, struct deed_list *ret, struct err *e);
/* The first that store_deed_list would list; ERR_NOTFOUND. */
int store_deed_last(struct store *s, const char *task, int64_t project, struct deed *ret, struct err *e);
/* The newest deed of one kind that is not undone, by the task's id; ERR_NOTFOUND. */
int store_deed_of(struct store *s, int64_t task, const char *kind, struct deed *ret, struct err *e);
int store_deed_undone(struct store *s, int64_t id, struct err *e);
/* Brings a removed task back, in this state. ERR_EXISTS if another task has its name by now. */
int store_task_restore(struct store *s, int64_t id, const char *state, struct err *e);
/* Finds a task by its id, removed or not. */
int store_task_any(struct store *s, int64_t id, struct task *ret, struct err *e);

/* Why the proxy did not open a connection. The store has these numbers: do not change them. */
enum asked_why {
	ASKED_UNKNOWN = 0,    /* recorded by an older version */
	ASKED_NOT_LISTED = 1, /* or not a host name at all */
	ASKED_PRIVATE = 2,    /* a listed name with an address that is neither public nor listed */
	ASKED_NO_NAME = 3,
	ASKED_NO_ANSWER = 4,
};

/* A host and port that a task asked its proxy for. */
struct asked {
	char *host;
	int port;
	bool open;
	enum asked_why why;  /* of the last attempt, if it was not opened */
	char *address;       /* the resolved address for ASKED_PRIVATE; else "" */
	int64_t times, last; /* number of requests and time of the last; store_asked_add counts them */
};
struct asked_list {
	struct asked *v;
	size_t n;
};
void asked_list_release(struct asked_list *l);
#define auto_asked_list __attribute__((cleanup(asked_list_release))) struct asked_list
int store_asked_add(struct store *s, int64_t task, const struct asked *a, struct err *e);
/* The refused ones come first. */
int store_asked_list(struct store *s, int64_t task, struct asked_list *ret, struct err *e);

/* Counters for events that are too frequent for one audit line each; see audit/flood.h. */
struct flood {
	char key[65];    /* the same for events that are counted together */
	char *event;     /* the event's name */
	char *details;   /* JSON; "" if the counted events differ in their details */
	int64_t pending; /* events since the last line */
	int64_t lines;   /* how many lines in a row stood for a single event */
	int64_t written; /* time of the last line */
};
struct flood_list {
	struct flood *v;
	size_t n;
};
void flood_release(struct flood *f);
#define auto_flood __attribute__((cleanup(flood_release))) struct flood
void flood_list_release(struct flood_list *l);
#define auto_flood_list __attribute__((cleanup(flood_list_release))) struct flood_list
/* Fills in the counters stored for f->key. If there are none, *f stays as it is. */
int store_flood(struct store *s, int64_t task, struct flood *f, struct err *e);
int store_flood_set(struct store *s, int64_t task, const struct flood *f, struct err *e);
/* Counters with pending events whose last line was written at `before` or earlier. */
int store_flood_pending(struct store *s, int64_t task, int64_t before, struct flood_list *ret, struct err *e);
/* Deletes counters without pending events whose last line was written at `before` or earlier. */
int store_flood_forget(struct store *s, int64_t task, int64_t before, struct err *e);
/* The task's remaining budget in bytes, and the time of that value. If nothing is stored, both stay as they
 * are. */
int store_flood_budget(struct store *s, int64_t task, int64_t *bytes, int64_t *at, struct err *e);
int store_flood_set_budget(struct store *s, int64_t task, int64_t bytes, int64_t at, struct err *e);

/* Starts a run of the task's main command. command is one line for people, argv a JSON array of its words. */
int store_run_begin(struct store *s, int64_t task, const char *session, const char *command, const char *argv,
	int64_t *ret_id, struct err *e);
int store_run_end(struct store *s, int64_t run, int exit_code, const char *state, const char *verdict,
	const char *leftover, struct err *e);
/* Update a task's last run: the verdict of a later check, and the commits that are not on its branch. */
int store_run_judged(struct store *s, int64_t task, const char *verdict, const char *leftover, struct err *e);
int store_run_drafts(struct store *s, int64_t task, const char *elsewhere, const char *drafts, struct err *e);
/* Closes a task's open runs after its keeper died. */
int store_run_abandon(struct store *s, int64_t task, struct err *e);
/* The id of the task's last run; 0 if it has never run. */
int store_run_last(struct store *s, int64_t task, int64_t *ret, struct err *e);
/* How long all of its runs have taken together. Of one whose keeper died nobody knows when it ended: it does not count. */
int store_run_seconds(struct store *s, int64_t task, uint64_t *ret, struct err *e);
/* The session id of the task's first run, on the heap; "" if it has never run. */
int store_first_session(struct store *s, int64_t task, char **ret, struct err *e);

/* A session that an editor has, or had, with an agent in a task. */
struct acp_session {
	char id[37]; /* the editor's */
	int64_t task;
	char *theirs; /* the agent's own id for it */
	char *agent;  /* which agent can load it */
	char *cwd;    /* the directory that the editor named, outside */
	char *title;  /* "" if it has none */
	int64_t updated;
};
void acp_session_release(struct acp_session *a);
#define auto_acp_session __attribute__((cleanup(acp_session_release))) struct acp_session
struct acp_session_list {
	struct acp_session *v;
	size_t n;
};
void acp_session_list_release(struct acp_session_list *l);
#define auto_acp_session_list __attribute__((cleanup(acp_session_list_release))) struct acp_session_list
/* What an agent answered to an editor's first words; "" if that is not known. The last few are kept. */
int store_acp_answer(struct store *s, const char *key, char **ret, struct err *e);
int store_acp_answer_set(struct store *s, const char *key, const char *answer, struct err *e);
/* ERR_REFUSED if the task has ACP_SESSIONS_MAX already. */
#define ACP_SESSIONS_MAX 1000
int store_acp_session_add(struct store *s, const struct acp_session *a, struct err *e);
/* ERR_NOTFOUND if there is none. Its task may have been removed. */
int store_acp_session(struct store *s, const char *id, struct acp_session *ret, struct err *e);
/* Notes that it was used, and its title, unless that is NULL. */
int store_acp_session_used(struct store *s, const char *id, const char *title, struct err *e);
/* Those of an agent whose tasks are still there, the last used first, at most ACP_SESSIONS_MAX. cwd may be NULL. */
int store_acp_session_list(
	struct store *s, const char *agent, const char *cwd, struct acp_session_list *ret, struct err *e);

#endif
