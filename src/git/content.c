#include "git/content.h"

#include <fcntl.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/blob.h"
#include "git/checkout.h"
#include "git/index.h"
#include "git/lfs.h"
#include "sys/fd.h"

static void push_oid(struct strvec *v, const unsigned char *oid, unsigned hash_len)
{
	char hex[2 * 32 + 1] = "";

	for (unsigned i = 0; i < hash_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", oid[i]);
	strvec_push(v, hex);
}

/* Lists the attribute files' paths and ids. */
static int list(
	const struct repo *r, const char *index, struct strvec *paths, struct strvec *oids, struct err *e)
{
	auto_buf data = BUF_INIT(1u << 30);
	struct index_reader reader;
	struct index_entry ent;
	int got;

	if (read_file(AT_FDCWD, index, &data, e) < 0 ||
		index_open(&reader, data.data, data.len, r->hash_len, e) < 0)
		return -1;
	while ((got = index_next(&reader, &ent, e)) > 0) {
		if (strcmp(path_base(ent.path), ".gitattributes"))
			continue;
		strvec_push(paths, ent.path);
		push_oid(oids, ent.oid, r->hash_len);
	}
	index_close(&reader);
	return got < 0 ? -1 : 0;
}

/* Git LFS is done without its program: see lfs.h. */
static bool is_lfs(const char *p, const char *end)
{
	static const char lfs[] = "filter=" LFS_FILTER;

	return (size_t)(end - p) >= strlen(lfs) && !strncmp(p, lfs, strlen(lfs)) &&
	       (p + strlen(lfs) == end || strchr(" \t\r\n", p[strlen(lfs)]));
}

/* A look at one commit's attributes. */
struct look {
	const struct repo *repo;
	const struct strvec *paths;
	struct strvec own; /* the configuration, if the repository's was not read */
	bool has_own;
	bool *named; /* if it is set: refuse nothing, and tell whether a filter is named */
};

static bool sets_filter(const struct strvec *config, const char *name, size_t len)
{
	static const char key[] = "filter.";

	for (size_t i = 0; i < config->n; i++) {
		const char *s = config->v[i];

		if (!strncmp(s, key, strlen(key)) && !strncmp(s + strlen(key), name, len) &&
			s[strlen(key) + len] == '.')
			return true;
	}
	return false;
}

/* Whether somebody has configured the filter. git passes files through unchanged if nobody has. */
static int is_configured(struct look *l, const char *name, size_t len, bool *ret, struct err *e)
{
	if (!l->repo->config.n && !l->has_own && repo_read_config(l->repo, &l->own, e) < 0)
		return -1;
	l->has_own = true;
	*ret = sets_filter(l->repo->config.n ? &l->repo->config : &l->own, name, len);
	return 0;
}

/* A clone does not get the repository's own configuration: there the files are as they are stored. */
static int refuse_configured(
	const struct repo *r, const char *path, const char *name, size_t len, struct err *e)
{
	auto_buf list = BUF_INIT(4 << 20);
	auto_strvec own = STRVEC_INIT;
	auto_str top = shell_quoted(r->main_top), beside = xasprintf("%s-unfiltered", r->main_top),
		 to = shell_quoted(beside);
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	if (!git_do(&g, &list, &ignored, "config", "--local", "--list", "-z", NULL))
		for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1)
			strvec_push(&own, list.data + at);
	err_set(e, ERR_REFUSED,
		"'%s' sends files through a filter (filter=%.*s), which is not supported: a filter is a program that the repository chooses",
		path, (int)len, name);
	if (sets_filter(&own, name, len))
		return err_hint(e, "git clone %s %s", top, to);
	return err_hint(e, "git -C %s config --show-origin --get-regexp '^filter'", top);
}

static int refuse_filter(struct look *l, const char *path, const char *data, size_t len, struct err *e)
{
	const char *end = data + len;

	for (const char *p = data; (p = memmem(p, (size_t)(end - p), "filter=", 7)); p++) {
		size_t n = strcspn(p, " \t\r\n");
		bool set;

		if ((p != data && !strchr(" \t\r", p[-1])) || is_lfs(p, end))
			continue;
		if (l->named) {
			*l->named = true;
			continue;
		}
		if (is_configured(l, p + 7, n - 7, &set, e) < 0)
			return -1;
		if (set)
			return refuse_configured(l->repo, path, p + 7, n - 7, e);
	}
	return 0;
}

static int look_for_filter(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	struct look *l = arg;

	return refuse_filter(l, l->paths->v[i], data, len, e);
}

/* The attributes that no commit has. */
static int check_own(struct look *l, struct err *e)
{
	auto_buf text = BUF_INIT(REPO_ATTRIBUTES_MAX);

	if (repo_attributes(l->repo, &text, e) < 0)
		return -1;
	return refuse_filter(l, "info/attributes", buf_str(&text), text.len, e);
}

static int check_all(const struct repo *r, const struct strvec *paths, const struct strvec *oids, bool *named,
	struct err *e)
{
	struct look l = { .repo = r, .paths = paths, .named = named };
	struct git g = repo_git(r);
	int rc = check_own(&l, e);

	if (!rc)
		rc = blob_read(&g, oids, look_for_filter, &l, e);
	strvec_release(&l.own);
	return rc;
}

bool content_has_filters(const struct repo *r)
{
	static const char key[] = "filter.", lfs[] = "filter." LFS_FILTER ".";

	for (size_t i = 0; i < r->config.n; i++)
		if (!strncmp(r->config.v[i], key, strlen(key)) &&
			strncmp(r->config.v[i], lfs, strlen(lfs)) != 0)
			return true;
	return false;
}

int content_check(const struct repo *r, const char *index, struct err *e)
{
	auto_strvec paths = STRVEC_INIT, oids = STRVEC_INIT;

	return list(r, index, &paths, &oids, e) < 0 ? -1 : check_all(r, &paths, &oids, NULL, e);
}

int content_names_filter(const struct repo *r, const char *index, bool *ret, struct err *e)
{
	auto_strvec paths = STRVEC_INIT, oids = STRVEC_INIT;

	*ret = false;
	return list(r, index, &paths, &oids, e) < 0 ? -1 : check_all(r, &paths, &oids, ret, e);
}

int content_check_diff(const struct repo *r, const struct buf *raw, struct err *e)
{
	auto_strvec paths = STRVEC_INIT, oids = STRVEC_INIT;
	struct diff_entry d;
	size_t at = 0;
	int got;

	while ((got = diff_next(raw, &at, r->hash_len, &d)) > 0) {
		if (!d.new_mode || strcmp(path_base(d.path), ".gitattributes"))
			continue;
		strvec_push(&paths, d.path);
		strvec_pushn(&oids, d.new_oid, (size_t)r->hash_len * 2);
	}
	if (got < 0)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	return check_all(r, &paths, &oids, NULL, e);
}
