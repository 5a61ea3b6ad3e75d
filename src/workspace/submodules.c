#include "workspace/submodules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/gitlinks.h"
#include "git/gitmodules.h"
#include "git/ref.h"
#include "git/user_settings.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/tree.h"
#include "workspace/base.h"

#define LIST "submodules"
/* How deep submodules may be nested. */
#define DEPTH_MAX 8

void submodules_release(struct submodules *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].path);
		free(s->v[i].git_dir);
		free(s->v[i].why);
	}
	free(s->v);
	*s = (struct submodules){ 0 };
}

bool submodule_is_here(const struct submodule *s)
{
	return !*s->why;
}

static struct submodule *add(
	struct submodules *s, const char *path, const char *commit, const char *git_dir, const char *why)
{
	struct submodule *n;

	s->v = xrealloc(s->v, s->n + 1, sizeof(*s->v));
	n = &s->v[s->n++];
	*n = (struct submodule){ .path = xstrdup(path), .git_dir = xstrdup(git_dir), .why = xstrdup(why) };
	snprintf(n->commit, sizeof(n->commit), "%s", commit);
	snprintf(n->tip, sizeof(n->tip), "%s", commit);
	return n;
}

/* Five strings for each, with a NUL after each string. */
int submodules_load(int dir, struct submodules *ret, struct err *e)
{
	auto_buf text = BUF_INIT(4 << 20);
	auto_submodules s = { 0 };
	const char *word[5];
	size_t n = 0;

	*ret = (struct submodules){ 0 };
	if (read_file(dir, LIST, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		word[n++ % 5] = text.data + at;
		if (n % 5 == 0)
			add(&s, word[0], word[1], word[2], word[3])->missing = *word[4];
	}
	*ret = s;
	s = (struct submodules){ 0 };
	return 0;
}

static void put_entry(const struct submodule *s, struct buf *out)
{
	const char *const words[] = { s->path, s->commit, s->git_dir, s->why, s->missing ? "missing" : "" };

	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		buf_add(out, words[k], strlen(words[k]) + 1);
}

int submodule_repo(const struct workspace *ws, const struct submodule *s, struct repo *ret, struct err *e)
{
	auto_str top = path_join(ws->repo->main_top, s->path);

	if (repo_open_git_dir(s->git_dir, top, ws->repo->hash_len, ret, e) < 0)
		return err_wrap(e, "submodule '%s'", s->path);
	ret->submodule = true;
	free(ret->commit);
	ret->commit = xstrdup(s->commit);
	return 0;
}

int submodules_bases(int dir, struct strvec *ret, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_str name = base_submodule_name(s.v[i].commit, s.v[i].path);

		strvec_push(ret, name);
	}
	return 0;
}

/* The state while the submodules of a new task are made. */
struct making {
	struct workspace *ws;
	struct submodules list;
	struct strvec used; /* words of ws->submodules that named something */
	size_t saved;       /* so many of the list are in its file */
};

/* A repository whose submodules are made: the superproject, or a submodule. */
struct level {
	const struct level *above;
	unsigned depth;
	const char *path;    /* "" for the superproject */
	const char *git_dir; /* the user's repository */
	const char *index;   /* its index, with the gitlinks */
	struct strvec names; /* of gitmodules_parse */
};

static bool is_word(const struct strvec *asked, const char *word)
{
	return asked && asked->n == 1 && !strcmp(asked->v[0], word);
}

static bool is_named(struct making *m, const char *path)
{
	const struct strvec *asked = m->ws->submodules;

	for (size_t i = 0; asked && i < asked->n; i++) {
		size_t n = strlen(asked->v[i]);

		while (n > 1 && asked->v[i][n - 1] == '/')
			n--;
		if (strncmp(asked->v[i], path, n) || (path[n] && path[n] != '/'))
			continue;
		/* submodules around a named one are needed for it; those inside it have to be named themselves */
		if (!path[n]) {
			strvec_push(&m->used, asked->v[i]);
			return true;
		}
	}
	for (size_t i = 0; asked && i < asked->n; i++)
		if (!strncmp(asked->v[i], path, strlen(path)) && asked->v[i][strlen(path)] == '/')
			return true;
	return false;
}

/* Whether the user's checkout has the submodule's files: then there is a .git among them. */
static bool is_checked_out(const struct making *m, const char *path)
{
	auto_fd top = open(m->ws->repo->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_str dot_git = path_join(path, ".git");
	struct stat st;

	return top >= 0 && !lstat_beneath(top, dot_git, &st);
}

static bool is_wanted(struct making *m, const char *path)
{
	const struct strvec *asked = m->ws->submodules;

	if (is_word(asked, "none"))
		return false;
	if (is_word(asked, "all"))
		return true;
	return asked && asked->n ? is_named(m, path) : is_checked_out(m, path);
}

/* Why a submodule that is not wanted is empty. */
static const char *why_not(const struct making *m)
{
	const struct strvec *asked = m->ws->submodules;

	return asked && asked->n ? "it is not one of those that the task may use"
				 : "it is not checked out (git submodule update --init)";
}

/* Whether the directory beneath `at` is a complete repository: no link is followed on the way, and it has no "commondir",
 * which would name another repository for refs and objects. */
static bool is_repository(int at, const char *path)
{
	auto_fd dir = open_beneath(at, path, O_RDONLY | O_DIRECTORY, 0);
	auto_fd head = dir < 0 ? -1 : open_regular_beneath(dir, "HEAD");
	auto_fd objects = dir < 0 ? -1 : open_beneath(dir, "objects", O_PATH | O_DIRECTORY, 0);
	struct stat st;

	return head >= 0 && objects >= 0 && lstat_beneath(dir, "commondir", &st) < 0 && !fstat(dir, &st) &&
	       (st.st_uid == geteuid() || !geteuid() || !st.st_uid);
}

char *submodule_find_repository(const char *git_dir, const char *top, const char *name, const char *path)
{
	auto_fd around = open(git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		files = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str module = xasprintf("modules/%s", name ? name : ""), among = path_join(path, ".git");

	if (name && around >= 0 && is_repository(around, module))
		return path_join(git_dir, module);
	if (files >= 0 && is_repository(files, among))
		return path_join(top, among);
	return NULL;
}

static int make_level(struct making *m, struct level *l, struct err *e);

/* .gitmodules as it is among the files just checked out. */
static int read_names(struct making *m, struct level *l, int root, struct err *e)
{
	auto_str path = *l->path && !m->ws->backend->on_host ? path_join(l->path, ".gitmodules")
							     : xstrdup(".gitmodules");
	auto_fd file = open_regular_beneath(root, path);
	auto_buf text = BUF_INIT(GITMODULES_MAX);

	if (file < 0)
		return 0;
	if (read_rest(file, &text, ".gitmodules", e) < 0)
		return -1;
	gitmodules_parse(buf_str(&text), text.len, &l->names);
	return 0;
}

static int take_nested(
	struct making *m, const struct level *above, size_t n, const char *index, struct err *e)
{
	const struct submodule *s = &m->list.v[n];
	auto_str path = xstrdup(s->path), git_dir = xstrdup(s->git_dir), tree = NULL;
	struct level l = { .above = above,
		.depth = above->depth + 1,
		.path = path,
		.git_dir = git_dir,
		.index = index,
		.names = STRVEC_INIT };
	auto_base base = { 0 };
	auto_fd root = -1;
	int rc;

	if (m->ws->backend->on_host)
		tree = home_path(m->ws->home, "tasks/%lld/sub/%zu/tree", (long long)m->ws->task->id, n);
	else if (submodule_base(m->ws, s, &base, e) < 0)
		return -1;
	root = open(tree ? tree : base.layers.v[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "cannot open the files of submodule '%s'", path);
	rc = read_names(m, &l, root, e);
	if (!rc)
		rc = make_level(m, &l, e);
	strvec_release(&l.names);
	return rc;
}

static size_t count_here(const struct submodules *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += submodule_is_here(&s->v[i]);
	return n;
}

/* Adds the rest of the list to its file. */
static int save(struct making *m, struct err *e)
{
	auto_fd fd = -1;
	auto_buf text = BUF_INIT(4 << 20);

	if (m->saved == m->list.n)
		return 0;
	while (m->saved < m->list.n)
		put_entry(&m->list.v[m->saved++], &text);
	fd = openat(m->ws->dir, LIST, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || text.overflow || write_full(fd, buf_str(&text), text.len) < 0)
		return err_sys(e, "cannot write '" LIST "' of the task");
	return 0;
}

static int save_again(struct making *m, struct err *e)
{
	auto_buf text = BUF_INIT(4 << 20);

	for (size_t i = 0; i < m->list.n; i++)
		put_entry(&m->list.v[i], &text);
	return write_file(m->ws->dir, LIST, buf_str(&text), text.len, 0600, e);
}

/* Makes the last of the list an empty directory. */
static void leave_empty(struct making *m, const char *why)
{
	struct submodule *s = &m->list.v[m->list.n - 1];

	free(s->why);
	s->why = xstrdup(why);
	s->missing = true;
}

/* If another submodule has this repository: the reason in words, on the heap; else NULL. Two sections of .gitmodules may
 * have one name, and a name may lead to the repository of a nested submodule. What a task publishes from one would be taken
 * for the other's. */
static char *find_same(const struct making *m, const char *git_dir)
{
	for (size_t i = 0; git_dir && i < m->list.n; i++)
		if (!strcmp(m->list.v[i].git_dir, git_dir))
			return xasprintf("has the same repository as '%s'", m->list.v[i].path);
	return NULL;
}

static int refuse_named(const char *path, struct err *e)
{
	err_set(e, ERR_NOTFOUND, "the repository of submodule '%s' is not here", path);
	return err_hint(e, "git submodule update --init -- %s", path);
}

/* A submodule that the user named must be there. Any other may be missing; then its directory is empty. */
static bool must_be_there(const struct making *m)
{
	return m->ws->submodules_must && !is_word(m->ws->submodules, "all");
}

static int list_one(struct making *m, const struct level *l, const struct gitlink *g, struct err *e)
{
	auto_str path = *l->path ? path_join(l->path, g->path) : xstrdup(g->path), git_dir = NULL,
		 same = NULL;
	bool must = must_be_there(m), wanted = is_wanted(m, path);

	if (m->list.n == GITLINKS_MAX)
		return err_set(e, ERR_REFUSED, "there are more than %d submodules", GITLINKS_MAX);
	if (wanted && gitmodules_is_safe(g->path))
		git_dir = submodule_find_repository(
			l->git_dir, m->ws->repo->main_top, gitmodules_name(&l->names, g->path), path);
	same = find_same(m, git_dir);
	if (must && same)
		return err_set(e, ERR_REFUSED, "submodule '%s' %s", path, same);
	if (wanted && must && !git_dir)
		return refuse_named(path, e);
	add(&m->list, path, g->oid, git_dir && !same ? git_dir : "", wanted ? "" : why_not(m));
	if (wanted && (!git_dir || same))
		leave_empty(m, same ? same : "its repository is not here");
	else if (wanted && count_here(&m->list) > SUBMODULES_MAX)
		leave_empty(m, "there are too many of them");
	return 0;
}

/* After a failure: in words, if the reason is that the user has not fetched the commit. git names no more than the object. */
static void name_missing_commit(struct making *m, const struct submodule *s, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_repo r = { 0 };

	if (e->sys || submodule_repo(m->ws, s, &r, &ignored) < 0 || ref_can_name(&r, s->commit))
		return;
	err_set(e, ERR_NOTFOUND, "its repository lacks commit %.12s (git submodule update)", s->commit);
}

/* The last of the list, and what is nested in it. */
static int make_last(struct making *m, const struct level *l, struct err *e)
{
	size_t n = m->list.n - 1;
	auto_str made = xasprintf("sub/%zu", n), index = NULL;

	/* the list first: nobody removes a base that is in it */
	if (save(m, e) < 0)
		return -1;
	fault("create-submodule");
	if (!submodule_make(m->ws, &m->list.v[n], n, &index, e))
		return take_nested(m, l, n, index, e);
	name_missing_commit(m, &m->list.v[n], e);
	/* leave it empty if it has files with a filter, or its repository lacks the commit; but not if the disk is full */
	if (must_be_there(m) || e->sys)
		return err_wrap(e, "submodule '%s'", m->list.v[n].path);
	leave_empty(m, e->msg);
	return tree_remove(m->ws->dir, made, e) < 0 ? -1 : save_again(m, e);
}

static int make_level(struct making *m, struct level *l, struct err *e)
{
	auto_gitlinks links = { 0 };

	if (l->depth > DEPTH_MAX)
		return err_set(e, ERR_REFUSED, "submodules are nested more than %d deep", DEPTH_MAX);
	if (gitlinks_read(l->index, m->ws->repo->hash_len, &links, e) < 0)
		return -1;
	for (size_t i = 0; i < links.n; i++)
		if (list_one(m, l, &links.v[i], e) < 0 ||
			(submodule_is_here(&m->list.v[m->list.n - 1]) && make_last(m, l, e) < 0))
			return -1;
	return 0;
}

/* Registers the submodule with git inside, without a name from .gitmodules. Nothing has run inside yet. */
static int mark_active(struct making *m, size_t n, struct err *e)
{
	size_t parent = submodule_around(&m->list, n);
	bool nested = parent < m->list.n;
	auto_str path = nested ? xasprintf("sub/%zu/git/config", parent) : xstrdup("git/config"),
		 spec = xasprintf(":(top,literal)%s",
			 m->list.v[n].path + (nested ? strlen(m->list.v[parent].path) + 1 : 0));
	auto_fd file = open_beneath(m->ws->dir, path, O_WRONLY | O_APPEND, 0);
	auto_buf text = BUF_INIT(1 << 20);

	settings_put(&text, "submodule.active", spec);
	if (file < 0 || text.overflow || write_full(file, buf_str(&text), text.len) < 0)
		return err_sys(e, "cannot write a private repository's configuration");
	return 0;
}

/* Checks that every path that the user named is a submodule. */
static int check_asked(const struct making *m, struct err *e)
{
	const struct strvec *asked = m->ws->submodules;

	for (size_t i = 0; m->ws->submodules_must && i < asked->n; i++)
		if (asked->n > 1 && (!strcmp(asked->v[i], "all") || !strcmp(asked->v[i], "none")))
			return err_set(e, ERR_USAGE, "--submodule %s does not go with another", asked->v[i]);
	for (size_t i = 0; m->ws->submodules_must && i < asked->n; i++)
		if (!is_word(asked, "all") && !is_word(asked, "none") && !strvec_has(&m->used, asked->v[i]))
			return err_set(e, ERR_NOTFOUND, "the commit has no submodule '%s'", asked->v[i]);
	return 0;
}

/* Opens the superproject's files as they were checked out. For an overlay that is the layer with .gitmodules. */
static int make_top(struct making *m, struct level *l, struct err *e)
{
	auto_base base = { 0 };
	auto_fd root = -1;

	if (m->ws->backend->on_host) {
		root = open(m->ws->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return root < 0                        ? err_sys(e, "cannot open '%s'", m->ws->host)
		       : read_names(m, l, root, e) < 0 ? -1
						       : make_level(m, l, e);
	}
	if (base_open(m->ws->home, m->ws->task->project_id, m->ws->task->layer, &base, e) < 0)
		return -1;
	for (size_t i = 0; i < base.layers.n && !l->names.n; i++) {
		auto_fd layer = open(base.layers.v[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct stat st;

		if (layer < 0 || read_names(m, l, layer, e) < 0)
			return layer < 0 ? err_sys(e, "cannot open '%s'", base.layers.v[i]) : -1;
		if (!lstat_beneath(layer, ".gitmodules", &st))
			break;
	}
	return make_level(m, l, e);
}

/* Reading the index of a large repository takes longer than the rest of a new task. Without these, no
 * repository of a submodule is here. */
static bool may_have_any(const struct workspace *ws)
{
	auto_str modules = path_join(ws->repo->git_dir, "modules"),
		 list = path_join(ws->repo->top, ".gitmodules");

	return ws->submodules_must || !access(modules, F_OK) || !access(list, F_OK);
}

int submodules_make(struct workspace *ws, struct err *e)
{
	auto_str index = home_path(ws->home, "tasks/%lld/git/index", (long long)ws->task->id);
	struct making m = { .ws = ws, .used = STRVEC_INIT };
	struct level l = { .path = "", .git_dir = ws->repo->git_dir, .index = index, .names = STRVEC_INIT };
	int rc;

	/* without mounts there is no place for them */
	if (ws->backend->landlock_only && ws->submodules_must && !is_word(ws->submodules, "none"))
		return err_set(e, ERR_REFUSED, "a task on Landlock alone has no submodules");
	if (!ws->backend->has_git || ws->backend->landlock_only || !may_have_any(ws))
		return 0;
	rc = make_top(&m, &l, e);
	if (!rc)
		rc = check_asked(&m, e);
	if (!rc)
		rc = save(&m, e);
	for (size_t i = 0; !rc && i < m.list.n; i++)
		if (submodule_is_here(&m.list.v[i]))
			rc = mark_active(&m, i, e);
	submodules_release(&m.list);
	strvec_release(&m.used);
	strvec_release(&l.names);
	return rc;
}
