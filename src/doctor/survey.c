#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "task/life.h"
#include "workspace/submodules.h"
#include "workspace/workspace.h"

int survey_names(struct context *c, const char *place, struct strvec *ret, struct err *e)
{
	int fd = openat(c->home.fd, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d) {
		err_sys(e, "cannot read '%s/%s'", c->home.path, place);
		fd_closep(&fd);
		return -1;
	}
	while ((ent = readdir(d)))
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
			strvec_push(ret, ent->d_name);
	closedir(d);
	strvec_sort(ret);
	return 0;
}

int64_t survey_number(const char *name)
{
	size_t n = strlen(name);

	return n && n < 19 && strspn(name, "0123456789") == n && name[0] != '0' ? atoll(name) : 0;
}

bool survey_is_there(const struct context *c, const char *place, const char *name)
{
	auto_str path = xasprintf("%s/%s", place, name);

	return !faccessat(c->home.fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

bool survey_rests(const struct task *t)
{
	return !t->removed && strcmp(t->state, STATE_CREATING) && strcmp(t->state, STATE_DISCARDING);
}

const struct task *survey_task(const struct survey *s, int64_t id)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.v[i].id == id)
			return &s->tasks.v[i];
	return NULL;
}

const struct task *survey_at(const struct task_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].removed && backend_of(&l->v[i])->on_host &&
			!backend_of(&l->v[i])->landlock_only && !strcmp(l->v[i].place, path_base(path)))
			return &l->v[i];
	return NULL;
}

/* The hash length of the project's repository, from the ids of its tasks' commits. */
static unsigned hash_len(const struct task_list *tasks, int64_t project)
{
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->v[i].project_id == project && *tasks->v[i].base)
			return (unsigned)strlen(tasks->v[i].base) / 2;
	return 20;
}

int survey_repo(struct context *c, int64_t project, struct repo *ret, struct err *e)
{
	auto_task_list tasks = { 0 };
	auto_project p = { 0 };

	if (store_project_by_id(c->store, project, &p, e) < 0 ||
		store_task_list(c->store, true, &tasks, e) < 0)
		return -1;
	return repo_open_git_dir(p.git_dir, p.path, hash_len(&tasks, project), ret, e);
}

/* A creator makes the task's directory in the same transaction as the row. The transaction here waits for it,
 * so that no directory is seen without its row. */
static int read_store(struct survey *s, struct project_list *projects, struct err *e)
{
	int rc;

	if (context_store(s->c, e) < 0 || store_begin(s->c->store, e) < 0)
		return -1;
	rc = store_project_list(s->c->store, projects, e) < 0 ||
			     store_task_list(s->c->store, true, &s->tasks, e) < 0
		     ? -1
		     : 0;
	store_rollback(s->c->store);
	return rc;
}

/* Submodules in submodules in …, and names with slashes. */
#define DEPTH_MAX 16

/* Repositories in modules/ of a repository: NAME is a repository, or a directory of such. */
static void add_modules(const char *dir, unsigned depth, struct strvec *ret)
{
	DIR *d = depth < DEPTH_MAX ? opendir(dir) : NULL;
	struct dirent *ent;

	while (d && (ent = readdir(d))) {
		auto_str at = path_join(dir, ent->d_name), head = path_join(at, "HEAD"),
			 objects = path_join(at, "objects"), below = path_join(at, "modules");
		bool is_one = !access(head, F_OK) && !access(objects, F_OK);

		if (ent->d_name[0] == '.' || (ent->d_type != DT_DIR && ent->d_type != DT_UNKNOWN))
			continue;
		if (is_one && !strvec_has(ret, at))
			strvec_push(ret, at);
		add_modules(is_one ? below : at, depth + 1, ret);
	}
	if (d)
		closedir(d);
}

/* A repository may also be a directory .git among the files. */
static void add_submodules(struct survey *s, struct survey_project *p)
{
	auto_str modules = path_join(p->repo.git_dir, "modules");

	add_modules(modules, 0, &p->submodules);
	for (size_t i = 0; i < s->tasks.n; i++) {
		struct err ignored = ERR_INIT;
		auto_submodules l = { 0 };
		auto_fd dir = -1;

		if (s->tasks.v[i].project_id != p->project.id || s->tasks.v[i].removed ||
			home_task_dir(&s->c->home, s->tasks.v[i].id, &dir, &ignored) < 0 ||
			submodules_load(dir, &l, &ignored) < 0)
			continue;
		for (size_t k = 0; k < l.n; k++)
			if (submodule_is_here(&l.v[k]) && !strvec_has(&p->submodules, l.v[k].git_dir))
				strvec_push(&p->submodules, l.v[k].git_dir);
	}
}

int survey_submodule(const struct survey_project *p, const char *git_dir, struct repo *ret, struct err *e)
{
	if (repo_open_git_dir(git_dir, git_dir, p->repo.hash_len, ret, e) < 0)
		return -1;
	ret->submodule = true;
	return 0;
}

int survey_read(struct context *c, struct survey *ret, struct err *e)
{
	auto_project_list projects = { 0 };
	auto_survey s = { .c = c };

	if (survey_names(c, "worktrees", &s.worktrees, e) < 0 ||
		survey_names(c, "tasks", &s.tasks_dir, e) < 0 || survey_names(c, "trash", &s.trash, e) < 0 ||
		read_store(&s, &projects, e) < 0)
		return -1;
	s.v = xcalloc(projects.n, sizeof(*s.v));
	for (; s.n < projects.n; s.n++) {
		struct survey_project *p = &s.v[s.n];
		struct err ignored = ERR_INIT;

		p->project = projects.v[s.n];
		projects.v[s.n] = (struct project){ 0 };
		p->open = !repo_open_git_dir(p->project.git_dir, p->project.path,
				  hash_len(&s.tasks, p->project.id), &p->repo, &ignored) &&
			  !worktree_list(&p->repo, &p->worktrees, &ignored);
		if (p->open)
			add_submodules(&s, p);
	}
	*ret = s;
	s = (struct survey){ 0 };
	return 0;
}

void survey_release(struct survey *s)
{
	for (size_t i = 0; i < s->n; i++) {
		project_release(&s->v[i].project);
		worktree_list_release(&s->v[i].worktrees);
		strvec_release(&s->v[i].submodules);
		repo_release(&s->v[i].repo);
	}
	free(s->v);
	strvec_release(&s->worktrees);
	strvec_release(&s->tasks_dir);
	strvec_release(&s->trash);
	task_list_release(&s->tasks);
	*s = (struct survey){ 0 };
}
