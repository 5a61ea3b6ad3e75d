#include "workspace/home.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "git/named_path.h"
#include "git/neutral.h"
#include "sys/fd.h"
#include "workspace/identity.h"

/* Leaves space for what is appended to the home's path in mounts and sockets. */
#define HOME_PATH_MAX (PATH_MAX - 1024)

static int make_places(int fd, struct err *e)
{
	static const char *const places[] = { "bases", "tasks", "worktrees", "stubs", "stubs/.git", "trash",
		"scratch" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (mkdirat(fd, places[i], strncmp(places[i], "stubs", 5) ? 0700 : 0755) < 0 &&
			errno != EEXIST)
			return err_sys(e, "cannot make '%s' in the Garth home", places[i]);
	return 0;
}

int home_open(const char *env_home, const char *user_home, struct home *ret, struct err *e)
{
	auto_str path = env_home && *env_home ? xstrdup(env_home)
			: user_home           ? path_join(user_home, ".garth")
					      : NULL;
	auto_home h = { .fd = -1 };
	struct err ignored = ERR_INIT;
	struct stat st;
	mode_t old;
	int rc;

	if (!path)
		return err_set(e, ERR_USAGE, "neither HOME nor GARTH_HOME is set");
	if (path[0] != '/')
		return err_set(e, ERR_USAGE, "GARTH_HOME must be an absolute path, not '%s'", path);
	if (strchr(path, '\n'))
		return err_set(e, ERR_USAGE, "the Garth home's path has a line break");
	if (strlen(path) > HOME_PATH_MAX)
		return err_set(e, ERR_USAGE, "the Garth home's path is too long (%zu bytes)", strlen(path));
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make the Garth home '%s'", path);
	h.path = canonicalize_file_name(path);
	h.fd = h.path ? open(h.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (h.fd < 0 || fstat(h.fd, &st) < 0)
		return err_sys(e, "cannot open the Garth home '%s'", path);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_REFUSED, "the Garth home '%s' belongs to another user", h.path);
	if ((st.st_mode & 0077) && fchmod(h.fd, 0700) < 0)
		return err_sys(e, "cannot close the Garth home '%s' to others", h.path);
	old = umask(0);
	rc = faccessat(h.fd, "scratch", F_OK, 0) < 0 ? make_places(h.fd, e) : 0;
	umask(old);
	if (rc < 0)
		return -1;
	named_path_set_home(h.path);
	/* this fails on a full disk; commands that only read work without it */
	neutral_make(h.fd, h.path, &ignored);
	identity_look(&h);
	*ret = h;
	h = (struct home){ .fd = -1 };
	return 0;
}

void home_release(struct home *h)
{
	free(h->path);
	free(h->copy_of);
	fd_closep(&h->fd);
	*h = (struct home){ .fd = -1 };
}

char *home_path(const struct home *h, const char *fmt, ...)
{
	auto_str rest = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&rest, fmt, ap) < 0)
		abort();
	va_end(ap);
	return path_join(h->path, rest);
}

int home_task_dir(const struct home *h, int64_t id, int *ret_fd, struct err *e)
{
	auto_str name = xasprintf("tasks/%lld", (long long)id);
	int fd = openat(h->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0) {
		err_sys(e, "cannot open the task's directory '%s/%s'", h->path, name);
		if (errno == ENOENT)
			e->kind = ERR_NOTFOUND;
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

void home_boot_id(char out[64])
{
	auto_buf b = BUF_INIT(63);
	struct err ignored = ERR_INIT;

	out[0] = '\0';
	if (read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &b, &ignored) < 0)
		return;
	snprintf(out, 64, "%s", buf_str(&b));
	out[strcspn(out, "\n")] = '\0';
}

bool home_is_torn(int dir)
{
	auto_buf made = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char now[64];

	if (read_file(dir, "boot", &made, &ignored) < 0)
		return false;
	home_boot_id(now);
	return strcmp(buf_str(&made), now) != 0;
}

int home_list(const struct home *h, const char *place, DIR **ret, struct err *e)
{
	auto_fd fd = openat(h->fd, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	*ret = NULL;
	if (fd < 0 && errno == ENOENT)
		return 0;
	*ret = fd < 0 ? NULL : fdopendir(fd);
	if (!*ret)
		return err_sys(e, "cannot read '%s'", place);
	fd_steal(&fd);
	return 0;
}
