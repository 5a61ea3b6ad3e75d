/*
 * Mounts the overlay from layers that are first attached to the stage under short names. So the option string
 * stays short however long the layers' paths on the host are, and needs no escapes. The stage disappears with
 * the old root, so no layer is reachable from inside.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"
#include "sys/linux.h"

static int attach_layer(int fd, int stage, const char *name)
{
	return mkdirat(stage, name, 0700) < 0 || mount_attach(fd, stage, name) < 0 ? -1 : 0;
}

/* A layer with places for denied names, above the others. */
static int set_names(struct entering *in, struct buf *options, struct err *e)
{
	auto_fd layer = -1;
	bool any = false;

	if (!in->j->rules.n)
		return 0;
	if (mkdirat(in->stage, "names", 0755) < 0 ||
		(layer = openat(in->stage, "names", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_sys(e, "cannot make a layer for rules");
	if (cover_names(in, layer, &any, e) < 0)
		return -1;
	if (any)
		buf_addstr(options, "names:");
	return 0;
}

static int set_stage(struct entering *in, struct buf *options, struct err *e)
{
	buf_addstr(options, "userxattr,volatile,lowerdir=");
	if (set_names(in, options, e) < 0)
		return -1;
	for (size_t i = 0; i < in->j->lowers.n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%zu", i);
		if (attach_layer(in->lowers[i], in->stage, name) < 0)
			return err_sys(e, "cannot open layer %s", in->j->lowers.v[i]);
		buf_printf(options, "%s%s", i ? ":" : "", name);
	}
	if (attach_layer(in->layers, in->stage, "layers") < 0 || mkdirat(in->stage, "merged", 0700) < 0)
		return err_sys(e, "cannot open layer %s", in->j->upper);
	buf_printf(options, ",upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d", in->upper, in->work);
	return options->overflow ? err_set(e, ERR_START, "too many layers") : 0;
}

int overlay_mount(struct entering *in, const struct jail_row *r, struct err *e)
{
	auto_buf options = BUF_INIT(4000);
	/* noatime: reading files should not write inodes */
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOATIME | (r->flags & JAIL_NOEXEC ? MS_NOEXEC : 0);
	struct place at;

	if (place_mount(in, r->target, true, &at, e) < 0 || set_stage(in, &options, e) < 0)
		return -1;
	/* mount(2), because fsconfig(2) limits strings to 255 bytes */
	if (fchdir(in->stage) < 0 || mount("overlay", "merged", "overlay", flags, buf_str(&options)) < 0)
		return err_sys(e, "cannot mount the overlay at %s", r->target);
	if (move_mount(AT_FDCWD, "merged", at.dir, at.name, 0) < 0)
		return err_sys(e, "cannot move the overlay to %s", r->target);
	return 0;
}
