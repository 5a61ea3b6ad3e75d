#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "shim/shim.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define DEPTH 200

static int copy_file(int from_dir, int to_dir, const char *name, const struct stat *st)
{
	auto_fd from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	auto_fd to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	struct err e = ERR_INIT;

	if (from < 0 || to < 0 || copy_fd(from, to, &e) < 0)
		return -1;
	return fchmod(to, st->st_mode & 07777) < 0 ? -1 : futimens(to, times);
}

static int copy_link(int from_dir, int to_dir, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target) - 1);

	if (n < 0 || n == sizeof(target) - 1)
		return -1;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) < 0)
		return -1;
	return utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_fifo(int to_dir, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	if (mkfifoat(to_dir, name, 0600) < 0 || fchmodat(to_dir, name, st->st_mode & 07777, 0) < 0)
		return -1;
	return utimensat(to_dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static int copy_content(int from, int to, int depth);

static int copy_dir(int from_dir, const char *name, int to_dir, const char *as, int depth)
{
	auto_fd from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_fd to = -1;
	struct timespec times[2];
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0 || mkdirat(to_dir, as, 0700) < 0)
		return -1;
	to = openat(to_dir, as, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (to < 0 || depth > DEPTH || copy_content(from, to, depth + 1) < 0)
		return -1;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	return fchmod(to, st.st_mode & 07777) < 0 ? -1 : futimens(to, times);
}

static int copy_entry(int from, int to, const char *name, int depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(from, to, name, &st);
	case S_IFDIR:
		return copy_dir(from, name, to, name, depth);
	case S_IFLNK:
		return copy_link(from, to, name, &st);
	case S_IFIFO:
		return copy_fifo(to, name, &st);
	default:
		return -1;
	}
}

static int copy_content(int from, int to, int depth)
{
	int again = fcntl(from, F_DUPFD_CLOEXEC, 0), r = 0;
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *ent;

	if (!d) {
		fd_closep(&again);
		return -1;
	}
	errno = 0;
	while (!r && (ent = readdir(d))) {
		if (strcmp(ent->d_name, ".") != 0 && strcmp(ent->d_name, "..") != 0)
			r = copy_entry(from, to, ent->d_name, depth);
		if (!r)
			errno = 0;
	}
	if (errno)
		r = -1;
	closedir(d);
	return r;
}

/* The copy takes the directory's place. It is whole before the first byte of the other goes, and no signal
 * that can be held off comes in between. */
static int replace(int parent, const char *name, const char *copy)
{
	struct err e = ERR_INIT;
	sigset_t all, before;
	int r;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fault("mv-copied");
	r = tree_remove(parent, name, &e);
	fault("mv-removed");
	if (!r)
		r = renameat(parent, copy, parent, name);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		fprintf(stderr, "garth: all of '%s' is in '%s'\n", name, copy);
	return r;
}

static char *without_slash(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

int move_copy_up(int dir, const char *path)
{
	auto_str whole = without_slash(path), copy = NULL;
	const char *name = path_base(whole);
	auto_str above = xstrndup(whole, (size_t)(name - whole));
	auto_fd parent = openat(dir, *above ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = ERR_INIT;
	unsigned random = 0;

	if (parent < 0 || !*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -1;
	if (getrandom(&random, sizeof(random), 0) < 0)
		return -1;
	copy = xasprintf("%s.garth-%06x", name, random & 0xffffff);
	if (copy_dir(parent, name, parent, copy, 0) < 0) {
		if (errno != EEXIST)
			tree_remove(parent, copy, &e);
		return -1;
	}
	return replace(parent, name, copy);
}

/* The arguments of git mv; all of its options stand alone. */
struct move {
	char *const *words; /* the last one is where to */
	size_t n;
	bool dry, skipping;
};

static void read_move(const struct run *r, struct strvec *words, struct move *m)
{
	bool dashes = false;

	for (int i = r->w->verb + 1; i < r->argc; i++) {
		const char *arg = r->argv[i];

		if (!dashes && !strcmp(arg, "--")) {
			dashes = true;
		} else if (!dashes && arg[0] == '-' && arg[1]) {
			m->dry |= !strcmp(arg, "--dry-run") || (arg[1] != '-' && strchr(arg, 'n'));
			m->skipping |= arg[1] != '-' && strchr(arg, 'k');
		} else {
			strvec_push(words, arg);
		}
	}
	m->words = strvec_argv(words);
	m->n = words->n;
}

static bool may_be_lower(int dir, const char *path)
{
	auto_str plain = without_slash(path);
	auto_fd fd = openat(dir, plain, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct statfs fs;

	return fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool move_wanted(const struct run *r, const struct place *p)
{
	auto_strvec words = STRVEC_INIT;
	struct move m = { 0 };

	read_move(r, &words, &m);
	for (size_t i = 0; !m.dry && i + 1 < m.n; i++)
		if (may_be_lower(p->dir, m.words[i]))
			return true;
	return false;
}

/* Whether git finds nothing wrong with it, so that it is the renaming itself that fails. */
static bool would_move(const struct run *r)
{
	auto_fd nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct run_how how = { .stderr_fd = nowhere, .quiet = true };
	auto_strvec argv = STRVEC_INIT;

	run_prefix(r, &argv);
	strvec_pushl(&argv, "mv", "-n", NULL);
	for (int i = r->w->verb + 1; i < r->argc; i++)
		strvec_push(&argv, r->argv[i]);
	how.argv = strvec_argv(&argv);
	return run_child(r, &how) == 0;
}

static int replay(int text, int status)
{
	char chunk[4096];
	ssize_t n;

	lseek(text, 0, SEEK_SET);
	while ((n = read_full(text, chunk, sizeof(chunk))) > 0)
		write_full(STDERR_FILENO, chunk, (size_t)n);
	return run_end(status);
}

static int copy_sources(const struct move *m, const struct place *p)
{
	for (size_t i = 0; i + 1 < m->n; i++)
		if (may_be_lower(p->dir, m->words[i]) && move_copy_up(p->dir, m->words[i]) < 0)
			return -1;
	return 0;
}

int move_run(const struct run *r, const struct place *p)
{
	auto_fd text = memfd_create("stderr", MFD_CLOEXEC);
	struct run_how how = { .stderr_fd = text };
	auto_strvec words = STRVEC_INIT;
	struct move m = { 0 };
	int status;

	read_move(r, &words, &m);
	if (m.n > 2 || m.skipping || text < 0) {
		/* git moves one after the other and does not take back those before the one that fails, or
		 * passes over it without a word: so there is no trying */
		if (would_move(r))
			copy_sources(&m, p);
		return run_become(r);
	}
	status = run_child(r, &how);
	if (!status || !would_move(r) || copy_sources(&m, p) < 0)
		return replay(text, status);
	return run_become(r);
}
