/* The doctor's checks, one file each; the table in doctor.c lists them. Only the files of doctor/ include
 * this. */
#ifndef DOCTOR_PARTS_H
#define DOCTOR_PARTS_H

#include "base/strvec.h"
#include "doctor/doctor.h"
#include "git/repo.h"
#include "git/worktree.h"
#include "store/store.h"

/* finding.c */

/* Adds a finding; `what` is a format. The caller fills in the rest. */
struct finding *finding_add(struct findings *f, const char *kind, const char *subject, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* Sets the function that repairs it, and a description of what that does. */
void finding_mend(struct finding *f, mend_fn *mend, const char *would, ...)
	__attribute__((format(printf, 3, 4)));
void finding_hint(struct finding *f, const char *hint, ...) __attribute__((format(printf, 2, 3)));
void finding_said(struct finding *f, const char *said, ...) __attribute__((format(printf, 2, 3)));
/* A path quoted for a shell, for a hint; on the heap. */
char *finding_quoted(const char *path);

/* survey.c: lists everything once. The directories are listed before the store is read. So if something is
 * listed and has no task, it never had one, or its task was just removed: a check must look again before it
 * reports it. */

struct survey_project {
	struct project project;
	bool open; /* its repository exists */
	struct repo repo;
	struct worktree_list worktrees;
	struct strvec
		submodules; /* git directories of submodules: in its modules/, and of its tasks' submodules */
};

struct survey {
	struct context *c;
	struct strvec worktrees, tasks_dir, trash; /* names in these directories */
	struct task_list tasks;                    /* removed ones too */
	struct survey_project *v;
	size_t n;
};

int survey_read(struct context *c, struct survey *ret, struct err *e);
void survey_release(struct survey *s);
#define auto_survey __attribute__((cleanup(survey_release))) struct survey

/* Opens the repository of a submodule, by its git directory. */
int survey_submodule(const struct survey_project *p, const char *git_dir, struct repo *ret, struct err *e);
/* Finds a task by its id, removed or not; NULL. */
const struct task *survey_task(const struct survey *s, int64_t id);
/* The existing task whose worktree is at this path. Compares only the last part, since the home may have been moved. */
const struct task *survey_at(const struct task_list *l, const char *path);
/* Whether the task is neither being made nor being removed. */
bool survey_rests(const struct task *t);
/* Opens the repository of a project; ERR_NOTFOUND. */
int survey_repo(struct context *c, int64_t project, struct repo *ret, struct err *e);
/* The names in a directory of the Garth home, without "." and "..". */
int survey_names(struct context *c, const char *place, struct strvec *ret, struct err *e);
/* The number that the name consists of; 0 for any other name. */
int64_t survey_number(const char *name);
/* Whether a directory of the Garth home has this name. */
bool survey_is_there(const struct context *c, const char *place, const char *name);

/* missing.c and remake.c */

/* Makes the missing parts of a task's workspace again, at its branch's tip. */
int remake_mend(struct context *c, struct finding *f, struct err *e);
/* Files in a task's directory while that is done, so that an interrupted repair is found: only its files, or
 * everything of it. */
#define REMAKE_MARK "remake"
#define REMAKE_ALL  "remake-all"

/* The checks; each adds its findings. */
typedef int check_fn(struct survey *s, struct findings *out, struct err *e);
check_fn locks_look, merges_look, tasks_look, worktrees_look, places_look, refs_look, submodules_look,
	moved_look, missing_look, bases_look, layers_look, aside_look, leftovers_look, quarantines_look,
	kept_packs_look, mounts_look, audit_chain_look, full_disks_look, notify_look;

#endif
