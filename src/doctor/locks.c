/*
 * Locks of git on refs whose git was killed, or whose machine stopped: no git removes them, and each that needs one fails.
 * The one of all refs may belong to the user's own git, so that a person decides. Those of Garth's own refs are removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "sys/tree.h"

/* In seconds; a git that has such a lock needs it for much less. */
#define OLD 600

static bool is_left(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_mtime < time(NULL) - OLD;
}

static int mend(struct context *c, struct finding *f, struct err *e)
{
	struct stat st;

	(void)c;
	if (lstat(f->path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot look at '%s'", f->path);
	if (!is_left(&st))
		return err_set(e, ERR_BUSY, "a git has it now");
	return unlink(f->path) < 0 ? err_sys(e, "cannot remove '%s'", f->path) : 0;
}

static struct finding *report(const char *path, struct findings *out)
{
	return finding_add(
		out, "lock-left", path, "a git that was killed left this lock: each git that needs it fails");
}

struct look {
	const char *top; /* the directory that is walked */
	struct findings *out;
};

static enum tree_next look_at(const struct tree_entry *t, void *arg, struct err *e)
{
	size_t n = strlen(t->name), suffix = strlen(".lock");
	const struct look *l = arg;
	struct finding *f;

	(void)e;
	if (n > suffix && !strcmp(t->name + n - suffix, ".lock") && is_left(&t->st)) {
		auto_str path = path_join(l->top, t->path);

		f = report(path, l->out);
		f->path = steal_ptr(path);
		finding_mend(f, mend, "remove it");
	}
	return TREE_ON;
}

static void look_into(const char *git_dir, struct findings *out)
{
	static const char *const all[] = { "packed-refs.lock", "reftable/tables.list.lock" };
	static const char *const ours[] = { "refs/garth", "refs/heads/garth" };
	struct err ignored = ERR_INIT;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_str path = path_join(git_dir, all[i]), quoted = finding_quoted(path);

		if (!lstat(path, &st) && is_left(&st))
			finding_hint(report(path, out), "rm %s", quoted);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		auto_str top = path_join(git_dir, ours[i]);
		auto_fd dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		struct look l = { top, out };

		if (dir >= 0)
			tree_walk(dir, look_at, &l, &ignored);
	}
}

int locks_look(struct survey *s, struct findings *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < s->n; i++) {
		if (!s->v[i].open)
			continue;
		look_into(s->v[i].repo.git_dir, out);
		for (size_t j = 0; j < s->v[i].submodules.n; j++)
			look_into(s->v[i].submodules.v[j], out);
	}
	return 0;
}
