#include "merge/update.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/content.h"
#include "git/lfs.h"
#include "merge/git_commands.h"
#include "merge/sparse.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define BESIDE    "garth-merge"
#define ELSEWHERE ".garth-merge"
#define OURS      "garth merge\n"

static int open_dir(const char *path, int *ret, struct err *e)
{
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret < 0 ? err_sys(e, "cannot open '%s'", path) : 0;
}

/* In the checkout a commit may have a link or a directory of this name. *is_new: whether it has to be new; then, whether it
 * was. */
static int make_dir(const char *path, bool *is_new, int *ret, struct err *e)
{
	bool must_be_new = *is_new;

	*is_new = !mkdir(path, 0700);
	if (!*is_new && (must_be_new || errno != EEXIST))
		return err_sys(e, "cannot make '%s'", path);
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret < 0 ? err_sys(e, "cannot open '%s'", path) : 0;
}

int update_open(struct update *u, const struct repo *r, const struct branch_checkout *p, struct err *e)
{
	struct stat top, admin;
	bool is_new = false;

	u->repo = r;
	u->place = p;
	if (open_dir(p->top, &u->top, e) < 0 || open_dir(p->admin, &u->admin, e) < 0)
		return -1;
	if (fstat(u->top, &top) < 0 || fstat(u->admin, &admin) < 0)
		return err_sys(e, "cannot look at '%s'", p->top);
	u->beside = path_join(p->admin, BESIDE);
	u->index = path_join(u->beside, "index");
	u->files = top.st_dev == admin.st_dev ? path_join(u->beside, "files") : path_join(p->top, ELSEWHERE);
	/* after a crash both are there; the one in the checkout is removed first */
	return make_dir(u->beside, &is_new, &u->beside_fd, e) < 0 ||
			       make_dir(u->files, &is_new, &u->files_fd, e) < 0
		       ? -1
		       : 0;
}

/* Takes git's own lock, which keeps every git from writing the index. Its content shows that it is ours. */
static int lock_index(struct update *u, struct err *e)
{
	auto_fd fd = -1;

	if (write_file(u->beside_fd, "lock", OURS, strlen(OURS), 0600, e) < 0)
		return -1;
	if (!linkat(u->beside_fd, "lock", u->admin, "index.lock", 0)) {
		u->locked = true;
		return 0;
	}
	if (errno != EEXIST)
		fd = openat(u->admin, "index.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_BUSY, "another git command is at work in '%s' (%s/index.lock)",
			u->place->top, u->place->admin);
	if (fd < 0 || write_full(fd, OURS, strlen(OURS)) < 0)
		return err_sys(e, "cannot lock the index in '%s'", u->place->admin);
	u->locked = true;
	return 0;
}

static void unlock_index(struct update *u)
{
	auto_buf text = BUF_INIT(sizeof(OURS));
	struct err ignored = ERR_INIT;

	if (u->admin >= 0 && !read_file(u->admin, "index.lock", &text, &ignored) &&
		!strcmp(buf_str(&text), OURS))
		unlinkat(u->admin, "index.lock", 0);
	u->locked = false;
}

/* A split index has a file sharedindex.<id>. */
static bool is_split(const char *admin)
{
	DIR *d = opendir(admin);
	struct dirent *ent;
	bool found = false;

	while (d && !found && (ent = readdir(d)))
		found = !strncmp(ent->d_name, "sharedindex.", 12);
	if (d)
		closedir(d);
	return found;
}

/* A sparse index becomes a complete one, which can be read here; update_index folds it again. */
static int unfold_index(struct update *u, const struct verb_place *p, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);

	if (read_file(u->beside_fd, "index", &index, e) < 0)
		return -1;
	u->folded = sparse_is_folded(&index);
	return u->folded ? verb_fold(p, false, e) : 0;
}

/* git uses the index' own time to decide which stat data it can trust, so the copy gets the same time. */
static int copy_index(struct update *u, struct err *e)
{
	auto_fd from = openat(u->admin, "index", O_RDONLY | O_CLOEXEC), to = -1;
	struct verb_place p = { u->place->admin, u->place->top, u->index, u->repo };
	struct stat st;

	if (from < 0 && errno == ENOENT)
		return err_set(e, ERR_CONFLICT, "'%s' has no index", u->place->top);
	if (from < 0 || fstat(from, &st) < 0)
		return err_sys(e, "cannot open the index of '%s'", u->place->top);
	to = openat(u->beside_fd, "index", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 0777);
	if (to < 0)
		return err_sys(e, "cannot write '%s'", u->index);
	if (copy_fd(from, to, e) < 0)
		return err_wrap(e, "the index of '%s'", u->place->top);
	if (futimens(to, (struct timespec[2]){ st.st_atim, st.st_mtim }) < 0)
		return err_sys(e, "cannot write '%s'", u->index);
	if (is_split(u->place->admin) && verb_unsplit(&p, e) < 0)
		return -1;
	return unfold_index(u, &p, e);
}

int update_check(struct update *u, const char *branch, const char *from, const char *to,
	struct strvec *in_the_way, struct err *e)
{
	auto_buf index = BUF_INIT(1u << 30);
	struct stat st;

	/* under the lock no merge, rebase or switch can start */
	if (lock_index(u, e) < 0 || branch_checkout_check(u->place, branch, e) < 0)
		return -1;
	if (edits_load(u->repo, from, to, &u->edits, e) < 0 || copy_index(u, e) < 0 ||
		content_check(u->repo, u->index, e) < 0 || read_file(u->beside_fd, "index", &index, e) < 0)
		return -1;
	if (fstatat(u->beside_fd, "index", &st, 0) < 0)
		return err_sys(e, "cannot look at '%s'", u->index);
	return check_paths(u, &index, &st, in_the_way, e);
}

/* Removed entries come first: an added path may be the parent of a removed one, or the other way round. */
static void index_info(const struct edits *c, struct buf *out, struct buf *paths, size_t *n)
{
	for (int kept = 0; kept < 2; kept++)
		for (size_t i = 0; i < c->n; i++) {
			const struct edit *x = &c->v[i];

			if ((x->new_mode != 0) != kept)
				continue;
			buf_printf(out, "%o %s\t%s", x->new_mode, x->new_oid, x->path);
			buf_addch(out, '\0');
			if (kept && !x->skipped && x->kind != EDIT_LINK)
				buf_add(paths, x->path, strlen(x->path) + 1), ++*n;
		}
}

static int mark_staged(struct update *u, struct err *e)
{
	for (size_t i = 0; i < u->edits.n; i++) {
		struct edit *x = &u->edits.v[i];
		auto_str staged = path_join("tree", x->path);
		struct stat st;

		if (!x->new_mode || x->skipped || x->kind == EDIT_LINK)
			continue;
		if (lstat_beneath(u->files_fd, staged, &st) < 0)
			return err_sys(e, "git did not write '%s'", x->path);
		x->now = mark_of(&st);
	}
	return 0;
}

static int skip_files(struct update *u, const struct verb_place *p, struct err *e)
{
	auto_buf paths = BUF_INIT(1u << 30);

	for (size_t i = 0; i < u->edits.n; i++)
		if (u->edits.v[i].skipped && u->edits.v[i].new_mode)
			buf_add(&paths, u->edits.v[i].path, strlen(u->edits.v[i].path) + 1);
	return paths.len ? verb_skip(p, &paths, e) : 0;
}

/* files/tree is the working tree for a moment, so attributes come from the new index alone. */
int update_stage(struct update *u, struct err *e)
{
	auto_str tree = path_join(u->files, "tree");
	struct verb_place p = { u->place->admin, tree, u->index, u->repo };
	auto_buf entries = BUF_INIT(1u << 30), paths = BUF_INIT(1u << 30);
	size_t n = 0;

	index_info(&u->edits, &entries, &paths, &n);
	if (entries.overflow || paths.overflow)
		return err_set(e, ERR_FAILED, "too many files change at once");
	if (mkdirat(u->files_fd, "tree", 0777) < 0 || mkdirat(u->files_fd, "gone", 0700) < 0)
		return err_sys(e, "cannot make '%s'", tree);
	if (verb_index_info(&p, &entries, e) < 0 || skip_files(u, &p, e) < 0 ||
		(n && (verb_write_files(&p, &paths, e) < 0 || verb_fill_lfs(&p, &paths, &u->lfs, e) < 0)) ||
		mark_staged(u, e) < 0)
		return -1;
	return edits_write(u->beside_fd, &u->edits, e);
}

struct marks {
	struct mark old_index, new_index;
};

/* The marks tell which of the two indexes is in place. */
static int put_index(struct update *u, struct err *e)
{
	struct marks m;

	if (mark_take(u->admin, "index", &m.old_index) < 0 ||
		mark_take(u->beside_fd, "index", &m.new_index) < 0)
		return err_sys(e, "cannot look at the index of '%s'", u->place->top);
	if (write_file(u->beside_fd, "marks", &m, sizeof(m), 0600, e) < 0)
		return -1;
	if (swap_files(u->beside_fd, "index", u->admin, "index", u->beside_fd, "index.spare") < 0)
		return err_sys(e, "cannot put the index of '%s' into its place", u->place->top);
	return 0;
}

/* Whether the file is the one that was put there. */
static bool is_placed(const char *path, const struct stat *st, void *arg)
{
	const struct update *u = arg;
	const struct edit *x = edits_find(&u->edits, path, strlen(path));
	struct mark m = mark_of(st);

	return x && mark_same(&m, &x->now);
}

int update_index(struct update *u, struct err *e)
{
	struct verb_place p = { u->place->admin, u->place->top, u->index, u->repo };
	auto_buf ignored = BUF_INIT(1u << 30), paths = BUF_INIT(1u << 30);
	size_t n = 0;

	index_info(&u->edits, &ignored, &paths, &n);
	if ((n && verb_refresh(&p, &paths, n, e) < 0) ||
		lfs_stamp(u->repo, u->index, u->top, u->place->top, &u->lfs, is_placed, u, e) < 0 ||
		(u->folded && verb_fold(&p, true, e) < 0))
		return -1;
	return put_index(u, e);
}

static bool index_back(struct update *u)
{
	auto_buf text = BUF_INIT(sizeof(struct marks));
	struct err ignored = ERR_INIT;
	struct mark beside, placed;
	struct marks m;

	if (read_file(u->beside_fd, "marks", &text, &ignored) < 0 || text.len != sizeof(m))
		return true;
	memcpy(&m, text.data, sizeof(m));
	if (!mark_take(u->beside_fd, "index.spare", &beside) && mark_take(u->admin, "index", &placed) < 0)
		return !renameat(u->beside_fd, "index.spare", u->admin, "index");
	if (mark_take(u->beside_fd, "index", &beside) < 0 || !mark_same(&beside, &m.old_index))
		return true;
	return !mark_take(u->admin, "index", &placed) && mark_same(&placed, &m.new_index) &&
	       !swap_files(u->beside_fd, "index", u->admin, "index", u->beside_fd, "index.spare");
}

/* Files that were moved away and back have a new ctime, which the index does not have yet. */
static void refresh_old(struct update *u)
{
	auto_str index = path_join(u->place->admin, "index");
	struct verb_place p = { u->place->admin, u->place->top, index, u->repo };
	auto_buf paths = BUF_INIT(1u << 30);
	struct err ignored = ERR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < u->edits.n; i++)
		if (u->edits.v[i].kind != EDIT_ADD && u->edits.v[i].kind != EDIT_LINK)
			buf_add(&paths, u->edits.v[i].path, strlen(u->edits.v[i].path) + 1), n++;
	if (n)
		verb_refresh(&p, &paths, n, &ignored);
}

void update_revert(struct update *u, struct strvec *left)
{
	struct err ignored = ERR_INIT;

	if (!u->edits.n && edits_read(u->beside_fd, &u->edits, &ignored) < 0)
		return;
	swap_back(u, left);
	if (!index_back(u))
		strvec_push(left, "the index");
	unlock_index(u);
	refresh_old(u);
}

void update_close(struct update *u)
{
	struct err ignored = ERR_INIT;

	unlock_index(u);
	if (u->files_fd >= 0 && !path_within(u->files, u->beside))
		tree_remove(u->top, ELSEWHERE, &ignored);
	if (u->beside_fd >= 0)
		tree_remove(u->admin, BESIDE, &ignored);
	edits_release(&u->edits);
	strvec_release(&u->lfs);
	free(u->beside);
	free(u->files);
	free(u->index);
	fd_closep(&u->top);
	fd_closep(&u->admin);
	fd_closep(&u->beside_fd);
	fd_closep(&u->files_fd);
	*u = (struct update)UPDATE_INIT;
}
