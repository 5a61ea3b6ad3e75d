/* Replaces a directory of a lower layer by a copy of itself: see move_copy_up in shim.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "shim/copy.h"
#include "shim/shim.h"
#include "sys/fault.h"
#include "sys/fd.h"

#define MARK ".garth-"

/*
 * The journal tells the next git what was being replaced, if this one is killed. It is a file in the
 * repository, locked while a process works on it: "c" or "s", then the parent directory, the directory's name
 * and the copy's name, each followed by a NUL. "c": the copy is incomplete, the directory is complete. "s":
 * the copy is complete.
 */
#define JOURNAL "garth-move"
enum { COPYING = 'c', SWAPPING = 's' };

struct note {
	char phase, text[2 * PATH_MAX + 64];
	const char *parent, *name, *copy;
};

/* False if the file is no journal of ours. */
static bool take_note(int fd, struct note *n)
{
	char all[sizeof(n->text) + 1];
	ssize_t len = pread(fd, all, sizeof(all) - 1, 0);
	const char *end;

	if (len < 4 || (size_t)len >= sizeof(all) - 1 || all[len - 1])
		return false;
	n->phase = all[0];
	memcpy(n->text, all + 1, (size_t)len);
	end = n->text + len - 1;
	n->parent = n->text;
	n->name = n->parent + strlen(n->parent) + 1;
	n->copy = n->name < end ? n->name + strlen(n->name) + 1 : end;
	return n->copy < end && n->parent[0] == '/' && *n->name && !strchr(n->name, '/') &&
	       !strncmp(n->copy, n->name, strlen(n->name)) &&
	       !strncmp(n->copy + strlen(n->name), MARK, strlen(MARK)) && !strchr(n->copy, '/');
}

/* This process holds the lock, so the writer is dead. */
static void finish(int journal)
{
	struct note n;
	auto_fd parent = -1;

	if (!take_note(journal, &n))
		return;
	parent = open(n.parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || faccessat(parent, n.copy, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (n.phase == COPYING)
		copy_remove(parent, n.copy);
	else if (copy_remove(parent, n.name) < 0 || renameat(parent, n.copy, parent, n.name) < 0)
		copy_put_back(parent, n.name, n.copy);
}

void move_recover(int git_dir)
{
	auto_fd journal =
		git_dir < 0 ? -1 : openat(git_dir, JOURNAL, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (journal < 0 || fstat(journal, &st) < 0 || !S_ISREG(st.st_mode) ||
		flock(journal, LOCK_EX | LOCK_NB) < 0)
		return;
	finish(journal);
	unlinkat(git_dir, JOURNAL, 0);
}

/* Waits if another process is replacing a directory. -1 if there is no repository to write to: then there is
 * no journal. */
static int open_journal(int git_dir)
{
	for (int tries = 0; git_dir >= 0 && tries < 100; tries++) {
		auto_fd fd = -1;
		struct stat st;

		move_recover(git_dir);
		fd = openat(git_dir, JOURNAL, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0 || flock(fd, LOCK_EX) < 0)
			return -1;
		if (!fstat(fd, &st) && st.st_nlink && !st.st_size)
			return fd_steal(&fd);
	}
	return -1;
}

static int write_down(int journal, int parent, const char *name, const char *copy)
{
	auto_buf text = BUF_INIT(2 * PATH_MAX);
	char link[40], path[PATH_MAX];
	ssize_t n;

	if (journal < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", parent);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return -1;
	buf_addch(&text, COPYING);
	buf_add(&text, path, (size_t)n);
	buf_addch(&text, '\0');
	buf_add(&text, name, strlen(name) + 1);
	buf_add(&text, copy, strlen(copy) + 1);
	return pwrite(journal, text.data, text.len, 0) == (ssize_t)text.len ? 0 : -1;
}

static void close_journal(int git_dir, int journal)
{
	if (journal >= 0)
		unlinkat(git_dir, JOURNAL, 0);
}

/* Puts the copy in the directory's place. The copy is complete before anything of the directory is removed,
 * and signals are blocked meanwhile. */
static int swap(int parent, const char *name, const char *copy, int journal)
{
	sigset_t all, before;
	char phase = SWAPPING;
	int rc, kept;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fault("mv-copied");
	if (journal >= 0 && pwrite(journal, &phase, 1, 0) != 1) {
		kept = errno;
		copy_remove(parent, copy);
		rc = -1;
	} else {
		rc = copy_remove(parent, name);
		fault("mv-removed");
		if (!rc)
			rc = renameat(parent, copy, parent, name);
		kept = errno;
		if (rc < 0 && copy_put_back(parent, name, copy) < 0)
			fprintf(stderr, "garth: all of '%s' is in '%s'\n", name, copy);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = kept;
	return rc;
}

char *move_without_slash(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

int move_copy_up(int dir, const char *path, int git_dir)
{
	auto_str whole = move_without_slash(path), copy = NULL;
	const char *name = path_base(whole);
	auto_str above = xstrndup(whole, (size_t)(name - whole));
	auto_fd parent = openat(dir, *above ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd journal = -1;
	unsigned random = 0;
	int rc, kept;

	if (parent < 0 || !*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		errno = parent < 0 ? errno : EINVAL;
		return -1;
	}
	if (getrandom(&random, sizeof(random), 0) < 0)
		return -1;
	copy = xasprintf("%s" MARK "%08x", name, random);
	journal = open_journal(git_dir);
	if (write_down(journal, parent, name, copy) < 0) {
		kept = errno;
		close_journal(git_dir, journal);
		errno = kept;
		return -1;
	}
	rc = copy_tree(parent, name, copy);
	if (!rc)
		rc = swap(parent, name, copy, journal);
	kept = errno;
	close_journal(git_dir, journal);
	errno = kept;
	return rc;
}
