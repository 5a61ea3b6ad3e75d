/* What is visible in the verifier's jail, with namespaces and without. */
#include "publish/verifier_parts.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "sys/tree.h"

#define FILE_MAX (16ull << 30)

/* Programs and libraries. Symbolic links stay links. */
static const char *const system_paths[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store" };

static void describe_system(struct jail *j)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_paths); i++) {
		char text[256];
		ssize_t n = readlink(system_paths[i], text, sizeof(text) - 1);

		if (n > 0) {
			text[n] = '\0';
			jail_add(j, JAIL_LINK, 0, text, system_paths[i]);
		} else if (!access(system_paths[i], F_OK)) {
			jail_add(j, JAIL_BIND, JAIL_OPTIONAL, system_paths[i], system_paths[i]);
		}
	}
	if (!access("/etc/ld.so.cache", F_OK))
		jail_add(j, JAIL_COPY, JAIL_OPTIONAL, "/etc/ld.so.cache", "/etc/ld.so.cache");
}

#define HEAD "ref: refs/heads/none\n"

static char *config_text(const struct verifier *v)
{
	return xasprintf("[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
			 "[extensions]\n\tobjectformat = %s\n",
		v->repo->format);
}

/* An empty repository with the right object format; the environment says where the objects are. */
static int describe_repository(const struct verifier *v, struct jail *j, struct err *e)
{
	auto_str config = config_text(v), head_at = path_join(v->empty, "HEAD"),
		 config_at = path_join(v->empty, "config"), refs = path_join(v->empty, "refs"),
		 objects = path_join(v->empty, "objects"), shallow_at = path_join(v->empty, "shallow");
	auto_buf shallow = BUF_INIT(REPO_SHALLOW_MAX);

	if (repo_shallow(v->repo, &shallow, e) < 0)
		return -1;
	if (shallow.len)
		jail_add(j, JAIL_DATA, 0, shallow.data, shallow_at);
	jail_add(j, JAIL_DATA, 0, HEAD, head_at);
	jail_add(j, JAIL_DATA, 0, config, config_at);
	jail_add(j, JAIL_DIR, 0, NULL, refs);
	jail_add(j, JAIL_DIR, 0, NULL, objects);
	return 0;
}

static void describe_objects(const struct verifier *v, struct jail *j)
{
	for (size_t i = 0; i < v->repo->objects.n; i++)
		jail_add(j, JAIL_BIND, JAIL_NOEXEC, v->repo->objects.v[i], v->repo->objects.v[i]);
	jail_add(j, JAIL_BIND, JAIL_WRITE | JAIL_NOEXEC, v->quarantine, v->quarantine);
}

static int describe_namespaced(const struct verifier *v, const char *plain, struct jail *j, struct err *e)
{
	jail_add(j, JAIL_TMPFS, JAIL_WRITE | JAIL_NOEXEC, "67108864", v->tmp);
	jail_add(j, JAIL_TMPFS, JAIL_WRITE | JAIL_NOEXEC, "67108864", v->memory);
	jail_add(j, JAIL_BIND, 0, plain, v->fast_path);
	describe_system(j);
	return describe_repository(v, j, e);
}

static int make_landlock_only(const struct verifier *v, const char *dir, struct err *e)
{
	auto_buf shallow = BUF_INIT(REPO_SHALLOW_MAX);
	auto_str config = config_text(v);
	auto_fd parent = -1, top = -1;
	auto_str holder = xstrndup(dir, (size_t)(path_base(dir) - dir));
	static const char *const dirs[] = { "repo/refs", "repo/objects", "memory", "tmp" };

	parent = open(holder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return err_sys(e, "cannot open '%s'", holder);
	if (tree_remove(parent, path_base(dir), e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_str sub = path_join(path_base(dir), dirs[i]);
		auto_fd made = mkdirs_beneath(parent, sub, 0700, (uid_t)-1, (gid_t)-1);

		if (made < 0)
			return err_sys(e, "cannot make '%s'", dir);
	}
	top = open_beneath(parent, path_base(dir), O_RDONLY | O_DIRECTORY, 0);
	if (top < 0 || write_file(top, "repo/HEAD", HEAD, strlen(HEAD), 0600, e) < 0)
		return -1;
	if (repo_shallow(v->repo, &shallow, e) < 0 ||
		(shallow.len && write_file(top, "repo/shallow", shallow.data, shallow.len, 0600, e) < 0))
		return -1;
	return write_file(top, "repo/config", config, strlen(config), 0600, e);
}

/* The same without namespaces: real directories, made before, at their own paths. */
static void describe_landlock_only(const struct verifier *v, struct jail *j)
{
	static const char *const programs[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
		"/nix/store", "/gnu/store", "/etc/ld.so.cache" };

	j->landlock_only = true;
	jail_add(j, JAIL_BIND, JAIL_WRITE | JAIL_NOEXEC, v->tmp, v->tmp);
	jail_add(j, JAIL_BIND, JAIL_WRITE | JAIL_NOEXEC, v->memory, v->memory);
	jail_add(j, JAIL_BIND, 0, v->empty, v->empty);
	if (!path_within(v->fast_path, "/usr"))
		jail_add(j, JAIL_BIND, 0, v->fast_path, v->fast_path);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, programs[i], programs[i]);
}

int verifier_describe(const struct verifier *v, struct jail *j, struct err *e)
{
	struct owner o = owner_inside();
	auto_str plain = NULL;

	jail_init(j);
	if (proc_find_part("garth-fast-unpack", &plain, e) < 0)
		return -1;
	j->uid = o.uid;
	j->gid = o.gid;
	j->from_root = owner_is_other();
	j->net = JAIL_NET_NONE;
	/* if the kernel lacks one of these, the task's jail lacks it too, and the user has accepted that */
	j->without = JAIL_WALL_LANDLOCK | JAIL_WALL_LANDLOCK_SCOPE | JAIL_WALL_PROC;
	j->max_file_size = FILE_MAX;
	j->gives = xstrdup(v->memory);
	jail_add(j, JAIL_PROC, 0, "", "/proc");
	jail_add(j, JAIL_DEV, JAIL_WRITE, "", "/dev");
	if (v->landlock_only) {
		describe_landlock_only(v, j);
	} else {
		j->hostname = xstrdup("verifier");
		if (describe_namespaced(v, plain, j, e) < 0)
			return -1;
	}
	describe_objects(v, j);
	return 0;
}

int verifier_set_places(struct verifier *v, const char *landlock_dir, struct err *e)
{
	v->landlock_only = landlock_dir != NULL;
	v->empty = landlock_dir ? path_join(landlock_dir, "repo") : xstrdup("/repo");
	v->memory = landlock_dir ? path_join(landlock_dir, "memory") : xstrdup("/memory");
	v->tmp = landlock_dir ? path_join(landlock_dir, "tmp") : xstrdup("/tmp");
	if (!landlock_dir)
		return v->fast_path = xstrdup("/run/garth/fast-unpack"), 0;
	return proc_find_part("garth-fast-unpack", &v->fast_path, e) < 0
		       ? -1
		       : make_landlock_only(v, landlock_dir, e);
}
