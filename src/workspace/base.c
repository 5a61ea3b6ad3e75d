#include "workspace/base.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/checkout.h"
#include "git/clean_index.h"
#include "git/content.h"
#include "git/settle.h"
#include "git/untracked.h"
#include "git/user_settings.h"
#include "sys/digest.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/remove_later.h"
#include "sys/lock.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "sys/sync_later.h"
#include "sys/tree.h"
#include "workspace/delta.h"
#include "workspace/identity.h"
#include "workspace/space.h"

/* Measured, see docs/DECISIONS.md. */
#define FEW_FILES 800
/* A file of a submodule's base: its attributes name a filter. */
#define FILTERS "filters"

void base_release(struct base *b)
{
	free(b->name);
	free(b->index);
	free(b->bound);
	free(b->monitor_id);
	strvec_release(&b->layers);
	*b = (struct base){ 0 };
}

static int project_dir(const struct home *h, int64_t project, int *ret_fd, struct err *e)
{
	auto_str name = xasprintf("bases/%lld", (long long)project);

	if (mkdirat(h->fd, name, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s/%s'", h->path, name);
	*ret_fd = openat(h->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret_fd < 0 ? err_sys(e, "cannot open '%s/%s'", h->path, name) : 0;
}

static int take(const struct home *h, int64_t project, bool wait, int *ret_fd, struct err *e)
{
	auto_fd dir = -1;

	if (project_dir(h, project, &dir, e) < 0)
		return -1;
	return lock_take(dir, "lock", wait, ret_fd, e);
}

int base_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e)
{
	return identity_refuse_copy(h, e) < 0 ? -1 : take(h, project, true, ret_fd, e);
}

int base_try_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e)
{
	return identity_refuse_copy(h, e) < 0 ? -1 : take(h, project, false, ret_fd, e);
}

static int open_parent(const struct home *h, int64_t project, int dir, struct base *b, struct err *e)
{
	auto_buf parent = BUF_SMALL;

	if (read_file(dir, "parent", &parent, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	auto_str layer = home_path(h, "bases/%lld/%s/tree", (long long)project, buf_str(&parent));
	if (access(layer, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the parent of the base '%s' is gone", b->name);
	strvec_push(&b->layers, layer);
	free(b->monitor_id);
	b->monitor_id = xstrdup(buf_str(&parent));
	return 0;
}

int base_open(const struct home *h, int64_t project, const char *name, struct base *ret, struct err *e)
{
	auto_str path = home_path(h, "bases/%lld/%s", (long long)project, name);
	auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_base b = { .name = xstrdup(name), .monitor_id = xstrdup(name) };
	auto_buf bound = BUF_INIT(PATH_MAX);

	if (dir < 0)
		return err_set(e, ERR_NOTFOUND, "there is no base '%s'", name);
	if (!read_file(dir, "bound", &bound, e))
		b.bound = buf_steal(&bound);
	if (home_is_torn(dir) || (!b.bound && faccessat(dir, "seed", F_OK, 0) < 0))
		return err_set(e, ERR_NOTFOUND, "the base '%s' may be torn", name);
	strvec_pushf(&b.layers, "%s/tree", path);
	b.index = path_join(path, "index");
	if (open_parent(h, project, dir, &b, e) < 0)
		return -1;
	*ret = b;
	b = (struct base){ 0 };
	return 0;
}

static uint32_t count_files(const char *index)
{
	auto_fd fd = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint32_t head[3]; /* "DIRC", version, number of entries */

	return fd >= 0 && read_full(fd, head, sizeof(head)) == sizeof(head) ? be32toh(head[2]) : 0;
}

bool base_is_monitored(const struct base *b)
{
	/* bases of older versions always have the extensions */
	return b->bound ? *b->bound : count_files(b->index) >= FEW_FILES;
}

/* Makes git trust the index without reading the files again, and binds its untracked cache, if it has one, to
 * a path. `clean` adds that cache and the monitor's extension; NULL: the index has them, or shall not. Returns 1, and
 * changes nothing, if that has to be left to git. */
static int settle(const char *path, const char *tree_path, const struct repo *r, const char *bound,
	const struct clean_index *clean, struct err *e)
{
	auto_fd tree = open(tree_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf index = BUF_INIT(1u << 30), out = BUF_INIT(1u << 30);
	int rc;

	if (tree < 0)
		return err_sys(e, "cannot open '%s'", tree_path);
	if (read_file(AT_FDCWD, path, &index, e) < 0 || settle_index(&index, r->hash_len, tree, e) < 0)
		return -1;
	rc = clean ? clean_index_add(&index, r->hash_len, tree, clean, e) : 0;
	if (rc)
		return rc;
	if (untracked_retarget(index.data, index.len, r->hash_len, bound, &out, e) < 0 ||
		write_file(AT_FDCWD, path, out.data, out.len, 0644, e) < 0)
		return -1;
	return owner_give(AT_FDCWD, path) < 0 ? err_sys(e, "cannot give '%s' away", path) : 0;
}

static int make_full(const struct home *h, const struct repo *r, const char *path, struct err *e)
{
	auto_str tree = path_join(path, "tree"), index = path_join(path, "index");

	if (space_check(h, r, r->commit, e) < 0 || checkout_all(r, r->commit, tree, index, e) < 0)
		return -1;
	fault("base-checkout");
	return 0;
}

/* Whether the index of the new base has the extensions. A delta has those that its parent has. */
static bool has_extensions(const struct home *h, int64_t project, int dir, const char *index)
{
	auto_buf parent = BUF_SMALL;
	struct err ignored = ERR_INIT;
	auto_base b = { 0 };

	if (read_file(dir, "parent", &parent, &ignored) < 0)
		return count_files(index) >= FEW_FILES;
	return !base_open(h, project, buf_str(&parent), &b, &ignored) && base_is_monitored(&b);
}

/* Adds the extensions to the index of a full base, and binds it. */
static int extend_index(const struct repo *r, const char *tree, const char *index, struct err *e)
{
	auto_str token = xasprintf(CLEAN_TOKEN "%s", r->commit), path = settings_ignore_file(r),
		 monitor = NULL;
	auto_buf exclude = BUF_INIT(1 << 20), ignores = BUF_INIT(SETTINGS_IGNORES_MAX + 1),
		 attributes = BUF_INIT(REPO_ATTRIBUTES_MAX);
	struct clean_index clean = { token, &exclude, path ? &ignores : NULL, false };
	int rc;

	if (repo_part(r, "info/exclude", &exclude, e) < 0 || repo_attributes(r, &attributes, e) < 0 ||
		(path && read_file(AT_FDCWD, path, &ignores, e) < 0))
		return -1;
	clean.attributes = attributes.len;
	rc = settle(index, tree, r, r->main_top, &clean, e);
	if (rc <= 0)
		return rc;
	if (proc_find_part(BASE_FSMONITOR_PART, &monitor, e) < 0 || settle(index, tree, r, "", NULL, e) < 0 ||
		checkout_warm(r, tree, index, monitor, r->commit, e) < 0)
		return -1;
	return settle(index, tree, r, r->main_top, NULL, e);
}

static int bind_index(const struct home *h, int64_t project, int dir, const char *path, const struct repo *r,
	bool full, struct err *e)
{
	auto_str index = path_join(path, "index"), tree = path_join(path, "tree");
	const char *bound = has_extensions(h, project, dir, index) ? r->main_top : "";

	if ((full && *bound ? extend_index(r, tree, index, e) : settle(index, tree, r, bound, NULL, e)) < 0)
		return -1;
	return write_file(dir, "bound", bound, strlen(bound), 0600, e);
}

static int finish(int project_fd, const char *part, const char *name, int dir, struct err *e)
{
	char boot[64];

	home_boot_id(boot);
	if (write_file(dir, "boot", boot, strlen(boot), 0600, e) < 0)
		return -1;
	fault("base-made");
	if (renameat(project_fd, part, project_fd, name) < 0)
		return err_sys(e, "cannot put the base '%s' in place", name);
	return 0;
}

/* Makes an empty directory for a new base; its tree belongs to the inside's user. */
static int make_part(int project_fd, const char *part, int *ret_dir, struct err *e)
{
	auto_fd dir = -1;
	mode_t old = umask(0022);
	int rc = 0;

	if (tree_remove(project_fd, part, e) < 0)
		rc = -1;
	else if (mkdirat(project_fd, part, 0755) < 0 || owner_give(project_fd, part) < 0 ||
		 (dir = openat(project_fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
		 mkdirat(dir, "tree", 0755) < 0 || owner_give(dir, "tree") < 0)
		rc = err_sys(e, "cannot make a base");
	umask(old);
	*ret_dir = fd_steal(&dir);
	return rc;
}

static int make(const struct home *h, int64_t project, int project_fd, const struct repo *r, struct err *e)
{
	auto_str part = xasprintf("%s.part", r->commit);
	auto_str path = home_path(h, "bases/%lld/%s", (long long)project, part);
	mode_t old = umask(0022);
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	bool full = false;
	int rc = make_part(project_fd, part, &dir, e);

	if (!rc)
		rc = delta_make(h, project, project_fd, r, dir, path, e);
	full = rc > 0;
	if (full)
		rc = make_full(h, r, path, e);
	if (!rc)
		rc = bind_index(h, project, dir, path, r, full, e);
	if (!rc)
		rc = finish(project_fd, part, r->commit, dir, e);
	umask(old);
	if (rc < 0)
		tree_remove(project_fd, part, &ignored);
	else
		sync_later(dir, "boot", NULL);
	return rc;
}

/* A filter may have been configured since the base was made. */
static int check_filters(const struct repo *r, struct base *b, struct err *e)
{
	if (!content_has_filters(r) || !content_check(r, b->index, e))
		return 0;
	base_release(b);
	return -1;
}

int base_get(const struct home *h, int64_t project, const struct repo *r, struct base *ret, struct err *e)
{
	auto_fd dir = -1;
	auto_lock lock = -1;

	if (!base_open(h, project, r->commit, ret, e))
		return check_filters(r, ret, e);
	if (e->kind != ERR_NOTFOUND || project_dir(h, project, &dir, e) < 0 ||
		base_lock(h, project, &lock, e) < 0)
		return -1;
	/* another process may have made it while this one waited for the lock */
	if (!base_open(h, project, r->commit, ret, e))
		return 0;
	if (tree_remove(dir, r->commit, e) < 0)
		return -1;
	if (make(h, project, dir, r, e) < 0)
		return err_wrap(e, "cannot make the base of commit %.12s", r->commit);
	return base_open(h, project, r->commit, ret, e);
}

char *base_submodule_name(const char *commit, const char *path)
{
	unsigned char digest[DIGEST_MAX];
	char hex[OID_SIZE];

	digest_of(DIGEST_SHA1_LEN, path, strlen(path), digest);
	oid_to_hex(digest, DIGEST_SHA1_LEN, hex);
	return xasprintf("%s@%s", commit, hex);
}

static bool is_submodule_name(const char *name)
{
	const char *at = strchr(name, '@');

	return at && oid_is(at + 1, DIGEST_SHA1_LEN) && (oid_starts(name, 20) || oid_starts(name, 32));
}

/* The configuration of a submodule's repository is read only if it matters: it takes longer than the rest. */
static int mark_filters(const struct repo *r, const char *index, int dir, struct err *e)
{
	bool any;

	if (content_names_filter(r, index, &any, e) < 0)
		return -1;
	return any ? write_file(dir, FILTERS, "", 0, 0600, e) : 0;
}

/* The files at `path` in the new base's tree, with a mount point for .git. */
static int fill_submodule(const struct home *h, const struct repo *r, const char *part, int dir,
	const char *path, struct err *e)
{
	auto_str tree = xasprintf("%s/tree/%s", part, path), index = path_join(part, "index");
	struct owner o = owner_inside();
	auto_fd top = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		at = top < 0 ? -1
			     : mkdirs_beneath(top, path, 0755, owner_is_other() ? o.uid : (uid_t)-1, o.gid);

	if (at < 0)
		return err_sys(e, "cannot make '%s'", tree);
	if (space_check(h, r, r->commit, e) < 0 || checkout_all(r, r->commit, tree, index, e) < 0)
		return -1;
	if (mkdirat(at, ".git", 0755) < 0 || owner_give(at, ".git") < 0)
		return err_sys(e, "cannot make '%s/.git'", tree);
	return settle(index, tree, r, "", NULL, e) < 0 || mark_filters(r, index, dir, e) < 0
		       ? -1
		       : write_file(dir, "bound", "", 0, 0600, e);
}

/* One that was made before may name a filter that has been configured since. */
static int open_submodule(const struct home *h, int64_t project, const struct repo *r, const char *name,
	struct base *ret, struct err *e)
{
	auto_str mark = home_path(h, "bases/%lld/%s/" FILTERS, (long long)project, name);

	if (base_open(h, project, name, ret, e) < 0)
		return -1;
	if (access(mark, F_OK) < 0 || !content_check(r, ret->index, e))
		return 0;
	base_release(ret);
	return -1;
}

int base_get_submodule(const struct home *h, int64_t project, const struct repo *r, const char *path,
	struct base *ret, struct err *e)
{
	auto_str name = base_submodule_name(r->commit, path), part = xasprintf("%s.part", name),
		 at = home_path(h, "bases/%lld/%s", (long long)project, part);
	struct err ignored = ERR_INIT;
	auto_fd all = -1, dir = -1;
	auto_lock lock = -1;
	mode_t old;
	int rc;

	if (!open_submodule(h, project, r, name, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND || project_dir(h, project, &all, e) < 0 ||
		base_lock(h, project, &lock, e) < 0)
		return -1;
	if (!open_submodule(h, project, r, name, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND || tree_remove(all, name, e) < 0 || make_part(all, part, &dir, e) < 0)
		return -1;
	old = umask(0022);
	rc = fill_submodule(h, r, at, dir, path, e);
	if (!rc)
		rc = finish(all, part, name, dir, e);
	umask(old);
	if (rc < 0)
		return tree_remove(all, part, &ignored), -1;
	sync_later(dir, "boot", NULL);
	return base_open(h, project, name, ret, e);
}

static void keep_parents(int project_fd, const struct strvec *used, struct strvec *keep)
{
	for (size_t i = 0; i < used->n; i++) {
		auto_str path = path_join(used->v[i], "parent");
		auto_buf parent = BUF_SMALL;
		struct err ignored = ERR_INIT;

		strvec_push(keep, used->v[i]);
		if (!read_file(project_fd, path, &parent, &ignored))
			strvec_push(keep, buf_str(&parent));
	}
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/* Removes leftovers. The lock is held, so no process is working on a directory with such a name. */
static int sweep(int project_fd, bool later, struct err *e)
{
	int copy = openat(project_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;
	int rc = 0;

	if (!d) {
		fd_closep(&copy);
		return err_sys(e, "cannot list the bases");
	}
	while (!rc && (ent = readdir(d))) {
		auto_str gone = ends_with(ent->d_name, ".gone") ? xstrdup(ent->d_name) : NULL;

		/* a background removal runs without the lock: give it a name that is never used again */
		if (ends_with(ent->d_name, ".part")) {
			gone = xasprintf("%s.%d.gone", ent->d_name, getpid());
			rc = renameat(project_fd, ent->d_name, project_fd, gone) < 0
				     ? err_sys(e, "cannot remove '%s'", ent->d_name)
				     : 0;
		}
		if (gone && !rc)
			rc = (later ? later_remove : tree_remove)(project_fd, gone, e);
	}
	closedir(d);
	return rc;
}

int base_list_submodules(int project_fd, struct strvec *ret, struct err *e)
{
	auto_strvec all = STRVEC_INIT;

	if (delta_names(project_fd, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (is_submodule_name(all.v[i]))
			strvec_push(ret, all.v[i]);
	return 0;
}

int base_prune(const struct home *h, int64_t project, const struct strvec *used, bool later, struct err *e)
{
	auto_strvec keep = STRVEC_INIT, names = STRVEC_INIT;
	auto_fd dir = -1;
	auto_str warm = NULL;

	if (project_dir(h, project, &dir, e) < 0)
		return -1;
	keep_parents(dir, used, &keep);
	if (delta_list(dir, false, &names, e) < 0 || base_list_submodules(dir, &names, e) < 0)
		return -1;
	warm = delta_newest_full(dir);
	for (size_t i = 0; i < names.n; i++) {
		/* the pid makes it unique: an older removal of the same base may still be running */
		auto_str gone = xasprintf("%s.%d.gone", names.v[i], getpid());

		if (strvec_has(&keep, names.v[i]) || (warm && !strcmp(warm, names.v[i])))
			continue;
		/* rename before removing: an incomplete base must never have a base's name */
		if (renameat(dir, names.v[i], dir, gone) < 0)
			return err_sys(e, "cannot remove the base '%s'", names.v[i]);
	}
	return sweep(dir, later, e);
}
