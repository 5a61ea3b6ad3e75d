#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/gitlinks.h"
#include "git/run.h"
#include "sys/fd.h"
#include "workspace/base.h"
#include "workspace/export.h"
#include "workspace/scan.h"
#include "workspace/submodules.h"

void submodules_paths(const struct submodules *s, const char *within, struct strvec *ret)
{
	size_t n = strlen(within);

	for (size_t i = 0; i < s->n; i++)
		if (submodule_is_here(&s->v[i]) && !strncmp(s->v[i].path, within, n) &&
			(!n || s->v[i].path[n] == '/'))
			strvec_push(ret, s->v[i].path + n + (n > 0));
}

/* The submodule's commit, as a commit of the repository around it names it at the path, if the submodule's repository has
 * it. */
static void find_tip(const struct repo *around, const char *commit, const char *path, const struct repo *own,
	char tip[OID_SIZE])
{
	struct git inner = repo_git(own);
	struct err ignored = ERR_INIT;
	char found[OID_SIZE];

	if (gitlink_at(around, commit, path, found) && strcmp(found, tip) != 0 &&
		!git_do(&inner, NULL, &ignored, "cat-file", "commit", found, NULL))
		snprintf(tip, OID_SIZE, "%s", found);
}

/* The submodule around s->v[n]; s->n if that is the superproject. Parents come before. */
size_t submodule_around(const struct submodules *s, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (submodule_is_here(&s->v[i]) && path_within(s->v[n].path, s->v[i].path))
			return i;
	return s->n;
}

void submodules_find_tips(const struct workspace *ws, const char *tip, struct submodules *s)
{
	for (size_t i = 0; i < s->n; i++) {
		size_t up = submodule_around(s, i);
		bool nested = up < s->n;
		const char *path = s->v[i].path + (nested ? strlen(s->v[up].path) + 1 : 0);
		auto_repo own = { 0 }, around = { 0 };
		struct err ignored = ERR_INIT;

		/* the commit of the files is known without asking git */
		if (!submodule_is_here(&s->v[i]) ||
			(nested ? !strcmp(s->v[up].tip, s->v[up].commit) : !strcmp(tip, ws->task->layer)))
			continue;
		if (!submodule_repo(ws, &s->v[i], &own, &ignored) &&
			(!nested || !submodule_repo(ws, &s->v[up], &around, &ignored)))
			find_tip(nested ? &around : ws->repo, nested ? s->v[up].tip : tip, path, &own,
				s->v[i].tip);
	}
}

/* Opens the base; makes it again if it is gone or was not synced before a crash. */
int submodule_base(struct workspace *ws, const struct submodule *s, struct base *ret, struct err *e)
{
	auto_str name = base_submodule_name(s->commit, s->path);
	auto_repo r = { 0 };

	if (!base_open(ws->home, ws->task->project_id, name, ret, e))
		return 0;
	return e->kind != ERR_NOTFOUND || submodule_repo(ws, s, &r, e) < 0
		       ? -1
		       : base_get_submodule(ws->home, ws->task->project_id, &r, s->path, ret, e);
}

/* Its objects are mounted read-only. The private repository names all object stores itself, so the file `info/alternates`
 * among them, which has paths of the host, is covered by an empty one. */
static void show_objects(struct workspace *ws, const struct repo *r, size_t n, struct jail *j)
{
	auto_str own = home_path(
		ws->home, "tasks/%lld/sub/%zu/git/objects/info/alternates", (long long)ws->task->id, n);
	auto_str none = home_path(ws->home, "tasks/%lld/sub/%zu/none", (long long)ws->task->id, n);

	if (access(own, F_OK) < 0)
		return;
	for (size_t i = 0; i < r->objects.n; i++) {
		auto_str at = xasprintf(INSIDE_OBJECTS "/s%zu-%zu", n, i),
			 list = path_join(r->objects.v[i], "info/alternates"),
			 covered = path_join(at, "info/alternates");

		jail_add(j, JAIL_BIND, JAIL_NOEXEC, r->objects.v[i], at);
		if (!access(list, F_OK))
			jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, none, covered);
	}
}

static int describe_one(
	struct workspace *ws, const struct submodule *s, size_t n, struct jail *j, struct err *e)
{
	auto_str at = path_join(ws->task->workspace, s->path), dot_git = path_join(at, ".git"),
		 tree = home_path(ws->home, "tasks/%lld/sub/%zu/tree", (long long)ws->task->id, n),
		 git = home_path(ws->home, "tasks/%lld/sub/%zu/git", (long long)ws->task->id, n),
		 none = xasprintf("sub/%zu/none", n);
	auto_base base = { 0 };
	auto_repo r = { 0 };

	if (submodule_repo(ws, s, &r, e) < 0 || write_file(ws->dir, none, "", 0, 0644, e) < 0)
		return -1;
	if (ws->backend->on_host) {
		jail_add(j, JAIL_BIND, JAIL_WRITE, tree, at);
	} else {
		if (submodule_base(ws, s, &base, e) < 0)
			return -1;
		/* below the superproject's own layers: the directories around it are those of the superproject */
		strvec_push(&j->lowers, base.layers.v[0]);
	}
	jail_add(j, JAIL_BIND, JAIL_WRITE, git, dot_git);
	strvec_pushl(&j->git_dirs, s->path, dot_git, NULL);
	show_objects(ws, &r, n, j);
	return 0;
}

int submodules_describe(struct workspace *ws, struct jail *j, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(ws->dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++)
		if (submodule_is_here(&s.v[i]) && describe_one(ws, &s.v[i], i, j, e) < 0)
			return -1;
	return 0;
}

static int overlay_files(struct workspace *ws)
{
	auto_str path = path_join("upper", ws->seen->v[ws->seen_at].path);

	return open_beneath(ws->dir, path, O_RDONLY | O_DIRECTORY, 0);
}

static int overlay_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	const struct submodule *s = &ws->seen->v[ws->seen_at];
	auto_fd root = overlay_files(ws);
	auto_strvec nested = STRVEC_INIT;
	auto_tracked tracked = { 0 };
	auto_base base = { 0 };

	/* nothing was written there */
	if (root < 0 && (errno == ENOENT || errno == ENOTDIR))
		return *ret = (struct changes){ .root = -1 }, 0;
	if (root < 0)
		return err_sys(e, "cannot open the files of submodule '%s'", s->path);
	submodules_paths(ws->seen, s->path, &nested);
	if (submodule_base(ws, s, &base, e) < 0 ||
		tracked_load(base.index, ws->repo->hash_len, &tracked, e) < 0)
		return -1;
	return scan_upper(fd_steal(&root), &tracked, &nested, ret, e);
}

static int host_files(struct workspace *ws)
{
	auto_str path = xasprintf("sub/%zu/tree", ws->seen_at);

	return open_beneath(ws->dir, path, O_RDONLY | O_DIRECTORY, 0);
}

static int host_scan(struct workspace *ws, struct changes *ret, struct err *e)
{
	auto_str index =
		home_path(ws->home, "tasks/%lld/sub/%zu/index", (long long)ws->task->id, ws->seen_at);
	auto_fd root = host_files(ws);
	auto_tracked tracked = { 0 };

	if (root < 0)
		return err_sys(e, "cannot open the files of submodule '%s'", ws->seen->v[ws->seen_at].path);
	if (tracked_load(index, ws->repo->hash_len, &tracked, e) < 0)
		return -1;
	return scan_whole(fd_steal(&root), &tracked, NULL, ret, e);
}

static const struct backend of_overlay = {
	.name = "overlay", .has_git = true, .files = overlay_files, .scan = overlay_scan
};
static const struct backend of_host = {
	.name = "worktree", .has_git = true, .files = host_files, .scan = host_scan
};

int submodule_view(
	struct workspace *ws, const struct submodules *s, size_t n, struct submodule_view *ret, struct err *e)
{
	struct submodule *one = &s->v[n];

	*ret = (struct submodule_view){ .ws = *ws, .task = *ws->task };
	if (submodule_repo(ws, one, &ret->repo, e) < 0)
		return -1;
	ret->task.base = ret->task.layer = one->commit;
	ret->task.published = one->tip;
	ret->ws.backend = ws->backend->on_host ? &of_host : &of_overlay;
	ret->ws.repo = &ret->repo;
	ret->ws.task = &ret->task;
	ret->ws.seen = s;
	ret->ws.seen_at = n;
	return 0;
}

/* The workspace and the task are borrowed. */
void submodule_view_release(struct submodule_view *v)
{
	repo_release(&v->repo);
}
