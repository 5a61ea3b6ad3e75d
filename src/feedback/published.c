#include "feedback/published.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/neutral.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/tip.h"

/* git treats larger files as binary, so it does not compare them line by line. */
#define COMPARED_MAX "core.bigFileThreshold=8m"
/* Subjects of so many commits are read; the heading shows fewer. */
#define COMMITS_MAX "-1000"

void published_release(struct published *p)
{
	if (p->map)
		munmap(p->map, p->len);
	patch_release(&p->patch);
	annotated_release(&p->lines);
	strvec_release(&p->commits);
	*p = (struct published){ 0 };
}

int published_ids(struct task_at *at, char tip[OID_SIZE], char fork[OID_SIZE], struct err *e)
{
	const struct task *t = at->task;

	if (ref_read(&at->repo, t->branch, tip, e) < 0)
		return -1;
	if (!*tip)
		return err_set(e, ERR_NOTFOUND, "the branch of task '%s' is gone", t->name);
	if (!strcmp(tip, t->base))
		return tip_refuse_unpublished(t, e);
	tip_fork(&at->repo, t, fork);
	return 0;
}

static int run_diff(struct neutral *n, const struct published *p, int fd, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = n->git;

	g.stdout_fd = fd;
	strvec_pushl(&args, "-c", COMPARED_MAX, "-c", "core.quotePath=false", "diff-tree", "-r", "--raw",
		"-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
		"--end-of-options", p->fork, p->tip, NULL);
	return git_run(&g, &args, NULL, NULL, e);
}

static int read_commits(struct neutral *n, struct published *p, struct err *e)
{
	auto_buf text = BUF_INIT(4 << 20);
	char not_fork[OID_SIZE + 1];

	snprintf(not_fork, sizeof(not_fork), "^%s", p->fork);
	if (git_do(&n->git, &text, e, "rev-list", COMMITS_MAX, "--no-commit-header",
		    "--format=%h %<(200,trunc)%s", p->tip, not_fork, "--", NULL) < 0)
		return -1;
	for (const char *l = buf_str(&text); *l; l += strcspn(l, "\n"), l += *l == '\n') {
		size_t len = strcspn(l, "\n");

		while (len && l[len - 1] == ' ')
			len--;
		strvec_pushn(&p->commits, l, len);
	}
	return 0;
}

static int map_output(int fd, struct published *p, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "cannot read the diff");
	if (!st.st_size)
		return 0;
	p->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p->map == MAP_FAILED)
		return p->map = NULL, err_sys(e, "cannot read the diff");
	p->len = (size_t)st.st_size;
	return 0;
}

int published_read(struct task_at *at, struct published *p, struct err *e)
{
	auto_fd fd = openat(at->ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_neutral n = NEUTRAL_INIT;

	if (fd < 0)
		return err_sys(e, "cannot make a buffer");
	if (neutral_open(&at->repo, at->repo.git_dir, &n, e) < 0 || run_diff(&n, p, fd, e) < 0 ||
		map_output(fd, p, e) < 0 || read_commits(&n, p, e) < 0)
		return -1;
	if (patch_parse(p->map ? p->map : "", p->len, &p->patch, e) < 0)
		return -1;
	return annotated_build(&p->patch, at->task->name, &p->lines, e);
}
