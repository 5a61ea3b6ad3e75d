#include "git/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/hooks.h"
#include "git/lfs.h"
#include "git/user_settings.h"
#include "sys/fd.h"
#include "sys/owner.h"

/* The filter of Git LFS, as `git lfs install` writes it. What is not in the task stays a pointer: nothing can be
 * downloaded. */
static void put_lfs(const struct private_spec *s, struct buf *out)
{
	auto_fd store = lfs_open_store(s->repo);

	if (store < 0)
		return;
	settings_put(out, "filter.lfs.clean", "git-lfs clean -- %f");
	settings_put(out, "filter.lfs.smudge", "git-lfs smudge -- %f");
	settings_put(out, "filter.lfs.process", "git-lfs filter-process");
	settings_put(out, "filter.lfs.required", "true");
	settings_put(out, "lfs.skipdownloaderrors", "true");
}

static void make_config(const struct private_spec *s, struct buf *out)
{
	bool sha256 = s->repo->hash_len == 32, partial = repo_is_partial(s->repo);

	settings_put(out, "core.repositoryformatversion", sha256 || partial ? "1" : "0");
	if (sha256)
		settings_put(out, "extensions.objectformat", "sha256");
	/* git knows that objects may be missing; there is nowhere to fetch them from */
	if (partial) {
		settings_put(out, "extensions.partialclone", "origin");
		settings_put(out, "remote.origin.promisor", "true");
	}
	settings_put(out, "core.bare", "false");
	settings_put(out, "core.logallrefupdates", "true");
	/* saves a process at each commit; this storage is thrown away later */
	settings_put(out, "maintenance.auto", "false");
	/* one file system operation per object instead of two */
	settings_put(out, "core.createobject", "rename");
	settings_copy(s->repo, out);
	/* inside, files are as in the repository, whatever the user's checkout has */
	if (repo_config(s->repo, "core.autocrlf"))
		settings_put(out, "core.autocrlf", "false");
	put_lfs(s, out);
	if (s->ignores)
		settings_put(out, "core.excludesfile", s->ignores);
	if (s->fsmonitor) {
		settings_put(out, "core.fsmonitor", s->fsmonitor);
		settings_put(out, "core.fsmonitorhookversion", "2");
		settings_put(out, "core.untrackedcache", "true");
	}
}

static int open_new(int dir, const char *path)
{
	return openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static int put(int dir, const char *path, const void *data, size_t len, struct err *e)
{
	auto_fd fd = open_new(dir, path);

	if (fd < 0 || write_full(fd, data, len) < 0 || owner_give(fd, "") < 0)
		return err_sys(e, "cannot write '%s' of the private repository", path);
	return 0;
}

static int put_text(int dir, const char *path, const struct buf *text, struct err *e)
{
	if (text->overflow)
		return err_set(e, ERR_FAILED, "'%s' of the private repository would be too large", path);
	return put(dir, path, buf_str(text), text->len, e);
}

/* A repository without refs to show is a submodule's. A task can have many, and making directories takes most of the time:
 * git makes those after the needed ones itself. */
static int make_dirs(int dir, const struct private_spec *s, struct err *e)
{
	enum { NEEDED_DIRS = 5 };
	static const char *const dirs[] = { "objects", "objects/info", "refs", "info", "hooks",
		"objects/pack", "refs/heads", "refs/tags" };

	for (size_t i = 0; i < (s->shown->len ? ARRAY_SIZE(dirs) : NEEDED_DIRS); i++)
		if (mkdirat(dir, dirs[i], 0755) < 0 || owner_give(dir, dirs[i]) < 0)
			return err_sys(e, "cannot make '%s' of the private repository", dirs[i]);
	return 0;
}

static int put_packed(int dir, const struct buf *refs, struct err *e)
{
	static const char first[] = "# pack-refs with: sorted \n";
	auto_fd fd = open_new(dir, "packed-refs");

	/* tags can be megabytes: they are not copied to put a line in front of them */
	if (fd < 0 || write_full(fd, first, sizeof(first) - 1) < 0 ||
		write_full(fd, buf_str(refs), refs->len) < 0 || owner_give(fd, "") < 0)
		return err_sys(e, "cannot write 'packed-refs' of the private repository");
	return 0;
}

static int put_tip(int dir, const struct private_spec *s, struct err *e)
{
	auto_buf tip = BUF_SMALL;
	struct owner o = owner_inside();
	const char *slash = strrchr(s->branch, '/');
	auto_str parent = xstrndup(s->branch, (size_t)(slash - s->branch));
	auto_fd at = mkdirs_beneath(dir, parent, 0755, owner_is_other() ? o.uid : (uid_t)-1, o.gid);

	if (at < 0)
		return err_sys(e, "cannot make '%s' of the private repository", parent);
	buf_printf(&tip, "%s\n", s->commit);
	return put_text(at, slash + 1, &tip, e);
}

static int put_refs(int dir, const struct private_spec *s, struct err *e)
{
	auto_buf head = BUF_SMALL;

	buf_printf(&head, "ref: %s\n", s->branch);
	if (put_text(dir, "HEAD", &head, e) < 0 || (s->shown->len && put_packed(dir, s->shown, e) < 0))
		return -1;
	/* a file, so that publish_is_unmoved can look without running git */
	return put_tip(dir, s, e);
}

/* The user's excludes and attributes contain only patterns and words, so they are safe to copy. */
static int put_info(int dir, const struct repo *r, struct err *e)
{
	auto_buf text = BUF_INIT(1 << 20), attributes = BUF_INIT(REPO_ATTRIBUTES_MAX);

	if (repo_part(r, "info/exclude", &text, e) < 0 || repo_attributes(r, &attributes, e) < 0)
		return -1;
	if (put_text(dir, "info/exclude", &text, e) < 0)
		return -1;
	return attributes.len ? put_text(dir, "info/attributes", &attributes, e) : 0;
}

/* Without this file, git inside would miss the parents of a shallow clone's oldest commits. */
static int put_shallow(int dir, const struct repo *r, struct err *e)
{
	auto_buf text = BUF_INIT(REPO_SHALLOW_MAX);

	if (repo_shallow(r, &text, e) < 0)
		return -1;
	return text.len ? put_text(dir, "shallow", &text, e) : 0;
}

static int put_hooks(int dir, const struct private_spec *s, struct err *e)
{
	if (hooks_put(dir, s->repo, e) < 0)
		return -1;
	if (s->hook && symlinkat(s->hook, dir, "hooks/reference-transaction") < 0)
		return err_sys(e, "cannot make the hook of the private repository");
	return 0;
}

int private_create(int dir, const struct private_spec *s, struct err *e)
{
	auto_buf config = BUF_INIT(1 << 20);

	if (make_dirs(dir, s, e) < 0 || put_refs(dir, s, e) < 0 || put_info(dir, s->repo, e) < 0 ||
		put_shallow(dir, s->repo, e) < 0 || put_hooks(dir, s, e) < 0)
		return -1;
	make_config(s, &config);
	if (put_text(dir, "config", &config, e) < 0)
		return -1;
	if (s->alternates && put_text(dir, "objects/info/alternates", s->alternates, e) < 0)
		return -1;
	return s->index ? put_text(dir, "index", s->index, e) : 0;
}

/* Goes through a file without a name: the pack is made as the user, who may be the only one who can read the
 * objects, and it is unpacked as the inside's owner. Nothing is written to the user's repository. */
int private_fill(const char *dir, const struct private_spec *s, char **ret, struct err *e)
{
	struct git from = repo_git(s->repo), to = { .dir = dir, .as_inside = true };
	auto_fd pack = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_buf tips = BUF_INIT(64 << 20), name = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	bool partial = repo_is_partial(s->repo);

	if (pack < 0)
		return err_sys(e, "cannot make a file in '%s'", dir);
	buf_printf(&tips, "%s\n", s->commit);
	for (const char *l = buf_str(s->shown); *l; l = strchr(l, '\n') + 1)
		buf_add(&tips, l, strcspn(l, " ")), buf_addch(&tips, '\n');
	from.stdout_fd = to.stdin_fd = pack;
	strvec_pushl(&args, "pack-objects", "--revs", "--delta-base-offset", "--quiet", "--stdout",
		partial ? "--missing=allow-promisor" : NULL, NULL);
	if (git_run(&from, &args, &tips, NULL, e) < 0)
		return -1;
	lseek(pack, 0, SEEK_SET);
	if (git_do(&to, &name, e, "index-pack", "--stdin", partial ? "--promisor" : NULL, NULL) < 0)
		return -1;
	/* "pack\tHASH\n" */
	if (name.len < 7 || strncmp(name.data, "pack\t", 5))
		return err_set(e, ERR_FAILED, "cannot understand what git says of a pack");
	name.data[strcspn(name.data, "\n")] = '\0';
	*ret = xasprintf("pack-%s.pack", name.data + 5);
	return 0;
}

static bool others_can_read(int dir, const char *name)
{
	struct stat st;
	mode_t want = 0004;

	/* a file that was removed meanwhile does not matter */
	if (fstatat(dir, name, &st, 0) < 0)
		return errno == ENOENT;
	if (S_ISDIR(st.st_mode))
		want |= 0001;
	return (st.st_mode & want) == want;
}

/* Directories with loose objects or packs. Nothing else is borrowed: a quarantine, or what a git is just
 * writing. */
static bool is_read_of_objects(const char *name)
{
	return !strcmp(name, "pack") || !strcmp(name, "info") || hex_is(name, 2);
}

/* git only asks whether other files exist (.keep, .promisor), or works without them. */
static bool is_read_of_packs(const char *name)
{
	static const char *const ends[] = { ".pack", ".idx", ".rev" };
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!strncmp(name, "pack-", 5) && n > strlen(ends[i]) &&
			!strcmp(name + n - strlen(ends[i]), ends[i]))
			return true;
	return !strncmp(name, "multi-pack-index", 16);
}

static bool dir_is_readable(const char *path, bool (*is_read)(const char *name))
{
	DIR *d = opendir(path);
	struct dirent *ent;
	bool ok = d ? others_can_read(dirfd(d), ".") : others_can_read(AT_FDCWD, path);

	/* relative to the descriptor: the paths would be long, and there are hundreds of them */
	while (ok && d && (ent = readdir(d)))
		if (is_read(ent->d_name))
			ok = others_can_read(dirfd(d), ent->d_name);
	if (d)
		closedir(d);
	return ok;
}

bool private_can_borrow(const struct repo *r)
{
	if (!owner_is_other())
		return true;
	for (size_t i = 0; i < r->objects.n; i++) {
		auto_str packs = path_join(r->objects.v[i], "pack");

		if (!dir_is_readable(r->objects.v[i], is_read_of_objects) ||
			(!access(packs, F_OK) && !dir_is_readable(packs, is_read_of_packs)))
			return false;
	}
	return true;
}

static void unlock_ref(int dir, const char *ref)
{
	auto_str parent = xstrndup(ref, (size_t)(path_base(ref) - ref)),
		 name = xasprintf("%s.lock", path_base(ref));
	auto_fd fd = open_beneath(dir, parent, O_PATH | O_DIRECTORY, 0);

	if (fd >= 0)
		unlinkat(fd, name, 0);
}

void private_unlock(int dir, const char *ref, const char *other)
{
	static const char *const names[] = { "HEAD.lock", "index.lock", "config.lock", "packed-refs.lock" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(dir, names[i], 0);
	if (ref)
		unlock_ref(dir, ref);
	if (other)
		unlock_ref(dir, other);
}
