#include "gateway/measure.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/pause.h"
#include "sys/tree.h"
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

/* Of all that the task has in its own directory, as it is on the disk; and what it has added to a worktree,
 * which is somewhere else. */
static int count_bytes(struct gate *g, const struct changes *c, uint64_t *bytes, struct err *e)
{
	static const char *const places[] = { "git", "home", "tmp", "upper" };
	bool elsewhere = true;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint64_t disk = 0;

		if (faccessat(g->at.ws.dir, places[i], F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (tree_disk(g->at.ws.dir, places[i], &disk, e) < 0)
			return -1;
		*bytes += disk;
		elsewhere &= strcmp(places[i], "upper") != 0;
	}
	for (size_t i = 0; elsewhere && i < c->n; i++)
		*bytes += c->v[i].kind == CHANGE_FILE ? c->v[i].size : 0;
	return 0;
}

/* Files that are not ignored: git is asked only where it matters. */
static int count(struct gate *g, uint64_t *bytes, uint64_t *files, struct err *e)
{
	uint64_t max = g->context.config.policy.max_files;
	auto_changes c = { .root = -1 };

	if (workspace_scan(&g->at.ws, &c, e) < 0 || count_bytes(g, &c, bytes, e) < 0)
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
		(unsigned long long)max * 2, g->task.name, g->task.name);

	return pause_task(g, why, e);
}

int gate_measure(struct gate *g, struct err *e)
{
	const struct config_policy *p = &g->context.config.policy;
	uint64_t bytes = 0, files = 0;

	if (strcmp(g->task.state, STATE_RUNNING) != 0)
		return 0;
	/* what cannot be counted may be anything */
	if (count(g, &bytes, &files, e) < 0) {
		auto_str why =
			xasprintf("what it has added cannot be counted (%s); garth resume %s lets it go on",
				e->msg, g->task.name);

		return pause_task(g, why, e);
	}
	if (p->max_size && bytes > p->max_size)
		return stop(g, "bytes", bytes, "limits.max_worktree_size", p->max_size, e);
	if (p->max_files && files > p->max_files)
		return stop(g, "files", files, "limits.max_files", p->max_files, e);
	return 0;
}
