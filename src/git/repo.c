#include "git/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/discover.h"
#include "sys/fd.h"

/* Time limit for reading the configuration and HEAD. */
#define LOOK_SECONDS 60

void repo_release(struct repo *r)
{
	free(r->top);
	free(r->main_top);
	free(r->git_dir);
	free(r->format);
	free(r->head);
	free(r->commit);
	free(r->rev_ref);
	free(r->user_ignores);
	strvec_release(&r->config);
	strvec_release(&r->objects);
	*r = (struct repo){ 0 };
}

struct git repo_git(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir };
}

const char *repo_config(const struct repo *r, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = r->config.n; i-- > 0;)
		if (!strncmp(r->config.v[i], key, n) && (r->config.v[i][n] == '\n' || !r->config.v[i][n]))
			return r->config.v[i][n] ? r->config.v[i] + n + 1 : "true";
	return NULL;
}

static bool is_on(const char *value)
{
	return value && (!strcasecmp(value, "true") || !strcasecmp(value, "yes") ||
				!strcasecmp(value, "on") || !strcmp(value, "1"));
}

static bool is_off(const char *value)
{
	return value && !is_on(value);
}

/* A partial clone: git marks the remote, older versions mark the repository. */
static bool is_partial(const struct repo *r)
{
	static const char key[] = ".promisor\n";

	for (size_t i = 0; i < r->config.n; i++) {
		const char *at = strncmp(r->config.v[i], "remote.", 7) ? NULL : strstr(r->config.v[i], key);

		if (at && is_on(at + sizeof(key) - 1))
			return true;
	}
	return repo_config(r, "extensions.partialclone") != NULL;
}

static int refuse_partial(const struct repo *r, struct err *e)
{
	return err_set(e, ERR_REFUSED, "'%s' is a partial clone, which is not supported yet", r->top);
}

int repo_check_kind(const struct repo *r, bool bare, bool shallow, struct err *e)
{
	const char *crlf = repo_config(r, "core.autocrlf"), *eol = repo_config(r, "core.eol");

	if (bare)
		return err_set(
			e, ERR_REFUSED, "'%s' is a bare repository, which is not supported yet", r->git_dir);
	if (shallow)
		return err_set(e, ERR_REFUSED, "'%s' is a shallow clone, which is not supported yet", r->top);
	if (is_partial(r))
		return refuse_partial(r, e);
	if (is_on(repo_config(r, "core.sparsecheckout")))
		return err_set(
			e, ERR_REFUSED, "'%s' has a sparse checkout, which is not supported yet", r->top);
	if ((crlf && !is_off(crlf)) || (eol && !strcasecmp(eol, "crlf")))
		return err_set(e, ERR_REFUSED,
			"'%s' converts line ends (core.autocrlf, core.eol), which is not supported yet",
			r->top);
	if (is_off(repo_config(r, "core.symlinks")))
		return err_set(
			e, ERR_REFUSED, "'%s' has core.symlinks off, which is not supported yet", r->top);
	if (repo_config(r, "extensions.refstorage") &&
		strcmp(repo_config(r, "extensions.refstorage"), "files"))
		return err_set(e, ERR_REFUSED, "'%s' keeps its refs in '%s', which is not supported yet",
			r->top, repo_config(r, "extensions.refstorage"));
	return 0;
}

/* Only from the user's and the system's files, not from the repository's. */
static void take_user_ignores(struct repo *r, const char *scope, const char *setting)
{
	static const char key[] = "core.excludesfile\n";

	if ((strcmp(scope, "global") && strcmp(scope, "system")) || strncmp(setting, key, sizeof(key) - 1))
		return;
	free(r->user_ignores);
	r->user_ignores = xstrdup(setting + sizeof(key) - 1);
}

static int read_config(struct repo *r, struct err *e)
{
	struct git g = { .dir = r->git_dir, .shows_config = true, .seconds = LOOK_SECONDS };
	auto_buf out = BUF_INIT(4 << 20);

	if (git_do(&g, &out, e, "config", "--list", "-z", "--show-scope", "--includes", NULL) < 0)
		return err_wrap(e, "cannot read the repository's configuration");
	/* "local\0key\nvalue\0" */
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		const char *scope = out.data + at;

		at += strlen(scope) + 1;
		if (at >= out.len)
			break;
		strvec_push(&r->config, out.data + at);
		take_user_ignores(r, scope, out.data + at);
	}
	return 0;
}

/* Adds the directory and, recursively, those in its info/alternates, at most 5 levels deep, as git does. */
static int add_objects(struct strvec *list, const char *dir, unsigned depth, struct err *e)
{
	auto_str alternates = path_join(dir, "info/alternates");
	auto_buf text = BUF_INIT(1 << 20);
	char *save = NULL;

	if (strvec_has(list, dir))
		return 0;
	if (depth > 5 || list->n > 32)
		return err_set(e, ERR_REFUSED, "the repository borrows objects from too many others");
	strvec_push(list, dir);
	if (read_file(AT_FDCWD, alternates, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save)) {
		auto_str joined = line[0] == '/' ? xstrdup(line) : path_join(dir, line);
		char *real;

		if (line[0] == '#')
			continue;
		real = canonicalize_file_name(joined);
		if (real && add_objects(list, real, depth + 1, e) < 0) {
			free(real);
			return -1;
		}
		free(real);
	}
	return 0;
}

static int fill_places(struct repo *r, struct err *e)
{
	auto_str objects = path_join(r->git_dir, "objects");
	const char *slash = strrchr(r->git_dir, '/');

	if (slash && !strcmp(slash, "/.git"))
		r->main_top = xstrndup(r->git_dir, (size_t)(slash - r->git_dir));
	else
		r->main_top = xstrdup(r->top);
	return add_objects(&r->objects, objects, 0, e);
}

/* git must find the same paths as discover did. */
static int check_place(const struct repo *r, const struct discovered *d, struct err *e)
{
	auto_str common = canonicalize_file_name(r->git_dir), top = canonicalize_file_name(r->top);

	if (!common || strcmp(common, d->common))
		return err_set(
			e, ERR_REFUSED, "git finds another repository than '%s' for '%s'", d->common, d->top);
	if (!top || strcmp(top, d->top))
		return err_set(e, ERR_REFUSED,
			"the files of '%s' are elsewhere (core.worktree), which is not supported yet",
			d->top);
	return 0;
}

static int check_kind(struct repo *r, bool bare, bool shallow, struct err *e)
{
	auto_str attributes = path_join(r->git_dir, "info/attributes");
	struct stat st;

	if (repo_check_kind(r, bare, shallow, e) < 0)
		return -1;
	if (!stat(attributes, &st) && st.st_size > 0)
		return err_set(e, ERR_REFUSED,
			"'%s' has attributes of its own in info/attributes, which is not supported yet",
			r->top);
	return 0;
}

/* Explains why git found nothing. */
static int explain(const char *dir, const char *rev, struct buf *out, struct buf *errtext, struct err *e)
{
	auto_str place = shell_quoted(dir);

	if (strstr(buf_str(errtext), "dubious ownership"))
		return err_set(e, ERR_REFUSED,
			       "git does not trust the repository at '%s': it belongs to another user", dir),
		       err_hint(e, "git config --global --add safe.directory %s", place);
	if (strstr(buf_str(errtext), "not a git repository"))
		return err_set(e, ERR_NOTFOUND, "'%s' is not in a git repository", dir),
		       err_hint(e, "git init");
	if (!strncmp(buf_str(out), "true\n", 5))
		return err_set(e, ERR_REFUSED, "'%s' is a bare repository, which is not supported yet", dir);
	if (strstr(buf_str(errtext), "must be run in a work tree"))
		return err_set(e, ERR_REFUSED, "'%s' is not in a checkout", dir);
	if (!strcmp(rev, "HEAD"))
		return err_set(e, ERR_NOTFOUND, "the repository at '%s' has no commit yet", dir),
		       err_hint(e, "git commit --allow-empty -m start");
	return err_set(e, ERR_NOTFOUND, "there is no revision '%s'", rev);
}

/* Reads the settings and refuses partial clones before git is asked for any object, because git would fetch
 * missing ones. */
static int look_at_settings(const struct discovered *d, struct repo *r, struct err *e)
{
	auto_repo found = { .git_dir = xstrdup(d->common), .top = xstrdup(d->top) };

	if (read_config(&found, e) < 0)
		return -1;
	if (is_partial(&found))
		return refuse_partial(&found, e);
	r->user_ignores = steal_ptr(found.user_ignores);
	r->config = found.config;
	found.config = (struct strvec)STRVEC_INIT;
	return 0;
}

/* Stores git's answers, one per line, in r. The last line is missing if rev names no ref. */
static int ask_git(const char *dir, const char *rev, struct repo *r, bool *bare, bool *shallow, struct err *e)
{
	struct git g = { .cwd = dir, .user_config = true, .seconds = LOOK_SECONDS };
	auto_buf out = BUF_SMALL, errtext = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	char *line[8] = { 0 }, *save = NULL;
	size_t n = 0;
	int code;

	strvec_pushl(&args, "rev-parse", "--path-format=absolute", "--is-bare-repository",
		"--is-shallow-repository", "--show-object-format", "--git-common-dir", "--show-toplevel",
		NULL);
	strvec_pushf(&args, "%s^{commit}", rev);
	strvec_pushl(&args, "--symbolic-full-name", "HEAD", rev, "--", NULL);
	if (git_try(&g, &args, NULL, &out, &errtext, &code, e) < 0)
		return -1;
	if (code)
		return explain(dir, rev, &out, &errtext, e);
	for (char *l = strtok_r(out.data, "\n", &save); l && n < 8; l = strtok_r(NULL, "\n", &save))
		if (strcmp(l, "--"))
			line[n++] = l;
	if (n < 7)
		return err_set(e, ERR_FAILED, "cannot understand what git says of '%s'", dir);
	*bare = !strcmp(line[0], "true");
	*shallow = !strcmp(line[1], "true");
	r->format = xstrdup(line[2]);
	r->hash_len = strcmp(line[2], "sha256") ? 20 : 32;
	r->git_dir = xstrdup(line[3]);
	r->top = xstrdup(line[4]);
	r->commit = xstrdup(line[5]);
	r->head = xstrdup(strcmp(line[6], "HEAD") ? line[6] : "");
	r->rev_ref = xstrdup(n > 7 && strcmp(line[7], "HEAD") ? line[7] : "");
	return 0;
}

int repo_open(const char *dir, const char *rev, struct repo *ret, struct err *e)
{
	auto_str real = canonicalize_file_name(dir);
	auto_discovered d = { 0 };
	auto_repo r = { 0 };
	bool bare = false, shallow = false;

	if (rev[0] == '-' || !rev[0])
		return err_set(e, ERR_NOTFOUND, "there is no revision '%s'", rev);
	if (real && strchr(real, '\n'))
		return err_set(e, ERR_REFUSED,
			"a repository in a directory with a line break in its name is not supported");
	if (discover(dir, &d, e) < 0 || look_at_settings(&d, &r, e) < 0 ||
		ask_git(dir, rev, &r, &bare, &shallow, e) < 0 || check_kind(&r, bare, shallow, e) < 0 ||
		check_place(&r, &d, e) < 0 || fill_places(&r, e) < 0)
		return -1;
	*ret = r;
	r = (struct repo){ 0 };
	return 0;
}

void repo_name(const char *git_dir, const char *top, unsigned hash_len, struct repo *ret)
{
	*ret = (struct repo){ .git_dir = xstrdup(git_dir),
		.top = xstrdup(top),
		.head = xstrdup(""),
		.commit = xstrdup(""),
		.rev_ref = xstrdup(""),
		.hash_len = hash_len,
		.format = xstrdup(hash_len == 32 ? "sha256" : "sha1") };
}

int repo_open_git_dir(
	const char *git_dir, const char *top, unsigned hash_len, struct repo *ret, struct err *e)
{
	auto_str place = shell_quoted(top);
	auto_repo r = { 0 };

	repo_name(git_dir, top, hash_len, &r);
	if (access(git_dir, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "the repository '%s' is not there any more", git_dir),
		       err_hint(e, "ln -s NEW_PLACE %s", place);
	if (fill_places(&r, e) < 0)
		return -1;
	*ret = r;
	r = (struct repo){ 0 };
	return 0;
}
