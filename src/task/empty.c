#include "task/empty.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/run.h"
#include "sys/lock.h"
#include "workspace/workspace.h"

/* A commit without files; it has the same id in every home. */
#define START                                                                                                \
	"tree %s\nauthor garth <garth@localhost> 0 +0000\ncommitter garth <garth@localhost> 0 +0000\n\nnothing\n"

static int hash(const struct git *g, const char *type, const struct buf *text, struct buf *out, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "hash-object", "-w", "--stdin", "-t", type, NULL);
	if (git_run(g, &args, text, out, e) < 0)
		return -1;
	out->data[strcspn(buf_str(out), "\n")] = '\0';
	return 0;
}

static int fill(const char *git_dir, struct err *e)
{
	struct git g = { .dir = git_dir };
	auto_buf none = BUF_SMALL, tree = BUF_SMALL, commit = BUF_SMALL, oid = BUF_SMALL;

	if (hash(&g, "tree", &none, &tree, e) < 0)
		return -1;
	buf_printf(&commit, START, tree.data);
	if (hash(&g, "commit", &commit, &oid, e) < 0)
		return -1;
	/* written last: it makes the repository complete */
	return git_do(&g, NULL, e, "update-ref", "refs/heads/main", oid.data, NULL);
}

int empty_refuse(const struct task *t, struct err *e)
{
	if (backend_of(t)->has_git)
		return 0;
	err_set(e, ERR_REFUSED, "task '%s' has no repository", t->name);
	return err_hint(e, "garth export %s DIR", t->name);
}

int empty_repository(struct context *c, char **ret, struct err *e)
{
	auto_str path = path_join(c->home.path, "empty"), git_dir = path_join(path, ".git"),
		 tip = path_join(git_dir, "refs/heads/main");
	struct git g = { .cwd = c->home.path };
	auto_lock lock = -1;

	if (access(tip, F_OK) < 0) {
		if (lock_take(c->home.fd, "empty.lock", true, &lock, e) < 0)
			return -1;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_sys(e, "cannot make '%s'", path);
		if (git_do(&g, NULL, e, "init", "--quiet", "--template=", "--initial-branch=main", "--", path,
			    NULL) < 0 ||
			fill(git_dir, e) < 0)
			return -1;
	}
	*ret = steal_ptr(path);
	return 0;
}
