/* Finds entries of worktrees/, tasks/, bases/ and trash/ that belong to nobody. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/found.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/remove.h"
#include "task/task.h"

static bool has_record(const struct survey *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->v[i].worktrees.n; j++)
			if (!strcmp(s->v[i].worktrees.v[j].path, path))
				return true;
	return false;
}

static bool is_task(const struct task_list *l, int64_t id)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].id == id && !l->v[i].removed)
			return true;
	return false;
}

/* Whether it belongs to somebody, by the current store. */
static bool is_owned(struct context *c, const char *place, const char *name, const struct task_list *tasks)
{
	auto_str path = home_path(&c->home, "%s/%s", place, name);
	int64_t id = survey_number(name);
	auto_project p = { 0 };
	struct err ignored = ERR_INIT;

	if (!strcmp(place, "worktrees"))
		return survey_at(tasks, path) != NULL;
	if (!strcmp(place, "tasks"))
		return id && is_task(tasks, id);
	return id && !store_project_by_id(c->store, id, &p, &ignored);
}

static bool is_locked(struct context *c, const char *place, const char *name)
{
	auto_str path = xasprintf("%s/%s", place, name);
	auto_fd dir = openat(c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return dir >= 0 && strcmp(place, "worktrees") && lock_is_held(dir, "lock");
}

/* Whether it has nothing but a lock that nobody holds: a command that failed at its start leaves that. */
static bool is_bare(struct context *c, const char *place, const char *name)
{
	auto_str path = xasprintf("%s/%s", place, name);
	auto_strvec names = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	return !survey_names(c, path, &names, &ignored) &&
	       (!names.n || (names.n == 1 && !strcmp(names.v[0], "lock") && strcmp(place, "worktrees")));
}

static int remove_bare(struct context *c, const char *path, struct err *e)
{
	auto_str lock = path_join(path, "lock");

	unlinkat(c->home.fd, lock, 0);
	return unlinkat(c->home.fd, path, AT_REMOVEDIR) < 0 ? err_sys(e, "cannot remove '%s'", path) : 0;
}

static int take_lock(struct context *c, const char *path, int *ret, struct err *e)
{
	auto_fd dir = openat(c->home.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return dir < 0 ? 0 : lock_take(dir, "lock", false, ret, e);
}

static int move_away(struct context *c, const char *place, struct finding *f, struct err *e)
{
	const char *name = f->path + strlen(place) + 1;
	auto_task_list tasks = { 0 };
	auto_str to = NULL;

	if (!survey_is_there(c, place, name))
		return 0;
	if (store_task_list(c->store, false, &tasks, e) < 0)
		return -1;
	if (is_owned(c, place, name, &tasks))
		return err_set(e, ERR_BUSY, "somebody has it now");
	if (is_bare(c, place, name))
		return remove_bare(c, f->path, e);
	if (found_move(c, place, name, NULL, &to, e) < 0)
		return -1;
	finding_said(f, "it is %s/files now", to);
	return 0;
}

/* A process that makes something in these directories writes to the store first, which the transaction here
 * prevents. */
static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_str place = xstrndup(f->path, strcspn(f->path, "/"));
	auto_lock lock = -1;
	int rc;

	if (strcmp(place, "worktrees") && take_lock(c, f->path, &lock, e) < 0)
		return -1;
	if (store_begin(c->store, e) < 0)
		return -1;
	rc = move_away(c, place, f, e);
	store_rollback(c->store);
	return rc;
}

static int look_at(struct survey *s, const char *place, const char *name, struct findings *out, struct err *e)
{
	auto_str path = home_path(&s->c->home, "%s/%s", place, name);
	auto_task_list now = { 0 };
	struct finding *f;

	if (is_owned(s->c, place, name, &s->tasks) || is_locked(s->c, place, name) || has_record(s, path))
		return 0;
	if (store_task_list(s->c->store, false, &now, e) < 0)
		return -1;
	if (is_owned(s->c, place, name, &now) || !survey_is_there(s->c, place, name))
		return 0;
	f = finding_add(out, "directory-orphaned", path, "no %s has it",
		!strcmp(place, "bases") ? "project" : "task");
	f->path = xasprintf("%s/%s", place, name);
	if (is_bare(s->c, place, name))
		finding_mend(f, mend, "remove it; it is empty");
	else
		finding_mend(f, mend, "move it to the trash");
	return 0;
}

/* Trash expires by itself, so this is only a note that `garth undo` cannot restore it. */
static void look_at_trash(struct survey *s, const char *name, struct findings *out)
{
	auto_str path = home_path(&s->c->home, "trash/%s", name);
	int64_t id = survey_number(name);
	struct finding *f;

	if (strchr(name, '.') || !strncmp(name, REMOVE_FOUND, strlen(REMOVE_FOUND)) ||
		(id && survey_task(s, id)) || !survey_is_there(s->c, "trash", name))
		return;
	f = finding_add(out, "trash-unknown", path, "no task in the store has it; it goes after %d days",
		TASK_TRASH_DAYS);
	f->note = true;
}

/* Each store starts counting tasks at a random number, so a new store cannot confuse its tasks with those of
 * a lost one. */
static void look_at_store(struct survey *s, struct findings *out)
{
	struct finding *f;

	if (s->tasks.n || !s->tasks_dir.n)
		return;
	f = finding_add(out, "store-new", "garth.db",
		"it knows of no task, and %zu director%s of tasks %s there: it is not the one that was there before; "
		"if there is a copy of that one, put it back before anything is repaired",
		s->tasks_dir.n, s->tasks_dir.n == 1 ? "y" : "ies", s->tasks_dir.n == 1 ? "is" : "are");
	f->note = true;
}

int places_look(struct survey *s, struct findings *out, struct err *e)
{
	auto_strvec bases = STRVEC_INIT;
	const struct {
		const char *place;
		const struct strvec *names;
	} places[] = { { "worktrees", &s->worktrees }, { "tasks", &s->tasks_dir }, { "bases", &bases } };

	if (survey_names(s->c, "bases", &bases, e) < 0)
		return -1;
	look_at_store(s, out);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		for (size_t j = 0; j < places[i].names->n; j++)
			if (look_at(s, places[i].place, places[i].names->v[j], out, e) < 0)
				return -1;
	for (size_t i = 0; i < s->trash.n; i++)
		look_at_trash(s, s->trash.v[i], out);
	return 0;
}
