#include "merge/merge.h"

#include <fcntl.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/name.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/ref.h"
#include "merge/compose.h"
#include "merge/protected.h"
#include "merge/move.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/tip.h"

/* If somebody moves the target meanwhile, the merge is computed again, this often. */
#define TRIES 5

static void release_submodules(struct merge_result *r)
{
	for (size_t i = 0; i < r->nsubmodules; i++) {
		free(r->submodules[i].path);
		free(r->submodules[i].checkout);
	}
	free(r->submodules);
}

void merge_result_release(struct merge_result *r)
{
	free(r->target);
	free(r->checkout);
	strvec_release(&r->conflicts);
	strvec_release(&r->in_the_way);
	free(r->where);
	release_submodules(r);
	*r = (struct merge_result){ 0 };
}

/* Opens the project's repository without running git. */
static int open_repo(struct context *c, const struct task *t, struct repo *ret, struct err *e)
{
	auto_project p = { 0 };

	if (context_store(c, e) < 0 || store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	return repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, ret, e);
}

static int find_target(const struct task *t, const char *into, char **ret, struct err *e)
{
	const char *name = into ? into : t->target;

	if (!into && !*name)
		return err_set(e, ERR_USAGE, "task '%s' was started from no branch: it has no target",
			       t->name),
		       err_hint(e, "garth merge %s --into BRANCH", t->name);
	if (!strncmp(name, "refs/heads/", 11))
		name += 11;
	if (!name_is_branch(name))
		return err_set(e, ERR_NOTFOUND, "there is no branch '%s'", name);
	/* a stage of a plan is meant for the plan's own task */
	if (!strncmp(name, "garth/", 6) &&
		(!*t->target || strcmp(t->target + strlen("refs/heads/"), name) != 0))
		return err_set(e, ERR_REFUSED, "'%s' is the branch of a task", name);
	*ret = xasprintf("refs/heads/%s", name);
	return 0;
}

/* Whether the branch is a symbolic ref to another one: then the checkouts of that one would not be found. */
static bool is_alias(const struct repo *r, const char *ref)
{
	auto_str path = path_join(r->git_dir, ref);
	struct err ignored = ERR_INIT;
	auto_buf text = BUF_SMALL;

	return !read_file(AT_FDCWD, path, &text, &ignored) && !strncmp(buf_str(&text), "ref:", 4);
}

static int read_tips(const struct repo *r, const struct task *t, const struct merge_spec *s,
	struct merge_result *ret, char tip[OID_SIZE], struct err *e)
{
	const char *target = ret->target + strlen("refs/heads/");

	if (ref_read(r, ret->target, ret->old, e) < 0 || ref_read(r, t->branch, tip, e) < 0)
		return -1;
	if (!*ret->old)
		return err_set(e, ERR_NOTFOUND, "there is no branch '%s'", target);
	if (s->onto && strcmp(ret->old, s->onto) != 0)
		return err_set(e, ERR_CONFLICT, "'%s' is at another commit by now", target);
	if (is_alias(r, ret->target))
		return err_set(e, ERR_REFUSED, "'%s' is a name for another branch", target);
	if (!*tip)
		return err_set(e, ERR_NOTFOUND, "there is no branch '%s'", t->branch + strlen("refs/heads/"));
	if (!strcmp(tip, t->base))
		return tip_refuse_unpublished(t, e);
	/* `tip` is what is merged: it does not matter if the branch moves after this */
	if (!s->tip || tip_is(tip, s->tip) || !tip_check(r, t, s->tip, e))
		return 0;
	return e->kind == ERR_CONFLICT ? err_hint(e, "garth review %s", t->name) : -1;
}

static int explain(const struct task *t, struct merge_result *ret, struct err *e)
{
	const char *target = ret->target + strlen("refs/heads/");
	char count[COUNT_TEXT_MAX];

	if (ret->conflicts.n) {
		err_set(e, ERR_CONFLICT, "cannot merge task '%s': %s file%s with %s", t->name,
			count_text(ret->conflicts.n, count),
			ret->conflicts.n == 1 ? " conflicts" : "s conflict", target);
		err_hint(e, "garth merge --resolve %s", t->name);
		return err_paths(e, &ret->conflicts);
	}
	if (ret->in_the_way.n) {
		auto_str place = shell_quoted(ret->where);

		err_set(e, ERR_CONFLICT, "cannot merge task '%s' into %s: %s file%s in the way in '%s'",
			t->name, target, count_text(ret->in_the_way.n, count),
			ret->in_the_way.n == 1 ? " is" : "s are", ret->where);
		err_hint(e, "git -C %s status --ignored", place);
		return err_paths(e, &ret->in_the_way);
	}
	return err_wrap(e, "cannot merge task '%s' into %s", t->name, target);
}

static const char *kind_name(enum merge_kind kind)
{
	return kind == MERGE_SQUASH ? "squash" : kind == MERGE_REBASE ? "rebase" : "merge";
}

static void take_submodules(const struct journal_links *l, struct merge_result *ret)
{
	release_submodules(ret);
	ret->submodules = xcalloc(l->n + 1, sizeof(*ret->submodules));
	ret->nsubmodules = l->n;
	for (size_t i = 0; i < l->n; i++) {
		struct merge_submodule *s = &ret->submodules[i];

		s->path = xstrdup(l->v[i].path);
		snprintf(s->old, sizeof(s->old), "%s", l->v[i].from);
		snprintf(s->new_oid, sizeof(s->new_oid), "%s", l->v[i].to);
		s->checkout = *l->v[i].top ? xstrdup(l->v[i].top) : NULL;
	}
}

static int move_target(struct context *c, const struct repo *r, const struct task *t, const char *tip,
	const struct merge_spec *s, const struct links *links, struct merge_result *ret, struct err *e)
{
	auto_move_result moved = { 0 };
	auto_journal j = { .project = t->project_id,
		.task = t->id,
		.name = xstrdup(t->name),
		.target = xstrdup(ret->target),
		.from = xstrdup(ret->old),
		.to = xstrdup(ret->new_oid),
		.tip = xstrdup(tip),
		.kind = xstrdup(kind_name(s->kind)),
		.state = xstrdup(t->state) };
	int rc = move_branch(c, r, &j, links, s->dry_run, &moved, e);

	free(ret->checkout);
	free(ret->where);
	strvec_release(&ret->in_the_way);
	take_submodules(&j.links, ret);
	ret->checkout = j.top && *j.top ? steal_ptr(j.top) : NULL;
	ret->where = steal_ptr(moved.where);
	ret->in_the_way = moved.in_the_way;
	moved.in_the_way = (struct strvec)STRVEC_INIT;
	return rc;
}

static int merge_once(struct context *c, const struct repo *r, const struct task *t,
	const struct merge_spec *s, struct merge_result *ret, struct err *e)
{
	char tip[OID_SIZE];
	struct compose m = { .repo = r, .spec = s, .task = t->name, .old = ret->old, .tip = tip };
	auto_links links = { 0 };

	if (read_tips(r, t, s, ret, tip, e) < 0 || compose_run(&m, &ret->conflicts, e) < 0)
		return -1;
	snprintf(ret->new_oid, sizeof(ret->new_oid), "%s", m.new_oid);
	ret->fast_forward = m.fast_forward;
	ret->nothing = m.nothing;
	if (m.nothing)
		return 0;
	if (protected_check(c, r, t, ret->old, ret->new_oid, &links, e) < 0 ||
		links_check(r, ret->new_oid, &links, e) < 0)
		return -1;
	return move_target(c, r, t, tip, s, &links, ret, e);
}

static bool has_moved(const struct repo *r, const struct merge_result *ret)
{
	struct err ignored = ERR_INIT;
	char now[OID_SIZE];

	return !ref_read(r, ret->target, now, &ignored) && strcmp(now, ret->old) != 0;
}

static void read_state(struct context *c, struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_task now = { 0 };

	if (store_task_by_id(c->store, t->id, &now, &ignored) < 0)
		return;
	free(t->state);
	t->state = steal_ptr(now.state);
}

/* The target already has everything, whoever merged it. */
static void settle_nothing(struct context *c, struct task *t, const char *target)
{
	struct err ignored = ERR_INIT;

	if ((!*t->target || !strcmp(t->target, target)) && !life_is_running(t) &&
		life_allows(t->state, STATE_MERGED))
		life_move(c->store, t, STATE_MERGED, &ignored);
}

int merge_task(struct context *c, struct task *t, const struct merge_spec *s, struct merge_result *ret,
	struct err *e)
{
	auto_strvec settled = STRVEC_INIT;
	auto_repo r = { 0 };
	auto_lock lock = -1;
	int rc = -1;

	*ret = (struct merge_result){ 0 };
	if (open_repo(c, t, &r, e) < 0 || find_target(t, s->into, &ret->target, e) < 0 ||
		journal_lock(&c->home, t->project_id, &lock, e) < 0 ||
		move_settle(c, t->project_id, &settled, e) < 0)
		return err_wrap(e, "cannot merge task '%s'", t->name);
	for (int i = 0; i < TRIES; i++) {
		rc = merge_once(c, &r, t, s, ret, e);
		if (!rc || e->kind != ERR_BUSY || !has_moved(&r, ret))
			break;
	}
	if (!rc && ret->nothing && !s->dry_run)
		settle_nothing(c, t, ret->target);
	read_state(c, t);
	return rc < 0 ? explain(t, ret, e) : 0;
}

int merge_settle(struct context *c, struct strvec *ret_done, struct err *e)
{
	int64_t *projects;
	size_t n;
	int rc = 0;

	if (journal_list(&c->home, &projects, &n, e) < 0)
		return -1;
	for (size_t i = 0; !rc && i < n; i++) {
		auto_lock lock = -1;

		rc = journal_lock(&c->home, projects[i], &lock, e);
		if (!rc && move_settle(c, projects[i], ret_done, e) < 0) {
			strvec_push(ret_done, e->msg);
			*e = (struct err)ERR_INIT;
		}
	}
	free(projects);
	return rc;
}
