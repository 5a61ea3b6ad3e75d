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

int entry_are_there(
	const struct repo *r, const char *commit, const struct strvec *paths, bool *ret, struct err *e)
{
	auto_buf ask = BUF_INIT(16 << 20), out = BUF_INIT(16 << 20);
	struct git g = repo_git_commits(r);
	auto_strvec args = STRVEC_INIT;
	const char *line;

	/* one question per path, so that the answers can be counted; "-" names no object */
	for (size_t i = 0; i < paths->n; i++)
		buf_printf(&ask, "%s%s%s\n", strchr(paths->v[i], '\n') ? "-" : commit,
			strchr(paths->v[i], '\n') ? "" : ":", strchr(paths->v[i], '\n') ? "" : paths->v[i]);
	strvec_pushl(&args, "cat-file", "--batch-check=%(objecttype)", "--buffer", NULL);
	if (paths->n && git_run(&g, &args, &ask, &out, e) < 0)
		return -1;
	line = buf_str(&out);
	for (size_t i = 0; i < paths->n; i++) {
		size_t n = strcspn(line, "\n");

		ret[i] = n && !memchr(line, ' ', n);
		line += n;
		line += *line == '\n';
	}
	return 0;
}
