#include "workspace/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/lfs.h"
#include "git/private.h"
#include "git/user_settings.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "workspace/layer_use.h"
#include "workspace/submodules.h"

/* A file with the name of the pack. */
#define OWN_OBJECTS "own-objects"

static const struct backend *const backends[] = { &backend_overlay, &backend_worktree, &backend_clone,
	&backend_empty, &backend_landlock_only };

static const struct backend *by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++)
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	return NULL;
}

const struct backend *backend_named(const char *name)
{
	static const struct backend unknown = { .name = "", .has_git = true, .place = "worktrees" };
	const struct backend *b = by_name(name);

	return b ? b : &unknown;
}

const struct backend *backend_of(const struct task *t)
{
	return backend_named(t->backend);
}

/* Whether the kernel has the overlay file system, as far as one can tell without mounting one. */
static bool kernel_has_overlay(void)
{
	auto_buf list = BUF_SMALL;
	struct err ignored = ERR_INIT;

	return read_file(AT_FDCWD, "/proc/filesystems", &list, &ignored) < 0 ||
	       strstr(buf_str(&list), "\toverlay\n");
}

const char *backend_by_default(void)
{
	return kernel_has_overlay() ? backend_overlay.name : backend_worktree.name;
}

char *workspace_inside(const struct home *h, const struct task *t, const char *name)
{
	return backend_of(t)->landlock_only ? home_path(h, "tasks/%lld/run%s", (long long)t->id, name)
					    : xasprintf(INSIDE_DIR "%s", name);
}

char *workspace_host_dir(const struct home *h, const struct task *t)
{
	const struct backend *b = backend_of(t);

	if (!b->on_host)
		return NULL;
	/* without at_project, the path inside is also the path on the host */
	return b->at_project ? home_path(h, "%s/%s", b->place, t->place) : xstrdup(t->workspace);
}

const char *const *workspace_env(const struct task *t)
{
	static const char *const none[] = { NULL };
	const struct backend *b = backend_of(t);

	return b->env ? b->env : none;
}

int workspace_open(
	struct workspace *ws, const struct home *h, const struct repo *r, struct task *t, struct err *e)
{
	auto_str name = xasprintf("tasks/%lld", (long long)t->id);

	*ws = (struct workspace){
		.backend = by_name(t->backend), .home = h, .repo = r, .task = t, .dir = -1
	};
	if (!ws->backend)
		return err_set(e, ERR_FAILED, "task '%s' has an unknown backend '%s'", t->name, t->backend);
	/* 0711: root's tasks run as another user, who must be able to pass through to its own files */
	if (mkdirat(h->fd, name, 0711) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s/%s'", h->path, name);
	if (home_task_dir(h, t->id, &ws->dir, e) < 0)
		return -1;
	ws->host = workspace_host_dir(h, t);
	return 0;
}

void workspace_close(struct workspace *ws)
{
	fd_closep(&ws->dir);
	ws->dir = -1;
	free(steal_ptr(ws->host));
}

int workspace_create(struct workspace *ws, const struct buf *shown, struct err *e)
{
	/* The directories of the task that the jail mounts belong to the inside's user. */
	static const char *const places[] = { "git", "home", "tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (mkdirat(ws->dir, places[i], 0700) < 0 || owner_give(ws->dir, places[i]) < 0)
			return err_sys(e, "cannot make '%s' of the task", places[i]);
	if (ws->backend->create(ws, shown, e) < 0 || submodules_make(ws, e) < 0)
		return -1;
	return ws->backend->on_host ? layers_copy(ws, NULL, e) : 0;
}

int workspace_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	return ws->backend->describe(ws, j, e) < 0 ? -1 : submodules_describe(ws, j, e);
}

int workspace_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	return ws->backend->scan(ws, ret, e);
}

int workspace_files(struct workspace *ws)
{
	return ws->backend->files(ws);
}

char *workspace_since(struct workspace *ws)
{
	auto_buf tip = BUF_SMALL;
	struct err ignored = ERR_INIT;

	/* only others have moved its branch, by merging into it: nothing of that is a change of its workspace */
	if (!ws->task->commits && *ws->task->published)
		return xstrdup(ws->task->published);
	if (!ws->backend->published)
		return xstrdup(ws->task->layer);
	if (read_file(ws->dir, "indexed", &tip, &ignored) < 0)
		return xstrdup(ws->task->base);
	return buf_steal(&tip);
}

int workspace_published(struct workspace *ws, const char *tip, struct err *e)
{
	return ws->backend->published ? ws->backend->published(ws, tip, e) : 0;
}

int workspace_renamed(struct workspace *ws, const char *old, struct err *e)
{
	return ws->backend->renamed ? ws->backend->renamed(ws, old, e) : 0;
}

int workspace_export(struct workspace *ws, int out, struct export_report *ret, struct err *e)
{
	return ws->backend->export(ws, out, ret, e);
}

int workspace_remove(struct workspace *ws, struct err *e)
{
	return ws->backend->remove(ws, e);
}

int workspace_restore(struct workspace *ws, struct err *e)
{
	return ws->backend->restore ? ws->backend->restore(ws, e) : 0;
}

int workspace_refill(struct workspace *ws, const char *commit, struct err *e)
{
	if (ws->backend->refill(ws, commit, e) < 0)
		return -1;
	return ws->backend->on_host ? layers_copy(ws, NULL, e) : 0;
}

static char *ignores_path(const struct workspace *ws)
{
	return home_path(ws->home, "tasks/%lld/" WORKSPACE_IGNORES, (long long)ws->task->id);
}

/* Copies the user's ignore file as it is now. *ret is its path inside, NULL if there is none. */
static int take_ignores(struct workspace *ws, char **ret, struct err *e)
{
	auto_str path = settings_ignore_file(ws->repo);
	auto_buf text = BUF_INIT(SETTINGS_IGNORES_MAX);

	*ret = NULL;
	if (!path)
		return 0;
	if (read_file(AT_FDCWD, path, &text, e) < 0 ||
		write_file(ws->dir, WORKSPACE_IGNORES, buf_str(&text), text.len, 0644, e) < 0)
		return err_wrap(e, "cannot carry the user's ignore file");
	*ret = backend_of(ws->task)->landlock_only ? ignores_path(ws) : xstrdup(INSIDE_IGNORES);
	return 0;
}

int workspace_make_private(struct workspace *ws, struct private_spec *s, struct err *e)
{
	auto_fd git = openat(ws->dir, "git", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_str path = home_path(ws->home, "tasks/%lld/git", (long long)ws->task->id), pack = NULL,
		 ignores = NULL;
	auto_buf alternates = BUF_INIT(1 << 20);

	if (git < 0)
		return err_sys(e, "cannot open '%s'", path);
	if (take_ignores(ws, &ignores, e) < 0)
		return -1;
	s->ignores = ignores;
	s->repo = ws->repo;
	s->commit = ws->task->base;
	if (!s->hook)
		s->hook = INSIDE_HOOK;
	if (!ws->backend->own_objects && !ws->task->strict && private_can_borrow(ws->repo)) {
		workspace_alternates(ws, &alternates);
		s->alternates = &alternates;
	}
	if (private_create(git, s, e) < 0)
		return -1;
	if (s->alternates)
		return 0;
	return private_fill(path, s, &pack, e) < 0
		       ? -1
		       : write_file(ws->dir, OWN_OBJECTS, pack, strlen(pack), 0600, e);
}

bool workspace_borrows(const struct workspace *ws)
{
	return faccessat(ws->dir, OWN_OBJECTS, F_OK, 0) < 0;
}

char *workspace_own_pack(const struct workspace *ws)
{
	auto_buf name = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (workspace_borrows(ws))
		return NULL;
	/* if it cannot be read: a name that matches no pack */
	read_file(ws->dir, OWN_OBJECTS, &name, &ignored);
	return xstrdup(buf_str(&name));
}

/* In tasks of layout 0, objects are mounted at their paths on the host. */
static char *objects_inside(const struct workspace *ws, size_t i)
{
	return ws->task->layout ? xasprintf(INSIDE_OBJECTS "/%zu", i) : xstrdup(ws->repo->objects.v[i]);
}

void workspace_alternates(const struct workspace *ws, struct buf *out)
{
	/* the repository's own objects refer to the others: see cover_alternates */
	size_t n = ws->task->layout ? 1 : ws->repo->objects.n;

	for (size_t i = 0; i < n && workspace_borrows(ws); i++) {
		auto_str at = objects_inside(ws, i);

		buf_printf(out, "%s\n", at);
	}
}

/* A repository's info/alternates has paths of the host, which do not exist inside, so a file with the paths
 * inside is mounted over it. If the host replaces info/alternates meanwhile, the mount is gone, and git
 * inside reports a missing directory until the next start. */
static int cover_alternates(const struct workspace *ws, struct jail *j, struct err *e)
{
	auto_str list = home_path(ws->home, "tasks/%lld/alternates", (long long)ws->task->id);
	auto_buf text = BUF_INIT(1 << 20);

	if (ws->repo->objects.n < 2)
		return 0;
	for (size_t i = 1; i < ws->repo->objects.n; i++)
		buf_printf(&text, INSIDE_OBJECTS "/%zu\n", i);
	if (write_file(ws->dir, "alternates", buf_str(&text), text.len, 0644, e) < 0)
		return -1;
	for (size_t i = 0; i < ws->repo->objects.n; i++) {
		auto_str theirs = path_join(ws->repo->objects.v[i], "info/alternates");
		auto_str at = xasprintf(INSIDE_OBJECTS "/%zu/info/alternates", i);

		if (!access(theirs, F_OK))
			jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, list, at);
	}
	return 0;
}

/* git-lfs looks for the content of files beside each directory of objects that is borrowed. */
static void show_lfs(const struct workspace *ws, struct jail *j)
{
	auto_str store = path_join(ws->repo->git_dir, LFS_STORE);
	auto_fd there = lfs_open_store(ws->repo);

	if (ws->task->layout && there >= 0)
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, store, INSIDE_OBJECTS "/" LFS_STORE);
}

int workspace_describe_git(struct workspace *ws, const char *at, struct jail *j, struct err *e)
{
	auto_str git = home_path(ws->home, "tasks/%lld/git", (long long)ws->task->id);
	auto_str ignores = ignores_path(ws);

	jail_add(j, JAIL_BIND, JAIL_WRITE, git, at);
	strvec_pushl(&j->git_dirs, "", at, NULL);
	j->hash_len = ws->repo->hash_len;
	if (!faccessat(ws->dir, WORKSPACE_IGNORES, F_OK, AT_SYMLINK_NOFOLLOW))
		jail_add(j, JAIL_BIND, JAIL_NOEXEC, ignores,
			backend_of(ws->task)->landlock_only ? ignores : INSIDE_IGNORES);
	if (!workspace_borrows(ws))
		return 0;
	for (size_t i = 0; i < ws->repo->objects.n; i++) {
		auto_str inside = objects_inside(ws, i);

		jail_add(j, JAIL_BIND, JAIL_NOEXEC, ws->repo->objects.v[i], inside);
	}
	show_lfs(ws, j);
	return ws->task->layout ? cover_alternates(ws, j, e) : 0;
}
