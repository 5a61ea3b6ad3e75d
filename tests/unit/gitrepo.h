/*
 * A small repository in a test's scratch directory: branch main with one commit, which has a file "a" and a
 * directory "d" with a file "b".
 */
#ifndef TESTS_GITREPO_H
#define TESTS_GITREPO_H

#include "scratch.h"

#include "base/alloc.h"
#include "git/repo.h"

struct gitrepo {
	char top[128], dir[160];
	struct repo repo;
};

/* Runs git in the repository and gives its first line, in a buffer that lasts until the next but three. */
static inline const char *git_line(const struct gitrepo *g, const char *input, ...)
{
	static char lines[4][256];
	static unsigned next;
	struct git git = { .dir = g->dir, .work_tree = g->top, .cwd = g->top, .writes_index = true };
	auto_strvec args = STRVEC_INIT;
	auto_buf out = BUF_INIT(1 << 20), in = BUF_INIT(1 << 20);
	char *line = lines[next++ % 4];
	struct err e = ERR_INIT;
	const char *s;
	va_list ap;

	va_start(ap, input);
	strvec_pushl(&args, "-c", "user.name=T", "-c", "user.email=t@example.com", NULL);
	while ((s = va_arg(ap, const char *)))
		strvec_push(&args, s);
	va_end(ap);
	buf_addstr(&in, input ? input : "");
	if (git_run(&git, &args, &in, &out, &e) < 0)
		fail_msg("git %s: %s", args.v[4], e.msg);
	snprintf(line, 256, "%.*s", (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	return line;
}
#define git_in(g, ...) git_line(g, NULL, __VA_ARGS__, NULL)

static inline void gitrepo_make(const struct scratch *s, const char *name, struct gitrepo *g)
{
	struct git git = { .cwd = s->path };
	struct err e = ERR_INIT;
	auto_fd top = -1;

	*g = (struct gitrepo){ 0 };
	snprintf(g->top, sizeof(g->top), "%s/%s", s->path, name);
	snprintf(g->dir, sizeof(g->dir), "%s/.git", g->top);
	assert_int_equal(git_do(&git, NULL, &e, "init", "-q", "-b", "main", g->top, NULL), 0);
	top = open(g->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(top, "a", "one\n");
	assert_int_equal(mkdirat(top, "d", 0755), 0);
	put(top, "d/b", "two\n");
	git_in(g, "add", ".");
	git_in(g, "commit", "-q", "-m", "first");
	assert_int_equal(repo_open_git_dir(g->dir, g->top, 20, &g->repo, &e), 0);
}

/* A commit of these tree's bytes ("mktree" lines) on a parent, with no ref. */
static inline const char *gitrepo_commit(const struct gitrepo *g, const char *tree, const char *parent)
{
	return git_in(g, "commit-tree", "-m", "made", "-p", parent, tree);
}

/* What git says about the repository as a whole. */
static inline void assert_fsck_clean(const struct gitrepo *g)
{
	git_in(g, "fsck", "--strict", "--full", "--no-dangling");
}

#endif
