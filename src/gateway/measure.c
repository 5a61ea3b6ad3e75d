#include "gateway/measure.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/pause.h"
#include "gateway/use.h"
#include "sys/fd.h"
#include "sys/ghosts.h"
#include "task/life.h"
#include "workspace/review.h"

static uint64_t count_files(const struct changes *c)
{
	uint64_t files = 0;

	for (size_t i = 0; i < c->n; i++)
		files += c->v[i].kind != CHANGE_GONE && c->v[i].kind != CHANGE_OPAQUE && !c->v[i].tracked &&
			 !c->v[i].ignored;
	return files;
}

/* What it has added to a worktree, which is not in its own directory. */
static int count_elsewhere(const struct changes *c, struct tree_use *u, struct err *e)
{
	u->inodes += c->dirs;
	for (size_t i = 0; i < c->n; i++) {
		bool whole = c->v[i].kind == CHANGE_CLOSED || c->v[i].kind == CHANGE_REPO;
		struct stat st;

		/* a file may have more room than it is long */
		if (c->v[i].kind == CHANGE_FILE && !lstat_beneath(c->root, c->v[i].path, &st))
			u->bytes += (uint64_t)st.st_blocks * 512;
		u->inodes += !c->v[i].tracked;
		if (whole && use_add(c->root, c->v[i].path, u, e) < 0)
			return -1;
	}
	return 0;
}

/* What cannot be sized is at most what is gone from the disk since the task was started, and counted nowhere.
 */
static void add_unexplained(const struct gate *g, struct tree_use *u)
{
	struct statvfs v;
	uint64_t bytes, files;

	if (!g->free_bytes || fstatvfs(g->at.ws.dir, &v) < 0)
		return;
	bytes = (uint64_t)v.f_bfree * v.f_frsize;
	files = v.f_ffree;
	if (bytes < g->free_bytes && g->free_bytes - bytes > u->bytes)
		u->bytes = g->free_bytes - bytes;
	if (files < g->free_files && g->free_files - files > u->inodes)
		u->inodes = g->free_files - files;
}

/* Of all that the task has in its own directory, as it is on the disk, and of what it has removed and holds
 * open. */
static int count_use(struct gate *g, const struct changes *c, struct tree_use *u, struct err *e)
{
	static const char *const places[] = { "git", "home", "tmp", "upper" };
	struct ghosts ghosts;
	struct stat st;
	bool elsewhere = faccessat(g->at.ws.dir, "upper", F_OK, AT_SYMLINK_NOFOLLOW) < 0;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (use_add(g->at.ws.dir, places[i], u, e) < 0)
			return -1;
	if (elsewhere && count_elsewhere(c, u, e) < 0)
		return -1;
	if (u->closed)
		return err_set(e, ERR_FAILED, "it has directories that cannot be looked into");
	/* of the keeper, whose child this is, and everything that runs inside descends from */
	if (ghosts_count(getppid(), gate_is_alone(g), fstat(g->at.ws.dir, &st) < 0 ? 0 : st.st_dev, &ghosts) <
		0)
		return err_set(e, ERR_FAILED, "what its processes have open is more than can be looked at");
	u->bytes += ghosts.bytes;
	u->inodes += ghosts.inodes;
	if (ghosts.unsure)
		add_unexplained(g, u);
	return 0;
}

/* Files that are not ignored: git is asked only where it matters. */
static int count(struct gate *g, struct tree_use *u, uint64_t *files, struct err *e)
{
	uint64_t max = g->context.config.policy.max_files;
	auto_changes c = { .root = -1 };

	if (workspace_scan(&g->at.ws, &c, e) < 0 || count_use(g, &c, u, e) < 0)
		return -1;
	*files = count_files(&c);
	if (max && *files > max) {
		if (review_ignored(&g->at.ws, &c, e) < 0)
			return -1;
		*files = count_files(&c);
	}
	return 0;
}

static int stop(struct gate *g, const char *what, uint64_t n, const char *key, uint64_t max, struct err *e)
{
	auto_str why = xasprintf(
		"it has added %llu %s, more than %s (%llu): garth resume --limit %s=%llu %s raises that, or make "
		"room with garth exec, then garth resume %s",
		(unsigned long long)n, what, key, (unsigned long long)max, key + strlen("limits."),
		(unsigned long long)(n > max ? n : max) * 2, g->task.name, g->task.name);

	return pause_task(g, why, e);
}

int gate_measure(struct gate *g, struct err *e)
{
	const struct config_policy *p = &g->context.config.policy;
	uint64_t files = 0, inodes = g->context.config.max_inodes;
	struct tree_use u = { 0 };

	if (strcmp(g->task.state, STATE_RUNNING) != 0)
		return 0;
	/* what cannot be counted may be anything */
	if (count(g, &u, &files, e) < 0) {
		auto_str why =
			xasprintf("what it has added cannot be counted (%s); garth resume %s lets it go on",
				e->msg, g->task.name);

		return pause_task(g, why, e);
	}
	if (p->max_size && u.bytes > p->max_size)
		return stop(g, "bytes", u.bytes, "limits.max_worktree_size", p->max_size, e);
	if (inodes && u.inodes > inodes)
		return stop(g, "files of all kinds, ignored ones and those of its home too", u.inodes,
			"limits.max_inodes", inodes, e);
	if (p->max_files && files > p->max_files)
		return stop(g, "files", files, "limits.max_files", p->max_files, e);
	return 0;
}
