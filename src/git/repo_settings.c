#include <stdlib.h>

#include "base/alloc.h"
#include "git/blob.h"
#include "git/repo.h"

/* The mode of the entry of this name in a tree object; 0 if there is none. */
static unsigned mode_in_tree(const char *tree, size_t len, unsigned hash_len, const char *name)
{
	const char *p = tree, *end = tree + len;

	while (p < end) {
		const char *space = memchr(p, ' ', (size_t)(end - p));
		const char *nul = space ? memchr(space, '\0', (size_t)(end - space)) : NULL;

		if (!nul || (size_t)(end - nul) <= hash_len)
			return 0;
		if (!strcmp(space + 1, name))
			return (unsigned)strtoul(p, NULL, 8);
		p = nul + 1 + hash_len;
	}
	return 0;
}

struct found {
	unsigned hash_len, mode;
	bool read;
	struct buf *out;
};

/* First the tree, then the file. */
static int take(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct found *f = arg;

	if (!i) {
		f->mode = mode_in_tree(data, len, f->hash_len, REPO_SETTINGS);
		if (f->mode && (f->mode & 0170000) != 0100000)
			return err_set(e, ERR_REFUSED, "'" REPO_SETTINGS "' is not a file in the commit");
		return 0;
	}
	f->read = true;
	if (len > REPO_SETTINGS_MAX || !buf_add(f->out, data, len))
		return err_set(
			e, ERR_REFUSED, "'" REPO_SETTINGS "' is larger than %u bytes", REPO_SETTINGS_MAX);
	return 0;
}

int repo_settings(const struct repo *r, const char *commit, bool *ret_there, struct buf *out, struct err *e)
{
	struct found f = { .hash_len = r->hash_len, .out = out };
	auto_strvec names = STRVEC_INIT;
	struct git g = repo_git(r);

	strvec_pushf(&names, "%s^{tree}", commit);
	strvec_pushf(&names, "%s:" REPO_SETTINGS, commit);
	if (blob_read(&g, &names, take, &f, e) < 0)
		return err_wrap(e, "commit %.10s", commit);
	if (f.mode && !f.read)
		return err_set(e, ERR_FAILED, "'" REPO_SETTINGS "' of commit %.10s cannot be read", commit);
	*ret_there = f.mode != 0;
	return 0;
}
