#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "jail/copy_up.h"
#include "jail/overlay_rename_parts.h"
#include "sys/dir.h"
#include "sys/fd.h"

/* Reads a path of the caller. A relative one continues the caller's link in /proc. A path like /proc/self/fd/N
 * would mean this process: then the wrong directory, or none, is made movable, and nobody notices. */
static int read_side(const struct call *c, int at, uint64_t address, struct rename_side *ret)
{
	char before[48];
	struct stat st;
	int n, rc;

	if (at == AT_FDCWD)
		n = snprintf(before, sizeof(before), "/proc/%u/cwd/", c->req->pid);
	else
		n = snprintf(before, sizeof(before), "/proc/%u/fd/%d/", c->req->pid, at);
	ret->path = ret->text + n;
	rc = caller_string(c, address, ret->path);
	if (rc < 0 || !*ret->path)
		return -1;
	if (*ret->path != '/') {
		memcpy(ret->text, before, (size_t)n);
		ret->path = ret->text;
	}
	ret->is_dir = !fstatat(AT_FDCWD, ret->path, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
	return 0;
}

/* Where the arguments of the three calls are. */
struct form {
	int nr;
	int from_at, from, to_at, to, flags; /* -1: it has none */
};

static const struct form forms[] = {
#ifdef SYS_rename /* only on older architectures */
	{ SYS_rename, -1, 0, -1, 1, -1 },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, 0, 1, 2, 3, -1 },
#endif
	{ SYS_renameat2, 0, 1, 2, 3, 4 },
};

static const struct form *form_of(int nr)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].nr == nr)
			return &forms[i];
	return NULL;
}

static int read_arg_side(const struct call *c, int at, int path, struct rename_side *ret)
{
	return read_side(c, at < 0 ? AT_FDCWD : call_int(c, (unsigned)at), call_arg(c, (unsigned)path), ret);
}

bool rename_looks_hard(const struct call *c, struct rename_call *ret)
{
	const struct form *f = form_of(c->req->data.nr);

	ret->call = c;
	ret->flags = f && f->flags >= 0 ? (unsigned)call_arg(c, (unsigned)f->flags) : 0;
	if (!f || ret->flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
		read_arg_side(c, f->from_at, f->from, &ret->from) < 0)
		return false;
	if (!ret->from.is_dir && !(ret->flags & RENAME_EXCHANGE))
		return false;
	if (read_arg_side(c, f->to_at, f->to, &ret->to) < 0)
		return false;
	return (ret->from.is_dir || ret->to.is_dir) && !caller_waits(c);
}

/* A directory that contains one of the names. */
struct holder {
	int fd;
	const char *name; /* in the side's text */
};

/* Opens the directory and cuts the path after its last name. */
static int open_holder(struct rename_side *s, struct holder *ret)
{
	size_t n = strlen(s->path);
	char *name;

	while (n > 1 && s->path[n - 1] == '/')
		s->path[--n] = '\0';
	name = strrchr(s->path, '/');
	if (!name || !name[1] || dir_is_dot(name + 1))
		return -1;
	*name = '\0';
	ret->name = name + 1;
	ret->fd = open(*s->path ? s->path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->fd;
}

static bool is_empty(const struct holder *h)
{
	int fd = openat(h->fd, h->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_dir d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d)
		fd_closep(&fd);
	while (d && (ent = readdir(d)))
		if (!dir_is_dot(ent->d_name))
			return false;
	return true;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static int stat_in(const struct holder *h, struct stat *ret)
{
	return fstatat(h->fd, h->name, ret, AT_SYMLINK_NOFOLLOW);
}

/* Whether both names are in one mount, and neither is beneath the other. */
static bool are_apart(const struct holder *from, const struct stat *from_st, const struct holder *to,
	const struct stat *to_st)
{
	bool to_in_from, from_in_to = false;
	auto_fd to_top = copy_up_top(to->fd, from_st, &to_in_from);
	auto_fd from_top = copy_up_top(from->fd, to_st, to_st ? &from_in_to : NULL);
	struct stat a, b;

	return to_top >= 0 && from_top >= 0 && !to_in_from && !from_in_to && !fstat(to_top, &a) &&
	       !fstat(from_top, &b) && same(&a, &b);
}

/* Both parents must be writable; a directory that gets another parent too, because its ".." changes. */
static bool may_move(const struct holder *from, const struct holder *to)
{
	struct stat a, b;

	if (faccessat(from->fd, ".", W_OK | X_OK, 0) < 0 || faccessat(to->fd, ".", W_OK | X_OK, 0) < 0 ||
		fstat(from->fd, &a) < 0 || fstat(to->fd, &b) < 0)
		return false;
	return same(&a, &b) || !faccessat(from->fd, from->name, W_OK, 0);
}

/* Whether the kernel gives another answer before it would give EXDEV, so that copying would be useless. */
static bool is_futile(const struct rename_call *r, const struct holder *from, const struct holder *to)
{
	struct stat from_st, to_st;
	bool exists = !stat_in(to, &to_st);

	if (stat_in(from, &from_st) < 0 || (r->from.is_dir && !may_move(from, to)) ||
		!are_apart(from, &from_st, to, exists ? &to_st : NULL))
		return true;
	if (r->flags & RENAME_EXCHANGE)
		return !exists || (r->to.is_dir && !may_move(to, from));
	return exists && (r->flags & RENAME_NOREPLACE || !S_ISDIR(to_st.st_mode) || same(&from_st, &to_st));
}

/* Directories that are being copied. Two copies of the same directory at the same time would take files from each other.
 * So would copies of two directories if one is in the other. */
struct claim {
	struct claim *next;
	char path[PATH_MAX];
};

static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t claims_changed = PTHREAD_COND_INITIALIZER;
static struct claim *claims;

static bool is_claimed(const char *path)
{
	for (const struct claim *c = claims; c; c = c->next)
		if (path_within(path, c->path) || path_within(c->path, path))
			return true;
	return false;
}

/* Waits until nobody else copies it. */
static int claim(struct claim *c, const struct holder *h)
{
	char link[OWN_FD_MAX];
	ssize_t n;

	supervisor_own_fd(h->fd, link);
	n = readlink(link, c->path, sizeof(c->path));
	if (n <= 0 || (size_t)n + strlen(h->name) + 2 > sizeof(c->path))
		return -1;
	snprintf(c->path + n, sizeof(c->path) - (size_t)n, "/%s", h->name);
	pthread_mutex_lock(&claims_lock);
	while (is_claimed(c->path))
		pthread_cond_wait(&claims_changed, &claims_lock);
	c->next = claims;
	claims = c;
	pthread_mutex_unlock(&claims_lock);
	return 0;
}

static void unclaim(struct claim *c)
{
	pthread_mutex_lock(&claims_lock);
	for (struct claim **p = &claims; *p; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	pthread_cond_broadcast(&claims_changed);
	pthread_mutex_unlock(&claims_lock);
}

/* Makes it movable, unless another call has done that meanwhile. */
static int prepare_side(const struct holder *h, bool (*goes_on)(void *arg), void *arg)
{
	struct claim c;
	int rc = 0;

	if (claim(&c, h) < 0)
		return 0;
	if (copy_up_needed(h->fd, h->name) && copy_up_dir(h->fd, h->name, goes_on, arg) < 0 &&
		(errno == ENOSPC || errno == EDQUOT))
		rc = -errno;
	unclaim(&c);
	return rc;
}

static int prepare(struct rename_call *r, const struct holder *from, const struct holder *to,
	bool (*goes_on)(void *arg), void *arg)
{
	bool exchange = r->flags & RENAME_EXCHANGE;
	bool of_from = r->from.is_dir && copy_up_may_be_needed(from->fd, from->name);
	bool of_to = exchange && r->to.is_dir && copy_up_may_be_needed(to->fd, to->name);
	int rc = 0;

	if ((!of_from && !of_to) || is_futile(r, from, to))
		return 0;
	/* the kernel would say so only after copying */
	if (!exchange && r->to.is_dir && !is_empty(to))
		return -ENOTEMPTY;
	if (of_from)
		rc = prepare_side(from, goes_on, arg);
	if (!rc && of_to)
		rc = prepare_side(to, goes_on, arg);
	return rc;
}

int rename_prepare(struct rename_call *r, bool (*goes_on)(void *arg), void *arg)
{
	struct holder from = { -1, NULL }, to = { -1, NULL };
	int rc = 0;

	if (open_holder(&r->from, &from) >= 0 && open_holder(&r->to, &to) >= 0)
		rc = prepare(r, &from, &to, goes_on, arg);
	fd_closep(&from.fd);
	fd_closep(&to.fd);
	return rc;
}
