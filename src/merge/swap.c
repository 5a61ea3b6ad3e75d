#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "merge/update.h"
#include "sys/fault.h"
#include "sys/fd.h"

/* Opens the parent directory of a path below root; -1 and errno. */
static int parent_of(int root, const char *path)
{
	auto_str dir = xstrndup(path, (size_t)(path_base(path) - path));

	return open_beneath(root, dir, O_PATH | O_DIRECTORY, 0);
}

static int make_parent(int root, const char *path)
{
	auto_str dir = xstrndup(path, (size_t)(path_base(path) - path));

	return mkdirs_beneath(root, dir, 0777, (uid_t)-1, (gid_t)-1);
}

/* Moves a file to a name that must be free. */
static int move_new(int a, const char *name_a, int b, const char *name_b)
{
	if (!renameat2(a, name_a, b, name_b, RENAME_NOREPLACE))
		return 0;
	/* the file system does not support RENAME_NOREPLACE */
	if ((errno != EINVAL && errno != ENOSYS) || linkat(a, name_a, b, name_b, 0) < 0)
		return -1;
	return unlinkat(a, name_a, 0);
}

int swap_files(int a, const char *name_a, int b, const char *name_b, int spare_dir, const char *spare)
{
	if (!renameat2(a, name_a, b, name_b, RENAME_EXCHANGE))
		return 0;
	if ((errno != EINVAL && errno != ENOSYS) || move_new(b, name_b, spare_dir, spare) < 0)
		return -1;
	if (!move_new(a, name_a, b, name_b))
		return move_new(spare_dir, spare, a, name_a);
	move_new(spare_dir, spare, b, name_b);
	return -1;
}

/* The directories and names for one edit. */
struct at {
	int top, tree, gone; /* directory descriptors; the edits share `gone` */
	const char *name;
	char number[24]; /* its name in `gone` */
};

static void at_close(struct at *at)
{
	fd_closep(&at->top);
	fd_closep(&at->tree);
	fd_closep(&at->gone);
}
#define auto_at __attribute__((cleanup(at_close))) struct at

static void at_open(struct update *u, size_t i, bool make, struct at *ret)
{
	const struct edit *x = &u->edits.v[i];
	auto_str staged = path_join("tree", x->path);

	ret->top = make ? make_parent(u->top, x->path) : parent_of(u->top, x->path);
	ret->tree = x->kind == EDIT_REMOVE ? -1 : parent_of(u->files_fd, staged);
	ret->gone = open_beneath(u->files_fd, "gone", O_PATH | O_DIRECTORY, 0);
	ret->name = path_base(x->path);
	snprintf(ret->number, sizeof(ret->number), "%zu", i);
}

static bool has_mark(int dir, const char *name, const struct mark *want)
{
	struct mark m;

	return dir >= 0 && !mark_take(dir, name, &m) && mark_same(&m, want);
}

static bool is_there(int dir, const char *name)
{
	struct mark m;

	return dir >= 0 && !mark_take(dir, name, &m);
}

/* Removes the directories that a removed file leaves empty, except the first `kept` bytes of the path. */
static void drop_empty(int top, const char *path, size_t kept)
{
	auto_str dir = xstrdup(path);
	char *slash;

	while ((slash = strrchr(dir, '/')) && (size_t)(slash - dir) > kept) {
		auto_fd above = -1;

		*slash = '\0';
		above = parent_of(top, dir);
		if (above < 0 || unlinkat(above, path_base(dir), AT_REMOVEDIR) < 0)
			return;
	}
}

/* Returns 0, 1 if the user's file has changed, or -1 and errno. */
static int swap_one(struct update *u, size_t i)
{
	const struct edit *x = &u->edits.v[i];
	auto_at at = { -1, -1, -1, NULL, "" };

	at_open(u, i, x->kind == EDIT_ADD, &at);
	if (at.top < 0)
		return errno == ELOOP || errno == ENOTDIR || errno == ENOENT || errno == EEXIST ? 1 : -1;
	switch (x->kind) {
	case EDIT_ADD:
		if (move_new(at.tree, at.name, at.top, at.name) < 0)
			return errno == EEXIST ? 1 : -1;
		return 0;
	case EDIT_REPLACE:
		if (swap_files(at.tree, at.name, at.top, at.name, at.gone, at.number) < 0)
			return errno == ENOENT ? 1 : -1;
		if (has_mark(at.tree, at.name, &x->was))
			return 0;
		swap_files(at.tree, at.name, at.top, at.name, at.gone, at.number);
		return 1;
	case EDIT_REMOVE:
		if (move_new(at.top, at.name, at.gone, at.number) < 0)
			return errno == ENOENT ? 1 : -1;
		if (!has_mark(at.gone, at.number, &x->was))
			return move_new(at.gone, at.number, at.top, at.name), 1;
		drop_empty(u->top, x->path, 0);
		return 0;
	case EDIT_FORGET:
	case EDIT_LINK:
		break;
	}
	return 0;
}

/* Removals come first, so that a directory can replace a file and a file a directory. */
static int swap_kind(struct update *u, enum edit_kind kind, struct strvec *in_the_way, struct err *e)
{
	for (size_t i = 0; i < u->edits.n; i++) {
		const char *path = u->edits.v[i].path;
		int rc;

		if (u->edits.v[i].kind != kind)
			continue;
		rc = swap_one(u, i);
		if (rc < 0)
			return err_sys(e, "cannot put '%s' into its place", path);
		if (rc) {
			strvec_push(in_the_way, path);
			return err_set(e, ERR_CONFLICT, "'%s' was changed just now", path);
		}
		fault("merge-half");
	}
	return 0;
}

int update_swap(struct update *u, struct strvec *in_the_way, struct err *e)
{
	if (swap_kind(u, EDIT_REMOVE, in_the_way, e) < 0 || swap_kind(u, EDIT_REPLACE, in_the_way, e) < 0)
		return -1;
	return swap_kind(u, EDIT_ADD, in_the_way, e);
}

/* A file that is not the one that the update put there is the user's: it stays. */
static bool back_one(struct update *u, size_t i)
{
	const struct edit *x = &u->edits.v[i];
	auto_at at = { -1, -1, -1, NULL, "" };

	at_open(u, i, false, &at);
	switch (x->kind) {
	case EDIT_ADD:
		if (at.tree < 0 || is_there(at.tree, at.name))
			return true;
		if (!has_mark(at.top, at.name, &x->now))
			return !is_there(at.top, at.name);
		if (move_new(at.top, at.name, at.tree, at.name) < 0)
			return false;
		drop_empty(u->top, x->path, x->kept);
		return true;
	case EDIT_REPLACE:
		/* without an atomic exchange, the crash may have come in the middle of one */
		if (is_there(at.gone, at.number)) {
			if (has_mark(at.top, at.name, &x->now))
				move_new(at.top, at.name, at.tree, at.name);
			return at.top >= 0 && !move_new(at.gone, at.number, at.top, at.name);
		}
		if (has_mark(at.tree, at.name, &x->now) || !is_there(at.tree, at.name))
			return true;
		return has_mark(at.top, at.name, &x->now) &&
		       !swap_files(at.tree, at.name, at.top, at.name, at.gone, at.number);
	case EDIT_REMOVE:
		if (!is_there(at.gone, at.number))
			return true;
		fd_closep(&at.top);
		at.top = make_parent(u->top, x->path);
		return at.top >= 0 && !move_new(at.gone, at.number, at.top, at.name);
	case EDIT_FORGET:
	case EDIT_LINK:
		break;
	}
	return true;
}

void swap_back(struct update *u, struct strvec *left)
{
	static const enum edit_kind order[] = { EDIT_ADD, EDIT_REPLACE, EDIT_REMOVE };

	for (size_t k = 0; k < ARRAY_SIZE(order); k++)
		for (size_t i = u->edits.n; i-- > 0;)
			if (u->edits.v[i].kind == order[k] && !back_one(u, i))
				strvec_push(left, u->edits.v[i].path);
}
