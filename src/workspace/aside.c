#include "workspace/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "jail/userns.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "sys/tree.h"

#define PLACE    "snapshots"
#define LIST     "list"
#define LIST_MAX (16u << 20)

/* A copy may be large; this only ends one that hangs. */
#define COPY_SECONDS 3600

/* A moved directory; it is named by its index in the list. */
struct moved {
	char *path;
	mode_t mode;
};

struct moved_list {
	struct moved *v;
	size_t n;
};

static void moved_release(struct moved_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct moved_list){ 0 };
}
#define auto_moved __attribute__((cleanup(moved_release))) struct moved_list

static void add_moved(struct moved_list *l, const char *path, mode_t mode)
{
	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct moved){ xstrdup(path), mode };
}

static int open_place(const struct workspace *ws)
{
	return open_beneath(ws->dir, PLACE, O_RDONLY | O_DIRECTORY, 0);
}

static char *numbered(int64_t snapshot, const char *end)
{
	return xasprintf("%lld.%s", (long long)snapshot, end);
}

/* Entries "MODE PATH", each ending in NUL. */
static int read_list(int dir, const char *name, struct moved_list *ret, struct err *e)
{
	auto_buf text = BUF_INIT(LIST_MAX);

	if (read_file(dir, name, &text, e) < 0)
		return -1;
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		char *path;
		mode_t mode = (mode_t)strtoul(text.data + at, &path, 8);

		/* an incomplete entry: the list was not finished, so nothing was moved */
		if (*path == ' ' && path[1])
			add_moved(ret, path + 1, mode & 07777);
	}
	return 0;
}

static int write_list(int dir, const struct moved_list *l, struct err *e)
{
	auto_fd fd = openat(dir, LIST, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	auto_buf text = BUF_INIT(LIST_MAX);

	for (size_t i = 0; i < l->n; i++) {
		buf_printf(&text, "%o %s", (unsigned)l->v[i].mode, l->v[i].path);
		buf_addch(&text, '\0');
	}
	if (fd < 0 || text.overflow || write_full(fd, buf_str(&text), text.len) < 0 || fsync(fd) < 0 ||
		fsync(dir) < 0)
		return err_sys(e, "cannot write down what is set aside");
	return 0;
}

/* Uses O_PATH, which needs no right to read the directory. */
static void set_mode(int dir, const char *name, mode_t mode)
{
	auto_fd fd = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);
	char path[40];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & 07777) == mode)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, mode);
}

/* A rename to another parent rewrites the directory's "..", so it needs the right to write in it. */
static int move_dir(int from, const char *name, int to, const char *new_name, mode_t mode)
{
	int rc = renameat(from, name, to, new_name), saved;

	if (rc < 0 && errno == EACCES) {
		set_mode(from, name, mode | 0700);
		rc = renameat(from, name, to, new_name);
		saved = errno;
		if (rc < 0)
			set_mode(from, name, mode);
		errno = saved;
	}
	if (!rc)
		set_mode(to, new_name, mode);
	return rc;
}

/* Opens the parent directory of a path. */
static int open_parent(int root, const char *path)
{
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));

	return open_beneath(root, parent, O_RDONLY | O_DIRECTORY, 0);
}

static int make_parent(int root, const char *path)
{
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	struct owner o = owner_inside();

	return mkdirs_beneath(root, parent, 0755, owner_is_other() ? o.uid : (uid_t)-1,
		owner_is_other() ? o.gid : (gid_t)-1);
}

static void list_modes(int root, const struct strvec *paths, struct moved_list *ret)
{
	for (size_t i = 0; i < paths->n; i++) {
		struct stat st;

		if (!lstat_beneath(root, paths->v[i], &st) && S_ISDIR(st.st_mode))
			add_moved(ret, paths->v[i], st.st_mode & 07777);
	}
}

/* A directory that cannot be moved stays in the workspace. Then the snapshot's pack stores it, or the
 * rollback reports that it cannot. */
static void move_out(int root, int aside, const struct moved_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		auto_fd parent = open_parent(root, l->v[i].path);
		auto_str number = xasprintf("%zu", i);

		if (parent >= 0)
			move_dir(parent, path_base(l->v[i].path), aside, number, l->v[i].mode);
		fault("aside-moved");
	}
}

int aside_take(struct workspace *ws, const char *tip, struct err *e)
{
	auto_fd root = workspace_files(ws), place = -1, aside = -1;
	auto_strvec paths = STRVEC_INIT;
	auto_moved l = { 0 };

	if (root < 0)
		return err_sys(e, "cannot open the workspace of task '%s'", ws->task->name);
	if (aside_find(ws, tip, &paths, e) < 0)
		return -1;
	list_modes(root, &paths, &l);
	if (!l.n)
		return 0;
	if (mkdirat(ws->dir, PLACE, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '" PLACE "' of the task");
	place = open_place(ws);
	if (place >= 0 && mkdirat(place, "aside", 0700) < 0 && errno == EEXIST)
		return 0;
	aside = place < 0 ? -1 : open_beneath(place, "aside", O_RDONLY | O_DIRECTORY, 0);
	if (aside < 0)
		return err_sys(e, "cannot make '" PLACE "/aside' of the task");
	if (write_list(aside, &l, e) < 0 || fsync(place) < 0) {
		unlinkat(aside, LIST, 0);
		unlinkat(place, "aside", AT_REMOVEDIR);
		return e->kind ? -1 : err_sys(e, "cannot write down what is set aside");
	}
	fault("aside-listed");
	move_out(root, aside, &l);
	return 0;
}

/* Splits "12.kept" into 12 and "kept"; 0 for any other name. */
static int64_t take_number(const char *name, const char **ret_end)
{
	char *end;
	int64_t n = strtoll(name, &end, 10);

	if (end == name || *end != '.' || n < 1)
		return 0;
	*ret_end = end + 1;
	return n;
}

static bool is_pending(const char *name)
{
	static const char *const ends[] = { "aside", "back", "again", "part", "copy" };
	const char *end = NULL;

	if (!strcmp(name, "aside"))
		return true;
	for (size_t i = 0; take_number(name, &end) && i < ARRAY_SIZE(ends); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

/* Collects the names first: if entries are renamed while a directory is read, readdir may return a name twice
 * or not at all. */
static int list_pending(int place, struct strvec *ret)
{
	int copy = open_beneath(place, "", O_RDONLY | O_DIRECTORY, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	if (!d)
		return fd_closep(&copy), -1;
	while ((ent = readdir(d)))
		if (is_pending(ent->d_name))
			strvec_push(ret, ent->d_name);
	closedir(d);
	/* in this order incomplete copies (N.again) are made again before anything is moved back */
	strvec_sort(ret);
	return 0;
}

bool aside_is_pending(int task_dir)
{
	auto_strvec names = STRVEC_INIT;
	auto_fd place = open_beneath(task_dir, PLACE, O_RDONLY | O_DIRECTORY, 0);

	return place >= 0 && !list_pending(place, &names) && names.n;
}

/* If there is an empty directory in its place, rename replaces it: the inside made that one, so that its
 * parents exist. */
static int put_one(int root, int dir, const char *number, const struct moved *m)
{
	auto_fd parent = open_parent(root, m->path);

	if (parent < 0 && errno == ENOENT)
		parent = make_parent(root, m->path);
	return parent < 0 ? -1 : move_dir(dir, number, parent, path_base(m->path), m->mode);
}

/* *ret_left is how many could not be moved. `stays` is the name under which the caller leaves those. */
static int put_back(struct workspace *ws, int place, const char *name, const char *stays, size_t *ret_left,
	struct strvec *stuck, struct err *e)
{
	auto_fd dir = open_beneath(place, name, O_RDONLY | O_DIRECTORY, 0), root = workspace_files(ws);
	auto_strvec paths = STRVEC_INIT, covered = STRVEC_INIT;
	auto_moved l = { 0 };

	*ret_left = 0;
	if (dir < 0 || root < 0)
		return err_sys(e, "cannot open what was set aside, or where it was");
	/* without a list, nothing was moved */
	if (read_list(dir, LIST, &l, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	for (size_t i = 0; i < l.n; i++)
		strvec_push(&paths, l.v[i].path);
	if (aside_covered(ws, &paths, &covered, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		auto_str number = xasprintf("%zu", i);
		const char *why = "something else is in its place";

		if (faccessat(dir, number, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!strvec_has(&covered, l.v[i].path)) {
			if (!put_one(root, dir, number, &l.v[i])) {
				fault("aside-returned");
				continue;
			}
			if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
				why = strerror(errno);
		}
		(*ret_left)++;
		strvec_pushf(stuck,
			"'%s' of task '%s' cannot go back (%s); it is in %s/tasks/%lld/" PLACE "/%s/%s",
			l.v[i].path, ws->task->name, why, ws->home->path, (long long)ws->task->id, stays,
			number);
	}
	return 0;
}

static int rename_in(int place, const char *from, const char *to, struct err *e)
{
	return renameat(place, from, place, to) < 0 ? err_sys(e, "cannot rename '%s' to '%s'", from, to) : 0;
}

static int settle_aside(struct workspace *ws, int place, const char *name, int64_t n, bool recorded,
	struct strvec *stuck, struct err *e)
{
	auto_str kept = numbered(n, "kept");
	size_t left;

	if (recorded)
		return rename_in(place, name, kept, e);
	if (put_back(ws, place, name, n ? kept : name, &left, stuck, e) < 0)
		return -1;
	if (!left)
		return tree_remove(place, name, e);
	/* what cannot go back becomes part of the snapshot; a rollback to that snapshot restores it */
	return n ? rename_in(place, name, kept, e) : 0;
}

/* `given` is the new name of the list, which is kept for messages; NULL if the snapshot still has the
 * files. */
static int settle_back(struct workspace *ws, int place, const char *name, const char *given,
	struct strvec *stuck, struct err *e)
{
	auto_str list = path_join(name, LIST);
	size_t left;

	if (put_back(ws, place, name, name, &left, stuck, e) < 0)
		return -1;
	if (left)
		return 0;
	if (given)
		renameat(place, list, place, given);
	return tree_remove(place, name, e);
}

/* cp -a follows no links in the tree, and shares data (reflink) if the file system can. */
static int copy_once(struct workspace *ws, int64_t n, bool any_mode, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	auto_str where = home_path(ws->home, "tasks/%lld/" PLACE, (long long)ws->task->id);
	struct proc_spec p = { .cwd = where, .seconds = COPY_SECONDS };
	auto_buf errtext = BUF_SMALL;
	int status;

	if (any_mode)
		strvec_pushl(&argv, "unshare", "--user", "--map-root-user", "--", NULL);
	strvec_pushl(&argv, "cp", "-a", "--", NULL);
	strvec_pushf(&argv, "%lld.kept", (long long)n);
	strvec_pushf(&argv, "%lld.part", (long long)n);
	strvec_pushl(&env, "PATH=" PROC_PATH, "LC_ALL=C.UTF-8", NULL);
	p.argv = argv.v;
	p.env = env.v;
	if (proc_run(&p, NULL, NULL, &errtext, &status, e) < 0)
		return -1;
	return proc_exit_code(status) ? err_set(e, ERR_FAILED, "%.*s", (int)strcspn(buf_str(&errtext), "\n"),
						buf_str(&errtext))
				      : 0;
}

/* The agent may have taken the permissions of a file or directory away. The root user of a user namespace reads
 * them anyway; it is not used at first, because it cannot keep the group of a file that another group
 * owns. */
static int copy_kept(struct workspace *ws, int place, int64_t n, struct err *e)
{
	auto_str part = numbered(n, "part");

	if (!copy_once(ws, n, false, e))
		return 0;
	if (!geteuid() || !userns_works())
		return -1;
	*e = (struct err)ERR_INIT;
	return tree_remove(place, part, e) < 0 ? -1 : copy_once(ws, n, true, e);
}

static int settle_again(
	struct workspace *ws, int place, const char *name, int64_t n, struct strvec *stuck, struct err *e)
{
	auto_str part = numbered(n, "part"), copy = numbered(n, "copy");

	if (tree_remove(place, part, e) < 0)
		return -1;
	if (copy_kept(ws, place, n, e) < 0) {
		/* reported once; the task can be used without these files */
		strvec_pushf(stuck, "what snapshot %lld of task '%s' set aside could not be copied: %s",
			(long long)n, ws->task->name, e->msg);
		*e = (struct err)ERR_INIT;
		unlinkat(place, name, 0);
		return tree_remove(place, part, e);
	}
	fault("aside-copied");
	/* an older copy that could not be moved is replaced by this one, which is equal */
	if (tree_remove(place, copy, e) < 0 || rename_in(place, part, copy, e) < 0)
		return -1;
	unlinkat(place, name, 0);
	return settle_back(ws, place, copy, NULL, stuck, e);
}

static int settle_one(struct workspace *ws, int place, const char *name, int64_t recorded,
	struct strvec *stuck, struct err *e)
{
	const char *end = name;
	int64_t n = take_number(name, &end);
	auto_str given = numbered(n, "given");

	if (!strcmp(end, "aside"))
		return settle_aside(ws, place, name, n, n && n == recorded, stuck, e);
	if (!strcmp(end, "back"))
		return settle_back(ws, place, name, given, stuck, e);
	if (!strcmp(end, "copy"))
		return settle_back(ws, place, name, NULL, stuck, e);
	if (!strcmp(end, "again"))
		return settle_again(ws, place, name, n, stuck, e);
	return tree_remove(place, name, e);
}

int aside_settle(struct workspace *ws, int64_t recorded, struct strvec *stuck, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	auto_fd place = open_place(ws);
	int rc = 0;

	if (place < 0 && errno == ENOENT)
		return 0;
	if (place < 0 || list_pending(place, &names) < 0)
		return err_sys(e, "cannot read '" PLACE "' of the task");
	fault("aside-settle");
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = settle_one(ws, place, names.v[i], recorded, stuck, e);
	return rc;
}

static int rename_if_there(struct workspace *ws, const char *from, const char *to, struct err *e)
{
	auto_fd place = open_place(ws);

	if (place < 0 || renameat(place, from, place, to) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot rename '%s' of the task", from);
	return 0;
}

int aside_number(struct workspace *ws, int64_t snapshot, struct err *e)
{
	auto_str to = numbered(snapshot, "aside");

	return rename_if_there(ws, "aside", to, e);
}

int aside_keep(struct workspace *ws, int64_t snapshot, struct err *e)
{
	auto_str from = numbered(snapshot, "aside"), to = numbered(snapshot, "kept");

	return rename_if_there(ws, from, to, e);
}

static int list_paths(struct workspace *ws, const char *name, struct strvec *ret, struct err *e)
{
	auto_fd place = open_place(ws);
	auto_moved l = { 0 };

	if (place < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot open '" PLACE "' of the task");
	if (read_list(place, name, &l, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	for (size_t i = 0; i < l.n; i++)
		strvec_push(ret, l.v[i].path);
	return 0;
}

int aside_kept(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e)
{
	auto_str name = numbered(snapshot, "kept/" LIST);

	return list_paths(ws, name, ret, e);
}

int aside_given(struct workspace *ws, int64_t snapshot, struct strvec *ret, struct err *e)
{
	auto_str name = numbered(snapshot, "given");

	return list_paths(ws, name, ret, e);
}

bool aside_is_undone(int task_dir, int64_t snapshot)
{
	auto_str back = xasprintf(PLACE "/%lld.back", (long long)snapshot);

	return !faccessat(task_dir, back, F_OK, AT_SYMLINK_NOFOLLOW);
}

int aside_return(struct workspace *ws, int64_t snapshot, bool copy, struct err *e)
{
	auto_str kept = numbered(snapshot, "kept"), back = numbered(snapshot, "back"),
		 again = numbered(snapshot, "again");
	auto_fd place = open_place(ws);

	if (place < 0 || faccessat(place, kept, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return copy ? write_file(place, again, "", 0, 0600, e) : rename_in(place, kept, back, e);
}
