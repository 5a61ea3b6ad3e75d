#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/mount.h"
#include "jail/steps.h"
#include "sys/fd.h"

static int new_tmpfs(const char *size, const char *inodes, unsigned limits)
{
	const struct mount_option o[] = { { "size", size }, { "nr_inodes", inodes }, { "mode", "0755" } };

	return mount_new("tmpfs", o, ARRAY_SIZE(o), limits);
}

int root_new(struct entering *in, struct err *e)
{
	/* It does not matter which directory it covers: all sources are open, and the old root goes away. */
	static const char *const somewhere[] = { "/tmp", "/usr", "/" };
	bool attached = false;

	/* The mounts here became slaves of the host's when the user namespace was made. Private mounts do not
	 * get later mounts of the host either. */
	if (mount_cut_off() < 0)
		return err_sys(e, "cannot make mounts private");
	in->stage = new_tmpfs("1m", "1024", MOUNT_NODEV);
	if (in->stage < 0)
		return err_sys(e, "cannot make a tmpfs");
	for (size_t i = 0; i < ARRAY_SIZE(somewhere) && !attached; i++)
		attached = !mount_attach(in->stage, AT_FDCWD, somewhere[i]);
	if (!attached)
		return err_sys(e, "no place for the new root");
	in->root = new_tmpfs("16m", "4096", MOUNT_NODEV);
	if (in->root < 0 || mkdirat(in->stage, "root", 0755) < 0 ||
		mount_attach(in->root, in->stage, "root") < 0)
		return err_sys(e, "cannot make the new root");
	return 0;
}

/* The row's target is occupied: an optional row is skipped. */
static int taken(const struct jail_row *r)
{
	return r->flags & JAIL_OPTIONAL ? 0 : -1;
}

static int row_bind(struct entering *in, const struct jail_row *r, struct err *e)
{
	const struct source *s = &in->sources[in->row];
	struct place at;
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return err_sys(e, "cannot look at %s", r->source);
	if (place_mount(in, r->target, S_ISDIR(st.st_mode), &at, e) < 0)
		return taken(r);
	if (mount_limit(s->fd, MOUNT_NODEV | (r->flags & JAIL_WRITE ? 0 : MOUNT_RO) |
				       (r->flags & JAIL_NOEXEC ? MOUNT_NOEXEC : 0)) < 0 ||
		mount_attach(s->fd, at.dir, at.name) < 0)
		return err_sys(e, "cannot mount %s", r->target);
	return 0;
}

static int row_copy(struct entering *in, const struct jail_row *r, struct err *e)
{
	const struct source *s = &in->sources[in->row];

	return place_data(in, r->target, s->data.data, s->data.len, s->mode, e) < 0 ? taken(r) : 0;
}

static int row_data(struct entering *in, const struct jail_row *r, struct err *e)
{
	return place_data(in, r->target, r->source, strlen(r->source), 0644, e) < 0 ? taken(r) : 0;
}

static int row_link(struct entering *in, const struct jail_row *r, struct err *e)
{
	return place_link(in, r->target, r->source, e) < 0 ? taken(r) : 0;
}

static int row_dir(struct entering *in, const struct jail_row *r, struct err *e)
{
	struct place at;

	return place_mount(in, r->target, true, &at, e) < 0 ? taken(r) : 0;
}

/* clang-format off */
static int (*const row_kinds[JAIL_KINDS])(struct entering *, const struct jail_row *, struct err *) = {
	[JAIL_BIND] = row_bind,       [JAIL_COPY] = row_copy,      [JAIL_DATA] = row_data,
	[JAIL_LINK] = row_link,       [JAIL_DIR] = row_dir,        [JAIL_TMPFS] = special_tmpfs,
	[JAIL_PROC] = special_proc,   [JAIL_DEV] = special_dev,    [JAIL_OVERLAY] = overlay_mount,
	[JAIL_CACHE] = cache_mount,
};
/* clang-format on */

int root_rows(struct entering *in, struct err *e)
{
	for (in->row = 0; in->row < in->j->nrows; in->row++) {
		const struct jail_row *r = &in->j->rows[in->row];

		if (in->sources[in->row].there && row_kinds[r->kind](in, r, e) < 0)
			return -1;
	}
	return 0;
}

int root_pivot(struct entering *in, struct err *e)
{
	if (fchdir(in->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(e, "cannot pivot");
	/* The old root now covers the new one. The stage and the overlay's layers on it go away with the old
	 * root. */
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(e, "cannot leave the old root");
	return 0;
}

int root_freeze(struct entering *in, struct err *e)
{
	for (size_t i = 0; i < in->j->nrows; i++) {
		const struct jail_row *r = &in->j->rows[i];
		auto_fd fd = -1;

		if (r->kind != JAIL_TMPFS || r->flags & JAIL_WRITE)
			continue;
		fd = open_beneath(in->root, r->target + 1, O_PATH | O_DIRECTORY, 0);
		if (fd < 0 || mount_readonly(fd) < 0)
			return err_sys(e, "cannot make %s read-only", r->target);
	}
	return mount_readonly(in->root) < 0 ? err_sys(e, "cannot make the root read-only") : 0;
}
