#include "git/entry.h"

#include "base/alloc.h"

static int look(
	const struct repo *r, const char *commit, const char *path, enum entry_kind *ret, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_buf out = BUF_SMALL;

	if (git_do(&g, &out, e, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", "--end-of-options",
		    commit, path, NULL) < 0)
		return -1;
	if (!out.len)
		*ret = ENTRY_NONE;
	else if (!strncmp(buf_str(&out), "040000 ", 7))
		*ret = ENTRY_DIRECTORY;
	else
		*ret = strncmp(buf_str(&out), "120000 ", 7) ? ENTRY_FILE : ENTRY_LINK;
	return 0;
}

int entry_find(
	const struct repo *r, const char *commit, const char *path, enum entry_kind *ret, struct err *e)
{
	enum entry_kind above = ENTRY_DIRECTORY;

	*ret = ENTRY_DIRECTORY;
	if (!*path)
		return 0;
	if (look(r, commit, path, ret, e) < 0)
		return -1;
	/* git does not look behind a link */
	for (const char *s = path; *ret == ENTRY_NONE && above == ENTRY_DIRECTORY && (s = strchr(s, '/'));
		s++) {
		auto_str upper = xstrndup(path, (size_t)(s - path));

		if (look(r, commit, upper, &above, e) < 0)
			return -1;
		if (above == ENTRY_LINK)
			*ret = ENTRY_LINK;
	}
	return 0;
}
