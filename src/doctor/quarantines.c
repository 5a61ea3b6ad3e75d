/* Finds quarantines that killed gateways left in the users' repositories. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "sys/tree.h"
#include "task/remove.h"
#include "task/task.h"

#define PREFIX "garth-"

/* The lock of an existing task is held meanwhile; a removed task does nothing any more. */
static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_str name = xasprintf(TASK_QUARANTINE, (long long)f->task);
	auto_fd dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_task t = { 0 };
	bool found;

	if (dir < 0)
		return err_sys(e, "cannot open '%s'", f->path);
	if (store_task_any(c->store, f->task, &t, e) < 0)
		return -1;
	if (task_is_busy(c, &t))
		return err_set(e, ERR_BUSY, "the task is in use");
	if (t.removed)
		return tree_remove(dir, name, e);
	if (remove_leftovers(c, &t, &found, e) < 0)
		return -1;
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0
		       ? 0
		       : err_set(e, ERR_BUSY, "the task is in use, or its directory is gone");
}

static void look_at(struct survey *s, const char *objects, int dir, const char *name, struct findings *out)
{
	int64_t id = survey_number(name + strlen(PREFIX));
	const struct task *t = id ? survey_task(s, id) : NULL;
	auto_str path = path_join(objects, name);
	struct finding *f;

	if (!id || (t && task_is_busy(s->c, t)) || faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!t) {
		f = finding_add(
			out, "quarantine", path, "no task in the store has it; another Garth home may");
		f->note = true;
		return;
	}
	f = finding_add(out, "quarantine", t->name,
		"its gateway was killed at work, and left '%s' in the repository", name);
	f->task = id;
	f->path = xstrdup(objects);
	finding_mend(f, mend, "remove it; nothing in it was published");
}

static int look_in(struct survey *s, const char *git_dir, struct findings *out, struct err *e)
{
	auto_str objects = path_join(git_dir, "objects");
	DIR *d = opendir(objects);
	struct dirent *ent;

	if (!d)
		return err_sys(e, "cannot read '%s'", objects);
	while ((ent = readdir(d)))
		if (!strncmp(ent->d_name, PREFIX, strlen(PREFIX)))
			look_at(s, objects, dirfd(d), ent->d_name, out);
	closedir(d);
	return 0;
}

int quarantines_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].open && look_in(s, s->v[i].repo.git_dir, out, e) < 0)
			return -1;
		for (size_t k = 0; k < s->v[i].submodules.n; k++)
			if (look_in(s, s->v[i].submodules.v[k], out, e) < 0)
				return -1;
	}
	return 0;
}
