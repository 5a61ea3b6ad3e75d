#include "git/gitlinks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "git/index.h"
#include "git/run.h"
#include "sys/fd.h"

void gitlinks_release(struct gitlinks *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].path);
	free(g->v);
	*g = (struct gitlinks){ 0 };
}

static int add(struct gitlinks *g, const struct index_entry *ent, unsigned hash_len, struct err *e)
{
	if (g->n == GITLINKS_MAX)
		return err_set(e, ERR_REFUSED, "the commit has more than %d submodules", GITLINKS_MAX);
	g->v = xrealloc(g->v, g->n + 1, sizeof(*g->v));
	g->v[g->n].path = xstrdup(ent->path);
	oid_to_hex(ent->oid, hash_len, g->v[g->n].oid);
	g->n++;
	return 0;
}

int gitlinks_read(const char *index, unsigned hash_len, struct gitlinks *ret, struct err *e)
{
	auto_buf data = BUF_INIT(1u << 30);
	auto_gitlinks g = { 0 };
	struct index_reader r;
	struct index_entry ent;
	int got, rc = 0;

	if (read_file(AT_FDCWD, index, &data, e) < 0 || index_open(&r, data.data, data.len, hash_len, e) < 0)
		return -1;
	while (!rc && (got = index_next(&r, &ent, e)) > 0)
		if ((ent.mode & S_IFMT) == GITLINK_MODE && !ent.stage)
			rc = add(&g, &ent, hash_len, e);
	index_close(&r);
	if (rc < 0 || got < 0)
		return -1;
	*ret = g;
	g = (struct gitlinks){ 0 };
	return 0;
}

static int mark(const struct git *g, const char *how, const struct buf *paths, struct err *e)
{
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "update-index", how, "-z", "--stdin", NULL);
	return git_run(g, &args, paths, NULL, e);
}

int gitlinks_hide(
	const char *git_dir, const char *work_tree, const char *index, unsigned hash_len, struct err *e)
{
	struct git g = { .dir = git_dir, .work_tree = work_tree, .index = index, .writes_index = true };
	auto_gitlinks links = { 0 };
	auto_buf paths = BUF_INIT(16 << 20);

	if (gitlinks_read(index, hash_len, &links, e) < 0)
		return -1;
	if (!links.n)
		return 0;
	for (size_t i = 0; i < links.n; i++)
		buf_add(&paths, links.v[i].path, strlen(links.v[i].path) + 1);
	/* in a sparse checkout git takes the second mark away from what is there */
	return mark(&g, "--assume-unchanged", &paths, e) < 0 ? -1 : mark(&g, "--skip-worktree", &paths, e);
}

bool gitlink_at(const struct repo *r, const char *commit, const char *path, char out[OID_SIZE])
{
	struct git git = repo_git_commits(r);
	auto_str name = xasprintf("%s:%s", commit, path);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	out[0] = '\0';
	return !git_do(&git, &text, &ignored, "rev-parse", "--verify", "-q", "--end-of-options", name,
		       NULL) &&
	       oid_take(buf_str(&text), r->hash_len, out);
}
