#include "plan/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/glob.h"
#include "git/blob.h"
#include "merge/git_commands.h"
#include "plan/check_key.h"
#include "plan/check_path.h"
#include "plan/check_judge.h"
#include "plan/check_task.h"
#include "plan/regex.h"
#include "plan/rows.h"
#include "plan/search.h"
#include "plan/stage_brief.h"
#include "sys/clock.h"
#include "sys/fault.h"

#define CHECK_SECONDS 600
#define TREE_MAX      (512u << 20)
/* A larger artifact cannot be a stub. */
#define STUB_MAX (1 << 20)
/* Files of artifacts are read in groups up to this size, plus one of STUB_MAX. */
#define READ_TOGETHER (16 << 20)
/* The largest file that is searched for patterns and texts. */
#define SEARCH_MAX (48u << 20)
/* How git lists a submodule and a directory. */
#define GITLINK "160000 "
#define TREE    "040000 "

void checks_result_release(struct checks_result *r)
{
	check_row_release(&r->failed);
}

/* A check and its stage; NULL: a check of the plan. */
struct due {
	const struct plan_check *check;
	const struct plan_stage *stage;
};

/* A round of checks. */
struct round {
	const struct stage_job *job;
	const struct repo *repo;
	const char *commit;
	char tree[OID_SIZE];
	struct check_task task;
};

static bool is_due(const struct plan_check *k, enum checks_when when)
{
	if (k->kind == PLAN_CHECK_SETUP || k->kind == PLAN_CHECK_STATEMENT)
		return false;
	return (when == CHECKS_BEFORE) == (k->kind == PLAN_CHECK_BEFORE);
}

struct due_list {
	struct due *v;
	size_t n;
};

static void add_due(struct due_list *l, const struct plan_check *v, size_t n, const struct plan_stage *s,
	enum checks_when when)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_due(&v[i], when))
			continue;
		l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
		l->v[l->n++] = (struct due){ &v[i], s };
	}
}

/* The checks of a round; the caller frees the array. After a solved conflict, the checks of stages that were merged before
 * must pass too. */
static struct due_list list_due(const struct stage_job *j, enum checks_when when)
{
	struct due_list l = { 0 };

	if (when != CHECKS_PLAN)
		add_due(&l, j->stage->checks, j->stage->nchecks, j->stage, when);
	if (when < CHECKS_MERGED)
		return l;
	add_due(&l, j->plan->checks, j->plan->nchecks, NULL, CHECKS_AFTER);
	for (size_t i = 0; when == CHECKS_MERGED && j->at->conflicts && j->all && i < j->all->n; i++)
		if (stage_is(&j->all->v[i], STAGE_DONE))
			add_due(&l, j->plan->stages[i].checks, j->plan->stages[i].nchecks,
				&j->plan->stages[i], CHECKS_AFTER);
	return l;
}

int checks_tree(
	struct context *c, const struct repo *r, const char *commit, char out[OID_SIZE], struct err *e)
{
	auto_str known = NULL;

	if (context_store(c, e) < 0)
		return -1;
	if (!store_compared(c->store, "tree", commit, "", &known, e) && oid_take(known, r->hash_len, out))
		return 0;
	*e = (struct err)ERR_INIT;
	if (verb_tree(r, commit, out, e) < 0)
		return -1;
	return store_set_compared(c->store, "tree", commit, "", out, e);
}

/* The plan's own checks run in the repository's root, those of a stage in its directory. */
static const char *dir_of(const struct due *d)
{
	return d->stage && d->stage->working_dir ? d->stage->working_dir : ".";
}

/* The set-up of a stage comes before each of its commands, in the same shell. */
static void write_script(const struct due *d, struct buf *out)
{
	const struct plan_stage *s = d->stage;

	for (size_t i = 0; s && d->check->kind != PLAN_CHECK_BEFORE && i < s->nchecks; i++)
		if (s->checks[i].kind == PLAN_CHECK_SETUP)
			buf_printf(out, "{ %s\n} || exit $?\n", s->checks[i].command);
	buf_printf(out, "%s\n", d->check->command);
}

/* How long a command may take; 0: it may not run. The agent of a task chooses the checks of its tickets, so they have no more
 * time together than the ticket's runs. */
static int find_seconds(const struct round *x, const struct plan_stage *s, uint64_t *ret, struct err *e)
{
	uint64_t whole = x->job->stage->timeout, used = 0;

	*ret = s->check_timeout ? s->check_timeout : CHECK_SECONDS;
	if (!x->job->row->tickets || !whole)
		return 0;
	if (context_store(x->job->c, e) < 0 ||
		store_check_seconds(x->job->c->store, x->job->at->id, &used, e) < 0)
		return -1;
	if (whole - (used < whole ? used : whole) < *ret)
		*ret = whole - (used < whole ? used : whole);
	return 0;
}

static int judge_command(
	struct round *x, const struct due *d, char *const *argv, struct check_row *row, struct err *e)
{
	const struct plan_stage *s = d->stage ? d->stage : x->job->stage;
	struct check_output o = { .out = BUF_INIT(CHECK_STREAM_MAX), .err = BUF_INIT(CHECK_STREAM_MAX) };
	struct check_command cmd = { argv, dir_of(d), 0,
		d->stage && check_names_stage(d->stage, d->check) ? d->stage->id : NULL };
	auto_buf shown = BUF_INIT(CHECK_SHOWN_MAX), why = BUF_INIT(1000);
	bool late = false;
	int rc = find_seconds(x, s, &cmd.seconds, e);

	if (!rc && !cmd.seconds) {
		late = true;
		buf_addstr(&why, "there is no time left for the checks of this ticket");
	} else if (!rc) {
		rc = check_task_run(&x->task, &cmd, &o, &shown, &late, e);
	}

	/* it may have run what the stage wrote: another command gets another copy */
	check_task_drop(&x->task);
	if (!rc && late && cmd.seconds)
		buf_printf(&why, "it took longer than %llu second%s", (unsigned long long)cmd.seconds,
			cmd.seconds == 1 ? "" : "s");
	if (!rc)
		row->passed = !late && check_judge(d->check, &o, &why);
	row->code = late ? -1 : o.code;
	row->why = xstrdup(buf_str(&why));
	row->output = xstrdup(buf_str(&shown));
	buf_release(&o.out);
	buf_release(&o.err);
	return rc;
}

/* Whether the commit has the directory. In another one, such as the top or where a link leads, a command would say nothing of
 * it. Before the stage begins, nobody could have taken it away. */
static int has_dir(struct round *x, const struct due *d, bool *ret, struct err *e)
{
	struct git g = repo_git(x->repo);
	auto_str dir = check_path(dir_of(d), "");
	auto_buf entry = BUF_INIT(1u << 16);

	*ret = dir && (!*dir || d->check->kind == PLAN_CHECK_BEFORE);
	if (*ret || !dir)
		return 0;
	if (git_do(&g, &entry, e, "ls-tree", "-z", "--full-tree", x->commit, "--", dir, NULL) < 0)
		return -1;
	*ret = !strncmp(buf_str(&entry), TREE, strlen(TREE)) ||
	       !strncmp(buf_str(&entry), GITLINK, strlen(GITLINK));
	return 0;
}

static int run_command(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	auto_buf script = BUF_INIT(4u << 20);
	bool there;

	if (has_dir(x, d, &there, e) < 0)
		return -1;
	if (!there) {
		row->code = -1;
		row->why = xasprintf("the commit has no directory '%s'", dir_of(d));
		row->output = xstrdup("");
		return 0;
	}
	write_script(d, &script);
	if (script.overflow)
		return err_set(e, ERR_CONFIG, "the check '%s' is too long", row->title);
	return judge_command(x, d, (char *[]){ "/bin/sh", "-c", (char *)buf_str(&script), NULL }, row, e);
}

/* The names of the commit's files that match. A submodule is not a file: it has a name, but no content here. */
static int find_files(
	const struct round *x, const char *dir, const char *glob, struct strvec *ret, struct err *e)
{
	struct git g = repo_git(x->repo);
	auto_buf list = BUF_INIT(TREE_MAX);
	auto_str whole = check_path(dir, glob), rooted = NULL;

	if (!whole)
		return 0;
	rooted = xasprintf("/%s", whole);
	if (git_do(&g, &list, e, "ls-tree", "-r", "-z", "--full-tree", x->commit, NULL) < 0)
		return -1;
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *line = list.data + at, *name = strchr(line, '\t');

		if (name && strncmp(line, GITLINK, strlen(GITLINK)) != 0 &&
			glob_matches_case(rooted, name + 1))
			strvec_push(ret, name + 1);
	}
	return 0;
}

struct artifact {
	const struct strvec *paths; /* of the files that are read together */
	struct buf why;
};

static int judge_artifact(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct artifact *a = arg;

	(void)e;
	if (!a->why.len)
		check_judge_artifact(a->paths->v[i], data, len, &a->why);
	return 0;
}

/* Reads the files from *at on, as many as fit into one group. A large one is not a stub, whatever it contains. */
static int judge_some(struct round *x, const struct strvec *paths, const int64_t *sizes, size_t *at,
	struct buf *why, struct err *e)
{
	auto_strvec some = STRVEC_INIT, names = STRVEC_INIT;
	struct git g = repo_git(x->repo);
	struct artifact a = { .paths = &some, .why = BUF_INIT(1000) };
	int64_t size = 0;
	int rc;

	for (; *at < paths->n && size < READ_TOGETHER; ++*at) {
		/* git is asked for one name on each line */
		if (sizes[*at] < 0)
			return buf_printf(why, "'%s' cannot be read", paths->v[*at]), 0;
		if (sizes[*at] > STUB_MAX)
			continue;
		size += sizes[*at];
		strvec_push(&some, paths->v[*at]);
		strvec_pushf(&names, "%s:%s", x->commit, paths->v[*at]);
	}
	rc = blob_read(&g, &names, judge_artifact, &a, e);
	buf_addstr(why, buf_str(&a.why));
	buf_release(&a.why);
	return rc;
}

static int sizes_of(struct round *x, const struct strvec *paths, int64_t **ret, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	struct git g = repo_git(x->repo);

	for (size_t i = 0; i < paths->n; i++)
		strvec_pushf(&names, "%s:%s", x->commit, paths->v[i]);
	return blob_sizes(&g, &names, ret, e);
}

static int run_artifact(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;
	auto_buf why = BUF_INIT(1000);
	int64_t *sizes = NULL;
	int rc = 0;

	if (find_files(x, dir_of(d), d->check->glob, &paths, e) < 0 || sizes_of(x, &paths, &sizes, e) < 0)
		return -1;
	for (size_t at = 0; !rc && !why.len && at < paths.n;)
		rc = judge_some(x, &paths, sizes, &at, &why, e);
	free(sizes);
	if (!paths.n)
		buf_printf(&why, "the commit has no file '%s'", d->check->glob);
	row->passed = !why.len;
	row->code = -1;
	row->why = xstrdup(buf_str(&why));
	row->output = xstrdup("");
	return rc;
}

/* Calls fn with the file's bytes, if there is such a file. If it is too large to be searched, *why says so. */
static int read_one(struct round *x, const char *path, blob_fn *fn, void *arg, struct buf *why, struct err *e)
{
	auto_strvec paths = STRVEC_INIT, names = STRVEC_INIT;
	struct git g = repo_git(x->repo);
	int64_t *sizes = NULL;
	bool large;

	if (!path)
		return 0;
	strvec_push(&paths, path);
	strvec_pushf(&names, "%s:%s", x->commit, path);
	if (sizes_of(x, &paths, &sizes, e) < 0)
		return -1;
	large = sizes[0] > SEARCH_MAX;
	free(sizes);
	if (large)
		buf_printf(why, "'%s' is larger than %u MiB: it is not searched", path, SEARCH_MAX >> 20);
	return large ? 0 : blob_read(&g, &names, fn, arg, e);
}

struct regression {
	const struct plan_check *check;
	struct buf why;
	bool there;
};

static int judge_regression(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct regression *r = arg;

	(void)i;
	(void)e;
	r->there = true;
	for (size_t k = 0; k < r->check->must_contain.n && !r->why.len; k++)
		if (!check_contains(data, len, r->check->must_contain.v[k]))
			buf_printf(&r->why, "'%s' does not contain '%s'", r->check->path,
				r->check->must_contain.v[k]);
	return 0;
}

static int run_regression(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	auto_str path = check_path(dir_of(d), d->check->path);
	struct regression r = { .check = d->check, .why = BUF_INIT(1000) };
	int rc = read_one(x, path, judge_regression, &r, &r.why, e);

	if (!r.there && !r.why.len)
		buf_printf(&r.why, "the commit has no file '%s'", d->check->path);
	row->passed = !r.why.len;
	row->code = -1;
	row->why = xstrdup(buf_str(&r.why));
	row->output = xstrdup("");
	buf_release(&r.why);
	return rc;
}

struct wiring {
	const struct plan_regex *pattern;
	bool there, matches, late;
};

static int judge_wiring(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct wiring *w = arg;

	(void)i;
	w->there = true;
	w->late = search_lines(w->pattern, data, len, SEARCH_SECONDS, &w->matches, e) < 0;
	*e = (struct err)ERR_INIT;
	return 0;
}

static int run_wiring(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	auto_str path = check_path(dir_of(d), d->check->path);
	auto_buf why = BUF_INIT(1000);
	struct plan_regex pattern;
	struct wiring w = { .pattern = &pattern };
	int rc;

	if (plan_regex_compile(&pattern, d->check->pattern, e) < 0)
		return -1;
	rc = read_one(x, path, judge_wiring, &w, &why, e);
	plan_regex_release(&pattern);
	if (!w.matches && !why.len)
		buf_printf(&why,
			w.late    ? "it takes too long to look for it in '%s'"
			: w.there ? "no line of '%s' matches"
				  : "the commit has no file '%s'",
			d->check->path);
	row->passed = w.matches;
	row->code = -1;
	row->why = xstrdup(buf_str(&why));
	row->output = xstrdup("");
	return rc;
}

static int run_check(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	int64_t from = clock_ms();
	enum plan_check_kind kind = d->check->kind;
	int rc = kind == PLAN_CHECK_ARTIFACT     ? run_artifact(x, d, row, e)
		 : kind == PLAN_CHECK_REGRESSION ? run_regression(x, d, row, e)
		 : kind == PLAN_CHECK_WIRING     ? run_wiring(x, d, row, e)
						 : run_command(x, d, row, e);

	row->ms = clock_ms() - from;
	return rc;
}

/* Takes the known result, or makes a new one. */
static int find_result(struct round *x, const struct due *d, struct check_row *row, struct err *e)
{
	struct store *s = x->job->c->store;
	auto_str key = check_key(x->job, x->tree, d->check, d->stage);

	if (!store_check_known(s, key, row, e) && row->passed) {
		row->cached = true;
		return 0;
	}
	*e = (struct err)ERR_INIT;
	check_row_release(row);
	row->key = steal_ptr(key);
	row->kind = xstrdup(plan_check_kinds[d->check->kind]);
	row->title = check_title(d->check);
	if (run_check(x, d, row, e) < 0 || context_store(x->job->c, e) < 0)
		return -1;
	return row->passed ? store_check_set_known(x->job->c->store, row, e) : 0;
}

static int run_round(struct round *x, const struct due_list *l, struct checks_result *ret, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		struct check_row row = { 0 };
		int rc = context_store(x->job->c, e) < 0 ? -1 : find_result(x, &l->v[i], &row, e);

		row.attempt = x->job->at->attempt;
		if (!rc)
			rc = store_check_add(x->job->c->store, x->job->at->id, &row, e);
		fault("plan-checked");
		if (rc < 0 || row.passed) {
			check_row_release(&row);
			if (rc < 0)
				return -1;
			continue;
		}
		ret->failed = row;
		return 0;
	}
	ret->passed = true;
	return 0;
}

int checks_run(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	struct checks_result *ret, struct err *e)
{
	struct round x = { .job = j, .repo = r, .commit = commit, .task = { .job = j, .commit = commit } };
	struct due_list l = list_due(j, when);
	int rc = 0;

	*ret = (struct checks_result){ 0 };
	if (l.n)
		rc = checks_tree(j->c, r, commit, x.tree, e);
	if (!rc)
		rc = run_round(&x, &l, ret, e);
	check_task_drop(&x.task);
	free(l.v);
	return rc;
}

int checks_known(const struct stage_job *j, const struct repo *r, const char *commit, enum checks_when when,
	bool *ret, struct err *e)
{
	struct due_list l = list_due(j, when);
	char tree[OID_SIZE];
	int rc = 0;

	*ret = true;
	if (l.n)
		rc = checks_tree(j->c, r, commit, tree, e);
	for (size_t i = 0; !rc && *ret && i < l.n; i++) {
		auto_str key = check_key(j, tree, l.v[i].check, l.v[i].stage);
		struct check_row row = { 0 };
		struct err ignored = ERR_INIT;

		*ret = !store_check_known(j->c->store, key, &row, &ignored) && row.passed;
		check_row_release(&row);
	}
	free(l.v);
	return rc;
}
