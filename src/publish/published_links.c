#include "publish/published_links.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/ref.h"
#include "git/run.h"
#include "inside/submodule.h"
#include "publish/submodules.h"
#include "task/refs.h"

/* More commits than a task may publish. */
#define COMMITS_MAX "--max-count=100000"

void published_links_release(struct published_links *g)
{
	strvec_release(&g->asked);
	strvec_release(&g->commits);
}

/* The submodule directly in the repository that has the gitlinks. */
static bool find(const struct published_links *g, const struct submodules *s, const char *path, size_t *ret)
{
	auto_str whole = *g->in->within ? path_join(g->in->within, path) : xstrdup(path);

	for (size_t i = 0; i < s->n; i++) {
		size_t up = submodule_around(s, i);

		if (!strcmp(s->v[i].path, whole) && submodule_is_here(&s->v[i]) &&
			!strcmp(up < s->n ? s->v[up].path : "", g->in->within))
			return *ret = i, true;
	}
	return false;
}

/* Lists what the branch in the submodule's repository, and tips that were rewritten, have beyond its base. */
static int list_published(struct inside *sub, const char *path, struct strvec *ret, struct err *e)
{
	struct git git = repo_git_commits(&sub->at.repo);
	auto_strvec tips = STRVEC_INIT, args = STRVEC_INIT;
	auto_buf out = BUF_INIT(16 << 20);
	char tip[OID_SIZE];

	if (ref_read(&sub->at.repo, sub->task.branch, tip, e) < 0 ||
		refs_kept(&sub->at.repo, &sub->task, &tips, e) < 0)
		return -1;
	/* a branch that Garth did not make is no permission */
	if (*tip && *sub->task.published)
		strvec_push(&tips, tip);
	if (!tips.n)
		return 0;
	strvec_pushl(&args, "rev-list", COMMITS_MAX, NULL);
	for (size_t i = 0; i < tips.n; i++)
		strvec_push(&args, tips.v[i]);
	for (size_t i = 0; i < sub->named.n; i++)
		strvec_pushf(&args, "^%s", sub->named.v[i]);
	strvec_push(&args, "--");
	if (git_run(&git, &args, NULL, &out, e) < 0)
		return -1;
	for (const char *l = buf_str(&out); *l; l += strcspn(l, "\n"), l += *l == '\n')
		strvec_pushf(ret, "%.*s %s", (int)strcspn(l, "\n"), l, path);
	return 0;
}

/* Commits that the hook did not publish, because the gateway was away or another git made them, are published now. */
static int publish_first(struct published_links *g, size_t n, struct err *e)
{
	struct publisher pub = PUBLISHER_INIT(g->in->top);
	struct publish_result r = { 0 };
	struct refusal no = { 0 };

	return publish_submodule(&pub, n, NULL, "gitlink", -1, &r, &no, e);
}

static int list_once(struct published_links *g, const char *path, const char *link, struct err *e)
{
	auto_submodules s = { 0 };
	size_t n;

	for (int round = 0; round < 2; round++) {
		auto_inside_submodule sub = INSIDE_SUBMODULE_INIT;

		if (submodules_load(g->in->at.ws.dir, &s, e) < 0 || !find(g, &s, path, &n) ||
			inside_submodule_open(g->in->top, &s, n, &sub, e) < 0 ||
			list_published(&sub.in, path, &g->commits, e) < 0)
			return -1;
		if (strvec_has(&g->commits, link) || round || publish_first(g, n, e) < 0)
			break;
		submodules_release(&s);
	}
	return 0;
}

/* Whether the commit of the submodule contains one of those. */
static bool contains_any(
	const struct published_links *g, const char *path, const char *commit, const struct strvec *from)
{
	auto_submodules s = { 0 };
	auto_repo r = { 0 };
	struct err ignored = ERR_INIT;
	struct git git;
	size_t n;

	if (submodules_load(g->in->at.ws.dir, &s, &ignored) < 0 || !find(g, &s, path, &n) ||
		submodule_repo(&g->in->top->at.ws, &s.v[n], &r, &ignored) < 0)
		return false;
	git = repo_git_commits(&r);
	for (size_t i = 0; i < from->n; i++)
		if (!git_do(&git, NULL, &ignored, "merge-base", "--is-ancestor", from->v[i], commit, NULL))
			return true;
	return false;
}

bool published_links_may_move(void *arg, const char *path, const char *commit, const struct strvec *from)
{
	struct published_links *g = arg;
	auto_str link = xasprintf("%s %s", commit, path);
	struct err ignored = ERR_INIT;

	if (!strvec_has(&g->asked, path)) {
		strvec_push(&g->asked, path);
		list_once(g, path, link, &ignored);
	}
	return strvec_has(&g->commits, link) && contains_any(g, path, commit, from);
}
