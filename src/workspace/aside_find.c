/* Finds the directories of a workspace that can be set aside as a whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "git/scratch.h"
#include "sys/clock.h"
#include "sys/dir.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "workspace/aside.h"
#include "workspace/ignored.h"

#define PATHS_MAX (512u << 20)
/* The agent can make any number of directories: this many are read, down to this depth. */
#define DIRS_MAX  50000
#define DEPTH_MAX 24
#define COMMITS   3

/* The paths of a commit, sorted. */
struct tree_paths {
	struct buf text;
	const char **v;
	size_t n;
};

struct search {
	struct workspace *ws;
	struct scratch scratch;
	struct tree_paths trees[COMMITS]; /* of the tip and of the commits below the workspace */
	int root;
	int64_t deadline;
	size_t looked; /* number of directories so far */
	struct strvec next;
	struct buf questions;
	struct strvec *found;
};

static void search_release(struct search *s)
{
	scratch_release(&s->scratch);
	for (size_t i = 0; i < COMMITS; i++) {
		buf_release(&s->trees[i].text);
		free(s->trees[i].v);
	}
	fd_closep(&s->root);
	strvec_release(&s->next);
	buf_release(&s->questions);
}
#define auto_search __attribute__((cleanup(search_release))) struct search

static int load_tree(struct workspace *ws, const char *commit, struct tree_paths *t, struct err *e)
{
	struct git g = repo_git(ws->repo);
	size_t cap = 0;

	t->text = (struct buf)BUF_INIT(PATHS_MAX);
	if (git_do(&g, &t->text, e, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, NULL) < 0)
		return -1;
	for (size_t at = 0; at < t->text.len; at += strlen(t->text.data + at) + 1) {
		if (t->n == cap)
			t->v = xrealloc(t->v, cap = cap ? 2 * cap : 256, sizeof(*t->v));
		t->v[t->n++] = t->text.data + at;
	}
	return 0;
}

/* The index of the first path that is not less than `path`. */
static size_t lower_bound(const struct tree_paths *t, const char *path)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(t->v[mid], path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Whether one of the commits has the path or something below it. */
static bool is_tracked(const struct search *s, const char *path)
{
	auto_str beneath = xasprintf("%s/", path);

	for (size_t i = 0; i < COMMITS; i++) {
		const struct tree_paths *t = &s->trees[i];
		size_t exact = lower_bound(t, path), in = lower_bound(t, beneath);

		if ((exact < t->n && !strcmp(t->v[exact], path)) ||
			(in < t->n && !strncmp(t->v[in], beneath, strlen(beneath))))
			return true;
	}
	return false;
}

/* Adds the tip's ignore files. If the workspace has other versions, look_into replaces them. */
static int take_rules(struct search *s, const char *tip, struct err *e)
{
	auto_strvec rules = STRVEC_INIT;

	for (size_t i = 0; i < s->trees[0].n; i++)
		if (ignored_is_rules(s->trees[0].v[i]))
			strvec_push(&rules, s->trees[0].v[i]);
	if (ignored_user_rules(s->ws, &s->scratch, e) < 0)
		return -1;
	return rules.n ? scratch_base_rules(&s->scratch, tip, &rules, e) : 0;
}

/* git does not look into another repository, so no rule applies to what is in it. */
static bool is_repo(int dir, const char *name)
{
	auto_str dot_git = xasprintf("%s/.git", name);
	struct stat st;

	return !lstat_beneath(dir, dot_git, &st);
}

static bool is_directory(int dir, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return ent->d_type == DT_DIR;
	return !fstatat(dir, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

/* Sorts the subdirectories: those with tracked files are searched on the next level; git is asked about the
 * others. */
static int look_into(struct search *s, const char *path, struct err *e)
{
	auto_fd dir = open_beneath(s->root, path, O_RDONLY | O_DIRECTORY, 0);
	int copy = dir < 0 ? -1 : open_beneath(dir, "", O_RDONLY | O_DIRECTORY, 0);
	auto_dir d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	/* unreadable, or removed meanwhile */
	if (!d)
		return fd_closep(&copy), 0;
	while ((ent = readdir(d)) && s->looked < DIRS_MAX) {
		auto_str full = *path ? path_join(path, ent->d_name) : xstrdup(ent->d_name);

		if (ignored_is_rules(ent->d_name) && ignored_add_rules(&s->scratch, s->root, full, e) < 0)
			return -1;
		if (dir_is_dot(ent->d_name) || !strcasecmp(ent->d_name, ".git") || !is_directory(dir, ent))
			continue;
		s->looked++;
		if (is_tracked(s, full)) {
			strvec_push(&s->next, full);
			continue;
		}
		buf_printf(&s->questions, "./%s/", full);
		buf_addch(&s->questions, '\0');
	}
	return 0;
}

/* Asks git about the collected directories. Ignored ones are results; the others are searched on the next
 * level. The answers have the order of the questions. Returns 1 if git's time is used up. */
static int ask(struct search *s, struct err *e)
{
	int64_t left = s->deadline - clock_ms();
	auto_buf answer = BUF_INIT(PATHS_MAX);
	size_t at = 0;

	if (!s->questions.len)
		return 0;
	if (left <= 0)
		return 1;
	if (scratch_ignored(&s->scratch, &s->questions, (unsigned)(left / 1000) + 1, &answer, e) < 0) {
		if (e->sys != ETIMEDOUT && e->sys != EFBIG)
			return -1;
		*e = (struct err)ERR_INIT;
		return 1;
	}
	for (const char *q = s->questions.data; q < s->questions.data + s->questions.len;
		q += strlen(q) + 1) {
		size_t len = strlen(q + 2) - 1;
		auto_str path = xstrndup(q + 2, len);

		if (at < answer.len && !strcmp(answer.data + at, q)) {
			at += strlen(answer.data + at) + 1;
			if (s->found->n < ASIDE_MAX)
				strvec_push(s->found, path);
		} else if (!is_repo(s->root, path)) {
			strvec_push(&s->next, path);
		}
	}
	buf_reset(&s->questions);
	return 0;
}

static int search_levels(struct search *s, struct err *e)
{
	auto_strvec level = STRVEC_INIT;
	int rc = 0;

	strvec_push(&level, "");
	for (int depth = 0; level.n && !rc && depth < DEPTH_MAX; depth++) {
		for (size_t i = 0; i < level.n; i++)
			if (look_into(s, level.v[i], e) < 0)
				return -1;
		rc = ask(s, e);
		strvec_release(&level);
		level = s->next;
		s->next = (struct strvec)STRVEC_INIT;
	}
	return rc < 0 ? -1 : 0;
}

int aside_find(struct workspace *ws, const char *tip, struct strvec *ret, struct err *e)
{
	auto_search s = { .ws = ws,
		.scratch = SCRATCH_INIT,
		.root = workspace_files(ws),
		.deadline = clock_ms() + 1000 * (int64_t)fault_short("ignored", IGNORED_SECONDS),
		.questions = BUF_INIT(PATHS_MAX),
		.found = ret };
	auto_str since = workspace_since(ws);
	const char *const commits[COMMITS] = { tip, since, ws->task->base };

	if (s.root < 0)
		return err_sys(e, "cannot open the workspace of task '%s'", ws->task->name);
	for (size_t i = 0; i < COMMITS; i++) {
		bool known = false;

		for (size_t j = 0; j < i; j++)
			known |= !strcmp(commits[i], commits[j]);
		if (!known && *commits[i] && load_tree(ws, commits[i], &s.trees[i], e) < 0)
			return -1;
	}
	if (scratch_open(ws->repo, ws->home->fd, ws->home->path, &s.scratch, e) < 0 ||
		take_rules(&s, tip, e) < 0)
		return -1;
	return search_levels(&s, e);
}

int aside_covered(struct workspace *ws, const struct strvec *paths, struct strvec *ret, struct err *e)
{
	auto_str since = workspace_since(ws);
	auto_search s = { .scratch = SCRATCH_INIT, .root = -1 };

	if (ws->backend->on_host || !paths->n)
		return 0;
	if (load_tree(ws, since, &s.trees[0], e) < 0)
		return -1;
	for (size_t i = 0; i < paths->n; i++)
		if (is_tracked(&s, paths->v[i]))
			strvec_push(ret, paths->v[i]);
	return 0;
}
