#include "git/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/scratch_parts.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"

#define TREE_REF     "refs/heads/workspace"
#define USER_IGNORES "info/user-ignores"
#define PENDING_FULL (256 << 10)
#define CHECK_MAX    (64 << 20)
/* It lives for one command: nothing is compressed or flushed to the disk, and what fast-import wrote stays as it
 * is. Without the last one, git reads, hashes and writes all of it once more if there are few objects. */
#define QUICK "\tfsync = none\n\tcompression = 0\n[fastimport]\n\tunpackLimit = 0\n"

struct git scratch_git(const struct scratch *s)
{
	int64_t left = s->deadline ? (s->deadline - clock_ms() + 999) / 1000 : 600;

	/* in our own directory, because git reads .gitattributes in the current one */
	return (struct git){ .dir = s->dir, .cwd = s->dir, .seconds = left > 1 ? (unsigned)left : 1 };
}

static int make_skeleton(struct scratch *s, int dir, struct err *e)
{
	static const char *const dirs[] = { "objects", "objects/info", "objects/pack", "refs", "refs/heads",
		"info", "wt" };
	auto_buf alternates = BUF_SMALL, exclude = BUF_INIT(1 << 20), shallow = BUF_INIT(REPO_SHALLOW_MAX),
		 attributes = BUF_INIT(REPO_ATTRIBUTES_MAX);
	const char *config = s->repo->hash_len == 32 ? "[core]\n\trepositoryformatversion = 1\n" QUICK
						       "[extensions]\n\tobjectformat = sha256\n"
						     : "[core]\n\trepositoryformatversion = 0\n" QUICK;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (mkdirat(dir, dirs[i], 0700) < 0)
			return err_sys(e, "cannot make a scratch repository");
	for (size_t i = 0; i < s->repo->objects.n; i++)
		buf_printf(&alternates, "%s\n", s->repo->objects.v[i]);
	if (repo_part(s->repo, "info/exclude", &exclude, e) < 0 || repo_shallow(s->repo, &shallow, e) < 0 ||
		repo_attributes(s->repo, &attributes, e) < 0)
		return -1;
	/* beside the working tree: only scratch_convert.c uses them, never what a reviewer sees */
	if (attributes.len &&
		write_file(dir, SCRATCH_ATTRIBUTES, attributes.data, attributes.len, 0600, e) < 0)
		return -1;
	if (shallow.len && write_file(dir, "shallow", shallow.data, shallow.len, 0600, e) < 0)
		return -1;
	if (write_file(dir, "HEAD", "ref: " TREE_REF "\n", strlen("ref: " TREE_REF "\n"), 0600, e) < 0 ||
		write_file(dir, "config", config, strlen(config), 0600, e) < 0 ||
		write_file(dir, "info/exclude", buf_str(&exclude), exclude.len, 0600, e) < 0 ||
		write_file(dir, "objects/info/alternates", buf_str(&alternates), alternates.len, 0600, e) < 0)
		return -1;
	return 0;
}

/* A process that creates one takes its lock a moment later. If it is stopped in between for longer than this, it fails. */
#define YOUNG_SECONDS 60
#define LOCK_SECONDS  5

/* Whether a dead process left it. A young one without a lock may be one that another process is creating. */
static bool is_left(int scratch, const char *name)
{
	auto_str lock = path_join(name, "lock");
	bool has_lock = !faccessat(scratch, lock, F_OK, AT_SYMLINK_NOFOLLOW);
	struct stat st;

	return name[0] != '.' && !fstatat(scratch, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       !lock_is_held(scratch, lock) &&
	       st.st_mtime < time(NULL) - (has_lock ? LOCK_SECONDS : YOUNG_SECONDS);
}

int scratch_sweep(int home, bool remove, struct strvec *ret, struct err *e)
{
	int fd = openat(home, "scratch", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	int rc = 0;

	if (!d) {
		fd_closep(&fd);
		return err_sys(e, "cannot read 'scratch' in the Garth home");
	}
	while (!rc && (ent = readdir(d))) {
		if (!is_left(fd, ent->d_name))
			continue;
		if (ret)
			strvec_push(ret, ent->d_name);
		rc = remove ? tree_remove(fd, ent->d_name, e) : 0;
	}
	closedir(d);
	return rc;
}

int scratch_open(const struct repo *r, int home, const char *home_path, struct scratch *ret, struct err *e)
{
	auto_scratch s = { .repo = r, .stream = -1, .lock = -1, .pending = BUF_INIT(1 << 20) };
	struct err ignored = ERR_INIT;
	uint64_t key = 0;
	auto_fd dir = -1;
	char name[24];

	s.parent = openat(home, "scratch", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (s.parent < 0)
		return err_sys(e, "cannot open '%s/scratch'", home_path);
	scratch_sweep(home, true, NULL, &ignored);
	(void)!getrandom(&key, sizeof(key), 0);
	snprintf(name, sizeof(name), "%016llx", (unsigned long long)key);
	if (mkdirat(s.parent, name, 0700) < 0)
		return err_sys(e, "cannot make a directory in '%s/scratch'", home_path);
	s.dir = xasprintf("%s/scratch/%s", home_path, name);
	dir = openat(s.parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(e, "cannot open '%s'", s.dir);
	if (lock_take(dir, "lock", false, &s.lock, e) < 0 || make_skeleton(&s, dir, e) < 0)
		return -1;
	*ret = s;
	s = (struct scratch)SCRATCH_INIT;
	return 0;
}

void scratch_release(struct scratch *s)
{
	struct err ignored = ERR_INIT;

	fd_closep(&s->stream);
	buf_release(&s->pending);
	strvec_release(&s->converted);
	strvec_release(&s->executable);
	free(s->base);
	if (s->dir)
		tree_remove(s->parent, path_base(s->dir), &ignored);
	lock_drop(&s->lock);
	fd_closep(&s->parent);
	free(s->dir);
	*s = (struct scratch)SCRATCH_INIT;
}

struct ignores {
	struct scratch *scratch;
	const struct strvec *paths;
};

static int add_ignore(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	const struct ignores *n = arg;

	return scratch_add_rules(n->scratch, n->paths->v[i], data, len, e);
}

int scratch_base_rules(struct scratch *s, const char *base, const struct strvec *paths, struct err *e)
{
	auto_strvec names = STRVEC_INIT;
	struct git g = scratch_git(s);

	for (size_t i = 0; i < paths->n; i++)
		strvec_pushf(&names, "%s:%s", base, paths->v[i]);
	return blob_read(&g, &names, add_ignore, &(struct ignores){ s, paths }, e);
}

int scratch_add_rules(struct scratch *s, const char *path, const char *text, size_t len, struct err *e)
{
	auto_str root = path_join(s->dir, "wt");
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd dir = top < 0 ? -1 : mkdirs_beneath(top, parent, 0700, (uid_t)-1, (gid_t)-1);

	/* the base has an ignore file where the workspace has a directory now, or the other way round */
	if (dir < 0)
		return top >= 0 && (errno == ENOTDIR || errno == ELOOP)
			       ? 0
			       : err_sys(e, "cannot make a scratch directory");
	if (write_file(dir, path_base(path), text, len, 0600, e) < 0)
		return e->sys == EISDIR || e->sys == ENOTEMPTY || e->sys == EEXIST ? 0 : -1;
	return 0;
}

int scratch_user_ignores(struct scratch *s, const char *text, size_t len, struct err *e)
{
	auto_str path = path_join(s->dir, USER_IGNORES);

	return write_file(AT_FDCWD, path, text, len, 0600, e);
}

int scratch_ignored(
	struct scratch *s, const struct buf *paths, unsigned seconds, struct buf *out, struct err *e)
{
	auto_str root = path_join(s->dir, "wt");
	auto_buf errtext = BUF_SMALL;
	struct git g = scratch_git(s);
	auto_strvec args = STRVEC_INIT;
	int code, rc;

	if (!paths->len)
		return 0;
	g.work_tree = root;
	g.cwd = root;
	if (seconds < g.seconds)
		g.seconds = seconds;
	strvec_push(&args, "-c");
	strvec_pushf(&args, "core.excludesFile=%s/" USER_IGNORES, s->dir);
	strvec_pushl(&args, "check-ignore", "-z", "--stdin", "--no-index", NULL);
	rc = git_try(&g, &args, paths, out, &errtext, &code, e);
	/* the answers before the time limit are valid, but the last name may be cut off */
	while (out->len && out->data[out->len - 1])
		buf_cut(out, out->len - 1);
	if (rc < 0)
		return -1;
	/* 1 means that no path is ignored */
	return code > 1 ? err_set(e, ERR_FAILED, "git check-ignore: %.*s",
				  (int)strcspn(buf_str(&errtext), "\n"), buf_str(&errtext))
			: 0;
}

int scratch_added(struct scratch *s, const char *from, const char *to, struct buf *out, struct err *e)
{
	struct git g = scratch_git(s);

	return git_do(&g, out, e, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A",
		from, to, "--", NULL);
}

int scratch_sizes(
	struct scratch *s, const char *commit, const struct strvec *paths, int64_t *ret, struct err *e)
{
	auto_buf ask = BUF_INIT(CHECK_MAX), out = BUF_INIT(CHECK_MAX);
	struct git g = scratch_git(s);
	auto_strvec args = STRVEC_INIT;
	const char *line;

	for (size_t i = 0; i < paths->n; i++)
		buf_printf(&ask, "%s:%s\n", commit, strchr(paths->v[i], '\n') ? "" : paths->v[i]);
	if (ask.overflow)
		return memset(ret, 0, paths->n * sizeof(*ret)), 0;
	strvec_pushl(&args, "cat-file", "--batch-check=%(objectsize)", "--buffer", NULL);
	if (git_run(&g, &args, &ask, &out, e) < 0)
		return -1;
	line = buf_str(&out);
	/* a number, or "COMMIT:PATH missing" */
	for (size_t i = 0; i < paths->n; i++) {
		size_t n = strcspn(line, "\n");

		ret[i] = strchr(paths->v[i], '\n') ? 0 : strspn(line, "0123456789") == n ? atoll(line) : -1;
		line += n + (line[n] == '\n');
	}
	return 0;
}

static int flush(struct scratch *s, struct err *e)
{
	if (s->pending.len && write_full(s->stream, s->pending.data, s->pending.len) < 0)
		return err_sys(e, "cannot write to '%s'", s->dir);
	buf_reset(&s->pending);
	return 0;
}

/* Many small files go in one write. The buffer has room for a chunk and the longest path beyond this. */
static int flush_full(struct scratch *s, struct err *e)
{
	return s->pending.len > PENDING_FULL ? flush(s, e) : 0;
}

/* Writes a path in fast-import's quoting: always quoted, so that no name can end the line. */
static void add_path(struct buf *b, const char *path)
{
	buf_addch(b, '"');
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			buf_printf(b, "\\%c", *path);
		else if (*path == '\n')
			buf_addstr(b, "\\n");
		else
			buf_addch(b, *path);
	}
	buf_addstr(b, "\"\n");
}

int scratch_begin(struct scratch *s, const char *base, struct err *e)
{
	auto_str path = path_join(s->dir, "stream");

	s->base = xstrdup(base);
	s->stream = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->stream < 0)
		return err_sys(e, "cannot make '%s'", path);
	buf_printf(
		&s->pending, "commit %s\ncommitter garth <garth> 0 +0000\ndata 0\nfrom %s\n", TREE_REF, base);
	return 0;
}

int scratch_file(struct scratch *s, const char *path, bool executable, int fd, uint64_t size, struct err *e)
{
	char chunk[65536];

	buf_printf(&s->pending, "M %s inline ", executable ? "100755" : "100644");
	add_path(&s->pending, path);
	buf_printf(&s->pending, "data %llu\n", (unsigned long long)size);
	/* If the file shrinks or grows meanwhile, exactly the announced size is written. */
	while (size) {
		size_t want = size < sizeof(chunk) ? (size_t)size : sizeof(chunk);
		ssize_t n = read_full(fd, chunk, want);

		if (n < 0)
			return err_sys(e, "cannot read '%s'", path);
		if ((size_t)n < want)
			memset(chunk + n, 0, want - (size_t)n);
		buf_add(&s->pending, chunk, want);
		if (flush_full(s, e) < 0)
			return -1;
		size -= want;
	}
	buf_addch(&s->pending, '\n');
	return flush_full(s, e);
}

static int add_bytes(
	struct scratch *s, const char *mode, const char *path, const char *data, size_t len, struct err *e)
{
	buf_printf(&s->pending, "M %s inline ", mode);
	add_path(&s->pending, path);
	buf_printf(&s->pending, "data %zu\n", len);
	buf_add(&s->pending, data, len);
	buf_addch(&s->pending, '\n');
	return flush_full(s, e);
}

int scratch_object(struct scratch *s, const char *path, bool executable, const char *oid, struct err *e)
{
	buf_printf(&s->pending, "M %s %s ", executable ? "100755" : "100644", oid);
	add_path(&s->pending, path);
	return flush_full(s, e);
}

int scratch_bytes(
	struct scratch *s, const char *path, bool executable, const char *data, size_t len, struct err *e)
{
	return add_bytes(s, executable ? "100755" : "100644", path, data, len, e);
}

int scratch_link(struct scratch *s, const char *path, const char *text, size_t len, struct err *e)
{
	return add_bytes(s, "120000", path, text, len, e);
}

int scratch_placeholder(struct scratch *s, const char *path, bool executable, struct err *e)
{
	/* the directory's name is random */
	return add_bytes(s, executable ? "100755" : "100644", path, s->dir, strlen(s->dir), e);
}

int scratch_gone(struct scratch *s, const char *path, struct err *e)
{
	buf_addstr(&s->pending, "D ");
	add_path(&s->pending, path);
	return flush_full(s, e);
}

int scratch_end(struct scratch *s, struct err *e)
{
	struct git g = scratch_git(s);
	auto_strvec args = STRVEC_INIT;

	if (scratch_convert_all(s, e) < 0)
		return -1;
	buf_addstr(&s->pending, "done\n");
	if (flush(s, e) < 0)
		return -1;
	if (lseek(s->stream, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot rewind");
	g.stdin_fd = s->stream;
	strvec_pushl(&args, "fast-import", "--quiet", "--done", "--force", NULL);
	return git_run(&g, &args, NULL, NULL, e);
}

int scratch_diff(struct scratch *s, const char *base, const struct strvec *args, const struct strvec *paths,
	struct buf *out, int out_fd, struct err *e)
{
	struct git g = scratch_git(s);
	auto_strvec argv = STRVEC_INIT;

	g.stdout_fd = out_fd;
	strvec_pushl(&argv, "--literal-pathspecs", "diff-tree", "-r", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=all", NULL);
	for (size_t i = 0; i < args->n; i++)
		strvec_push(&argv, args->v[i]);
	strvec_pushl(&argv, base, TREE_REF, "--", NULL);
	for (size_t i = 0; paths && i < paths->n; i++)
		strvec_push(&argv, paths->v[i]);
	return git_run(&g, &argv, NULL, out, e);
}

int scratch_pack(struct scratch *s, const char *base, int out_fd, char commit[OID_SIZE], struct err *e)
{
	struct git g = scratch_git(s);
	auto_buf id = BUF_SMALL, revs = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;

	if (git_do(&g, &id, e, "rev-parse", "--verify", TREE_REF, NULL) < 0)
		return -1;
	snprintf(commit, OID_SIZE, "%.*s", (int)strcspn(buf_str(&id), "\n"), buf_str(&id));
	buf_printf(&revs, "%s\n^%s\n", commit, base);
	g.stdout_fd = out_fd;
	/* the pack is kept, so it is compressed, unlike the objects here */
	strvec_pushl(&args, "-c", "pack.compression=-1", "pack-objects", "--no-reuse-object", "--revs",
		"--thin", "--delta-base-offset", "--quiet", "--stdout", NULL);
	return git_run(&g, &args, &revs, NULL, e);
}
