#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "shim/shim.h"
#include "sys/fd.h"

/* The arguments of git mv. None of its options takes a value. */
struct move {
	char *const *words; /* the last one is the destination */
	size_t n;
	bool dry, skipping;
};

static void read_move(const struct run *r, struct strvec *words, struct move *m)
{
	bool dashes = false;

	for (int i = r->w->verb + 1; i < r->argc; i++) {
		const char *arg = r->argv[i];

		if (!dashes && !strcmp(arg, "--")) {
			dashes = true;
		} else if (!dashes && arg[0] == '-' && arg[1]) {
			m->dry |= !strcmp(arg, "--dry-run") || (arg[1] != '-' && strchr(arg, 'n'));
			m->skipping |= arg[1] != '-' && strchr(arg, 'k');
		} else {
			strvec_push(words, arg);
		}
	}
	m->words = strvec_argv(words);
	m->n = words->n;
}

static bool may_be_lower(int dir, const char *path)
{
	auto_str plain = move_without_slash(path);
	auto_fd fd = openat(dir, plain, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct statfs fs;

	return fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool move_wanted(const struct run *r, const struct place *p)
{
	auto_strvec words = STRVEC_INIT;
	struct move m = { 0 };

	read_move(r, &words, &m);
	for (size_t i = 0; !m.dry && i + 1 < m.n; i++)
		if (may_be_lower(p->dir, m.words[i]))
			return true;
	return false;
}

/* Whether git finds no other problem, so that only the rename itself fails. */
static bool would_move(const struct run *r)
{
	auto_fd nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct run_how how = { .stderr_fd = nowhere, .quiet = true };
	auto_strvec argv = STRVEC_INIT;

	run_prefix(r, &argv);
	strvec_pushl(&argv, "mv", "-n", NULL);
	for (int i = r->w->verb + 1; i < r->argc; i++)
		strvec_push(&argv, r->argv[i]);
	how.argv = strvec_argv(&argv);
	return run_child(r, &how) == 0;
}

static int replay(int text, int status)
{
	char chunk[4096];
	ssize_t n;

	lseek(text, 0, SEEK_SET);
	while ((n = read_full(text, chunk, sizeof(chunk))) > 0)
		write_full(STDERR_FILENO, chunk, (size_t)n);
	return run_end(status);
}

static int copy_sources(const struct move *m, const struct place *p)
{
	for (size_t i = 0; i + 1 < m->n; i++)
		if (may_be_lower(p->dir, m->words[i]) && move_copy_up(p->dir, m->words[i], p->git_dir) < 0) {
			fprintf(stderr,
				"garth: '%s' cannot be copied, which moving it needs here: %s; it is as it was\n",
				m->words[i], strerror(errno));
			return -1;
		}
	return 0;
}

int move_run(const struct run *r, const struct place *p)
{
	auto_fd text = memfd_create("stderr", MFD_CLOEXEC);
	struct run_how how = { .stderr_fd = text };
	auto_strvec words = STRVEC_INIT;
	struct move m = { 0 };
	int status;

	read_move(r, &words, &m);
	if (m.n > 2 || m.skipping || text < 0) {
		/* git moves one source after the other; if one fails, it does not undo those before it, or
		 * with -k silently skips it: so it cannot be tried first */
		if (would_move(r))
			copy_sources(&m, p);
		return run_become(r);
	}
	status = run_child(r, &how);
	if (!status || !would_move(r) || copy_sources(&m, p) < 0)
		return replay(text, status);
	return run_become(r);
}
