/* Finds tasks that lack something: their repository, their workspace, git's record of it, its lock. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/task.h"
#include "workspace/base.h"

static const struct survey_project *project_of(const struct survey *s, const struct task *t)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].project.id == t->project_id)
			return &s->v[i];
	return NULL;
}

static void look_at_repository(struct survey *s, const struct survey_project *p, struct findings *out)
{
	auto_str place = finding_quoted(p->project.path);
	auto_buf names = BUF_SMALL;
	struct finding *f;

	if (p->open)
		return;
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.v[i].project_id == p->project.id && !s->tasks.v[i].removed)
			buf_printf(&names, "%s%s", names.len ? ", " : "", s->tasks.v[i].name);
	if (!names.len)
		return;
	f = finding_add(out, "repository-gone", p->project.git_dir,
		"the repository is not there; its tasks: %s", buf_str(&names));
	finding_hint(f, "ln -s NEW_PLACE %s", place);
}

static bool has(int dir, const char *name)
{
	return !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Whether the worktree's .git file is the one that git made. */
static bool points_to(const char *place, const char *admin)
{
	auto_fd dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_fd fd = dir < 0 ? -1 : open_regular_beneath(dir, ".git");
	auto_str want = xasprintf("gitdir: %s\n", admin);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	return fd >= 0 && !read_rest(fd, &text, ".git", &ignored) && !strcmp(buf_str(&text), want);
}

enum lack {
	LACKS_NOTHING,
	LACKS_HOME,
	LACKS_ALL,
	LACKS_FILES,
	LACKS_WORK,
	LACKS_RECORD,
	LACKS_POINTER,
	LACKS_REST,
	LACKS_LOCK
};

static const struct {
	const char *kind, *what;
	const char *would; /* what remake_mend will do */
} lacks[] = {
	[LACKS_HOME] = { "home-moved", "its worktree is where this Garth home was before it was moved" },
	[LACKS_ALL] = { "workspace-deleted", "its directory was deleted",
		"make it again, with what it published; what was not published is gone" },
	[LACKS_FILES] = { "workspace-deleted", "its workspace was deleted",
		"make its files again, as they were when last published" },
	[LACKS_WORK] = { "workspace-deleted", "the work directory of its overlay was deleted",
		"make it again; nothing is in it" },
	[LACKS_RECORD] = { "worktree-unregistered", "git does not know its worktree any more",
		"register it again; its files stay as they are" },
	[LACKS_POINTER] = { "worktree-unregistered", "the .git of its worktree does not lead to git's record",
		"register it again; its files stay as they are" },
	[LACKS_REST] = { "workspace-half", "its workspace was being made again, and that was cut short",
		"finish that" },
	[LACKS_LOCK] = { "worktree-unlocked", "somebody unlocked its worktree" },
};

static enum lack lack_of_files(const char *host, int dir)
{
	struct stat st;

	if (lstat(host, &st) < 0 || !S_ISDIR(st.st_mode))
		return has(dir, "tree") ? LACKS_REST : LACKS_FILES;
	return has(dir, "tree") ? LACKS_REST : LACKS_NOTHING;
}

static enum lack lack_of_worktree(const char *host, int dir, const struct worktree_list *records)
{
	enum lack files = lack_of_files(host, dir);
	const struct worktree *w = NULL;

	for (size_t i = 0; i < records->n; i++)
		if (!strcmp(records->v[i].path, host))
			w = &records->v[i];
	if (files != LACKS_NOTHING)
		return files;
	if (!w)
		return LACKS_RECORD;
	if (!points_to(host, w->admin))
		return LACKS_POINTER;
	return w->reason ? LACKS_NOTHING : LACKS_LOCK;
}

static enum lack lack_of(struct context *c, const struct task *t, const struct worktree_list *records)
{
	auto_str host = workspace_host_dir(&c->home, t);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (host && !path_within(host, c->home.path))
		return LACKS_HOME;
	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0 || !has(dir, "git"))
		return LACKS_ALL;
	if (has(dir, REMAKE_MARK) || has(dir, REMAKE_ALL))
		return LACKS_REST;
	if (backend_of(t)->git_worktree)
		return lack_of_worktree(host, dir, records);
	if (host)
		return lack_of_files(host, dir);
	if (!has(dir, "upper"))
		return LACKS_FILES;
	return has(dir, "work") ? LACKS_NOTHING : LACKS_WORK;
}

static int lock_again(struct context *c, struct finding *f, struct err *e)
{
	auto_task t = { 0 };
	auto_repo r = { 0 };
	auto_lock lock = -1;
	auto_str host = NULL;

	if (store_task_by_id(c->store, f->task, &t, e) < 0 || survey_repo(c, t.project_id, &r, e) < 0 ||
		base_try_lock(&c->home, t.project_id, &lock, e) < 0)
		return -1;
	host = workspace_host_dir(&c->home, &t);
	return host ? worktree_lock(&r, host, e) : 0;
}

static void hint_home(struct context *c, const struct task *t, struct finding *f)
{
	const char *end = strstr(t->workspace, "/worktrees/");
	auto_str was = xstrndup(t->workspace, end ? (size_t)(end - t->workspace) : 0);
	auto_str from = finding_quoted(c->home.path), to = finding_quoted(was);

	finding_hint(f, "mv %s %s", from, to);
}

static void add(struct survey *s, const struct task *t, enum lack lack, struct findings *out)
{
	struct finding *f = finding_add(out, lacks[lack].kind, t->name, "%s", lacks[lack].what);

	f->task = t->id;
	if (lack == LACKS_HOME)
		hint_home(s->c, t, f);
	else if (lack == LACKS_LOCK)
		finding_mend(f, lock_again, "lock it again");
	else if (task_is_busy(s->c, t))
		finding_hint(f, "garth cancel %s && garth doctor --repair", t->name);
	else
		finding_mend(f, remake_mend, "%s", lacks[lack].would);
}

/* Checks again, under the locks that are held while worktrees are made and removed. */
static int look_again(struct survey *s, const struct survey_project *p, const struct task *t,
	struct findings *out, struct err *e)
{
	auto_worktree_list records = { 0 };
	auto_task now = { 0 };
	auto_lock lock = -1;
	enum lack lack;

	if (base_try_lock(&s->c->home, p->project.id, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 0 : -1;
	if (worktree_list(&p->repo, &records, e) < 0)
		return -1;
	if (store_task_by_id(s->c->store, t->id, &now, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	lack = lack_of(s->c, &now, &records);
	if (survey_rests(&now) && lack != LACKS_NOTHING)
		add(s, &now, lack, out);
	return 0;
}

int missing_look(struct survey *s, struct findings *out, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		look_at_repository(s, &s->v[i], out);
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.v[i];
		const struct survey_project *p = project_of(s, t);

		if (!p || !p->open || !survey_rests(t) || lack_of(s->c, t, &p->worktrees) == LACKS_NOTHING)
			continue;
		if (look_again(s, p, t, out, e) < 0)
			return -1;
	}
	return 0;
}
