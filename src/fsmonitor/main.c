/*
 * garth-fsmonitor: git's core.fsmonitor hook, version 2, inside an overlay workspace.
 *
 *	garth-fsmonitor [--upper DIR] [--base-index FILE] [--base-id ID] [--brought FILE] 2 TOKEN
 *	garth-fsmonitor --clean --base-id ID 2 TOKEN
 *
 * The second form says that nothing has changed; it is used to fill a base's index. Tokens are
 * "garth:BASE-ID". If it does not understand something, it answers "/", which means "check everything". If it
 * cannot answer at all, it fails, which means the same to git. The agent may have written everything that it
 * reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "fsmonitor/report.h"
#include "git/clean_index.h"
#include "sys/fd.h"
#include "sys/linux.h"

#define ID_MAX     256
#define INDEX_MAX  (1UL << 30)
#define ANSWER_MAX (64UL << 20)

struct options {
	const char *upper, *base_index, *base_id, *brought;
	bool clean;
};

static int open_file(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return fd_steal(&fd);
}

/* Stays mapped until the process ends. If the file is truncated meanwhile, the process is killed, and git
 * sees a failure. */
static int map_file(const char *path, struct bytes *ret, struct err *e)
{
	auto_fd fd = open_file(path);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || (size_t)st.st_size > INDEX_MAX)
		return err_set(e, ERR_FAILED, "cannot read '%s'", path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(e, "cannot map '%s'", path);
	*ret = (struct bytes){ p, (size_t)st.st_size };
	return 0;
}

/* One line of a small file, without its end; NULL if there is none. */
static char *read_line(const char *path)
{
	auto_fd fd = open_file(path);
	char line[4096 + 16];
	ssize_t n = fd < 0 ? -1 : read_full(fd, line, sizeof(line) - 1);

	if (n <= 0 || n == sizeof(line) - 1 || memchr(line, '\0', (size_t)n))
		return NULL;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return xstrdup(line);
}

/* The index that git has read: the one in the environment, in .git, or in the directory that a .git file
 * names. */
static char *find_index(void)
{
	const char *file = getenv("GIT_INDEX_FILE"), *dir = getenv("GIT_DIR");
	auto_str link = NULL;
	struct stat st;

	if (file && *file)
		return xstrdup(file);
	if (dir && *dir)
		return path_join(dir, "index");
	if (stat(".git", &st) == 0 && S_ISDIR(st.st_mode))
		return xstrdup(".git/index");
	link = read_line(".git");
	if (!link || strncmp(link, "gitdir: ", 8) != 0)
		return NULL;
	return path_join(link + 8, "index");
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Whether the current directory is the overlay's root. It shows its upper directory's times, but not always
 * its inode number. If the times change between both calls, the answer is "check everything".
 */
static bool at_workspace_root(int upper)
{
	unsigned want = STATX_MTIME | STATX_CTIME;
	struct statx here, there;
	struct statfs fs;

	return statfs(".", &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	       statx(AT_FDCWD, ".", 0, want, &here) == 0 &&
	       statx(upper, "", AT_EMPTY_PATH, want, &there) == 0 &&
	       (here.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
	       same_time(&here.stx_mtime, &there.stx_mtime) && same_time(&here.stx_ctime, &there.stx_ctime);
}

/* Files that layers below the upper directory add to the base. They never change, but the base's index knows
 * nothing of them. */
static int report_brought(const struct options *o, struct buf *out, struct err *e)
{
	struct bytes list;

	if (access(o->brought, F_OK) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read '%s'", o->brought);
	if (map_file(o->brought, &list, e) < 0)
		return -1;
	if (((const char *)list.data)[list.len - 1])
		return err_set(e, ERR_FAILED, "'%s' is cut short", o->brought);
	return buf_add(out, list.data, list.len) ? 0 : err_set(e, ERR_FAILED, "there are too many paths");
}

static int report(const struct options *o, struct buf *out, struct err *e)
{
	auto_fd upper = open(o->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str index = find_index();
	auto_known known = KNOWN_INIT;
	struct bytes base, own;

	if (upper < 0 || !at_workspace_root(upper))
		return err_set(e, ERR_FAILED, "not at the root of the workspace");
	if (!index)
		return err_set(e, ERR_NOTFOUND, "no index");
	if (map_file(o->base_index, &base, e) < 0 || map_file(index, &own, e) < 0)
		return -1;
	if (report_index(base, own, out, &known, e) < 0 || report_brought(o, out, e) < 0)
		return -1;
	return report_upper(upper, &known, out, e);
}

static int answer(const struct options *o, const char *token)
{
	auto_buf out = BUF_INIT(ANSWER_MAX);
	struct err e = ERR_INIT;
	size_t start;

	buf_printf(&out, CLEAN_TOKEN "%s", o->base_id);
	buf_addch(&out, '\0');
	start = out.len;
	if (!o->clean && (strcmp(token, out.data) != 0 || report(o, &out, &e) < 0)) {
		buf_cut(&out, start);
		buf_add(&out, "/", 2);
	}
	return write_full(STDOUT_FILENO, out.data, out.len) < 0 ? 1 : 0;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{ "upper", required_argument, NULL, 'u' },
		{ "base-index", required_argument, NULL, 'i' },
		{ "base-id", required_argument, NULL, 'b' },
		{ "brought", required_argument, NULL, 'w' },
		{ "clean", no_argument, NULL, 'c' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", table, NULL)) != -1) {
		switch (c) {
		case 'u':
			o->upper = optarg;
			break;
		case 'i':
			o->base_index = optarg;
			break;
		case 'b':
			o->base_id = optarg;
			break;
		case 'w':
			o->brought = optarg;
			break;
		case 'c':
			o->clean = true;
			break;
		default:
			return -1;
		}
	}
	return argc - optind == 2 && strcmp(argv[optind], "2") == 0 ? optind + 1 : -1;
}

int main(int argc, char **argv)
{
	struct options o = { .upper = "/run/garth/upper",
		.base_index = "/run/garth/base-index",
		.brought = "/run/garth/brought" };
	int token = parse(argc, argv, &o);
	auto_str id = NULL;

	if (token < 0) {
		fputs("usage: garth-fsmonitor [--upper DIR] [--base-index FILE] [--base-id ID] [--clean] 2 "
		      "TOKEN\n",
			stderr);
		return 2;
	}
	if (!o.base_id)
		o.base_id = id = read_line("/run/garth/base-id");
	if (!o.base_id || !*o.base_id || strlen(o.base_id) > ID_MAX)
		return 1;
	return answer(&o, argv[token]);
}
