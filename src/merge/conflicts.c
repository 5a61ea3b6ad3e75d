#include "merge/conflicts.h"

#include <jansson.h>
#include <nettle/sha2.h>

#include "base/alloc.h"
#include "merge/compare.h"
#include "merge/git_commands.h"
#include "merge/merge.h"
#include "merge/touched.h"
#include "task/life.h"

/* State of one query; the repository is opened only if git must be asked. */
struct look {
	struct context *c;
	const struct task *task;
	char target[OID_SIZE]; /* the commit of the task's target; "" if it has none */
	const struct deadline *by;
	struct repo repo;
};

static void look_release(struct look *l)
{
	repo_release(&l->repo);
}

void conflict_list_release(struct conflict_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].task);
		free(l->v[i].path);
	}
	free(l->v);
	*l = (struct conflict_list){ 0 };
}

void conflict_add(struct conflict_list *l, const char *task, const char *path)
{
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct conflict){ task ? xstrdup(task) : NULL, xstrdup(path) };
}

/* Whether b is another task of the project whose commits may still be merged. */
static bool counts(const struct task *a, const struct task *b)
{
	return a->id != b->id && a->project_id == b->project_id && *b->published &&
	       strcmp(a->published, b->published) && !b->removed && strcmp(b->state, STATE_MERGED) &&
	       strcmp(b->state, STATE_DISCARDING);
}

/* A path as a JSON string. For a path that is not UTF-8, that is a NUL, which no path has, and then one
 * character for each byte, U+0001 to U+00FF. */
static json_t *path_to_json(const char *path)
{
	json_t *plain = json_string(path);
	auto_buf b = BUF_INIT(1 << 16);

	if (plain)
		return plain;
	buf_addch(&b, '\0');
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (*p >= 0x80)
			buf_addch(&b, (char)(0xc0 | (*p >> 6)));
		buf_addch(&b, *p < 0x80 ? (char)*p : (char)(0x80 | (*p & 0x3f)));
	}
	return json_stringn(buf_str(&b), b.len);
}

static char *path_from_json(const json_t *j)
{
	const unsigned char *p = (const unsigned char *)json_string_value(j);
	size_t n = json_string_length(j);
	auto_buf b = BUF_INIT(1 << 16);

	if (!n || *p)
		return xstrdup(json_string_value(j));
	for (size_t i = 1; i < n; i++) {
		bool two = p[i] >= 0xc0 && i + 1 < n;

		buf_addch(&b, two ? (char)(((p[i] & 0x03) << 6) | (p[i + 1] & 0x3f)) : (char)p[i]);
		i += two;
	}
	return buf_steal(&b);
}

static char *paths_to_text(const struct strvec *paths)
{
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < paths->n; i++)
		json_array_append_new(list, path_to_json(paths->v[i]));
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void paths_from_text(const char *text, struct strvec *ret)
{
	json_t *list = json_loads(text, JSON_ALLOW_NUL, NULL), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		auto_str path = path_from_json(one);

		strvec_push(ret, path);
	}
	json_decref(list);
}

static int open_repo(struct look *l, struct err *e)
{
	return l->repo.git_dir ? 0 : compare_open_repo(l->c, l->task, &l->repo, e);
}

/* Paths about two commits: from the store, or else from `ask`. */
static int known_paths(struct look *l, const char *kind, const char *a, const char *b,
	int (*ask)(const struct repo *r, const char *a, const char *b, struct strvec *ret, struct err *e),
	struct strvec *ret, struct err *e)
{
	auto_str known = NULL, found = NULL;

	if (!store_compared(l->c->store, kind, a, b, &known, e)) {
		paths_from_text(known, ret);
		return 0;
	}
	if (e->kind != ERR_NOTFOUND || open_repo(l, e) < 0 || ask(&l->repo, a, b, ret, e) < 0)
		return -1;
	found = paths_to_text(ret);
	return store_set_compared(l->c->store, kind, a, b, found, e);
}

static int ask_merge(const struct repo *r, const char *a, const char *b, struct strvec *ret, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;
	char tree[OID_SIZE];

	if (verb_merge_tree(r, a, b, tree, &paths, e) < 0)
		return -1;
	for (size_t i = 0; i < paths.n && i < CONFLICT_PATHS_MAX; i++)
		strvec_push(ret, paths.v[i]);
	return 0;
}

/* The paths in which two commits conflict; the order of the two does not matter. */
static int both(struct look *l, const char *a, const char *b, struct strvec *ret, struct err *e)
{
	bool first = strcmp(a, b) < 0;

	return known_paths(l, "conflict_paths", first ? a : b, first ? b : a, ask_merge, ret, e);
}

/* The paths that a tip has changed since it branched off the target. */
static int own(struct look *l, const char *tip, struct strvec *ret, struct err *e)
{
	return known_paths(l, "own_paths", l->target, tip, verb_own_paths, ret, e);
}

/* Removes paths that only one of the two has changed itself: there the other one has its target's version,
 * and the conflict is with the target. A path that neither changed stays; a rename made it. */
static int keep_own(struct look *l, const char *tip, const char *other, struct strvec *paths, struct err *e)
{
	auto_strvec ours = STRVEC_INIT, theirs = STRVEC_INIT, kept = STRVEC_INIT;

	if (!paths->n || !*l->target)
		return 0;
	if (own(l, tip, &ours, e) < 0 || own(l, other, &theirs, e) < 0)
		return -1;
	for (size_t i = 0; i < paths->n; i++)
		if (strvec_has(&ours, paths->v[i]) == strvec_has(&theirs, paths->v[i]))
			strvec_push(&kept, paths->v[i]);
	strvec_release(paths);
	*paths = kept;
	kept = (struct strvec)STRVEC_INIT;
	/* a task without changes cannot conflict */
	if (!ours.n || !theirs.n)
		strvec_release(paths);
	return 0;
}

static int with_target(struct look *l, struct conflict_list *ret, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;

	if (!*l->target)
		return 0;
	if (both(l, l->target, l->task->published, &paths, e) < 0)
		return -1;
	for (size_t i = 0; i < paths.n; i++)
		conflict_add(ret, NULL, paths.v[i]);
	return 0;
}

static int with_task(struct look *l, const struct task *other, struct conflict_list *ret, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;

	if (both(l, l->task->published, other->published, &paths, e) < 0 ||
		keep_own(l, l->task->published, other->published, &paths, e) < 0)
		return -1;
	for (size_t i = 0; i < paths.n; i++)
		conflict_add(ret, other->name, paths.v[i]);
	return 0;
}

static int compare_all(struct look *l, const struct task_list *all, struct conflict_list *ret, struct err *e)
{
	if (with_target(l, ret, e) < 0)
		return -1;
	for (size_t i = 0; i < all->n; i++) {
		if (!counts(l->task, &all->v[i]))
			continue;
		if (l->by && !deadline_left(l->by))
			return err_set(e, ERR_BUSY, "there is no time left");
		if (with_task(l, &all->v[i], ret, e) < 0)
			return -1;
	}
	return 0;
}

static char *list_to_text(const struct conflict_list *l)
{
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(list, json_pack("[s?, o]", l->v[i].task, path_to_json(l->v[i].path)));
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void list_from_text(const char *text, struct conflict_list *ret)
{
	json_t *list = json_loads(text, JSON_ALLOW_NUL, NULL), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		auto_str path = path_from_json(json_array_get(one, 1));

		conflict_add(ret, json_string_value(json_array_get(one, 0)), path);
	}
	json_decref(list);
}

static void digest_of(const struct buf *text, char out[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, text->len, (const uint8_t *)buf_str(text));
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* A digest of the compared tasks and their commits. */
static void name_set(const struct look *l, const struct task_list *all, char out[65])
{
	auto_buf text = BUF_INIT(16 << 20);

	buf_printf(&text, "%s\n", l->target);
	for (size_t i = 0; i < all->n; i++)
		if (counts(l->task, &all->v[i]))
			buf_printf(&text, "%s %s\n", all->v[i].name, all->v[i].published);
	digest_of(&text, out);
}

/* The store caches each pair and, as long as nothing moves, the answer for all pairs. by: NULL for no limit. */
static int find_all(struct context *c, const struct task *t, const struct task_list *all,
	const struct deadline *by, struct conflict_list *ret, struct err *e)
{
	__attribute__((cleanup(look_release))) struct look l = { .c = c, .task = t, .by = by };
	auto_conflict_list found = { 0 };
	struct divergence d = { 0 };
	struct err ignored = ERR_INIT;
	auto_str known = NULL, text = NULL;
	char set[65];

	if (!*t->published)
		return 0;
	/* without a target, compare only with the other tasks */
	if (!merge_divergence(c, t, &d, &ignored)) {
		if (!d.ahead)
			return 0;
		snprintf(l.target, sizeof(l.target), "%s", d.target);
	}
	if (context_store(c, e) < 0)
		return -1;
	name_set(&l, all, set);
	if (!store_compared(c->store, "all_conflicts", t->published, set, &known, e)) {
		list_from_text(known, ret);
		return 0;
	}
	if (e->kind != ERR_NOTFOUND || compare_all(&l, all, &found, e) < 0)
		return -1;
	text = list_to_text(&found);
	if (store_set_compared(c->store, "all_conflicts", t->published, set, text, e) < 0)
		return -1;
	*ret = found;
	found = (struct conflict_list){ 0 };
	return 0;
}

int merge_conflicts(struct context *c, const struct task *t, const struct task_list *all,
	struct conflict_list *ret, struct err *e)
{
	return find_all(c, t, all, NULL, ret, e);
}

/* Tasks of one project in a list, by their places there. */
struct group {
	struct context *c;
	const struct task_list *tasks;
	const struct conflict_side *sides; /* of each task of the list */
	size_t *at, n;
	const struct deadline *by;
	struct conflict_list **ret;
	bool *compared;
	struct touched *own,
		*theirs; /* of each task of the group: its own changes, and the target's since then */
};

static bool is_compared(const struct task *t)
{
	return *t->published && !t->removed && strcmp(t->state, STATE_MERGED) &&
	       strcmp(t->state, STATE_DISCARDING);
}

/* Adds a conflict to both of its tasks; other is SIZE_MAX for the target. */
static void add_both(struct group *g, size_t one, size_t other, const char *path)
{
	const struct task *v = g->tasks->v;

	if (one >= g->n || (other != SIZE_MAX && other >= g->n))
		return;
	conflict_add(g->ret[g->at[one]], other == SIZE_MAX ? NULL : v[g->at[other]].name, path);
	if (other != SIZE_MAX)
		conflict_add(g->ret[g->at[other]], v[g->at[one]].name, path);
}

/* [[ONE, OTHER, PATH]]: places in the group; OTHER is -1 for the target. */
static void group_from_text(struct group *g, const char *text)
{
	json_t *list = json_loads(text, JSON_ALLOW_NUL, NULL), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		json_int_t a = json_integer_value(json_array_get(one, 0)),
			   b = json_integer_value(json_array_get(one, 1));
		auto_str path = path_from_json(json_array_get(one, 2));

		add_both(g, (size_t)a, b < 0 ? SIZE_MAX : (size_t)b, path);
	}
	json_decref(list);
}

static size_t place_of(const struct group *g, size_t after, const char *name)
{
	for (size_t i = after; name && i < g->n; i++)
		if (!strcmp(g->tasks->v[g->at[i]].name, name))
			return i;
	return SIZE_MAX;
}

/* What each task changes, and what its target has changed meanwhile. */
static void find_touched(struct group *g)
{
	struct touched_range *own = xcalloc(g->n + 1, sizeof(*own)),
			     *theirs = xcalloc(g->n + 1, sizeof(*theirs));
	struct err ignored = ERR_INIT;
	auto_repo r = { 0 };

	for (size_t i = 0; i < g->n; i++) {
		const struct conflict_side *s = &g->sides[g->at[i]];

		own[i] = (struct touched_range){ s->fork, s->fork ? g->tasks->v[g->at[i]].published : NULL };
		theirs[i] = (struct touched_range){ s->fork, s->fork ? s->target : NULL };
	}
	if (g->n && !compare_open_repo(g->c, &g->tasks->v[g->at[0]], &r, &ignored)) {
		g->own = touched_find(g->c, &r, own, g->n, g->by);
		g->theirs = touched_find(g->c, &r, theirs, g->n, g->by);
	}
	free(own);
	free(theirs);
}

/* The later tasks that may conflict with task i, as shallow copies. Whether there is anything to ask git. */
static bool find_rivals(const struct group *g, size_t i, struct task_list *ret)
{
	const struct conflict_side *s = &g->sides[g->at[i]];

	ret->n = 0;
	if (s->nothing)
		return false;
	for (size_t k = i + 1; k < g->n; k++)
		if (!g->sides[g->at[k]].nothing && touched_may_conflict(&g->own[i], &g->own[k]))
			ret->v[ret->n++] = g->tasks->v[g->at[k]];
	if (ret->n || !s->target)
		return true;
	/* a target that has not moved cannot conflict */
	return !(s->fork && !strcmp(s->fork, s->target)) && touched_may_conflict(&g->own[i], &g->theirs[i]);
}

/* Compares each task with those after it. Whether all of it was done in time; *ret is the answer for the store. */
static bool compare_group(struct group *g, char **ret)
{
	struct task_list rivals = { xcalloc(g->n + 1, sizeof(struct task)), 0 };
	json_t *list = json_array();
	bool complete = true;

	for (size_t i = 0; i < g->n; i++) {
		auto_conflict_list found = { 0 };
		struct err ignored = ERR_INIT;

		if (!find_rivals(g, i, &rivals))
			continue;
		if (!deadline_left(g->by) ||
			(find_all(g->c, &g->tasks->v[g->at[i]], &rivals, g->by, &found, &ignored) < 0 &&
				ignored.kind == ERR_BUSY)) {
			complete = false;
			g->compared[g->at[i]] = false;
			continue;
		}
		for (size_t j = 0; j < found.n; j++) {
			size_t other = place_of(g, i + 1, found.v[j].task);

			add_both(g, i, other, found.v[j].path);
			json_array_append_new(
				list, json_pack("[I, I, o]", (json_int_t)i,
					      other == SIZE_MAX ? (json_int_t)-1 : (json_int_t)other,
					      path_to_json(found.v[j].path)));
		}
	}
	*ret = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	free(rivals.v);
	return complete;
}

static void find_group(struct group *g)
{
	auto_buf names = BUF_INIT(64 << 20);
	auto_str known = NULL, text = NULL;
	struct err e = ERR_INIT;
	char set[65];

	for (size_t i = 0; i < g->n; i++) {
		const struct task *t = &g->tasks->v[g->at[i]];
		const char *target = g->sides[g->at[i]].target;
		/* most have the same: it is named once */
		bool same = i && target == g->sides[g->at[i - 1]].target;

		buf_addstr(&names, t->name);
		buf_addch(&names, ' ');
		buf_addstr(&names, t->published);
		buf_addch(&names, ' ');
		buf_addstr(&names, same ? "=" : target ? target : "");
		buf_addch(&names, '\n');
	}
	digest_of(&names, set);
	if (!store_compared(g->c->store, "conflict_set", set, "", &known, &e)) {
		group_from_text(g, known);
		return;
	}
	find_touched(g);
	if (g->own && g->theirs && compare_group(g, &text))
		store_set_compared(g->c->store, "conflict_set", set, "", text, &e);
	touched_release(g->own, g->n);
	touched_release(g->theirs, g->n);
	g->own = g->theirs = NULL;
}

void conflicts_between(struct context *c, const struct task_list *tasks, const struct conflict_side *sides,
	const struct deadline *by, struct conflict_list **ret, bool *compared)
{
	struct group g = {
		.c = c, .tasks = tasks, .sides = sides, .by = by, .ret = ret, .compared = compared
	};
	bool *done = xcalloc(tasks->n + 1, sizeof(*done));

	g.at = xcalloc(tasks->n + 1, sizeof(*g.at));
	for (size_t i = 0; i < tasks->n; i++) {
		compared[i] = true;
		done[i] = !is_compared(&tasks->v[i]);
	}
	for (size_t i = 0; i < tasks->n; i++) {
		if (done[i])
			continue;
		g.n = 0;
		for (size_t j = i; j < tasks->n; j++)
			if (!done[j] && tasks->v[j].project_id == tasks->v[i].project_id) {
				g.at[g.n++] = j;
				done[j] = true;
			}
		find_group(&g);
	}
	free(g.at);
	free(done);
}
