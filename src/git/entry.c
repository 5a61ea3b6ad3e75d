#include "git/entry.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "git/blob.h"

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

/* The entries of one directory. */
struct listing {
	struct strvec names, dirs; /* sorted; dirs: those that are directories */
};

/* All directories of one depth that are asked for. */
struct level {
	const struct repo *repo;
	struct strvec ask; /* COMMIT:DIRECTORY */
	struct listing *v;
};

static void level_release(struct level *l)
{
	for (size_t i = 0; l->v && i < l->ask.n; i++) {
		strvec_release(&l->v[i].names);
		strvec_release(&l->v[i].dirs);
	}
	free(l->v);
	strvec_release(&l->ask);
}
#define auto_level __attribute__((cleanup(level_release))) struct level

/* A tree object: "MODE NAME", NUL and the id, for each entry. */
static int take_tree(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct level *l = arg;
	const char *end = data + len;

	(void)e;
	while (data < end) {
		const char *nul = memchr(data, '\0', (size_t)(end - data));
		const char *name = nul ? memchr(data, ' ', (size_t)(nul - data)) : NULL;

		if (!name || (size_t)(end - nul) <= l->repo->hash_len)
			break;
		strvec_push(&l->v[i].names, name + 1);
		if (!strncmp(data, "40000 ", 6))
			strvec_push(&l->v[i].dirs, name + 1);
		data = nul + 1 + l->repo->hash_len;
	}
	strvec_sort(&l->v[i].names);
	strvec_sort(&l->v[i].dirs);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has(const struct strvec *sorted, const char *name)
{
	return sorted->n && bsearch(&name, sorted->v, sorted->n, sizeof(*sorted->v), compare);
}

/* The place of a word in the list, to which it is added if it is new. Words that are equal come one after the other, or
 * nearly so. */
static size_t place_of(struct strvec *v, const char *word)
{
	for (size_t i = v->n; i-- > 0;)
		if (!strcmp(v->v[i], word))
			return i;
	strvec_push(v, word);
	return v->n - 1;
}

/* A path of which the first `known` bytes are a directory that exists. */
struct partly {
	size_t known, place;
	bool open;
};

static void look_further(const struct listing *in, const char *path, struct partly *p, bool *ret)
{
	const char *rest = path + p->known;
	auto_str name = xstrndup(rest, strcspn(rest, "/"));
	bool last = !rest[strlen(name)];

	*ret = last && has(&in->names, name);
	p->open = !last && has(&in->dirs, name);
	p->known += strlen(name) + 1;
}

/* One depth of all paths. *ret_more: whether there is another. */
static int look_at_level(const struct repo *r, const char *commit, const struct strvec *paths,
	struct partly *parts, bool *ret, bool *ret_more, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_level l = { .repo = r };

	*ret_more = false;
	for (size_t i = 0; i < paths->n; i++) {
		auto_str dir = xasprintf(
			"%s:%.*s", commit, parts[i].known ? (int)parts[i].known - 1 : 0, paths->v[i]);

		if (parts[i].open)
			parts[i].place = place_of(&l.ask, dir);
	}
	l.v = xcalloc(l.ask.n + 1, sizeof(*l.v));
	if (blob_read(&g, &l.ask, take_tree, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < paths->n; i++) {
		if (parts[i].open)
			look_further(&l.v[parts[i].place], paths->v[i], &parts[i], &ret[i]);
		*ret_more |= parts[i].open;
	}
	return 0;
}

int entry_are_there(
	const struct repo *r, const char *commit, const struct strvec *paths, bool *ret, struct err *e)
{
	struct partly *parts = xcalloc(paths->n + 1, sizeof(*parts));
	bool more = paths->n;
	int rc = 0;

	for (size_t i = 0; i < paths->n; i++) {
		ret[i] = false;
		parts[i].open = paths->v[i][0] && !strchr(paths->v[i], '\n');
	}
	while (more && !rc)
		rc = look_at_level(r, commit, paths, parts, ret, &more, e);
	free(parts);
	return rc;
}
