#include "git/neutral.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/digest.h"
#include "sys/fd.h"

#define PLACE "plain"

/* plain/ of this process's Garth home. */
static char *place;

static const struct format {
	const char *name, *config;
	unsigned hash_len;
} formats[] = {
	{ "sha1", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", 20 },
	{ "sha256",
		"[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n",
		32 },
};

/* Settings about the files and how they are compared; none names a program or a file. core.bigFileThreshold is not among
 * them: a small one hides every change as binary. */
static const char *const copied[] = {
	"core.checkstat",
	"core.checkroundtripencoding",
	"core.compression",
	"core.filemode",
	"core.ignorecase",
	"core.loosecompression",
	"core.precomposeunicode",
	"core.protecthfs",
	"core.protectntfs",
	"core.sharedrepository",
	"core.trustctime",
	"diff.algorithm",
	"diff.renamelimit",
	"diff.renames",
	"merge.directoryrenames",
	"merge.renamelimit",
	"merge.renames",
};

/* Settings about the user's own checkout: how files are written there. They are often in the user's own
 * configuration, not in the repository's. */
static const char *const conversions[] = { "core.autocrlf", "core.eol", "core.symlinks" };

/* What a new git directory has beside the usual files; both may be NULL. */
struct info {
	const struct buf *exclude, *attributes;
};

static int make_one(int parent, const char *at, const struct format *f, struct info info, struct err *e)
{
	const struct buf *exclude = info.exclude, *attributes = info.attributes;
	static const char *const dirs[] = { "", "objects", "refs", "info" };
	static const char head[] = "ref: refs/heads/none\n";
	const struct {
		const char *name, *text;
		size_t len;
	} files[] = {
		{ "config", f->config, strlen(f->config) },
		{ "info/exclude", exclude ? buf_str(exclude) : "", exclude ? exclude->len : 0 },
		{ "info/attributes", attributes ? buf_str(attributes) : "",
			attributes ? attributes->len : 0 },
		/* written last: with this file the repository is complete */
		{ "HEAD", head, strlen(head) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_str dir = *dirs[i] ? path_join(at, dirs[i]) : xstrdup(at);

		if (mkdirat(parent, dir, 0700) < 0 && errno != EEXIST)
			return err_sys(e, "cannot make '%s'", dir);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_str path = path_join(at, files[i].name);

		if (write_file(parent, path, files[i].text, files[i].len, 0600, e) < 0)
			return -1;
	}
	return 0;
}

int neutral_make(int home, const char *home_path, struct err *e)
{
	free(place);
	place = path_join(home_path, PLACE);
	if (mkdirat(home, PLACE, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s'", place);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		auto_str at = path_join(PLACE, formats[i].name), marker = path_join(at, "HEAD");

		if (faccessat(home, marker, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
			make_one(home, at, &formats[i], (struct info){ 0 }, e) < 0)
			return -1;
	}
	return 0;
}

void neutral_release(struct neutral *p)
{
	free(p->dir);
	free(p->objects);
	free(p->shallow);
	strvec_release(&p->settings);
	*p = (struct neutral)NEUTRAL_INIT;
}

static bool is_among(const char *const *keys, size_t count, const char *key, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(keys[i]) == n && !strncmp(key, keys[i], n))
			return true;
	return false;
}

static bool names_any(const char *text, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, strchr(keys[i], '.') + 1))
			return true;
	return false;
}

/* Whether it is worth running git to read the settings. The configuration that git itself writes has none of
 * these words, except for the default "filemode = true". A false match only costs a process. */
static bool may_have_settings(const char *git_dir)
{
	static const char usual[] = "filemode = true";
	auto_str path = path_join(git_dir, "config"), worktree = path_join(git_dir, "commondir");
	auto_buf text = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;
	char *p;

	if (!access(worktree, F_OK) || read_file(AT_FDCWD, path, &text, &ignored) < 0 ||
		memchr(text.data, 0, text.len) || strcasestr(buf_str(&text), "include") ||
		strcasestr(buf_str(&text), "worktreeconfig"))
		return true;
	if ((p = strstr(buf_str(&text), usual)))
		*p = '#';
	return names_any(buf_str(&text), copied, ARRAY_SIZE(copied)) ||
	       names_any(buf_str(&text), conversions, ARRAY_SIZE(conversions));
}

/* The same for the user's and the system's files. */
static bool user_may_have_settings(void)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	auto_strvec paths = STRVEC_INIT;

	strvec_push(&paths, "/etc/gitconfig");
	strvec_pushf(&paths, "%s/.gitconfig", home ? home : "/nonexistent");
	strvec_pushf(&paths, "%s%s/git/config",
		config && *config ? config
		: home            ? home
				  : "/nonexistent",
		config && *config ? "" : "/.config");
	for (size_t i = 0; i < paths.n; i++) {
		auto_buf text = BUF_INIT(1 << 20);
		struct err e = ERR_INIT;

		if (read_file(AT_FDCWD, paths.v[i], &text, &e) < 0) {
			if (e.kind != ERR_NOTFOUND)
				return true;
		} else if (memchr(text.data, 0, text.len) || strcasestr(buf_str(&text), "include") ||
			   names_any(buf_str(&text), conversions, ARRAY_SIZE(conversions))) {
			return true;
		}
	}
	return false;
}

/* With `users`, also the settings about the user's own checkout, wherever they are made. */
static int read_settings(const char *git_dir, bool users, struct strvec *ret, struct err *e)
{
	struct git g = { .dir = git_dir, .shows_config = users };
	auto_buf list = BUF_INIT(4 << 20);

	if (!may_have_settings(git_dir) && (!users || !user_may_have_settings()))
		return 0;
	if (git_do(&g, &list, e, "config", "--list", "-z", "--includes", NULL) < 0)
		return err_wrap(e, "cannot read the repository's configuration");
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *key = list.data + at;
		size_t n = strcspn(key, "\n");

		if (is_among(copied, ARRAY_SIZE(copied), key, n) ||
			(users && is_among(conversions, ARRAY_SIZE(conversions), key, n)))
			strvec_pushf(ret, "%.*s=%s", (int)n, key, key[n] ? key + n + 1 : "true");
	}
	return 0;
}

static const struct format *format_of(const struct repo *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i].hash_len == r->hash_len)
			return &formats[i];
	return NULL;
}

/* Takes ownership of `dir`, the git directory. */
static int fill(
	const struct repo *r, const char *git_dir, bool users, char *dir, struct neutral *ret, struct err *e)
{
	auto_neutral p = { .dir = dir,
		.objects = path_join(r->git_dir, "objects"),
		.shallow = path_join(r->git_dir, "shallow"),
		.settings = STRVEC_INIT };

	if (read_settings(git_dir, users, &p.settings, e) < 0)
		return -1;
	*ret = p;
	p = (struct neutral)NEUTRAL_INIT;
	/* a shallow clone's list of commits without parents; usually there is no such file */
	ret->git = (struct git){ .dir = ret->dir,
		.cwd = ret->dir,
		.objects = ret->objects,
		.shallow = ret->shallow,
		.settings = &ret->settings };
	return 0;
}

int neutral_open(const struct repo *r, const char *git_dir, struct neutral *ret, struct err *e)
{
	const struct format *f = format_of(r);

	if (!place || !f)
		return err_set(e, ERR_FAILED, "there is no plain repository to run git in");
	return fill(r, git_dir, false, path_join(place, f->name), ret, e);
}

/* The repository's own attributes need a git directory that has them; it is named by its content. */
static int dir_with_attributes(
	const struct format *f, const struct buf *attributes, char **ret, struct err *e)
{
	unsigned char digest[DIGEST_MAX];
	auto_str dir = NULL, marker = NULL;
	auto_buf name = BUF_SMALL;

	buf_printf(&name, "%s-", f->name);
	digest_of(DIGEST_SHA256_LEN, attributes->data, attributes->len, digest);
	for (size_t i = 0; i < 16; i++)
		buf_printf(&name, "%02x", digest[i]);
	dir = path_join(place, buf_str(&name));
	marker = path_join(dir, "HEAD");
	if (access(marker, F_OK) < 0 &&
		make_one(AT_FDCWD, dir, f, (struct info){ .attributes = attributes }, e) < 0)
		return -1;
	*ret = steal_ptr(dir);
	return 0;
}

int neutral_open_files(
	const struct repo *r, const char *git_dir, bool users, struct neutral *ret, struct err *e)
{
	const struct format *f = format_of(r);
	auto_buf attributes = BUF_INIT(REPO_ATTRIBUTES_MAX);
	char *dir = NULL;

	if (!place || !f)
		return err_set(e, ERR_FAILED, "there is no plain repository to run git in");
	if (repo_attributes(r, &attributes, e) < 0)
		return -1;
	if (!attributes.len)
		dir = path_join(place, f->name);
	else if (dir_with_attributes(f, &attributes, &dir, e) < 0)
		return -1;
	return fill(r, git_dir, users, dir, ret, e);
}

int neutral_open_at(const struct repo *r, const char *at, struct neutral *ret, struct err *e)
{
	const struct format *f = format_of(r);
	auto_buf exclude = BUF_INIT(1 << 20), attributes = BUF_INIT(REPO_ATTRIBUTES_MAX);

	if (repo_part(r, "info/exclude", &exclude, e) < 0 || repo_attributes(r, &attributes, e) < 0)
		return -1;
	if (!f || make_one(AT_FDCWD, at, f, (struct info){ &exclude, &attributes }, e) < 0)
		return f ? -1 : err_set(e, ERR_FAILED, "an object format that is not known");
	return fill(r, r->git_dir, false, xstrdup(at), ret, e);
}
