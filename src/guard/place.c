#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "guard/guard.h"

#define LINKS_MAX 40

/* Where programs, libraries and settings are. A file that is missing there is not blamed on a wall. */
static const char *const system_places[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc", "/opt", "/nix", "/gnu", "/sys", "/run", "/var", "/snap", "/boot" };

/* Files of the task's repository that only git and the gateway write. Others, such as a message or info/exclude, are
 * harmless. */
static const char *const state_files[] = { "config", "HEAD", "ORIG_HEAD", "index", "packed-refs", "refs",
	"objects", "hooks", "logs", "modules", "worktrees", "shallow", "info/alternates", "info/attributes" };

static bool is_within_any(const char *path, const char *const *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_within(path, places[i]))
			return true;
	return false;
}

/* path_within, but nothing is within "". */
static bool is_in(const char *path, const char *dir)
{
	return *dir && path_within(path, dir);
}

/* A path while its components are followed: `done` has no links, `rest` is to come. */
struct walk {
	char done[GUARD_PATH_MAX], rest[2 * GUARD_PATH_MAX];
	unsigned links;
	bool exists;
};

static bool set_rest(struct walk *w, const char *head, const char *tail)
{
	char joined[2 * GUARD_PATH_MAX];
	int n = snprintf(joined, sizeof(joined), "%s/%s", head, tail);

	if (n < 0 || (size_t)n >= sizeof(joined))
		return false;
	memcpy(w->rest, joined, (size_t)n + 1);
	return true;
}

static void go_up(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = '\0';
}

/* Adds a component to w->done. If it is a link, its text comes in front of the rest instead. */
static bool go_down(struct walk *w, const char *name, size_t len, const char *tail)
{
	size_t have = strlen(w->done);
	char text[GUARD_PATH_MAX];
	ssize_t n;

	if (have + len + 2 > sizeof(w->done))
		return false;
	w->done[have] = '/';
	memcpy(w->done + have + 1, name, len);
	w->done[have + 1 + len] = '\0';
	n = w->exists ? readlink(w->done, text, sizeof(text) - 1) : -1;
	if (n < 0) {
		struct stat st;

		w->exists = w->exists && !lstat(w->done, &st);
		return set_rest(w, "", tail);
	}
	if (++w->links > LINKS_MAX)
		return false;
	text[n] = '\0';
	w->done[*text == '/' ? 0 : have] = '\0';
	return set_rest(w, text, tail);
}

bool place_resolve(const char *cwd, const char *path, char out[GUARD_PATH_MAX], bool *ret_exists)
{
	struct walk w = { .exists = true };

	if (*path != '/' && !*cwd)
		return false;
	if (!set_rest(&w, *path == '/' ? "" : cwd, path))
		return false;
	for (const char *p = w.rest; *p;) {
		size_t len = strcspn(p, "/");
		const char *tail = p + len + (p[len] == '/');
		bool dot = len == 1 && *p == '.', up = len == 2 && p[0] == '.' && p[1] == '.';

		if (up)
			go_up(&w);
		if (!len || dot || up) {
			p = tail;
			continue;
		}
		if (!go_down(&w, p, len, tail))
			return false;
		p = w.rest;
	}
	snprintf(out, GUARD_PATH_MAX, "%s", *w.done ? w.done : "/");
	if (ret_exists)
		*ret_exists = w.exists;
	return true;
}

__attribute__((format(printf, 3, 4))) static bool refuse(
	struct refusal *ret, const char *instead, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(ret->reason, sizeof(ret->reason), format, ap);
	va_end(ap);
	snprintf(ret->instead, sizeof(ret->instead), "%s", instead);
	return true;
}

/* A path that is judged. */
struct judged {
	const struct guard *g;
	const char *real;
	char stay[1300]; /* what to do instead */
	bool exists, sure, climbs;
	enum want want;
	struct refusal *ret;
};

static bool is_state(const struct judged *j)
{
	char git[GUARD_PATH_MAX + 8], file[GUARD_PATH_MAX + 64];
	size_t len = strlen(j->real);

	snprintf(git, sizeof(git), "%s/.git", j->g->facts->workspace);
	if (!strcmp(j->real, git))
		return true;
	/* a lock that was left over is removed by hand */
	if (!path_within(j->real, git) || (len > 5 && !strcmp(j->real + len - 5, ".lock")))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(state_files); i++) {
		snprintf(file, sizeof(file), "%s/%s", git, state_files[i]);
		if (path_within(j->real, file))
			return true;
	}
	return false;
}

static bool judge_inside(const struct judged *j)
{
	if (j->want == WANT_READ || !j->sure || !is_state(j))
		return false;
	return refuse(j->ret,
		"use git commands, which keep the task's repository whole, or work on files outside .git",
		"the files in .git are the state of the task");
}

/* The component of a path that follows a directory. */
static const char *below(const char *path, const char *dir)
{
	path += strlen(dir);
	return path + (*path == '/');
}

/* Whether something can be made there: its directory exists. */
static bool has_directory(const char *path)
{
	char dir[GUARD_PATH_MAX];
	struct stat st;
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return !stat(*dir ? dir : "/", &st);
}

/* Whether it is beside the workspace, or beside a directory above it: there the user has other projects. */
static bool is_neighbour(const struct judged *j)
{
	const struct facts *f = j->g->facts;
	char dir[GUARD_PATH_MAX], *slash;

	snprintf(dir, sizeof(dir), "%s", j->real);
	while ((slash = strrchr(dir, '/')) && is_in(dir, f->home) && strcmp(dir, f->home) != 0) {
		*slash = '\0';
		if (strcmp(dir, f->home) != 0 && is_in(f->workspace, dir))
			return true;
	}
	return false;
}

/* The task home belongs to the agent: what exists there, its settings, and files directly in it. The user's other
 * directories are not in it. */
static bool judge_home(const struct judged *j)
{
	const char *name = below(j->real, j->g->facts->home);
	bool dotted = *name == '.';

	if (j->climbs && !(dotted && j->exists))
		return refuse(j->ret, j->stay, "the path leads out of the workspace");
	if (j->exists || dotted || !j->sure)
		return false;
	if (j->want == WANT_WRITE && !is_neighbour(j) && has_directory(j->real))
		return false;
	return refuse(j->ret, j->stay,
		"that is not there: the home is the task's own, and the user's files are not in it");
}

/* The nearest directory that exists. */
static bool can_write(const char *path)
{
	char dir[GUARD_PATH_MAX], *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	while (access(*dir ? dir : "/", F_OK) < 0 && (slash = strrchr(dir, '/')))
		*slash = '\0';
	return !access(*dir ? dir : "/", W_OK);
}

static bool judge_system(const struct judged *j)
{
	bool known = is_within_any(j->real, system_places, ARRAY_SIZE(system_places));

	if (j->climbs && !j->exists)
		return refuse(j->ret, j->stay, "the path leads out of the workspace");
	if (!j->sure)
		return false;
	if (j->want == WANT_WRITE && (known || j->exists))
		return can_write(j->real)
			       ? false
			       : refuse(j->ret, j->stay,
					 "everything outside the workspace, /tmp and the home is read-only");
	if (j->exists || known)
		return false;
	return refuse(j->ret, j->stay, "that is not there: it is outside the workspace");
}

static bool judge_open(const struct judged *j)
{
	(void)j;
	return false;
}

static bool judge_own(const struct judged *j)
{
	return j->want == WANT_WRITE && j->sure && refuse(j->ret, j->stay, "Garth's own files are read-only");
}

static bool judge_garth(const struct judged *j)
{
	return refuse(j->ret, j->stay, "other workspaces and Garth's own files are not part of this task");
}

static bool judge_project(const struct judged *j)
{
	return refuse(j->ret, j->stay, "the user's own checkout is not part of this task");
}

/* The innermost of these directories decides: a home may be below /tmp, and the Garth home is in a home. */
static bool judge_outside(struct judged *j)
{
	const struct facts *f = j->g->facts;
	const struct {
		const char *dir;
		bool (*judge)(const struct judged *j);
	} places[] = { { "/tmp", judge_open }, { "/var/tmp", judge_open }, { "/dev", judge_open },
		{ "/proc", judge_open }, { f->tmp, judge_open }, { j->g->dir, judge_own },
		{ f->garth_home, judge_garth }, { f->project, judge_project }, { f->home, judge_home } };
	bool (*judge)(const struct judged *j) = judge_system;
	size_t longest = 0;

	snprintf(j->stay, sizeof(j->stay),
		"work in the workspace, %.400s, and use paths in it; /tmp is for temporary files; if you need something outside, "
		"ask the user: garth ask QUESTION",
		f->workspace);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_in(j->real, places[i].dir) && strlen(places[i].dir) > longest) {
			longest = strlen(places[i].dir);
			judge = places[i].judge;
		}
	return judge(j);
}

bool place_refused(const struct guard *g, const char *cwd, const char *path, enum want want, bool sure,
	struct refusal *ret)
{
	char real[GUARD_PATH_MAX];
	struct judged j = { .g = g, .real = real, .sure = sure, .want = want, .ret = ret };

	if (!*g->facts->workspace || !*path || !place_resolve(cwd, path, real, &j.exists))
		return false;
	if (is_in(real, g->facts->workspace))
		return judge_inside(&j);
	j.climbs = *path != '/' && is_in(cwd, g->facts->workspace);
	return judge_outside(&j);
}

bool word_refused(const struct setting *s, const struct word *w, enum want want, bool sure)
{
	char text[GUARD_PATH_MAX];
	size_t n = w->known;

	if (n >= sizeof(text) || (!word_is_known(w) && !w->wildcard))
		return false;
	memcpy(text, w->text, n);
	text[n] = '\0';
	/* the directory in which the wildcard is looked for */
	if (!word_is_known(w)) {
		char *slash = strrchr(text, '/');

		if (!slash)
			return false;
		slash[slash == text] = '\0';
		want = WANT_READ;
	}
	return place_refused(s->g, s->cwd, text, want, sure, s->ret);
}
