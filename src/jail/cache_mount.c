/*
 * A cache: the host's directory as the lower layer, frozen layers that tasks of a project share (`lowers`), and the
 * task's own layer on top. What the task writes is in its layer only. The host may change its directory meanwhile.
 * The kernel then promises nothing about what is seen of the change, but it shows no other files and does not
 * crash (docs/DECISIONS.md).
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"

/* Attaches a clone to the stage: overlayfs takes layers only from mounts of this namespace. */
static int stage(struct entering *in, int fd, const char *name)
{
	return mkdirat(in->stage, name, 0700) < 0 || mount_attach(fd, in->stage, name) < 0 ? -1 : 0;
}

/* "/proc/self/fd/N:…", the top layer first. fsconfig(2) takes 255 bytes, enough for the layers that a row has. */
static void name_lowers(const struct source *s, struct buf *out)
{
	for (size_t i = 0; i < s->nlowers; i++)
		buf_printf(out, "%s/proc/self/fd/%d", out->len ? ":" : "", s->lowers[i]);
	if (s->fd >= 0)
		buf_printf(out, "%s/proc/self/fd/%d", out->len ? ":" : "", s->fd);
}

static int layered(struct entering *in, const struct source *s, unsigned limits)
{
	char upper[40], work[40], name[24];
	auto_buf lower = BUF_SMALL;
	struct mount_option o[] = { { "userxattr", NULL }, { "volatile", NULL }, { "lowerdir", NULL },
		{ "upperdir", upper }, { "workdir", work } };

	snprintf(name, sizeof(name), "cache-%zu", in->row);
	snprintf(upper, sizeof(upper), "/proc/self/fd/%d", s->upper);
	snprintf(work, sizeof(work), "/proc/self/fd/%d", s->work);
	name_lowers(s, &lower);
	o[2].value = buf_str(&lower);
	return s->fd >= 0 && stage(in, s->fd, name) < 0 ? -1 : mount_new("overlay", o, ARRAY_SIZE(o), limits);
}

/* The directories with the layers, once for all rows. */
static int mount_layers(struct entering *in, const struct source *s)
{
	if (!in->caches_staged && stage(in, in->caches, "caches") < 0)
		return -1;
	in->caches_staged = true;
	if (s->nlowers && !in->shared_staged && stage(in, in->shared, "shared") < 0)
		return -1;
	in->shared_staged |= s->nlowers > 0;
	return 0;
}

int cache_mount(struct entering *in, const struct jail_row *r, struct err *e)
{
	const struct source *s = &in->sources[in->row];
	unsigned limits = MOUNT_NODEV | (r->flags & JAIL_NOEXEC ? MOUNT_NOEXEC : 0);
	auto_fd overlay = -1;
	struct place at;

	if (place_mount(in, r->target, true, &at, e) < 0)
		return r->flags & JAIL_OPTIONAL ? 0 : -1;
	if (s->upper >= 0 && !mount_layers(in, s))
		overlay = layered(in, s, limits);
	if (overlay >= 0 && !mount_attach(overlay, at.dir, at.name))
		return 0;
	/* the host does not have it: then the task has a directory in its home */
	if (s->fd < 0)
		return 0;
	if (mount_limit(s->fd, limits | MOUNT_RO) < 0 || mount_attach(s->fd, at.dir, at.name) < 0)
		return err_sys(e, "cannot mount %s", r->target);
	return 0;
}
