#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/deadline.h"
#include "base/strvec.h"
#include "sys/fd.h"
#include "sys/tree.h"

#define FILE_MAX_SIZE 65536
#define PERIOD_USEC   100000
#define FROZEN        "frozen" /* the child of a group with limits that is used as the freezer */

const struct cgroup_places cgroup_kernel = { "/sys/fs/cgroup", "/proc/self/cgroup" };

/* One limit, its controller and its file in each version. */
struct kind {
	enum cgroup_held held;
	const char *controller;
	uint64_t value;
	const char *v2, *v1;
};

char *cgroup_name(int home, int64_t task)
{
	struct stat st = { 0 };

	fstat(home, &st);
	return xasprintf("garth-%llu-%lld", (unsigned long long)st.st_ino, (long long)task);
}

int64_t cgroup_task(const char *dir)
{
	return strtoll(strrchr(dir, '-') + 1, NULL, 10);
}

struct search {
	const struct cgroup_places *places;
	char *prefix;
	struct strvec *found;
};

static enum tree_next find_group(const struct tree_entry *t, void *arg, struct err *e)
{
	struct search *s = arg;
	const char *number = t->name + strlen(s->prefix);

	(void)e;
	if (!S_ISDIR(t->st.st_mode))
		return TREE_SKIP;
	if (strncmp(t->name, s->prefix, strlen(s->prefix)) || !*number ||
		number[strspn(number, "0123456789")])
		return TREE_ON;
	strvec_pushf(s->found, "%s/%s", s->places->root, t->path);
	return TREE_SKIP;
}

void cgroup_find(const struct cgroup_places *p, int home, struct strvec *ret)
{
	auto_str name = cgroup_name(home, 0);
	struct search s = { p, name, ret };
	auto_fd root = open(p->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;

	strrchr(name, '-')[1] = '\0';
	if (root >= 0)
		tree_walk(root, find_group, &s, &ignored);
}

static bool put(const char *dir, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool put(const char *dir, const char *file, const char *fmt, ...)
{
	auto_str path = xasprintf("%s/%s", dir, file);
	auto_fd fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fd >= 0 && write(fd, text, (size_t)n) == n;
}

static bool get(const char *dir, const char *file, struct buf *ret)
{
	auto_str path = xasprintf("%s/%s", dir, file);
	struct err ignored = ERR_INIT;

	return !read_file(AT_FDCWD, path, ret, &ignored);
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || strchr(" \n", p[-1])) && (!p[n] || strchr(" \n", p[n])))
			return true;
	return false;
}

/* This process's group in a hierarchy; the caller frees it. The lines of `self` are "N:CONTROLLER,…:PATH",
 * and "0::PATH" for version 2. */
static char *own_path(const char *self, const char *controller)
{
	auto_str text = xstrdup(self);
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(l, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*names++ = *path++ = '\0';
		for (char *c = names; c && *c; c++)
			*c = *c == ',' ? ' ' : *c;
		if (*controller ? has_word(names, controller) : !*names)
			return xstrdup(path);
	}
	return NULL;
}

static bool make_dir(const char *dir)
{
	return !mkdir(dir, 0755) || errno == EEXIST;
}

static void add(struct cgroup *g, const char *dir)
{
	g->dirs[g->n++] = xstrdup(dir);
}

/* Version 2: whether a group's children have the controller. Enables it for them if possible. */
static bool enable_controller(const char *dir, const char *controller)
{
	auto_buf down = BUF_INIT(FILE_MAX_SIZE);

	if (get(dir, "cgroup.subtree_control", &down) && has_word(buf_str(&down), controller))
		return true;
	return put(dir, "cgroup.subtree_control", "+%s", controller);
}

static bool set_v2(const char *dir, const struct kind *k)
{
	if (k->held == CGROUP_CPU)
		return put(dir, k->v2, "%" PRIu64 " %d", k->value * PERIOD_USEC / 100, PERIOD_USEC);
	return put(dir, k->v2, "%" PRIu64, k->value);
}

/* Version 2: a group that contains processes cannot limit its children, except for the root group. For pids
 * or cpu alone the kernel does not refuse; it turns the group into a threaded one, and no process can be
 * moved into its children. */
static bool has_processes(const char *dir)
{
	auto_str type = xasprintf("%s/cgroup.type", dir);
	auto_buf procs = BUF_INIT(FILE_MAX_SIZE);

	return !access(type, F_OK) && get(dir, "cgroup.procs", &procs) && procs.len;
}

/* Whether a process can be moved into the group from here, which needs the right to write to the common
 * ancestor. Tries it with a child process that is killed afterwards. */
static bool can_enter(const char *dir)
{
	struct statfs fs;
	pid_t pid;
	bool good;

	if (statfs(dir, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return true;
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	good = pid > 0 && put(dir, "cgroup.procs", "%d", pid);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return good;
}

/* The kernel may still count a process that has just ended, so EBUSY is tried again for a moment. */
static void remove_dir(const char *dir)
{
	struct deadline d = deadline_in(100);

	while (rmdir(dir) < 0 && errno == EBUSY && deadline_sleep(&d, 2))
		;
}

/* Version 2 allows processes only in leaves. So this goes up from the current group to the first one that the
 * user may write to and whose children can have limits. */
static unsigned make_v2(const char *mount, const char *path, const char *name, const struct kind *kinds,
	size_t n, struct cgroup *g)
{
	auto_str at = xasprintf("%s%s", mount, strcmp(path, "/") ? path : "");

	for (; strlen(at) >= strlen(mount); *strrchr(at, '/') = '\0') {
		auto_str dir = xasprintf("%s/%s", at, name);
		unsigned held = 0;

		if (access(at, W_OK) < 0 || has_processes(at))
			continue;
		for (size_t i = 0; i < n; i++)
			if (kinds[i].value && enable_controller(at, kinds[i].controller))
				held |= kinds[i].held;
		if (!held || !make_dir(dir))
			continue;
		for (size_t i = 0; i < n; i++)
			if ((held & kinds[i].held) && !set_v2(dir, &kinds[i]))
				held &= ~(unsigned)kinds[i].held;
		if (held && can_enter(dir)) {
			add(g, dir);
			return held;
		}
		remove_dir(dir);
	}
	return 0;
}

static bool make_v1(const struct cgroup_places *p, const char *self, const char *name, const struct kind *k,
	struct cgroup *g)
{
	auto_str own = own_path(self, k->controller);
	auto_str dir =
		own ? xasprintf("%s/%s%s/%s", p->root, k->controller, strcmp(own, "/") ? own : "", name)
		    : NULL;
	bool set;

	if (!dir || !make_dir(dir))
		return false;
	set = k->held == CGROUP_CPU ? put(dir, k->v1, "%" PRIu64, k->value * PERIOD_USEC / 100)
				    : put(dir, k->v1, "%" PRIu64, k->value);
	if (set)
		add(g, dir);
	else
		rmdir(dir);
	return set;
}

unsigned cgroup_make(
	const struct cgroup_places *p, const char *name, const struct cgroup_limits *l, struct cgroup *ret)
{
	const struct kind kinds[] = {
		{ CGROUP_MEMORY, "memory", l->memory, "memory.max", "memory.limit_in_bytes" },
		{ CGROUP_PROCS, "pids", l->procs, "pids.max", "pids.max" },
		{ CGROUP_CPU, "cpu", l->cpu, "cpu.max", "cpu.cfs_quota_us" },
	};
	static const char *const mounts[] = { "", "/unified" };
	auto_buf self = BUF_INIT(FILE_MAX_SIZE);
	auto_str v2 = NULL;
	struct err ignored = ERR_INIT;
	unsigned held = 0;

	*ret = (struct cgroup){ .n = 0 };
	if (read_file(AT_FDCWD, p->self, &self, &ignored) < 0)
		return 0;
	v2 = own_path(buf_str(&self), "");
	for (size_t i = 0; v2 && !held && i < ARRAY_SIZE(mounts); i++) {
		auto_str mount = xasprintf("%s%s", p->root, mounts[i]);

		held = make_v2(mount, v2, name, kinds, ARRAY_SIZE(kinds), ret);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && ret->n < CGROUP_DIRS_MAX; i++)
		if (kinds[i].value && !(held & kinds[i].held) &&
			make_v1(p, buf_str(&self), name, &kinds[i], ret))
			held |= kinds[i].held;
	return held;
}

int cgroup_enter(const struct cgroup *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (!put(g->dirs[i], "cgroup.procs", "%d", pid))
			return -1;
	return 0;
}

uint64_t cgroup_oom_kills(const struct cgroup *g)
{
	static const char *const files[] = { "memory.events", "memory.oom_control" };

	for (size_t i = 0; i < g->n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(files); j++) {
			auto_buf text = BUF_INIT(FILE_MAX_SIZE);
			const char *at =
				get(g->dirs[i], files[j], &text) ? strstr(buf_str(&text), "oom_kill ") : NULL;

			if (at)
				return strtoull(at + strlen("oom_kill "), NULL, 10);
		}
	return 0;
}

static bool is_v2(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static bool can_freeze(const char *dir)
{
	return put(dir, "cgroup.freeze", "0") && can_enter(dir);
}

/* Goes up from the current group to the first one in which a freezer can be created and entered. */
static char *make_freezer(const char *mount, const char *path, const char *name)
{
	auto_str at = xasprintf("%s%s", mount, strcmp(path, "/") ? path : "");

	for (; strlen(at) >= strlen(mount); *strrchr(at, '/') = '\0') {
		auto_str dir = xasprintf("%s/%s", at, name);

		if (access(at, W_OK) < 0 || !make_dir(dir))
			continue;
		if (is_v2(dir) && can_freeze(dir))
			return steal_ptr(dir);
		remove_dir(dir);
	}
	return NULL;
}

static char *own_freezer(const struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++) {
		auto_str dir = xasprintf("%s/" FROZEN, g->dirs[i]);

		if (is_v2(g->dirs[i]) && make_dir(dir) && can_freeze(dir))
			return steal_ptr(dir);
	}
	return NULL;
}

char *cgroup_freezer(const struct cgroup_places *p, const char *name, struct cgroup *g)
{
	static const char *const mounts[] = { "", "/unified" };
	auto_buf self = BUF_INIT(FILE_MAX_SIZE);
	auto_str own = own_freezer(g), path = NULL;
	struct err ignored = ERR_INIT;

	if (own || g->n == CGROUP_DIRS_MAX || read_file(AT_FDCWD, p->self, &self, &ignored) < 0)
		return steal_ptr(own);
	path = own_path(buf_str(&self), "");
	for (size_t i = 0; path && !own && i < ARRAY_SIZE(mounts); i++) {
		auto_str mount = xasprintf("%s%s", p->root, mounts[i]);

		own = make_freezer(mount, path, name);
	}
	if (own)
		add(g, own);
	return steal_ptr(own);
}

int cgroup_freeze(const char *dir, bool frozen)
{
	return put(dir, "cgroup.freeze", "%d", frozen) ? 0 : -1;
}

static bool has_pid(const char *list, pid_t pid)
{
	char word[16];

	snprintf(word, sizeof(word), "%d", (int)pid);
	return has_word(list, word);
}

int cgroup_gather(const char *dir, const pid_t *pids, size_t n)
{
	auto_buf there = BUF_INIT(FILE_MAX_SIZE);
	int moved = 0;

	if (!get(dir, "cgroup.procs", &there))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (has_pid(buf_str(&there), pids[i]))
			continue;
		if (!put(dir, "cgroup.procs", "%d", (int)pids[i]) && errno != ESRCH)
			return -1;
		moved++;
	}
	return moved;
}

int cgroup_drop(const char *dir)
{
	auto_str frozen = xasprintf("%s/" FROZEN, dir);

	rmdir(frozen);
	return rmdir(dir) < 0 && errno != ENOENT ? -1 : 0;
}

void cgroup_remove(struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++) {
		auto_str frozen = xasprintf("%s/" FROZEN, g->dirs[i]);

		if (is_v2(g->dirs[i]))
			remove_dir(frozen);
		remove_dir(g->dirs[i]);
		free(steal_ptr(g->dirs[i]));
	}
	g->n = 0;
}
