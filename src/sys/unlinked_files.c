#include "sys/unlinked_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sent_fds.h"

#define TEXT_MAX      (4u << 20)
#define PROCESSES_MAX 5000
#define CHECKS_MAX    300000 /* descriptors and mappings */
#define TABLE_SIZE    (1u << 16)
#define SECONDS_MAX   3
#define ROUNDS_MAX    20
#define ROUND_WAIT_NS 5000000

struct file {
	dev_t dev;
	ino_t ino;
};

struct search {
	pid_t *pids;
	size_t npids;
	struct file *table; /* the files counted so far, a hash table; ino 0: free */
	size_t nfiles, checks;
	struct unlinked_files found;
	struct sent_fds sockets;
	int64_t until;
	dev_t home;
	bool too_much;
	bool vanished; /* a process ended meanwhile: its descriptors may be in one that was checked before */
};

/* Processes that had ended but were not reaped. */
struct zombies {
	pid_t *v;
	size_t n;
};

/* False if a limit is reached and the search must end. */
static bool may_continue(struct search *l)
{
	if (++l->checks > CHECKS_MAX || l->nfiles > TABLE_SIZE / 2 ||
		(l->checks % 256 == 0 && clock_ms() > l->until))
		l->too_much = true;
	return !l->too_much;
}

/* Adds the file to the table; false if it is in there already. */
static bool take(struct search *l, dev_t dev, ino_t ino)
{
	size_t i = (size_t)(ino * 2654435761u ^ dev) % TABLE_SIZE;

	for (; l->table[i].ino; i = (i + 1) % TABLE_SIZE)
		if (l->table[i].ino == ino && l->table[i].dev == dev)
			return false;
	l->table[i] = (struct file){ dev, ino };
	l->nfiles++;
	return true;
}

static bool read_text(const char *path, struct buf *out)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err ignored = ERR_INIT;

	/* if the text is too long, its beginning is enough */
	return fd >= 0 && (!read_rest(fd, out, path, &ignored) || out->len);
}

static bool is_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC ||
	       fs.f_type == RAMFS_MAGIC;
}

static bool is_unlinked(const struct stat *st)
{
	return !st->st_nlink && (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISDIR(st->st_mode));
}

/* An overlay says that a directory of two layers has one link, removed or not. The text of its link in /proc tells. (A
 * directory may have such a name: then it counts twice.) */
static bool is_removed_dir(int dir, const char *name, const struct stat *st)
{
	static const char end[] = " (deleted)";
	const size_t n = strlen(end);
	char text[PATH_MAX];
	ssize_t len = S_ISDIR(st->st_mode) ? readlinkat(dir, name, text, sizeof(text)) : -1;

	/* a path that is too long cannot be read */
	return len >= (ssize_t)n ? !memcmp(text + len - n, end, n) : len < 0 && S_ISDIR(st->st_mode);
}

/* fd is a descriptor of this process for the file. */
static void count(struct search *l, int fd, const struct stat *st)
{
	if ((st->st_dev != l->home && is_memory(fd)) || !take(l, st->st_dev, st->st_ino))
		return;
	l->found.bytes += (uint64_t)st->st_blocks * 512;
	l->found.inodes++;
}

/* The state letter from /proc/PID/stat; '\0' if the process is gone. */
static char state_of(pid_t pid)
{
	auto_str path = xasprintf("/proc/%d/stat", (int)pid);
	auto_buf text = BUF_SMALL;
	const char *end = read_text(path, &text) ? strrchr(buf_str(&text), ')') : NULL;

	return end && end[1] ? end[2] : '\0';
}

/* If a process's first thread has ended, only the other threads still have its descriptors and memory. */
static bool has_memory(pid_t pid, pid_t thread)
{
	auto_str path = xasprintf("/proc/%d/task/%d/statm", (int)pid, (int)thread);
	auto_buf text = BUF_SMALL;

	return read_text(path, &text) && strtoul(buf_str(&text), NULL, 10) > 0;
}

/* Whether the process or thread has ended, or is about to. It has given up its memory then, so only root can read its
 * /proc directory, and its descriptors go next. */
static bool is_ending(pid_t pid)
{
	char state = state_of(pid);

	return !state || strchr("ZX", state) || !has_memory(pid, pid);
}

/* An upper bound for the number of descriptors, from /proc/PID/status, which everybody can read. */
static unsigned long count_slots(pid_t pid)
{
	auto_str path = xasprintf("/proc/%d/status", (int)pid);
	auto_buf text = BUF_SMALL;
	const char *at = read_text(path, &text) ? strstr(buf_str(&text), "\nFDSize:") : NULL;

	return at ? strtoul(at + 8, NULL, 10) : 0;
}

/* Only root can read the /proc directory of a process that is not dumpable (PR_SET_DUMPABLE). But who created
 * its user namespace can copy its descriptors one by one. */
static void check_undumpable(struct search *l, pid_t pid)
{
	auto_fd process = (int)syscall(SYS_pidfd_open, pid, 0);
	unsigned long slots = count_slots(pid);
	struct stat st;

	if (process < 0) {
		l->too_much |= errno != ESRCH && !is_ending(pid);
		return;
	}
	for (unsigned long i = 0; i < slots && may_continue(l); i++) {
		auto_fd fd = (int)syscall(SYS_pidfd_getfd, process, (int)i, 0);

		/* of a process that is about to end, some may still be open */
		if (fd < 0 && errno != EBADF && errno != ESRCH) {
			l->too_much |= !is_ending(pid);
			return;
		}
		if (fd < 0 || fstat(fd, &st) < 0)
			continue;
		auto_str link = xasprintf("/proc/self/fd/%d", fd);

		if (is_unlinked(&st) || is_removed_dir(AT_FDCWD, link, &st))
			count(l, fd, &st);
		if (S_ISSOCK(st.st_mode))
			sent_fds_add_copy(&l->sockets, fd);
	}
}

/* path is the fd directory of a process or a thread. */
static void check_table(struct search *l, const char *path, pid_t pid)
{
	DIR *d = opendir(path);
	struct dirent *ent;
	struct stat st;

	if (!d) {
		if (errno == EACCES)
			check_undumpable(l, pid);
		return;
	}
	while ((ent = readdir(d)) && may_continue(l)) {
		if (ent->d_name[0] == '.' || fstatat(dirfd(d), ent->d_name, &st, 0) < 0)
			continue;
		if (S_ISSOCK(st.st_mode)) {
			auto_str info = xasprintf("%sinfo/%s", path, ent->d_name);

			sent_fds_add(&l->sockets, info);
		}
		if (!is_unlinked(&st) && !is_removed_dir(dirfd(d), ent->d_name, &st))
			continue;
		auto_fd fd = openat(dirfd(d), ent->d_name, O_PATH | O_CLOEXEC);

		if (fd >= 0)
			count(l, fd, &st);
	}
	closedir(d);
}

/* Whether the thread shares its descriptors with the first thread; false if the kernel does not tell. */
static bool shares_table(pid_t first, pid_t thread)
{
	return first == thread || !syscall(SYS_kcmp, first, thread, KCMP_FILES, 0, 0);
}

/* A removed directory stays on the disk while it is somebody's current directory, and a removed program while it runs,
 * even if none of it is mapped any more. */
static void check_link(struct search *l, const char *path, const char *thread, const char *what)
{
	auto_str name = xasprintf("%s/%s/%s", path, thread, what);
	auto_fd fd = open(name, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		l->found.unsure |= !is_ending((pid_t)atoi(thread));
	if (fd >= 0 && !fstat(fd, &st) && (is_unlinked(&st) || is_removed_dir(AT_FDCWD, name, &st)))
		count(l, fd, &st);
}

/* Checks the descriptors of the process, and of threads that have a table of their own. Returns a thread that
 * has the process's memory. */
static pid_t check_open(struct search *l, pid_t pid)
{
	auto_str path = xasprintf("/proc/%d/task", (int)pid);
	bool led = has_memory(pid, pid);
	pid_t with_memory = pid;
	DIR *d = opendir(path);
	struct dirent *ent;

	while (d && (ent = readdir(d)) && may_continue(l)) {
		pid_t thread = (pid_t)atoi(ent->d_name);
		auto_str table = xasprintf("%s/%s/fd", path, ent->d_name);

		if (thread <= 0)
			continue;
		if (!led && with_memory == pid && has_memory(pid, thread))
			with_memory = thread;
		check_link(l, path, ent->d_name, "cwd");
		if (!led || thread == pid)
			check_link(l, path, ent->d_name, "exe");
		if (!led || thread == pid || !shares_table(pid, thread))
			check_table(l, table, thread);
	}
	if (d)
		closedir(d);
	return with_memory;
}

static bool is_of_memory(const char *path)
{
	static const char *const beginnings[] = { "/memfd:", "/dev/shm/", "/dev/zero", "/SYSV",
		"/anon_hugepage", "/[aio]" };

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static void check_mapped(struct search *l, pid_t thread)
{
	auto_str path = xasprintf("/proc/%d/maps", (int)thread);
	auto_buf text = BUF_INIT(TEXT_MAX);
	char *save = NULL;

	errno = 0;
	if (!read_text(path, &text)) {
		l->too_much |= (errno == EACCES || errno == EPERM) && !is_ending(thread);
		return;
	}
	l->too_much |= text.overflow;
	if (!text.len)
		return;
	for (char *line = strtok_r(text.data, "\n", &save); line && may_continue(l);
		line = strtok_r(NULL, "\n", &save)) {
		unsigned long from, to, ino;
		unsigned high, low;
		size_t n = strlen(line);
		int at = 0;

		if (n < 10 || strcmp(line + n - 10, " (deleted)") != 0 ||
			sscanf(line, "%lx-%lx %*s %*x %x:%x %lu %n", &from, &to, &high, &low, &ino, &at) <
				5 ||
			!at || is_of_memory(line + at) || !take(l, makedev(high, low), ino))
			continue;
		/* the file's own length cannot be found out */
		l->found.bytes += to - from;
		l->found.inodes++;
		l->found.unsure = true;
	}
}

static void add_children(struct search *l, pid_t pid)
{
	auto_str path = xasprintf("/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	struct dirent *ent;

	while (d && (ent = readdir(d))) {
		auto_str name = xasprintf("%s/%s/children", path, ent->d_name);
		auto_buf text = BUF_INIT(TEXT_MAX);

		if (ent->d_name[0] == '.' || !read_text(name, &text))
			continue;
		for (char *at = text.data, *end; at && *at && l->npids < PROCESSES_MAX; at = end) {
			long child = strtol(at, &end, 10);

			if (end == at)
				break;
			if (child > 0 && child != getpid())
				l->pids[l->npids++] = (pid_t)child;
		}
	}
	if (d)
		closedir(d);
}

/* Notes that a process has ended or is about to. If it had ended before the last round already, its descriptors were gone
 * then. */
static void note_end(struct search *l, pid_t pid, const struct zombies *before, struct zombies *now)
{
	char state = state_of(pid);
	bool known = false;

	if (state && !strchr("ZX", state)) {
		l->vanished |= !has_memory(pid, pid);
		return;
	}
	for (size_t i = 0; i < before->n; i++)
		known |= before->v[i] == pid;
	if (state == 'Z' && now->n < PROCESSES_MAX)
		now->v[now->n++] = pid;
	if (!known)
		l->vanished = true;
}

/* A connection that was not accepted is in the listening socket, and what it was sent counts there. */
static void add_sockets_of(struct search *l, pid_t pid)
{
	auto_str path = xasprintf("/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	struct dirent *ent;
	struct stat st;

	if (!d && errno != ENOENT)
		l->found.unsure = true;
	while (d && (ent = readdir(d)))
		if (ent->d_name[0] != '.' && !fstatat(dirfd(d), ent->d_name, &st, 0) &&
			S_ISSOCK(st.st_mode)) {
			auto_str info = xasprintf("%sinfo/%s", path, ent->d_name);

			sent_fds_add(&l->sockets, info);
		}
	if (d)
		closedir(d);
}

/* Checks a process before its children: a descriptor that it has closed since can only be in one of those. */
static void search_once(
	struct search *l, const struct unlinked_search *s, const struct zombies *before, struct zombies *now)
{
	/* the supervised command comes first; adopted orphans come after it */
	size_t own = s->has_supervisor ? 1 : 0, i;

	for (i = 0; i < s->nreceivers; i++)
		if (s->receivers[i])
			add_sockets_of(l, s->receivers[i]);
	add_children(l, s->of);
	for (i = 0; i < l->npids && !l->too_much; i++) {
		pid_t pid = l->pids[i];

		if (i >= own)
			l->pids[i] = check_open(l, pid);
		add_children(l, pid);
		if (i >= own)
			note_end(l, pid, before, now);
	}
	/* files that are also open were counted with their size on disk */
	for (i = own; i < l->npids && !l->too_much; i++)
		check_mapped(l, l->pids[i]);
}

static void keep_most(const struct unlinked_files *found, struct unlinked_files *most)
{
	if (found->bytes > most->bytes)
		most->bytes = found->bytes;
	if (found->inodes > most->inodes)
		most->inodes = found->inodes;
	most->unsure = found->unsure;
}

/* In many builds processes come and go all the time. One round in which none ended is enough. */
int unlinked_files_count(const struct unlinked_search *of, struct unlinked_files *ret)
{
	struct search l = { .home = of->home,
		.pids = xcalloc(PROCESSES_MAX, sizeof(pid_t)),
		.table = xcalloc(TABLE_SIZE, sizeof(struct file)) };
	struct zombies z[2] = { { .v = xcalloc(PROCESSES_MAX, sizeof(pid_t)) },
		{ .v = xcalloc(PROCESSES_MAX, sizeof(pid_t)) } };
	int64_t enough = clock_ms() + SECONDS_MAX * 1000;
	struct unlinked_files most = { 0 };

	for (int round = 0;
		!round || (l.vanished && !l.too_much && round < ROUNDS_MAX && clock_ms() < enough); round++) {
		if (round)
			nanosleep(&(struct timespec){ .tv_nsec = ROUND_WAIT_NS }, NULL);
		memset(l.table, 0, TABLE_SIZE * sizeof(struct file));
		l.npids = l.nfiles = l.checks = 0;
		sent_fds_release(&l.sockets);
		l.until = clock_ms() + SECONDS_MAX * 1000;
		l.found = (struct unlinked_files){ 0 };
		l.vanished = false;
		z[round % 2].n = 0;
		search_once(&l, of, &z[(round + 1) % 2], &z[round % 2]);
		keep_most(&l.found, &most);
	}
	most.unsure = most.unsure || l.vanished || sent_fds_stay(&l.sockets);
	sent_fds_release(&l.sockets);
	free(l.pids);
	free(l.table);
	free(z[0].v);
	free(z[1].v);
	*ret = most;
	return l.too_much || l.npids == PROCESSES_MAX ? -1 : 0;
}
