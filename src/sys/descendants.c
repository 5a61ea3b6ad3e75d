#include "sys/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* After so many rounds, new processes appear faster than they can be stopped. */
#define STOP_ROUNDS 200

struct process {
	pid_t pid, parent;
};

struct processes {
	struct process *v;
	size_t n, cap;
};

static void processes_release(struct processes *p)
{
	free(p->v);
}
#define auto_processes __attribute__((cleanup(processes_release))) struct processes

/* The beginning of /proc/<pid>/<name>. */
static bool read_word(int proc, const char *pid, const char *name, char *out, size_t max)
{
	char path[64];
	auto_fd fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, max - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static DIR *open_proc(void)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		fd_closep(&fd);
	return d;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct process *find(const struct processes *p, pid_t pid)
{
	struct process key = { .pid = pid };

	return p->n ? bsearch(&key, p->v, p->n, sizeof(key), by_pid) : NULL;
}

/* All processes that have not ended, with their parents. */
static void list(struct processes *p)
{
	DIR *d = open_proc();
	struct dirent *ent;
	char text[512];

	p->n = 0;
	while (d && (ent = readdir(d))) {
		const char *rest;
		char state;
		int parent;
		long threads;

		if (strspn(ent->d_name, "0123456789") != strlen(ent->d_name) ||
			!read_word(dirfd(d), ent->d_name, "stat", text, sizeof(text)))
			continue;
		/* the process's name may contain anything, also a ')' */
		rest = strrchr(text, ')');
		if (!rest ||
			sscanf(rest,
				") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
				&state, &parent, &threads) != 3)
			continue;
		/* this is the state of the first thread: others may still run */
		if ((state == 'Z' || state == 'X') && threads < 2)
			continue;
		if (p->n == p->cap) {
			p->cap = p->cap ? p->cap * 2 : 1024;
			p->v = xrealloc(p->v, p->cap, sizeof(*p->v));
		}
		p->v[p->n++] = (struct process){ .pid = (pid_t)atoi(ent->d_name), .parent = parent };
	}
	if (d)
		closedir(d);
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_pid);
}

static bool is_one_of(const pid_t *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == pid)
			return true;
	return false;
}

/* Follows the parents upwards. If a parent is missing, it has died: its children are ours now, or soon will
 * be. */
static bool descends(
	const struct processes *p, const struct process *from, pid_t of, const pid_t *but, size_t n)
{
	const struct process *at = from;

	for (unsigned depth = 0; at && depth < 100000; depth++) {
		if (is_one_of(but, n, at->pid))
			return false;
		if (at->parent == of)
			return at->pid != of;
		at = find(p, at->parent);
	}
	return false;
}

/* Sends the signal to all. Returns how many there are; *ret_fresh is how many of them
 * are new since `last`. */
static size_t signal_all(struct processes *now, const struct processes *last, const pid_t *but, size_t n,
	int sig, size_t *ret_fresh)
{
	size_t all = 0;

	list(now);
	*ret_fresh = 0;
	for (size_t i = 0; i < now->n; i++) {
		const struct process *had;

		if (!descends(now, &now->v[i], getpid(), but, n))
			continue;
		had = last ? find(last, now->v[i].pid) : NULL;
		*ret_fresh += !had;
		all++;
		kill(now->v[i].pid, sig);
	}
	return all;
}

static void reap(const pid_t *but, size_t n)
{
	siginfo_t info = { 0 };

	/* processes that somebody else waits for are not reaped here */
	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) {
		if (is_one_of(but, n, info.si_pid))
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
		info = (siginfo_t){ 0 };
	}
}

void descendants_end(const pid_t *but, size_t n)
{
	auto_processes a = { 0 }, b = { 0 };
	struct processes *now = &a, *last = &b, *other;
	size_t fresh = 1, all = 1;

	while (all) {
		for (unsigned round = 0; fresh && round < STOP_ROUNDS; round++) {
			all = signal_all(now, last, but, n, SIGSTOP, &fresh);
			other = now, now = last, last = other;
		}
		all = signal_all(now, NULL, but, n, SIGKILL, &fresh);
		reap(but, n);
		last->n = 0;
		if (all)
			poll(NULL, 0, 2);
	}
	reap(but, n);
}

size_t descendants_list(pid_t of, const pid_t *but, size_t n, pid_t **ret)
{
	auto_processes p = { 0 };
	size_t count = 0;

	list(&p);
	*ret = xcalloc(p.n + 1, sizeof(**ret));
	for (size_t i = 0; i < p.n; i++)
		if (p.v[i].pid != of && !is_one_of(but, n, p.v[i].pid) && descends(&p, &p.v[i], of, NULL, 0))
			(*ret)[count++] = p.v[i].pid;
	return count;
}

static bool has_ancestor(const struct processes *p, const struct process *from, const pid_t *v, size_t n)
{
	const struct process *at = from;

	for (unsigned depth = 0; at && depth < 100000; depth++) {
		if (is_one_of(v, n, at->pid))
			return true;
		at = at->parent ? find(p, at->parent) : NULL;
	}
	return false;
}

size_t descendants_others(const pid_t *but, size_t n, pid_t **ret)
{
	auto_processes p = { 0 };
	size_t count = 0;

	list(&p);
	*ret = xcalloc(p.n + 1, sizeof(**ret));
	for (size_t i = 0; i < p.n; i++)
		if (p.v[i].pid != getpid() && !has_ancestor(&p, &p.v[i], but, n))
			(*ret)[count++] = p.v[i].pid;
	return count;
}

unsigned long descendants_count_user(void)
{
	unsigned long count = 0;
	DIR *d = open_proc();
	struct dirent *ent;
	char text[4096];

	while (d && (ent = readdir(d))) {
		const char *threads;

		if (strspn(ent->d_name, "0123456789") != strlen(ent->d_name) ||
			!read_word(dirfd(d), ent->d_name, "status", text, sizeof(text)))
			continue;
		/* the directory of a process that is not dumpable belongs to root, so
		 * its owner tells nothing */
		threads = strstr(text, "\nUid:");
		if (!threads || (uid_t)strtoul(threads + 5, NULL, 10) != getuid())
			continue;
		threads = strstr(text, "\nThreads:");
		count += threads ? strtoul(threads + 9, NULL, 10) : 1;
	}
	if (d)
		closedir(d);
	return count;
}
