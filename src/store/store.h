/*
 * The store: which projects, tasks and runs there are, in $GARTH_HOME/garth.db (SQLite, WAL). The only place
 * with SQL. Opening brings an older schema up to date; a newer one is refused.
 *
 * Strings in the structs are owned by them; *_release frees. Times are seconds since 1970, UTC; 0 is "not".
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store;

/* home is the Garth home's path. */
int store_open(const char *home, struct store **ret, struct err *e);
void store_close(struct store *s);
void store_closep(struct store **s);
#define auto_store __attribute__((cleanup(store_closep))) struct store *

/* Everything between is one step: done whole or not at all. Not nested. */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

struct project {
	int64_t id;
	char *path;    /* its main checkout */
	char *git_dir; /* its common git directory: this is what makes it the same project */
	char *name;
};

void project_release(struct project *p);
#define auto_project __attribute__((cleanup(project_release))) struct project

/* The project with that git directory, registered if it is new; a moved checkout path is brought up to date.
 */
int store_project(struct store *s, const char *path, const char *git_dir, struct project *ret, struct err *e);
/* The same without registering it: ERR_NOTFOUND. */
int store_project_by_git_dir(struct store *s, const char *git_dir, struct project *ret, struct err *e);
int store_project_by_id(struct store *s, int64_t id, struct project *ret, struct err *e);

struct project_list {
	struct project *v;
	size_t n;
};

void project_list_release(struct project_list *l);
#define auto_project_list __attribute__((cleanup(project_list_release))) struct project_list
/* All of them, oldest first. */
int store_project_list(struct store *s, struct project_list *ret, struct err *e);

#define TASK_LAYOUT 1

struct task {
	int64_t id;
	int64_t project_id;
	char *project;    /* the project's name */
	char *repository; /* its main checkout */
	char *name;
	char *branch;
	char *base;      /* the commit it starts from */
	char *layer;     /* the base's name that its workspace stands on, where its backend has bases */
	char *target;    /* the branch it is meant for, "" where HEAD was detached */
	char *backend;   /* "overlay", "worktree", "clone" */
	char *state;     /* see task/life.h */
	char *workspace; /* its path inside; see workspace/workspace.h for where its files are on the host */
	int layout;      /* TASK_LAYOUT, or 0: made when borrowed objects had the host's paths inside */
	char *shown;     /* names the set of shown refs, as the pins in the repository do */
	bool strict;
	char *published;  /* the branch's tip as the gateway last left it; "" before the first publish */
	int64_t commits;  /* published so far */
	int64_t bytes;    /* of all objects that came with them, those that are gone again too */
	int64_t disk;     /* bytes that it held on disk when it was last measured; 0: never */
	int64_t disk_max; /* and what it might hold then */
	/* Where it was pushed to last, and the tip of its branch then; "" where it was not. */
	char *pushed_remote, *pushed_branch, *pushed_tip;
	char *note;     /* why the task failed or stands still, for people; "" */
	char *on_dirty; /* "fail", "commit", "keep": uncommitted work at the end */
	int64_t created, changed, removed;
	/* Of its last run: */
	char *command; /* as one line, "" for none */
	char *argv;    /* its words, a JSON array of strings; "" for none, or where an older version ran it */
	char *session;
	int64_t started, ended;
	int exit_code;   /* the command's own */
	char *verdict;   /* why the task failed all the same, or ""; see task/end.h */
	char *leftover;  /* what it left uncommitted, for people; "" */
	char *elsewhere; /* another branch inside, or "HEAD", that it ended on with commits of its own; "" */
	char *drafts;    /* commits that it made and that are not published, for people; "" */
};

void task_release(struct task *t);
#define auto_task __attribute__((cleanup(task_release))) struct task

struct task_list {
	struct task *v;
	size_t n;
};

void task_list_release(struct task_list *l);
#define auto_task_list __attribute__((cleanup(task_list_release))) struct task_list

/* Inserts in state "creating" and gives t->id; on_dirty NULL is "fail". ERR_EXISTS where a task that is not
 * removed has the name. */
int store_task_insert(struct store *s, struct task *t, struct err *e);
/* Everything but id, project, name and what has its own call below is written; on_dirty NULL stays. */
int store_task_update(struct store *s, const struct task *t, struct err *e);
/* Moves from one state to another; ERR_BUSY where it is not (any more) in `from`. */
int store_task_move(struct store *s, int64_t id, const char *from, const char *to, struct err *e);
/* Marks it removed now; its name is free again. */
int store_task_remove(struct store *s, int64_t id, const char *state, struct err *e);
/* Forgets a task that never came to be. */
int store_task_forget(struct store *s, int64_t id, struct err *e);
/* ERR_NOTFOUND where no task that is not removed has the name. */
int store_task_by_name(struct store *s, const char *name, struct task *ret, struct err *e);
int store_task_by_id(struct store *s, int64_t id, struct task *ret, struct err *e);
/* All tasks, oldest first; with removed ones or without. */
int store_task_list(struct store *s, bool removed, struct task_list *ret, struct err *e);
/* How many tasks that are not removed stand on a layer, or show a set of refs, of a project. */
int store_task_count_layer(struct store *s, int64_t project, const char *layer, size_t *ret, struct err *e);
int store_task_count_shown(struct store *s, int64_t project, const char *shown, size_t *ret, struct err *e);

/* What the gateway changes: the tip, and how many commits and bytes were published. A task that was merged
 * and has another tip now is merged no more, but done. */
int store_task_published(
	struct store *s, int64_t id, const char *tip, int64_t commits, int64_t bytes, struct err *e);
int store_task_note(struct store *s, int64_t id, const char *note, struct err *e);
/* The task's branch was pushed with this tip. */
int store_task_pushed(
	struct store *s, int64_t id, const char *remote, const char *branch, const char *tip, struct err *e);
/* What a tip of a task's branch became where it was merged or pushed to: a commit, which is another one where
 * it was squashed or rebased on the way. Newest first. */
struct strvec;
int store_landed_add(struct store *s, int64_t task, const char *tip, const char *result, struct err *e);
int store_landed(struct store *s, int64_t task, const char *tip, struct strvec *ret, struct err *e);
/* What was measured of its files on disk. */
int store_task_measured(struct store *s, int64_t id, int64_t disk, int64_t disk_max, struct err *e);
/* After a sync: the commit it stands on, the set of refs it is shown. */
int store_task_rebased(struct store *s, int64_t id, const char *base, const char *shown, struct err *e);
/* Only the name of what it is shown; of a removed one too. Nothing happened to the task. */
int store_task_shown(struct store *s, int64_t id, const char *shown, struct err *e);

/* Protected paths that the user allowed a task to publish: globs. */
int store_allow(struct store *s, int64_t task, const char *glob, struct err *e);
struct strvec;
int store_allowed(struct store *s, int64_t task, struct strvec *ret, struct err *e);

/* Small facts by name; ERR_NOTFOUND. */
int store_fact(struct store *s, const char *key, char **ret, struct err *e);
int store_set_fact(struct store *s, const char *key, const char *value, struct err *e);

/* What was found out about two commits, so that nobody has to ask git again: kind names the question.
 * ERR_NOTFOUND where nothing is known (any more: the oldest answers go). */
int store_compared(
	struct store *s, const char *kind, const char *a, const char *b, char **ret, struct err *e);
int store_set_compared(
	struct store *s, const char *kind, const char *a, const char *b, const char *result, struct err *e);

/* Snapshots of a task, numbered from 1. */
struct snapshot {
	int64_t id, task_id, number;
	char *commit; /* the branch's tip then */
	char *state; /* a commit in the task's snapshot repository with all files as they were; "" for none */
	char *reason; /* "start", "every", "sync", "rollback", "merge", "rewrite", "asked",
			 "moved" */
	char *message;
	int64_t commits; /* published until then */
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
/* Gives s->id and s->number (the next one of the task). */
int store_snapshot_add(struct store *s, struct snapshot *snap, struct err *e);
int store_snapshot(struct store *s, int64_t task, int64_t number, struct snapshot *ret, struct err *e);
int store_snapshot_list(struct store *s, int64_t task, struct snapshot_list *ret, struct err *e);

/* Deeds that can be taken back: rollback, discard, merge. */
struct deed {
	int64_t id, task_id;
	char *task; /* its name then */
	char *kind; /* "rollback", "discard", "archive", "merge" */
	char *data; /* JSON, what is needed to take it back */
	int64_t created, undone;
	int64_t project_id;
	int64_t batch; /* the same for all deeds of one command that did several; 0: it is on its own */
};
void deed_release(struct deed *d);
#define auto_deed __attribute__((cleanup(deed_release))) struct deed
int store_deed_add(
	struct store *s, int64_t task, const char *kind, const char *data, int64_t *ret_id, struct err *e);
/* From begin to end, the deeds that are added are one batch. Not nested. */
void store_batch_begin(struct store *s);
void store_batch_end(struct store *s);
struct deed_list {
	struct deed *v;
	size_t n;
};
void deed_list_release(struct deed_list *l);
#define auto_deed_list __attribute__((cleanup(deed_list_release))) struct deed_list
/* Those that were not undone, newest first, of a task by its name or (NULL) of all, of a project or (0) of
 * all; at most `max`. */
int store_deed_list(
	struct store *s, const char *task, int64_t project, size_t max, struct deed_list *ret, struct err *e);
/* The newest that was not undone, of a task by its name or (NULL) of all, of a project or (0) of all;
 * ERR_NOTFOUND. */
int store_deed_last(struct store *s, const char *task, int64_t project, struct deed *ret, struct err *e);
/* The newest of one kind that was not undone, of a task by its number; ERR_NOTFOUND. */
int store_deed_of(struct store *s, int64_t task, const char *kind, struct deed *ret, struct err *e);
int store_deed_undone(struct store *s, int64_t id, struct err *e);
/* A removed task comes back in this state; ERR_EXISTS where its name is taken meanwhile. */
int store_task_restore(struct store *s, int64_t id, const char *state, struct err *e);
/* A task by its number, removed or not. */
int store_task_any(struct store *s, int64_t id, struct task *ret, struct err *e);

/* Why a connection was not opened. The numbers are in the store. */
enum asked_why {
	ASKED_UNKNOWN = 0,    /* an earlier version did not write it down */
	ASKED_NOT_LISTED = 1, /* or is no host at all */
	ASKED_PRIVATE = 2, /* the name is listed, and leads to an address that is neither public nor listed */
	ASKED_NO_NAME = 3,
	ASKED_NO_ANSWER = 4,
};

/* What a task's proxy was asked for, how often, and whether it was opened. */
struct asked {
	char *host;
	int port;
	bool open;
	enum asked_why why;  /* the last time, where it was not opened */
	char *address;       /* with ASKED_PRIVATE, the address; else "" */
	int64_t times, last; /* how often, and when for the last time; store_asked_add counts */
};
struct asked_list {
	struct asked *v;
	size_t n;
};
void asked_list_release(struct asked_list *l);
#define auto_asked_list __attribute__((cleanup(asked_list_release))) struct asked_list
int store_asked_add(struct store *s, int64_t task, const struct asked *a, struct err *e);
/* Refused ones first. */
int store_asked_list(struct store *s, int64_t task, struct asked_list *ret, struct err *e);

/* Events of a task that come too often for a line each in the audit log, see audit/flood.h. */
struct flood {
	char key[65];    /* events with the same key are the same */
	char *event;     /* its name, */
	char *details;   /* and details as JSON, "" where they differ */
	int64_t pending; /* happened since the last line about it */
	int64_t lines;   /* written in a row for one event each */
	int64_t written; /* when the last line was */
};
struct flood_list {
	struct flood *v;
	size_t n;
};
void flood_release(struct flood *f);
#define auto_flood __attribute__((cleanup(flood_release))) struct flood
void flood_list_release(struct flood_list *l);
#define auto_flood_list __attribute__((cleanup(flood_list_release))) struct flood_list
/* Fills in the numbers of f->key; they stay as they are where it is new. */
int store_flood(struct store *s, int64_t task, struct flood *f, struct err *e);
int store_flood_set(struct store *s, int64_t task, const struct flood *f, struct err *e);
/* Those with something pending whose last line was not after `before`. */
int store_flood_pending(struct store *s, int64_t task, int64_t before, struct flood_list *ret, struct err *e);
/* Drops those without, of which the same holds. */
int store_flood_forget(struct store *s, int64_t task, int64_t before, struct err *e);
/* The bytes that are left to a task, and as of when; they stay as they are where nothing is known. */
int store_flood_budget(struct store *s, int64_t task, int64_t *bytes, int64_t *at, struct err *e);
int store_flood_set_budget(struct store *s, int64_t task, int64_t bytes, int64_t at, struct err *e);

/* A run of a task's main command. */
/* command is one line for people, argv its words as a JSON array. */
int store_run_begin(struct store *s, int64_t task, const char *session, const char *command, const char *argv,
	int64_t *ret_id, struct err *e);
int store_run_end(struct store *s, int64_t run, int exit_code, const char *state, const char *verdict,
	const char *leftover, struct err *e);
/* Of a task's last run: what was found when it was judged again; which commits are not on its branch. */
int store_run_judged(struct store *s, int64_t task, const char *verdict, const char *leftover, struct err *e);
int store_run_drafts(struct store *s, int64_t task, const char *elsewhere, const char *drafts, struct err *e);
/* Closes the runs of a task whose keeper is gone. */
int store_run_abandon(struct store *s, int64_t task, struct err *e);
/* The first session's id of a task, on the heap; "" where it never ran. */
int store_first_session(struct store *s, int64_t task, char **ret, struct err *e);

#endif
