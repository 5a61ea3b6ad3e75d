#include "git/named_path.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/strvec.h"

/* The kernel's limit. */
#define LINKS_MAX 40

static char *home;
static struct strvec writable;

void named_path_set_home(const char *path)
{
	free(home);
	home = xstrdup(path);
}

void named_path_add_writable(const char *path)
{
	char *real = canonicalize_file_name(path);

	if (!strvec_has(&writable, real ? real : path))
		strvec_push(&writable, real ? real : path);
	free(real);
}

/* A path that is followed by hand. */
struct way {
	char *at;   /* where it is, without links */
	char *rest; /* still to go */
	unsigned links;
};

static void way_release(struct way *w)
{
	free(w->at);
	free(w->rest);
}

/* Takes the next part of the rest; NULL at the end. */
static char *next_part(struct way *w)
{
	const char *start = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(start, "/");
	char *part = n ? xstrndup(start, n) : NULL, *rest = xstrdup(start + n);

	free(w->rest);
	w->rest = rest;
	return part;
}

static void go_up(char *at)
{
	char *slash = strrchr(at, '/');

	slash[slash == at] = '\0';
}

/* Follows the link `to`. False if the kernel would not follow it either. */
static bool go_through(struct way *w, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlink(to, target, sizeof(target) - 1);

	if (n <= 0 || ++w->links > LINKS_MAX)
		return false;
	target[n] = '\0';
	auto_str rest = xasprintf("%s/%s", target, w->rest);

	free(w->rest);
	w->rest = steal_ptr(rest);
	if (target[0] == '/')
		w->at[1] = '\0';
	return true;
}

static bool is_proc(const char *at)
{
	struct statfs fs;

	return !statfs(at, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_writable(const char *at)
{
	for (size_t i = 0; i < writable.n; i++)
		if (path_within(at, writable.v[i]))
			return true;
	return false;
}

/* Why a path must not go through this place, or NULL. */
static const char *why_not_at(const char *at)
{
	if (home && path_within(at, home))
		return "in the Garth home, where agents can write";
	if (is_writable(at))
		return "in a directory where jail.allow_write lets agents write";
	return is_proc(at) ? "in /proc, where it is another file for each program" : NULL;
}

static const char *why_not(const char *path)
{
	__attribute__((cleanup(way_release))) struct way w = { xstrdup("/"), xstrdup(path), 0 };
	const char *why = NULL;

	while (!why) {
		auto_str part = next_part(&w), to = NULL;
		struct stat st;

		if (!part)
			break;
		if (!strcmp(part, "."))
			continue;
		if (!strcmp(part, "..")) {
			go_up(w.at);
			continue;
		}
		to = path_join(w.at, part);
		if (!lstat(to, &st) && S_ISLNK(st.st_mode)) {
			if (!go_through(&w, to))
				break;
		} else {
			free(w.at);
			w.at = steal_ptr(to);
			why = why_not_at(w.at);
		}
	}
	return why;
}

char *named_path_real(const char *path)
{
	__attribute__((cleanup(way_release))) struct way w = { xstrdup("/"), xstrdup(path), 0 };
	auto_str real = canonicalize_file_name(path), part = NULL;

	while (real && (part = next_part(&w))) {
		auto_str to = path_join(w.at, part);
		struct stat st;

		if (!strcmp(part, "..")) {
			go_up(w.at);
		} else if (strcmp(part, ".") != 0 && !lstat(to, &st) && S_ISLNK(st.st_mode)) {
			if (is_writable(w.at) || !go_through(&w, to))
				return NULL;
		} else if (strcmp(part, ".") != 0) {
			free(w.at);
			w.at = steal_ptr(to);
		}
		free(steal_ptr(part));
	}
	/* somebody may have changed a link between the two looks */
	return real && !strcmp(real, w.at) ? steal_ptr(real) : NULL;
}

int named_path_check(const char *path, const char *what, struct err *e)
{
	const char *why = why_not(path);

	return why ? err_set(e, ERR_REFUSED, "%s '%s', which is %s", what, path, why) : 0;
}
