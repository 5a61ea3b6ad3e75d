#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"

#define COPY_MAX (1u << 20)

const char *const dev_nodes[DEV_NODES] = { "null", "zero", "full", "random", "urandom", "tty" };

static bool is_missing(int sys)
{
	return sys == ENOENT || sys == ENOTDIR || sys == EACCES || sys == ELOOP;
}

static int read_copy(const char *path, struct source *s)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct err ignored;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	s->data = (struct buf)BUF_INIT(COPY_MAX);
	s->mode = st.st_mode & 0755;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	if (read_rest(fd, &s->data, path, &ignored) < 0) {
		errno = s->data.overflow ? EFBIG : EIO;
		return -1;
	}
	return 0;
}

static int open_source(const struct jail_row *r, struct source *s, struct err *e)
{
	int rc = 0;

	s->fd = s->upper = s->work = -1;
	if (r->source && (r->kind == JAIL_BIND || r->kind == JAIL_CACHE))
		rc = s->fd = r->flags & JAIL_PLAIN ? mount_clone_plain(r->source, true)
						   : mount_clone(AT_FDCWD, r->source);
	else if (r->kind == JAIL_COPY)
		rc = read_copy(r->source, s);
	s->there = rc >= 0;
	if (rc < 0 && !(r->flags & JAIL_OPTIONAL && is_missing(errno)))
		return err_sys(e, "%s", r->source);
	return 0;
}

static int open_nodes(struct entering *in, struct err *e)
{
	for (size_t i = 0; i < DEV_NODES; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/%s", dev_nodes[i]);
		in->nodes[i] = mount_clone(AT_FDCWD, path);
		if (in->nodes[i] < 0)
			return err_sys(e, "%s", path);
	}
	return 0;
}

static int open_layers(struct entering *in, struct err *e)
{
	const struct jail *j = in->j;
	auto_str holder = xstrndup(j->upper, (size_t)(path_base(j->upper) - j->upper));

	in->layers = mount_clone(AT_FDCWD, holder);
	if (in->layers < 0)
		return err_sys(e, "%s", holder);
	/* Opened here, because their directory belongs to the host's user and is closed
	 * to the inside's uid. */
	in->upper = open_beneath(in->layers, path_base(j->upper), O_PATH | O_DIRECTORY, 0);
	if (in->upper < 0)
		return err_sys(e, "%s", j->upper);
	in->work = open_beneath(in->layers, path_base(j->work), O_PATH | O_DIRECTORY, 0);
	if (in->work < 0)
		return err_sys(e, "%s", j->work);
	in->lowers = xcalloc(j->lowers.n, sizeof(*in->lowers));
	for (size_t i = 0; i < j->lowers.n; i++) {
		in->lowers[i] = mount_clone(AT_FDCWD, j->lowers.v[i]);
		if (in->lowers[i] < 0)
			return err_sys(e, "%s", j->lowers.v[i]);
	}
	return 0;
}

/* Garth's own layers belong to the inside's uid, for root too. */
static int open_cache_lowers(struct entering *in, const struct jail_row *r, struct source *s, struct err *e)
{
	if (r->lowers.n && in->shared < 0)
		in->shared = mount_clone(AT_FDCWD, in->j->shared);
	if (r->lowers.n && in->shared < 0)
		return err_sys(e, "%s", in->j->shared);
	for (; s->nlowers < r->lowers.n; s->nlowers++) {
		s->lowers[s->nlowers] =
			open_beneath(in->shared, r->lowers.v[s->nlowers], O_PATH | O_DIRECTORY, 0);
		if (s->lowers[s->nlowers] < 0)
			return err_sys(e, "%s of %s", r->lowers.v[s->nlowers], in->j->shared);
	}
	return 0;
}

/* Root's files have no owner inside, and overlayfs copies no such file up. So root's caches need a clone that
 * maps their owner, made outside (idmap.h); without it they stay read-only. */
static int open_cache(struct entering *in, size_t i, struct err *e)
{
	const struct jail_row *r = &in->j->rows[i];
	struct source *s = &in->sources[i];
	auto_str upper = path_join(r->layer, "upper"), work = path_join(r->layer, "work");
	bool map = r->source && in->j->from_root;

	if (!s->there || (map && (!in->mapped || in->mapped[i] < 0)))
		return 0;
	if (in->caches < 0)
		in->caches = mount_clone(AT_FDCWD, in->j->caches);
	if (in->caches < 0)
		return err_sys(e, "%s", in->j->caches);
	s->upper = open_beneath(in->caches, upper, O_PATH | O_DIRECTORY, 0);
	s->work = open_beneath(in->caches, work, O_PATH | O_DIRECTORY, 0);
	if (s->upper < 0 || s->work < 0)
		return err_sys(e, "%s of %s", s->upper < 0 ? upper : work, in->j->caches);
	if (map) {
		close(s->fd);
		s->fd = in->mapped[i];
	}
	return open_cache_lowers(in, r, s, e);
}

int sources_open(struct entering *in, struct err *e)
{
	in->sources = xcalloc(in->j->nrows + 1, sizeof(*in->sources));
	for (size_t i = 0; i < in->j->nrows; i++) {
		const struct jail_row *r = &in->j->rows[i];

		if (open_source(r, &in->sources[i], e) < 0)
			return -1;
		if (r->kind == JAIL_CACHE && open_cache(in, i, e) < 0)
			return -1;
		if (r->kind == JAIL_DEV && open_nodes(in, e) < 0)
			return -1;
		if (r->kind == JAIL_OVERLAY && open_layers(in, e) < 0)
			return -1;
	}
	return 0;
}
