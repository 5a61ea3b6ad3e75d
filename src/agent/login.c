#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claude.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/owner.h"

#define MAX_BYTES (10u << 20)
#define MAX_FILES 1000
#define MAX_DEPTH 32

struct copy {
	const struct config_agent *agent;
	const struct agent_place *place;
	int task_home;
	size_t looked_at, files, bytes;
};

/* The directories that are being copied, inmost first: a link to one of them would go round for ever. */
struct level {
	struct stat st;
	unsigned depth;
	const struct level *up;
};

static int copy_one(
	struct copy *c, int from, const char *name, const char *path, const struct level *up, struct err *e);

static bool is_open_above(const struct stat *st, const struct level *up)
{
	for (; up; up = up->up)
		if (up->st.st_dev == st->st_dev && up->st.st_ino == st->st_ino)
			return true;
	return false;
}

static int fill(struct copy *c, int from, int to, const char *path, struct err *e)
{
	auto_buf text = BUF_INIT(MAX_BYTES - c->bytes);

	if (read_rest(from, &text, path, e) < 0) {
		if (text.overflow)
			err_set(e, ERR_FAILED, "the log-in files of '%s' are larger than %u bytes",
				c->agent->name, MAX_BYTES);
		return -1;
	}
	if (!strcmp(path, CLAUDE_FILE))
		claude_own_part(&text, c->place);
	if (write_full(to, buf_str(&text), text.len) < 0 || owner_give(to, "") < 0)
		return err_sys(e, "cannot copy '%s' into the task's home", path);
	c->bytes += text.len;
	c->files++;
	return 0;
}

/* What an agent put in the way, a link or a file where a directory should be, is its own business: nothing is
 * written through it, and the task does without. */
static bool is_in_the_way(int error)
{
	return error == EEXIST || error == ELOOP || error == ENOTDIR || error == EISDIR || error == EXDEV;
}

static int copy_file(struct copy *c, int from, const char *path, struct err *e)
{
	struct owner o = owner_inside();
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));
	auto_fd dir = mkdirs_beneath(c->task_home, parent, 0700, owner_is_other() ? o.uid : (uid_t)-1, o.gid);
	auto_fd to = -1;

	if (dir >= 0)
		to = open_beneath(dir, path_base(path), O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (to < 0)
		return is_in_the_way(errno) ? 0 : err_sys(e, "cannot make '%s' in the task's home", path);
	if (fill(c, from, to, path, e) < 0) {
		unlinkat(dir, path_base(path), 0);
		return -1;
	}
	return 0;
}

static int copy_dir(struct copy *c, int *from, const char *path, const struct level *here, struct err *e)
{
	DIR *d = fdopendir(*from);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_sys(e, "cannot read '%s'", path);
	*from = -1; /* d has it */
	while (!rc && (errno = 0, ent = readdir(d))) {
		auto_str sub = NULL;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		sub = path_join(path, ent->d_name);
		rc = copy_one(c, dirfd(d), ent->d_name, sub, here, e);
	}
	if (!rc && errno)
		rc = err_sys(e, "cannot read '%s'", path);
	closedir(d);
	return rc;
}

/* `name` in the directory `from` is what `path` is in the home. */
static int copy_one(
	struct copy *c, int from, const char *name, const char *path, const struct level *up, struct err *e)
{
	auto_fd fd = openat(from, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct level here = { .depth = up ? up->depth + 1 : 0, .up = up };

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO))
		return 0; /* not there, a link to nowhere, or a socket */
	if (fd < 0 || fstat(fd, &here.st) < 0)
		return err_sys(e, "cannot read '%s' in the home", path);
	if (++c->looked_at > MAX_FILES || here.depth > MAX_DEPTH)
		return err_set(e, ERR_FAILED,
			"the log-in files of '%s' are more than %d, or nested more than %d deep",
			c->agent->name, MAX_FILES, MAX_DEPTH);
	if (S_ISREG(here.st.st_mode))
		return copy_file(c, fd, path, e);
	if (S_ISDIR(here.st.st_mode) && !is_open_above(&here.st, up))
		return copy_dir(c, &fd, path, &here, e);
	return 0;
}

int agent_copy_login(const struct config_agent *a, const struct agent_place *p, int user_home, int task_home,
	size_t *ret_copied, struct err *e)
{
	struct copy c = { .agent = a, .place = p, .task_home = task_home };

	for (size_t i = 0; i < a->login.n; i++)
		if (copy_one(&c, user_home, a->login.v[i], a->login.v[i], NULL, e) < 0)
			return err_wrap(e, "cannot copy the log-in of '%s'", a->name);
	if (ret_copied)
		*ret_copied = c.files;
	return 0;
}
