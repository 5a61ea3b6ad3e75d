#include "cli/show_limits.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/size.h"
#include "git/checkout.h"
#include "limits/usage.h"
#include "task/disk_limit.h"
#include "task/life.h"
#include "task/own_config.h"

#define DIFF_MAX (64u << 20)

enum { SIZE, FILES, COMMITS, DISK, INODES };

/* Files that the published tip has and the base has not; 0 if git fails. */
static uint64_t count_added(struct task_at *at)
{
	const struct task *t = at->task;
	auto_buf raw = BUF_INIT(DIFF_MAX);
	struct err ignored = ERR_INIT;
	struct diff_entry d;
	uint64_t n = 0;
	size_t pos = 0;

	if (!*t->published || checkout_diff(&at->repo, t->base, t->published, DIFF_MAX, &raw, &ignored) < 0)
		return 0;
	while (diff_next(&raw, &pos, at->repo.hash_len, &d) > 0)
		n += !d.old_mode;
	return n;
}

int limits_used(struct context *c, struct task_at *at, struct limits_used *ret, struct err *e)
{
	const struct config_policy *p = &c->config.policy;
	const struct task *t = at->task;
	struct tree_use u = { 0 };
	struct err ignored = ERR_INIT;
	int64_t commits = 0, bytes = 0;

	own_config_apply(&c->config, at->ws.dir, &ignored);
	/* if the workspace is broken, only the task's own directory is counted */
	if (usage_of_task(at, &u, &ignored) < 0 && usage_add(at->ws.dir, "", &u, e) < 0)
		return -1;
	/* files that processes removed and keep open count only in the keeper's measurement */
	if (life_is_running(t) && u.bytes < (uint64_t)t->disk)
		u.bytes = (uint64_t)t->disk;
	if (context_store(c, e) < 0 || store_submodule_sum(c->store, t->id, &commits, &bytes, e) < 0)
		return -1;
	*ret = (struct limits_used){ {
		[SIZE] = { "max_worktree_size", "published", true, (uint64_t)(t->bytes + bytes),
			p->max_size },
		[FILES] = { "max_files", "files", false, count_added(at), p->max_files },
		[COMMITS] = { "max_commits", "commits", false, (uint64_t)(t->commits + commits),
			p->max_commits },
		[DISK] = { "max_disk", "", true, u.bytes, disk_max(&c->config, at->ws.dir, u.bytes) },
		[INODES] = { "max_inodes", "files of all kinds", false, u.inodes, c->config.max_inodes },
	} };
	return 0;
}

static void add_one(struct buf *out, const struct limit_used *l)
{
	char used[SIZE_TEXT_MAX], limit[SIZE_TEXT_MAX];

	if (l->size)
		buf_printf(out, "%s of %s", size_text(l->used, used), size_text(l->limit, limit));
	else
		buf_printf(out, "%llu of %llu", (unsigned long long)l->used, (unsigned long long)l->limit);
	if (*l->what)
		buf_printf(out, " %s", l->what);
}

static void show_range(const char *name, const struct limits_used *l, size_t from, size_t to)
{
	auto_buf line = BUF_SMALL;

	for (size_t i = from; i <= to; i++) {
		if (i > from)
			buf_addstr(&line, ", ");
		add_one(&line, &l->v[i]);
	}
	printf("%-10s %s\n", name, buf_str(&line));
}

void limits_show(const struct limits_used *l, const struct task *t)
{
	const struct limit_used *d = &l->v[DISK];

	show_range("limits", l, SIZE, COMMITS);
	show_range("disk", l, DISK, INODES);
	if (disk_is_near(d->used, d->limit))
		printf("%-10s %s; to raise the limit: garth resume --limit max_disk=SIZE %s\n", "",
			d->used > d->limit ? "it holds more than it may" : "its disk is nearly full",
			t->name);
}

json_t *limits_json(const struct limits_used *l)
{
	json_t *o = json_object();

	for (size_t i = 0; i < LIMITS_SHOWN; i++)
		json_object_set_new(o, l->v[i].key,
			json_pack("{s:I, s:I}", "used", (json_int_t)l->v[i].used, "limit",
				(json_int_t)l->v[i].limit));
	return o;
}

uint64_t limits_disk(const struct limits_used *l)
{
	return l->v[DISK].used;
}
