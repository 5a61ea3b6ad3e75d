#include "inside/inside.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "inside/renamed.h"
#include "task/moved.h"
#include "task/own_config.h"
#include "task/refs.h"
#include "task/shown.h"

static const char *known_tip(const struct task *t)
{
	return *t->published ? t->published : t->base;
}

/* The number of commits in between; 0 if they cannot be counted. */
static int64_t count_between(const struct repo *r, const char *from, const char *to)
{
	auto_str range = xasprintf("%s..%s", from, to);
	auto_buf out = BUF_SMALL;
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	if (git_do(&g, &out, &ignored, "rev-list", "--count", range, "--", NULL) < 0)
		return 0;
	return strtoll(buf_str(&out), NULL, 10);
}

static bool is_in(const struct snapshot_list *l, const char *commit)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].commit, commit))
			return true;
	return false;
}

/* Adds rows for snapshots that a ref keeps and the store does not know: a crash came between the two steps.
 * The ref also keeps what the task was shown and the commit its files start from; these are no snapshots. */
static int find_snapshots(struct inside *in, const char *tip, struct err *e)
{
	auto_strvec kept = STRVEC_INIT, shown = STRVEC_INIT;
	auto_buf lines = BUF_INIT(SHOWN_MAX);
	auto_snapshot_list known = { 0 };

	if (store_snapshot_list(in->context.store, in->task.id, &known, e) < 0 ||
		shown_read_branches(&in->context, in->task.id, &lines, e) < 0 ||
		refs_kept(&in->at.repo, &in->task, &kept, e) < 0)
		return -1;
	shown_branches(&lines, &shown, &shown);
	for (size_t i = 0; i < kept.n; i++) {
		struct snapshot s = {
			.task_id = in->task.id, .commit = kept.v[i], .commits = in->task.commits
		};

		if (is_in(&known, kept.v[i]) || strvec_has(&shown, kept.v[i]) ||
			!strcmp(kept.v[i], in->task.layer))
			continue;
		s.reason = strcmp(kept.v[i], tip) ? "rewrite" : "every";
		if (store_snapshot_add(in->context.store, &s, e) < 0)
			return -1;
	}
	return 0;
}

/* The branch counts, not the store: a gateway that died may have moved it, or the user. */
static int catch_up(struct inside *in, struct err *e)
{
	struct task *t = &in->task;
	char now[OID_SIZE];
	int64_t commits, bytes;
	bool ours;

	if (ref_read(&in->at.repo, t->branch, now, e) < 0)
		return -1;
	if (!*now || !strcmp(now, known_tip(t)))
		return 0;
	if (moved_by_garth(&in->context, t, now, &ours, &bytes, e) < 0 ||
		(!ours && moved_keep(&in->context, &in->at.repo, t, in->at.ws.dir, now, e) < 0))
		return -1;
	commits = t->commits + count_between(&in->at.repo, known_tip(t), now);
	if (audit_add(in->audit, "found", t,
		    json_pack("{s:s, s:s, s:I}", "tip", now, "old", known_tip(t), "commits",
			    (json_int_t)(commits - t->commits)),
		    e) < 0 ||
		find_snapshots(in, now, e) < 0 ||
		store_task_published(in->context.store, t->id, now, commits, t->bytes + bytes, e) < 0)
		return -1;
	free(t->published);
	t->published = xstrdup(now);
	t->commits = commits;
	t->bytes += bytes;
	return 0;
}

static int open_all(struct inside *in, int64_t task, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (context_open(&in->context, e) < 0 || context_store(&in->context, e) < 0 ||
		store_task_by_id(in->context.store, task, &in->task, e) < 0 ||
		task_open(&in->context, &in->task, &in->at, e) < 0 ||
		own_config_apply(&in->context.config, in->at.ws.dir, e) < 0 ||
		audit_open(in->context.home.fd, in->context.store, &in->audit, e) < 0 ||
		refs_migrate(&in->context, &in->at.repo, &in->task, e) < 0)
		return -1;
	if (catch_up(in, e) < 0)
		return -1;
	inside_renamed(in, &ignored);
	return 0;
}

int inside_open(struct inside *in, int64_t task, int orders, struct err *e)
{
	*in = (struct inside){ .context.home.fd = -1,
		.at.ws.dir = -1,
		.runner = &in->own_runner,
		.own_runner = RUNNER_INIT(orders),
		.top = in,
		.within = "",
		.git_dir = "git",
		.packer = RUNNER_PIPED_INIT };
	if (!open_all(in, task, e))
		return 0;
	inside_close(in);
	return err_wrap(e, "cannot open the task's gateway");
}

void inside_close(struct inside *in)
{
	runner_drop_piped(in->runner, &in->packer);
	audit_closep(&in->audit);
	in->audit = NULL;
	task_at_close(&in->at);
	task_release(&in->task);
	context_close(&in->context);
}

int inside_refresh(struct inside *in, struct err *e)
{
	struct context *c = &in->context;
	struct task *t = &in->task;
	const struct config_places places = config_places(c->user_home);
	auto_task now = { 0 };
	struct config config;
	struct task old;

	if (in->untold &&
		(find_snapshots(in, t->published, e) < 0 ||
			store_task_published(c->store, t->id, t->published, t->commits, t->bytes, e) < 0))
		return -1;
	in->untold = false;
	if (store_task_by_id(c->store, t->id, &now, e) < 0 || config_load(&places, &config, e) < 0)
		return -1;
	config_release(&c->config);
	c->config = config;
	if (own_config_apply(&c->config, in->at.ws.dir, e) < 0)
		return -1;
	/* the workspace points to this struct, so its content is exchanged in place */
	old = *t;
	*t = now;
	now = old;
	return 0;
}
