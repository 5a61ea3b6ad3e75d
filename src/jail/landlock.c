#include "jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* The constants of linux/landlock.h, because a distribution's copy may be older than the kernel. */
#define FS_EXECUTE     (1ULL << 0)
#define FS_WRITE_FILE  (1ULL << 1)
#define FS_READ_FILE   (1ULL << 2)
#define FS_READ_DIR    (1ULL << 3)
#define FS_READ        (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define FS_ABI1        ((1ULL << 13) - 1)
#define FS_REFER       (1ULL << 13)
#define FS_TRUNCATE    (1ULL << 14)
#define FS_IOCTL_DEV   (1ULL << 15)
#define SCOPE_ABSTRACT (1ULL << 0)
#define SCOPE_SIGNAL   (1ULL << 1)

/* The rights that apply to files; for a file the kernel refuses the others. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

#define CREATE_VERSION    1u
#define RULE_PATH_BENEATH 1

struct ruleset {
	uint64_t handled_fs, handled_net, scoped;
};

struct path_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

static const struct {
	uint64_t fs, scopes;
} abis[] = {
	{ 0, 0 }, { FS_ABI1, 0 }, { FS_ABI1 | FS_REFER, 0 }, { FS_ABI1 | FS_REFER | FS_TRUNCATE, 0 },
	{ FS_ABI1 | FS_REFER | FS_TRUNCATE, 0 }, /* + TCP ports */
	{ FS_ABI1 | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV, 0 },
	{ FS_ABI1 | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV, SCOPE_ABSTRACT | SCOPE_SIGNAL },
	{ FS_ABI1 | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV, SCOPE_ABSTRACT | SCOPE_SIGNAL }, /* + audit */
};

static size_t known(int abi)
{
	if (abi < 0)
		return 0;
	return (size_t)abi < ARRAY_SIZE(abis) ? (size_t)abi : ARRAY_SIZE(abis) - 1;
}

uint64_t landlock_fs_rights(int abi)
{
	return abis[known(abi)].fs;
}

uint64_t landlock_scopes(int abi)
{
	return abis[known(abi)].scopes;
}

uint64_t landlock_row_rights(int abi, const struct jail_row *row)
{
	const uint64_t all = landlock_fs_rights(abi);

	switch (row->kind) {
	case JAIL_LINK:
	case JAIL_DIR:
	case JAIL_KINDS:
		return 0;
	case JAIL_PROC:
		return all & (FS_READ_FILE | FS_READ_DIR);
	case JAIL_DEV:
		return all & (FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV);
	case JAIL_OVERLAY:
	case JAIL_CACHE:
		return all;
	case JAIL_TMPFS:
	case JAIL_BIND:
	case JAIL_COPY:
	case JAIL_DATA:
		break;
	}
	return row->flags & JAIL_WRITE ? all : all & FS_READ;
}

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

/* A file that does not exist, because its row was optional, needs no rule. */
static int add_rule(int rules, int root, const char *path, uint64_t rights, struct err *e)
{
	auto_fd fd = open_beneath(root, path, O_PATH, 0);
	struct path_beneath rule = { rights, fd };
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : err_sys(e, "/%s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "/%s", path);
	if (S_ISLNK(st.st_mode))
		return 0;
	if (!S_ISDIR(st.st_mode))
		rule.allowed &= FS_OF_FILES;
	if (rule.allowed && syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_sys(e, "/%s", path);
	return 0;
}

/* The new root contains only what the description names, so one rule on it gives the rights that all rows
 * have. A path that led out of the root would have no rule. */
static int add_rules(int rules, int abi, const struct jail *j, struct err *e)
{
	/* the kernel judges mq_open by the root of the same file system */
	static const char *const own[] = { "shm", "mqueue" };
	auto_fd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return err_sys(e, "/");
	if (add_rule(rules, root, "", FS_READ, e) < 0)
		return -1;
	for (size_t i = 0; i < j->nrows; i++) {
		const struct jail_row *r = &j->rows[i];
		uint64_t rights = landlock_row_rights(abi, r);

		if (rights & ~FS_READ && add_rule(rules, root, r->target + 1, rights, e) < 0)
			return -1;
		for (size_t k = 0; r->kind == JAIL_DEV && k < ARRAY_SIZE(own); k++) {
			auto_str path = xasprintf("%s/%s", r->target + 1, own[k]);

			if (add_rule(rules, root, path, landlock_fs_rights(abi), e) < 0)
				return -1;
		}
	}
	return 0;
}

/* Without a new root, each row has a rule, and everything else is out of reach. Of /dev it allows the nodes
 * that a jail's own /dev has. Terminals come from the supervisor. */
static int add_rules_landlock_only(int rules, int abi, const struct jail *j, struct err *e)
{
	static const char *const nodes[] = { "dev/null", "dev/zero", "dev/full", "dev/random", "dev/urandom",
		"dev/tty" };
	auto_fd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return err_sys(e, "/");
	for (size_t i = 0; i < j->nrows; i++) {
		const struct jail_row *r = &j->rows[i];
		uint64_t rights = landlock_row_rights(abi, r);

		if (r->kind != JAIL_DEV && add_rule(rules, root, r->target + 1, rights, e) < 0)
			return -1;
		for (size_t k = 0; r->kind == JAIL_DEV && k < ARRAY_SIZE(nodes); k++)
			if (add_rule(rules, root, nodes[k], rights, e) < 0)
				return -1;
	}
	return 0;
}

/* Fails if the kernel has less than the description requires. */
static int check_abi(const struct jail *j, int abi, struct err *e)
{
	if (j->landlock_only && !landlock_scopes(abi))
		return err_set(e, ERR_START,
			"Landlock alone needs ABI 6 (Linux 6.12), which keeps signals inside; here it is %d",
			abi);
	if (!abi && !(j->without & JAIL_WALL_LANDLOCK))
		return err_set(e, ERR_START, "this kernel does not offer Landlock");
	/* with its own network and pid namespaces, nothing outside is in reach anyway */
	if (!landlock_scopes(abi) && j->net == JAIL_NET_HOST && !(j->without & JAIL_WALL_LANDLOCK_SCOPE))
		return err_set(e, ERR_START,
			"this kernel's Landlock (ABI %d) cannot keep abstract sockets of the host away", abi);
	return 0;
}

int landlock_enter(const struct jail *j, struct err *e)
{
	int abi = landlock_abi();
	struct ruleset set = { .handled_fs = landlock_fs_rights(abi), .scoped = landlock_scopes(abi) };
	/* an older kernel refuses fields that it does not know */
	size_t size = set.scoped ? sizeof(set) : offsetof(struct ruleset, handled_net);
	auto_fd rules = -1;

	if (check_abi(j, abi, e) < 0)
		return -1;
	if (!abi)
		return 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (rules < 0)
		return err_sys(e, "cannot make rules");
	if ((j->landlock_only ? add_rules_landlock_only : add_rules)(rules, abi, j, e) < 0)
		return err_wrap(e, "cannot add a rule");
	return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? err_sys(e, "cannot restrict") : 0;
}
