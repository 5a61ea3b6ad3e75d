#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/path.h"
#include "config/taskfile.h"
#include "git/ref.h"
#include "jail/landlock.h"
#include "jail/userns.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/owner.h"
#include "sys/tree.h"
#include "task/approval.h"
#include "task/borrowed.h"
#include "task/empty.h"
#include "task/here.h"
#include "task/inside_path.h"
#include "task/life.h"
#include "task/own_config.h"
#include "task/refs.h"
#include "task/repository_config.h"
#include "task/shown.h"
#include "task/source.h"
#include "task/task.h"
#include "workspace/space.h"

static int choose_backend(struct context *c, const struct task_spec *s, char **ret, struct err *e)
{
	const char *name = s->backend ? s->backend : c->config.backend;
	char meant[NEAREST_TEXT_MAX];

	if (s->empty)
		return *ret = xstrdup(WORKSPACE_EMPTY), 0;
	if (s->weaker && !s->strict && (!name || backend_named(name)->without_namespaces) &&
		!userns_works()) {
		if (owner_is_other())
			return err_set(e, ERR_REFUSED,
				"no namespaces can be made here, and Landlock alone cannot hold root: start garth as an ordinary user");
		if (!landlock_scopes(landlock_abi()))
			return err_set(e, ERR_REFUSED,
				"no namespaces can be made here, and Landlock alone needs its ABI 6 (Linux 6.12); here it is %d",
				landlock_abi());
		return *ret = xstrdup(WORKSPACE_LANDLOCK_ONLY), 0;
	}
	if (!name)
		name = backend_by_default();
	if (!backend_named(name)->can_be_chosen)
		return err_set(e, ERR_USAGE,
			"there is no backend '%s'%s; the backends are overlay, worktree and clone", name,
			nearest_of(
				name, (const char *const[]){ "overlay", "worktree", "clone", NULL }, meant));
	*ret = xstrdup(name);
	return 0;
}

static bool is_taken(const struct context *c, int64_t id)
{
	auto_str task = xasprintf("tasks/%lld", (long long)id),
		 trash = xasprintf("trash/%lld", (long long)id);

	return !faccessat(c->home.fd, task, F_OK, AT_SYMLINK_NOFOLLOW) ||
	       !faccessat(c->home.fd, trash, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Finds an id without a directory: if an earlier store was lost, the files of its tasks are still there. */
static int insert(struct context *c, struct task *t, struct err *e)
{
	if (store_task_insert(c->store, t, e) < 0)
		return -1;
	while (is_taken(c, t->id))
		if (store_task_forget(c->store, t->id, e) < 0 || store_task_insert(c->store, t, e) < 0)
			return -1;
	return 0;
}

/* Chooses the workspace's path. In the transaction that inserts the task, so that no other task gets it. */
static int choose_place(struct context *c, const struct repo *r, struct task *t, struct err *e)
{
	free(steal_ptr(t->place));
	if (!backend_named(t->backend)->on_host)
		t->place = xstrdup("");
	else if (store_task_place(c->store, t->project_id, t->name, &t->place, e) < 0)
		return -1;
	free(t->workspace);
	t->workspace = inside_path_of(c, r->main_top, t->backend, *t->place ? t->place : t->name);
	if (strlen(t->workspace) + NAME_MAX > PATH_MAX)
		return err_set(e, ERR_USAGE, "the workspace's path would be too long: %s", t->workspace);
	return 0;
}

/* Other processes see the row, the directory and the lock all at once; otherwise one could find the row
 * without a held lock, and settle the task as one whose creator died. */
static int reserve(struct context *c, const struct repo *r, struct task *t, struct workspace *ws,
	int *ret_lock, struct err *e)
{
	if (store_begin(c->store, e) < 0)
		return -1;
	if (choose_place(c, r, t, e) < 0 || insert(c, t, e) < 0 ||
		workspace_open(ws, &c->home, r, t, e) < 0 ||
		lock_take(ws->dir, "lock", false, ret_lock, e) < 0 || store_commit(c->store, e) < 0) {
		store_rollback(c->store);
		return -1;
	}
	fault("create-reserved");
	return 0;
}

/* Removes what a failed creation made; none of it is anybody's work. */
static void take_back(struct context *c, const struct repo *r, struct workspace *ws, bool refs)
{
	auto_str name = xasprintf("tasks/%lld", (long long)ws->task->id);
	struct err ignored = ERR_INIT;
	bool kept;

	workspace_remove(ws, &ignored);
	if (refs)
		refs_drop(c, r, ws->task, ws->task->base, false, &kept, &ignored);
	tree_remove(c->home.fd, name, &ignored);
	store_task_forget(c->store, ws->task->id, &ignored);
}

/* Snapshot 1 is the state before the task: the last one that a rollback can reach. */
static int first_snapshot(struct context *c, struct task *t, struct err *e)
{
	struct snapshot s = {
		.task_id = t->id, .commit = t->base, .state = "", .reason = "start", .message = ""
	};

	return store_snapshot_add(c->store, &s, e);
}

/* Marks the task as made and adds its first snapshot in one transaction, after the audit line. */
static int finish(struct context *c, struct task *t, struct err *e)
{
	auto_audit log = NULL;
	json_t *details = json_pack("{s:s, s:s, s:s, s:s}", "branch", t->branch, "base", t->base, "target",
		t->target, "backend", t->backend);

	if (audit_open(c->home.fd, c->store, &log, e) < 0) {
		json_decref(details);
		return -1;
	}
	if (audit_add(log, "create", t, details, e) < 0 || store_begin(c->store, e) < 0)
		return -1;
	if (store_task_update(c->store, t, e) < 0 || first_snapshot(c, t, e) < 0 ||
		life_move(c->store, t, STATE_CREATED, e) < 0 || store_commit(c->store, e) < 0) {
		store_rollback(c->store);
		return -1;
	}
	return 0;
}

void task_layers_release(struct task_layers *l)
{
	strvec_release(&l->names);
	while (l->nlocks)
		lock_drop(&l->locks[--l->nlocks]);
}

/* What a new task is made of, beside its base. */
struct content {
	struct shown shown;
	struct task_layers layers;
	bool has_settings;
	struct buf settings;  /* the repository's file: repository_config.h */
	struct config config; /* the user's configuration with that file; only if has_settings */
	struct context
		*in_force; /* the context that has it meanwhile, and whose own is in `config`; or NULL */
};

static void swap_config(struct context *c, struct content *k)
{
	struct config config = c->config;

	c->config = k->config;
	k->config = config;
}

static void content_release(struct content *k)
{
	if (k->in_force)
		swap_config(k->in_force, k);
	shown_release(&k->shown);
	task_layers_release(&k->layers);
	buf_release(&k->settings);
	config_release(&k->config);
}

static int fill(
	struct context *c, const struct repo *r, struct workspace *ws, const struct content *k, struct err *e)
{
	/* the rules come before anything that they are for */
	if ((k->has_settings && own_config_keep_repository(ws->dir, &k->settings, e) < 0) ||
		refs_make(c, r, ws->task, &k->shown, e) < 0) {
		take_back(c, r, ws, false);
		return -1;
	}
	fault("create-refs");
	if (layers_put(ws->dir, &k->layers.names, e) < 0 || workspace_create(ws, &k->shown.lines, e) < 0 ||
		(ws->submodules_borrow && borrowed_check_submodules(c, ws, e) < 0) ||
		finish(c, ws->task, e) < 0) {
		take_back(c, r, ws, true);
		return -1;
	}
	return 0;
}

/* If a crash left a half-made task with this name: whether it is gone now. */
static bool settle_namesake(struct context *c, int64_t project, const char *name)
{
	auto_task t = { 0 };
	struct err ignored = ERR_INIT;
	bool gone = false;

	return !store_task_by_name(c->store, project, name, &t, &ignored) &&
	       !task_settle(c, &t, &gone, &ignored) && gone;
}

static int create_named(struct context *c, const struct repo *r, const struct task_spec *s, struct task *t,
	const struct content *k, struct err *e)
{
	auto_workspace ws = { .dir = -1 };
	auto_lock lock = -1;

	free(t->branch);
	t->branch = xasprintf("refs/heads/garth/%s", t->name);
	t->layout = TASK_LAYOUT;
	if (reserve(c, r, t, &ws, &lock, e) < 0 &&
		(e->kind != ERR_EXISTS || !settle_namesake(c, t->project_id, t->name) ||
			reserve(c, r, t, &ws, &lock, e) < 0))
		return -1;
	ws.submodules = s->submodules.n ? &s->submodules : &c->config.submodules;
	ws.submodules_must = s->submodules.n;
	return fill(c, r, &ws, k, e);
}

/* Tries numbers until a name is free in the store and among the branches: program-1, program-2 …; for a title
 * title, title-2 … */
static int create_numbered(struct context *c, const struct repo *r, const struct task_spec *s, struct task *t,
	const struct content *k, struct err *e)
{
	char stem[NAME_MAX_LEN + 1], words[NAME_MAX_LEN + 1];
	auto_str whole = NULL;

	if (s->title)
		name_of_words(s->title, words);
	if (s->title && s->suffix)
		name_suggest(whole = xasprintf("%s-%s", words, s->suffix), stem);
	else if (s->title)
		memcpy(stem, words, sizeof(stem));
	else
		name_suggest(s->program, stem);
	for (unsigned i = 1; i < 100000; i++) {
		free(t->name);
		t->name = s->title && i == 1 ? xstrdup(stem) : xasprintf("%s-%u", stem, i);
		if (!create_named(c, r, s, t, k, e))
			return 0;
		if (e->kind != ERR_EXISTS)
			return -1;
	}
	return -1;
}

static int check_shown(const struct repo *r, const char *ref, struct err *e)
{
	char oid[OID_SIZE];

	if (!ref)
		return 0;
	if (ref_read(r, ref, oid, e) < 0)
		return -1;
	return *oid ? 0 : err_set(e, ERR_NOTFOUND, "there is no branch '%s'", ref);
}

/* Reads the repository's file, unless git said that the commit has none. */
static int read_settings(struct context *c, const struct task_spec *s, const struct repo *r, bool moved,
	struct content *k, struct err *e)
{
	auto_taskfile ignored = { 0 };
	struct repo at = *r;

	/* of a commit that was fetched just now it is not known */
	at.has_settings |= moved;
	if (s->empty || !at.has_settings)
		return 0;
	if (repository_config_load(c, &at, &k->config, &k->has_settings, &k->settings, e) < 0)
		return -1;
	if (s->task_file && s->task_file->len &&
		taskfile_apply(
			&k->config, buf_str(s->task_file), s->task_file->len, "task file", &ignored, e) < 0)
		return -1;
	for (size_t i = 0; s->notes && i < k->config.notes.n; i++)
		strvec_push(s->notes, k->config.notes.v[i]);
	return 0;
}

/* Asks the front end, if it can, for what the user has not approved yet. Then the repository's layer is in force
 * in the context, until the task is made. */
static int get_approval(struct context *c, const struct task_spec *s, const struct repo *r, bool moved,
	int64_t project, struct content *k, struct err *e)
{
	const char *rev = moved ? r->commit : s->rev;

	if (!k->has_settings)
		return 0;
	if (approval_check(c, project, &k->config, rev, e) < 0 &&
		(e->kind != ERR_REFUSED || !s->approve || s->approve(c, project, &k->config, e) < 0))
		return -1;
	swap_config(c, k);
	k->in_force = c;
	return 0;
}

/* What is not known of a new task. */
static void set_empty(struct task *t)
{
	char **const fields[] = { &t->command, &t->session, &t->published, &t->note, &t->verdict,
		&t->leftover, &t->elsewhere, &t->drafts, &t->ref_was, &t->inside_was, &t->seen };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		*fields[i] = xstrdup("");
}

int task_create(struct context *c, const struct task_spec *s, struct task *ret, struct err *e)
{
	auto_repo r = { 0 };
	auto_source source = { 0 };
	auto_str nothing = NULL;
	const char *rev = s->rev ? s->rev : "HEAD";
	auto_project project = { 0 };
	__attribute__((cleanup(content_release))) struct content k = { .shown = SHOWN_INIT,
		.settings = BUF_INIT(REPO_SETTINGS_MAX + 1) };
	auto_str opened = NULL;
	auto_task t = { 0 };
	bool moved;
	char name[35];
	int rc;

	if (s->name && name_check_task(s->name, e) < 0)
		return err_wrap(e, "'%s'", s->name);
	if (s->empty ? empty_repository(c, &nothing, e) < 0 || repo_open(nothing, rev, &r, e) < 0
		     : here_open(c, s->dir, rev, &r, e) < 0)
		return -1;
	if (!s->empty && s->on_checked)
		s->on_checked(&r, s->on_checked_arg);
	if (borrowed_check(c, &r, e) < 0 || choose_backend(c, s, &t.backend, e) < 0 ||
		space_check_little(&c->home, e) < 0 || context_store(c, e) < 0)
		return -1;
	t.target = xstrdup(s->empty ? "" : !strncmp(r.rev_ref, "refs/heads/", 11) ? r.rev_ref : r.head);
	opened = xstrdup(r.commit);
	/* if the user named a commit, use exactly that one */
	if (!s->rev && backend_named(t.backend)->follows_remote &&
		source_take(&c->home, &r, t.target, &source, e) < 0)
		return -1;
	if (s->on_base && s->on_base(s->empty ? NULL : &r, s->on_base_arg, e) < 0)
		return -1;
	moved = strcmp(opened, r.commit) != 0;
	if (read_settings(c, s, &r, moved, &k, e) < 0 || check_shown(&r, s->also_shown, e) < 0 ||
		shown_now(c, &r, t.target, s->also_shown, &k.shown, e) < 0 ||
		store_project(c->store, r.main_top, r.git_dir, &project, e) < 0 ||
		get_approval(c, s, &r, moved, project.id, &k, e) < 0)
		return -1;
	shown_name(&k.shown, name);
	t.shown = xstrdup(name);
	t.project_id = project.id;
	t.project = xstrdup(project.name);
	t.repository = xstrdup(project.path);
	t.name = xstrdup(s->name ? s->name : "");
	t.base = xstrdup(r.commit);
	/* set before the base is made, so that no other process prunes it meanwhile */
	t.layer = xstrdup(r.commit);
	t.state = xstrdup(STATE_CREATING);
	/* a task without a repository exists for the files it leaves */
	t.on_dirty = xstrdup(s->empty ? "keep" : s->on_dirty ? s->on_dirty : c->config.on_dirty);
	set_empty(&t);
	t.strict = s->strict;
	if (s->add_layers && !s->empty &&
		(s->add_layers(c, &r, &t, &k.layers, s->add_layers_arg, e) < 0 || context_store(c, e) < 0))
		return -1;
	rc = s->name ? create_named(c, &r, s, &t, &k, e) : create_numbered(c, &r, s, &t, &k, e);
	if (rc < 0)
		return -1;
	space_reserve(&c->home);
	*ret = t;
	t = (struct task){ 0 };
	return 0;
}
