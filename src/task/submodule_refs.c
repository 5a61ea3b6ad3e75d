#include "task/submodule_refs.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/gitlinks.h"
#include "git/reach.h"
#include "git/ref.h"
#include "git/run.h"
#include "git/worktree.h"
#include "sys/fd.h"
#include "task/merged.h"
#include "task/moved.h"
#include "task/pins.h"
#include "task/refs.h"

#define LIST     "submodule-refs"
#define LIST_MAX (4 << 20)
#define REFS_MAX (1 << 20)
/* How many merges of one task are looked at. */
#define DEEDS_MAX 500

void submodule_refs_release(struct submodule_refs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].path);
		free(r->v[i].git_dir);
	}
	free(r->v);
	*r = (struct submodule_refs){ 0 };
}

static struct submodule_ref *add(
	struct submodule_refs *r, const char *path, const char *git_dir, const char *tip)
{
	struct submodule_ref *n;

	r->v = xrealloc(r->v, r->n + 1, sizeof(*r->v));
	n = &r->v[r->n++];
	*n = (struct submodule_ref){ .path = xstrdup(path), .git_dir = xstrdup(git_dir), .stays = STAYS_NOT };
	snprintf(n->tip, sizeof(n->tip), "%s", tip);
	return n;
}

/* Four strings for each, with a NUL after each string. */
int submodule_refs_save(int dir, const struct submodule_refs *r, struct err *e)
{
	auto_buf text = BUF_INIT(LIST_MAX);

	if (!r->n)
		return unlinkat(dir, LIST, 0) < 0 && errno != ENOENT ? err_sys(e, "cannot remove '" LIST "'")
								     : 0;
	for (size_t i = 0; i < r->n; i++) {
		const char stays[] = { (char)r->v[i].stays, '\0' }, *const words[] = { r->v[i].path,
			r->v[i].git_dir, r->v[i].tip, stays };

		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			buf_add(&text, words[k], strlen(words[k]) + 1);
	}
	return write_file(dir, LIST, buf_str(&text), text.len, 0600, e);
}

int submodule_refs_load(int dir, struct submodule_refs *ret, struct err *e)
{
	auto_buf text = BUF_INIT(LIST_MAX);
	const char *word[4];
	size_t n = 0;

	*ret = (struct submodule_refs){ 0 };
	if (read_file(dir, LIST, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		word[n++ % 4] = text.data + at;
		if (n % 4 == 0)
			add(ret, word[0], word[1], word[2])->stays = (enum submodule_stays)word[3][0];
	}
	return 0;
}

void submodule_refs_load_removed(struct context *c, const struct task *t, struct submodule_refs *ret)
{
	auto_str name = xasprintf("trash/%lld", (long long)t->id);
	auto_fd dir = openat(c->home.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct err ignored = ERR_INIT;

	*ret = (struct submodule_refs){ 0 };
	if (dir >= 0)
		submodule_refs_load(dir, ret, &ignored);
}

int submodule_refs_is_own(
	struct context *c, const struct task *t, const char *path, const char *now, bool *ret, struct err *e)
{
	struct submodule_row row;
	int64_t bytes;

	*ret = false;
	if (store_submodule(c->store, t->id, path, &row, e) < 0)
		return -1;
	*ret = *row.published;
	/* a gateway may have died before it stored its first commit */
	return *row.published || !*now ? 0 : moved_by_garth(c, t, now, ret, &bytes, e);
}

void submodule_refs_named(const struct workspace *ws, const struct submodules *s, size_t n,
	const char *commit, char out[OID_SIZE])
{
	size_t up = submodule_around(s, n);
	const char *path = s->v[n].path + (up < s->n ? strlen(s->v[up].path) + 1 : 0);
	char around[OID_SIZE];
	auto_repo sub = { 0 };
	struct err ignored = ERR_INIT;

	out[0] = '\0';
	if (up < s->n) {
		submodule_refs_named(ws, s, up, commit, around);
		if (!*around || submodule_repo(ws, &s->v[up], &sub, &ignored) < 0)
			return;
	}
	gitlink_at(up < s->n ? &sub : ws->repo, up < s->n ? around : commit, path, out);
}

/* The commits that merges of the task put into superprojects' branches, for any of its submodules. */
static void add_merged(struct context *c, const struct task *t, struct strvec *ret)
{
	auto_deed_list l = { 0 };
	struct err ignored = ERR_INIT;

	if (store_deed_list(c->store, t->name, t->project_id, DEEDS_MAX, &l, &ignored) < 0)
		return;
	for (size_t i = 0; i < l.n; i++) {
		json_t *o = l.v[i].task_id == t->id && !strcmp(l.v[i].kind, "merge")
				    ? json_loads(l.v[i].data, 0, NULL)
				    : NULL;
		json_t *links = json_object_get(o, "submodules"), *one;
		size_t k;

		json_array_foreach(links, k, one)
		{
			const char *oid = json_string_value(json_object_get(one, "new"));

			if (oid && !strvec_has(ret, oid))
				strvec_push(ret, oid);
		}
		json_decref(o);
	}
}

/* Whether a superproject's branch names one of the task's commits that no other branch of the submodule has. */
static int is_named(struct context *c, struct task_at *a, const struct submodules *s, size_t n,
	const struct repo *sub, const char *tip, bool *ret, struct err *e)
{
	auto_strvec named = STRVEC_INIT, targets = STRVEC_INIT;

	*ret = false;
	if (ref_is_reached(sub, tip))
		return 0;
	if (merged_targets(c, &a->repo, a->task, &targets, e) < 0)
		return -1;
	add_merged(c, a->task, &named);
	for (size_t i = 0; i < targets.n; i++) {
		char oid[OID_SIZE];

		submodule_refs_named(&a->ws, s, n, targets.v[i], oid);
		if (*oid && !strvec_has(&named, oid))
			strvec_push(&named, oid);
	}
	for (size_t i = 0; !*ret && i < named.n; i++)
		*ret = oid_is(named.v[i], sub->hash_len) && reach_has(sub, tip, named.v[i]) &&
		       !reach_has(sub, s->v[n].commit, named.v[i]) && !ref_is_reached(sub, named.v[i]);
	return 0;
}

static int look(struct context *c, struct task_at *a, const struct submodules *s, size_t n,
	struct submodule_refs *ret, struct err *e)
{
	auto_str prefix = xasprintf(PINS "tasks/%lld/", (long long)a->task->id), checkout = NULL;
	auto_buf pins = BUF_INIT(REFS_MAX);
	struct submodule_ref *one;
	auto_repo sub = { 0 };
	char tip[OID_SIZE];
	bool own, named = false;

	if (submodule_repo(&a->ws, &s->v[n], &sub, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (ref_read(&sub, a->task->branch, tip, e) < 0 ||
		submodule_refs_is_own(c, a->task, s->v[n].path, tip, &own, e) < 0 ||
		ref_list(&sub, prefix, &pins, e) < 0)
		return -1;
	if (!own)
		tip[0] = '\0';
	if (!*tip && !pins.len)
		return 0;
	if (*tip && (worktree_with_branch(&sub, a->task->branch, &checkout, e) < 0 ||
			    is_named(c, a, s, n, &sub, tip, &named, e) < 0))
		return -1;
	one = add(ret, s->v[n].path, s->v[n].git_dir, tip);
	if (*tip)
		one->stays = checkout ? STAYS_CHECKED_OUT : named ? STAYS_NAMED : STAYS_NOT;
	return 0;
}

int submodule_refs_find(struct context *c, struct task_at *a, struct submodule_refs *ret, struct err *e)
{
	auto_submodule_refs found = { 0 };
	auto_submodules s = { 0 };

	if (submodules_load(a->ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++)
		if (submodule_is_here(&s.v[i]) && look(c, a, &s, i, &found, e) < 0)
			return err_wrap(e, "submodule '%s'", s.v[i].path);
	*ret = found;
	found = (struct submodule_refs){ 0 };
	return 0;
}

/* False if the repository is gone. */
static bool open_sub(const struct submodule_ref *r, const struct task *t, struct repo *ret)
{
	struct err ignored = ERR_INIT;

	if (repo_open_git_dir(r->git_dir, r->git_dir, (unsigned)strlen(t->base) / 2, ret, &ignored) < 0)
		return false;
	ret->submodule = true;
	return true;
}

/* Moves the refs beneath one prefix to another; their last words stay. */
static int move_pins(const struct repo *sub, const char *from, const char *to, const char *but,
	struct ref_txn *txn, struct err *e)
{
	auto_buf list = BUF_INIT(REFS_MAX);

	if (ref_list(sub, from, &list, e) < 0)
		return -1;
	for (const char *l = buf_str(&list); *l; l = strchr(l, '\n') + 1) {
		auto_str oid = xstrndup(l, strcspn(l, " ")),
			 name = xstrndup(l + strlen(oid) + 1, strcspn(l + strlen(oid) + 1, "\n")),
			 other = xasprintf("%s%s", to, name + strlen(from));

		if (!but || strcmp(name + strlen(from), but) != 0)
			ref_set(txn, other, oid);
		ref_remove(txn, name, oid);
	}
	return 0;
}

static int drop_one(const struct task *t, const struct submodule_ref *r, struct err *e)
{
	auto_str from = xasprintf(PINS "tasks/%lld/", (long long)t->id), to = pins_trash(t->id, ""),
		 below = xasprintf("%s/", to), pin = pins_trash(t->id, "tip"), checkout = NULL;
	auto_ref_txn txn = REF_TXN_INIT;
	auto_repo sub = { 0 };
	char now[OID_SIZE];

	if (!open_sub(r, t, &sub))
		return 0;
	if (ref_read(&sub, t->branch, now, e) < 0 ||
		worktree_with_branch(&sub, t->branch, &checkout, e) < 0 ||
		move_pins(&sub, from, below, NULL, &txn, e) < 0)
		return -1;
	if (*r->tip && r->stays == STAYS_NOT && !checkout && !strcmp(now, r->tip)) {
		ref_remove(&txn, t->branch, r->tip);
		ref_set(&txn, pin, r->tip);
	}
	return txn.text.len ? ref_commit(&sub, &txn, e) : 0;
}

int submodule_refs_drop(const struct task *t, const struct submodule_refs *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++)
		if (drop_one(t, &r->v[i], e) < 0)
			return err_wrap(e, "submodule '%s'", r->v[i].path);
	return 0;
}

static int check_one(const struct task *t, const struct submodule_ref *r, const struct repo *sub,
	bool *ret_there, struct err *e)
{
	auto_str pin = pins_trash(t->id, "tip");
	char now[OID_SIZE], pinned[OID_SIZE];

	if (ref_read(sub, t->branch, now, e) < 0 || ref_read(sub, pin, pinned, e) < 0)
		return -1;
	*ret_there = *now;
	/* if the pin could not be set, the branch was not removed */
	if (!*now || !*r->tip || !*pinned)
		return 0;
	return err_set(e, ERR_EXISTS, "there is another branch '%s' in submodule '%s' by now",
		ref_short(t->branch), r->path);
}

int submodule_refs_check_free(const struct task *t, const struct submodule_refs *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		auto_repo sub = { 0 };
		bool there;

		if (open_sub(&r->v[i], t, &sub) && check_one(t, &r->v[i], &sub, &there, e) < 0)
			return -1;
	}
	return 0;
}

static int restore_one(const struct task *t, const struct submodule_ref *r, struct err *e)
{
	auto_str to = xasprintf(PINS "tasks/%lld/", (long long)t->id), from = pins_trash(t->id, ""),
		 below = xasprintf("%s/", from);
	auto_ref_txn txn = REF_TXN_INIT;
	auto_repo sub = { 0 };
	bool there;

	if (!open_sub(r, t, &sub))
		return 0;
	if (check_one(t, r, &sub, &there, e) < 0 || move_pins(&sub, below, to, "tip", &txn, e) < 0)
		return -1;
	if (!there && *r->tip && ref_can_name(&sub, r->tip))
		ref_create(&txn, t->branch, r->tip);
	return txn.text.len ? ref_commit(&sub, &txn, e) : 0;
}

int submodule_refs_restore(const struct task *t, const struct submodule_refs *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++)
		if (restore_one(t, &r->v[i], e) < 0)
			return err_wrap(e, "submodule '%s'", r->v[i].path);
	return 0;
}

void submodule_refs_forget(int64_t task, const struct submodule_refs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct err ignored = ERR_INIT;

		refs_forget(&(struct repo){ .git_dir = r->v[i].git_dir, .submodule = true }, task, &ignored);
	}
}
