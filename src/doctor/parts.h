/* The doctor's checks, for the files of this room alone: a file each, rows of the table in doctor.c. */
#ifndef DOCTOR_PARTS_H
#define DOCTOR_PARTS_H

#include "base/strvec.h"
#include "doctor/doctor.h"
#include "git/repo.h"
#include "git/worktree.h"
#include "store/store.h"

/* finding.c */

/* Adds one; `what` is a format. The rest is the caller's to fill in. */
struct finding *finding_add(struct findings *f, const char *kind, const char *subject, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
/* What mending does, and by which function. */
void finding_mend(struct finding *f, mend_fn *mend, const char *would, ...)
	__attribute__((format(printf, 3, 4)));
void finding_hint(struct finding *f, const char *hint, ...) __attribute__((format(printf, 2, 3)));
void finding_said(struct finding *f, const char *said, ...) __attribute__((format(printf, 2, 3)));
/* For a path in a hint: quoted for a shell, on the heap. */
char *finding_quoted(const char *path);

/* survey.c: what there is, read once. Directories are listed before the store is read, so that what is listed
 * and has no task then had none, or its task has just been removed: whoever finds something looks again. */

struct survey_project {
	struct project project;
	bool open; /* its repository is there */
	struct repo repo;
	struct worktree_list worktrees;
};

struct survey {
	struct context *c;
	struct strvec worktrees, tasks_dir, trash; /* names in these places */
	struct task_list tasks;                    /* removed ones too */
	struct survey_project *v;
	size_t n;
};

int survey_read(struct context *c, struct survey *ret, struct err *e);
void survey_release(struct survey *s);
#define auto_survey __attribute__((cleanup(survey_release))) struct survey

/* By its number, removed or not; NULL. */
const struct task *survey_task(const struct survey *s, int64_t id);
/* Which task that is there has this place for its worktree: by its name, since a home may have been moved. */
const struct task *survey_at(const struct task_list *l, const char *path);
/* Neither being made nor being removed. */
bool survey_rests(const struct task *t);
/* The repository of a project; ERR_NOTFOUND. */
int survey_repo(struct context *c, int64_t project, struct repo *ret, struct err *e);
/* Names in a directory of the Garth home, "." and ".." left out. */
int survey_names(struct context *c, const char *place, struct strvec *ret, struct err *e);
/* The number that a name is, 0 for any other. */
int64_t survey_number(const char *name);
/* Whether there is a name in a place of the Garth home. */
bool survey_is_there(const struct context *c, const char *place, const char *name);

/* missing.c and remake.c */

/* Makes the workspace of a task again at its branch's tip, as far as it is gone. */
int remake_mend(struct context *c, struct finding *f, struct err *e);
/* In a task's directory while that is being done, so that a crash is found: of its files, of all of it. */
#define REMAKE_MARK "remake"
#define REMAKE_ALL  "remake-all"

/* The checks; each adds what it finds. */
typedef int check_fn(struct survey *s, struct findings *out, struct err *e);
check_fn merges_look, tasks_look, worktrees_look, places_look, refs_look, moved_look, missing_look,
	bases_look, aside_look, leftovers_look, quarantines_look, kept_packs_look, mounts_look, chain_look,
	disk_look;

#endif
