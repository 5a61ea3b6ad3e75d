#include "publish/gate.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/userns.h"
#include "git/ref.h"
#include "task/again.h"
#include "task/moved.h"
#include "task/refs.h"
#include "task/shown.h"

static const char *known_tip(const struct task *t)
{
	return *t->published ? t->published : t->base;
}

/* How many commits came between; what cannot be counted counts as none. */
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

/* Snapshots that are kept and have no row: the crash came between the two. Beside them, only what the task is
 * or was shown is kept, and the base of its files. */
static int find_snapshots(struct gate *g, const char *tip, struct err *e)
{
	auto_strvec kept = STRVEC_INIT, shown = STRVEC_INIT;
	auto_buf lines = BUF_INIT(SHOWN_MAX);
	auto_snapshot_list known = { 0 };

	if (store_snapshot_list(g->context.store, g->task.id, &known, e) < 0 ||
		shown_read(&g->context, g->task.id, &lines, e) < 0 ||
		refs_kept(&g->at.repo, &g->task, &kept, e) < 0)
		return -1;
	shown_branches(&lines, &shown, &shown);
	for (size_t i = 0; i < kept.n; i++) {
		struct snapshot s = {
			.task_id = g->task.id, .commit = kept.v[i], .commits = g->task.commits
		};

		if (is_in(&known, kept.v[i]) || strvec_has(&shown, kept.v[i]) ||
			!strcmp(kept.v[i], g->task.layer))
			continue;
		s.reason = strcmp(kept.v[i], tip) ? "rewrite" : "every";
		if (store_snapshot_add(g->context.store, &s, e) < 0)
			return -1;
	}
	return 0;
}

/* The branch is what counts: a gateway that died had moved it, or the user did. */
static int catch_up(struct gate *g, struct err *e)
{
	struct task *t = &g->task;
	char now[OID_SIZE];
	int64_t commits, bytes;
	bool ours;

	if (ref_read(&g->at.repo, t->branch, now, e) < 0)
		return -1;
	if (!*now || !strcmp(now, known_tip(t)))
		return 0;
	if (moved_by_garth(&g->context, t, now, &ours, &bytes, e) < 0 ||
		(!ours && moved_keep(&g->context, &g->at.repo, t, g->at.ws.dir, now, e) < 0))
		return -1;
	commits = t->commits + count_between(&g->at.repo, known_tip(t), now);
	if (audit_add(g->audit, "found", t,
		    json_pack("{s:s, s:s, s:I}", "tip", now, "old", known_tip(t), "commits",
			    (json_int_t)(commits - t->commits)),
		    e) < 0 ||
		find_snapshots(g, now, e) < 0 ||
		store_task_published(g->context.store, t->id, now, commits, t->bytes + bytes, e) < 0)
		return -1;
	free(t->published);
	t->published = xstrdup(now);
	t->commits = commits;
	t->bytes += bytes;
	return 0;
}

static int open_all(struct gate *g, const char *task, struct err *e)
{
	if (context_open(&g->context, e) < 0 || context_store(&g->context, e) < 0 ||
		store_task_by_name(g->context.store, task, &g->task, e) < 0 ||
		task_open(&g->context, &g->task, &g->at, e) < 0 ||
		again_configure(&g->context.config, g->at.ws.dir, e) < 0 ||
		audit_open(g->context.home.fd, g->context.store, &g->audit, e) < 0 ||
		refs_migrate(&g->context, &g->at.repo, &g->task, e) < 0)
		return -1;
	return catch_up(g, e);
}

int gate_open(struct gate *g, const char *task, int inside_orders, struct err *e)
{
	*g = (struct gate){ .context.home.fd = -1,
		.at.ws.dir = -1,
		.inside = RUNNER_INIT(inside_orders),
		.packer = RUNNER_PIPED_INIT };
	if (!open_all(g, task, e))
		return 0;
	gate_close(g);
	return err_wrap(e, "cannot open the gateway of task '%s'", task);
}

void gate_close(struct gate *g)
{
	gate_drop_verifier(g);
	runner_drop_piped(&g->inside, &g->packer);
	ref_session_close(steal_ptr(g->refs));
	audit_closep(&g->audit);
	g->audit = NULL;
	task_at_close(&g->at);
	task_release(&g->task);
	context_close(&g->context);
}

void gate_drop_verifier(struct gate *g)
{
	if (g->has_verifier)
		verifier_close(&g->verifier);
	g->has_verifier = false;
}

bool gate_is_landlock_only(const struct gate *g)
{
	return backend_of(&g->task)->landlock_only && !userns_works();
}

int gate_verifier(struct gate *g, struct verifier **ret, struct err *e)
{
	if (g->has_verifier && !verifier_is_alive(&g->verifier))
		gate_drop_verifier(g);
	if (!g->has_verifier) {
		auto_str dir = gate_is_landlock_only(g) ? home_path(&g->context.home, "tasks/%lld/verify",
								  (long long)g->task.id)
							: NULL;

		if (verifier_open(&g->at.repo, g->task.id, dir, &g->verifier, e) < 0)
			return -1;
	}
	g->has_verifier = true;
	g->verifier.whole = g->task.strict;
	g->verifier.runner.caller = g->inside.caller;
	*ret = &g->verifier;
	return 0;
}

void gate_set_caller(struct gate *g, int fd)
{
	g->inside.caller = fd;
	if (g->has_verifier)
		g->verifier.runner.caller = fd;
}

int gate_refresh(struct gate *g, struct err *e)
{
	struct context *c = &g->context;
	struct task *t = &g->task;
	auto_task now = { 0 };
	struct config config;
	struct task old;

	if (g->untold &&
		(find_snapshots(g, t->published, e) < 0 ||
			store_task_published(c->store, t->id, t->published, t->commits, t->bytes, e) < 0))
		return -1;
	g->untold = false;
	if (store_task_by_id(c->store, t->id, &now, e) < 0 ||
		config_load(c->user_home, getenv("XDG_CONFIG_HOME"), getenv("GARTH_CONFIG"), &config, e) < 0)
		return -1;
	config_release(&c->config);
	c->config = config;
	if (again_configure(&c->config, g->at.ws.dir, e) < 0)
		return -1;
	/* the workspace holds on to the struct, not to what is in it */
	old = *t;
	*t = now;
	now = old;
	return 0;
}
