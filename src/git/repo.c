#include "git/repo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/blocking_files.h"
#include "git/config_list.h"
#include "git/discover.h"
#include "git/named_path.h"
#include "sys/dir.h"
#include "sys/fd.h"

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
	return r->submodule ? repo_git_commits(r) : (struct git){ .dir = r->git_dir };
}

struct git repo_git_commits(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir, .work_tree = "/" };
}

const char *repo_config(const struct repo *r, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = r->config.n; i-- > 0;)
		if (!strncmp(r->config.v[i], key, n) && (r->config.v[i][n] == '\n' || !r->config.v[i][n]))
			return r->config.v[i][n] ? r->config.v[i] + n + 1 : "true";
	return NULL;
}

int repo_part(const struct repo *r, const char *name, struct buf *ret, struct err *e)
{
	auto_str path = NULL, word = NULL;
	auto_fd dir = open(r->git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		fd = dir < 0 ? -1 : open_regular_beneath(dir, name);

	if (fd >= 0)
		return read_rest(fd, ret, name, e);
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	if (errno != ELOOP && errno != EXDEV)
		return err_sys(e, "cannot open '%s/%s'", r->git_dir, name);
	err_set(e, ERR_REFUSED, "'%s/%s' is a link, which may lead to a file that is not the repository's",
		r->git_dir, name);
	path = xasprintf("%s/%s", r->git_dir, name);
	word = shell_quoted(path);
	return err_hint(e, "cp --remove-destination \"$(readlink -f %s)\" %s", word, word);
}

int repo_shallow(const struct repo *r, struct buf *ret, struct err *e)
{
	return repo_part(r, "shallow", ret, e);
}

int repo_attributes(const struct repo *r, struct buf *ret, struct err *e)
{
	return repo_part(r, "info/attributes", ret, e);
}

static bool is_on(const char *value)
{
	return value && (!strcasecmp(value, "true") || !strcasecmp(value, "yes") ||
				!strcasecmp(value, "on") || !strcmp(value, "1"));
}

/* In a partial clone, packs from the remote are marked: what they refer to may be missing. */
bool repo_is_partial(const struct repo *r)
{
	for (size_t i = 0; i < r->objects.n; i++) {
		auto_str path = path_join(r->objects.v[i], "pack");
		auto_dir d = opendir(path);
		struct dirent *ent;

		while (d && (ent = readdir(d))) {
			const char *dot = strrchr(ent->d_name, '.');

			if (dot && !strcmp(dot, ".promisor"))
				return true;
		}
	}
	return false;
}

int repo_refuse_missing(const struct repo *r, const char *commit, const char *what, struct err *e)
{
	const char *empty_tree = r->hash_len == 32
					 ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
					 : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
	auto_str top = shell_quoted(r->top);

	err_set(e, ERR_REFUSED, "'%s' is a partial clone, and %s is missing", r->top, what);
	/* a difference with statistics reads every file; git fetches all that are missing at once */
	return commit ? err_hint(e, "git -C %s diff --shortstat %s %s", top, empty_tree, commit)
		      : err_hint(e, "git -C %s fetch --refetch --no-filter", top);
}

bool repo_has_reftable(const struct repo *r)
{
	auto_str place = path_join(r->git_dir, "reftable");

	return !access(place, F_OK);
}

static int check_settings(const struct repo *r, struct err *e)
{
	const char *refs = repo_config(r, "extensions.refstorage");
	auto_str top = shell_quoted(r->top);

	if (!refs || !strcmp(refs, "files") || !strcmp(refs, "reftable"))
		return 0;
	err_set(e, ERR_REFUSED, "'%s' keeps its refs in '%s', which is not supported", r->top, refs);
	return err_hint(e, "git -C %s refs migrate --ref-format=files", top);
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
	auto_buf list = BUF_INIT(4 << 20);
	const char *scope, *key, *value;
	size_t at = 0, n;

	if (config_list(r->git_dir, &list, e) < 0)
		return -1;
	while (config_next(&list, &at, &scope, &key, &n, &value)) {
		strvec_push(&r->config, key);
		take_user_ignores(r, scope, key);
	}
	return 0;
}

int repo_read_config(const struct repo *r, struct strvec *ret, struct err *e)
{
	auto_repo found = { .git_dir = xstrdup(r->git_dir) };

	if (read_config(&found, e) < 0)
		return -1;
	*ret = found.config;
	found.config = (struct strvec)STRVEC_INIT;
	return 0;
}

/* Adds the directory and, recursively, those in its info/alternates, at most 5 levels deep, as git does. */
static int add_objects(struct strvec *list, const char *dir, unsigned depth, bool first_time, struct err *e)
{
	auto_str alternates = path_join(dir, "info/alternates");
	auto_buf text = BUF_INIT(1 << 20);
	char *save = NULL;

	if (strvec_has(list, dir))
		return 0;
	if (depth > 5 || list->n > 32)
		return err_set(e, ERR_REFUSED, "the repository borrows objects from too many others");
	strvec_push(list, dir);
	if (blocking_files_refuse_objects(dir, e) < 0 ||
		(first_time && blocking_files_refuse_loose(dir, e) < 0))
		return -1;
	if (read_file(AT_FDCWD, alternates, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	for (char *line = text.len ? strtok_r(text.data, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save)) {
		auto_str joined = line[0] == '/' ? xstrdup(line) : path_join(dir, line);
		char *real;

		if (line[0] == '#')
			continue;
		/* git takes it apart by rules of its own, and never writes one */
		if (line[0] == '"')
			return err_set(
				e, ERR_REFUSED, "'%s' has a quoted path, which is not supported", alternates);
		if (named_path_check(joined, "the repository borrows objects from", e) < 0)
			return -1;
		real = canonicalize_file_name(joined);
		if (real && add_objects(list, real, depth + 1, first_time, e) < 0) {
			free(real);
			return -1;
		}
		free(real);
	}
	return 0;
}

static void fill_main_top(struct repo *r)
{
	const char *slash = strrchr(r->git_dir, '/');

	if (slash && !strcmp(slash, "/.git"))
		r->main_top = xstrndup(r->git_dir, (size_t)(slash - r->git_dir));
	else
		r->main_top = xstrdup(r->top);
}

static int fill_objects(struct repo *r, const char *git_dir, bool first_time, struct err *e)
{
	auto_str objects = path_join(git_dir, "objects");

	return add_objects(&r->objects, objects, 0, first_time, e);
}

static int refuse_elsewhere(const char *top, struct err *e)
{
	err_set(e, ERR_REFUSED, "the files of '%s' are elsewhere (core.worktree), which is not supported",
		top);
	return err_hint(e, "git worktree add ../NAME");
}

/* git must find the same paths as discover did. */
static int check_place(const struct repo *r, const struct discovered *d, struct err *e)
{
	auto_str common = canonicalize_file_name(r->git_dir), top = canonicalize_file_name(r->top);

	if (!common || strcmp(common, d->common))
		return err_set(
			e, ERR_REFUSED, "git finds another repository than '%s' for '%s'", d->common, d->top);
	if (!top || strcmp(top, d->top))
		return refuse_elsewhere(d->top, e);
	return 0;
}

/* By its settings, which may name a partial clone before there is any object. */
static bool may_lack_objects(const struct repo *r)
{
	for (size_t i = 0; i < r->config.n; i++)
		if (!strncmp(r->config.v[i], "remote.", 7) && strstr(r->config.v[i], ".promisor\n"))
			return true;
	return repo_config(r, "extensions.partialclone") != NULL;
}

/* git cannot use the repository at all: an extension that it does not know, a broken file. */
static int refuse_unreadable(const char *dir, struct buf *errtext, struct err *e)
{
	const char *why = strstr(buf_str(errtext), "fatal: ");
	auto_buf line = BUF_SMALL;

	for (const char *p = why ? why + strlen("fatal: ") : buf_str(errtext); *p; p++)
		if (*p != '\n' && *p != '\t')
			buf_addch(&line, *p);
		else if (p[1] && line.len && line.data[line.len - 1] != ' ')
			buf_addch(&line, ' ');
	return err_set(e, ERR_REFUSED, "git cannot use the repository at '%s': %s", dir, buf_str(&line));
}

/* Explains why git found nothing. */
static int explain(const struct repo *r, const char *dir, const char *rev, struct buf *errtext, struct err *e)
{
	auto_str place = shell_quoted(dir);

	if (strstr(buf_str(errtext), "dubious ownership"))
		return err_set(e, ERR_REFUSED,
			       "git does not trust the repository at '%s': it belongs to another user", dir),
		       err_hint(e, "git config --global --add safe.directory %s", place);
	if (strstr(buf_str(errtext), "not a git repository"))
		return err_set(e, ERR_NOTFOUND, "'%s' is not in a git repository", dir),
		       err_hint(e, "git init");
	if (strstr(buf_str(errtext), "must be run in a work tree"))
		return err_set(e, ERR_REFUSED, "'%s' is not in a checkout", dir);
	if (may_lack_objects(r) && !strcmp(rev, "HEAD"))
		return err_set(e, ERR_REFUSED, "'%s' is a partial clone, and its commit is missing", dir),
		       err_hint(e, "git -C %s fetch", place);
	if (!strcmp(rev, "HEAD") && !strstr(buf_str(errtext), "revision"))
		return refuse_unreadable(dir, errtext, e);
	if (!strcmp(rev, "HEAD"))
		return err_set(e, ERR_NOTFOUND, "the repository at '%s' has no commit yet", dir),
		       err_hint(e, "git commit --allow-empty -m start");
	return err_set(e, ERR_NOTFOUND, "there is no revision '%s'", rev);
}

/* Reads the settings before git is asked for anything. */
static int look_at_settings(const struct discovered *d, struct repo *r, struct err *e)
{
	auto_repo found = { .git_dir = xstrdup(d->common), .top = xstrdup(d->top) };

	if (read_config(&found, e) < 0 || check_settings(&found, e) < 0)
		return -1;
	r->bare = d->bare || (!strcmp(d->git_dir, d->common) && is_on(repo_config(&found, "core.bare")));
	r->user_ignores = steal_ptr(found.user_ignores);
	r->config = found.config;
	found.config = (struct strvec)STRVEC_INIT;
	return 0;
}

/* Whether git got as far as the name of HEAD, which is the sixth line: every revision exists. */
static bool answered_all_else(const struct buf *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < out->len; i++)
		lines += out->data[i] == '\n';
	return lines >= 6;
}

/* Stores git's answers, one per line, in r. The last line is missing if rev names no ref. The last question is
 * whether the commit has a file with settings: git prints nothing for it, and fails if it has none. So one
 * process answers everything. */
static int ask_git(
	const struct discovered *d, const char *dir, const char *rev, struct repo *r, struct err *e)
{
	struct git g = { .cwd = dir, .user_config = true };
	auto_buf out = BUF_SMALL, errtext = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	char *line[7] = { 0 }, *save = NULL;
	size_t n = 0;
	int code;

	strvec_pushl(&args, "rev-parse", "--path-format=absolute", "--is-bare-repository",
		"--show-object-format", "--git-common-dir", r->bare ? "--git-common-dir" : "--show-toplevel",
		NULL);
	strvec_pushf(&args, "%s^{commit}", rev);
	strvec_pushl(&args, "--symbolic-full-name", "HEAD", rev, NULL);
	strvec_pushf(&args, "%s^{commit}:" REPO_SETTINGS, rev);
	strvec_push(&args, "--");
	if (git_try(&g, &args, NULL, &out, &errtext, &code, e) < 0)
		return -1;
	if (code && !answered_all_else(&out))
		return explain(r, dir, rev, &errtext, e);
	for (char *l = strtok_r(out.data, "\n", &save); l && n < 7; l = strtok_r(NULL, "\n", &save))
		if (strcmp(l, "--"))
			line[n++] = l;
	if (n < 6)
		return err_set(e, ERR_FAILED, "cannot understand what git says of '%s'", dir);
	if (r->bare != !strcmp(line[0], "true"))
		return refuse_elsewhere(d->top, e);
	r->has_settings = !code;
	r->format = xstrdup(line[1]);
	r->hash_len = strcmp(line[1], "sha256") ? 20 : 32;
	r->git_dir = xstrdup(line[2]);
	r->top = xstrdup(r->bare ? d->top : line[3]);
	r->commit = xstrdup(line[4]);
	r->head = xstrdup(strcmp(line[5], "HEAD") ? line[5] : "");
	r->rev_ref = xstrdup(n > 6 && strcmp(line[6], "HEAD") ? line[6] : "");
	return 0;
}

/* A git that is told this directory would use the one that it names: another one than what was looked at. */
static int refuse_chain(const char *common, struct err *e)
{
	auto_str file = path_join(common, "commondir"), word = shell_quoted(file);
	struct stat st;

	if (lstat(file, &st) < 0)
		return 0;
	err_set(e, ERR_REFUSED, "'%s' has the common files of a repository, and its 'commondir' names others",
		common);
	return err_hint(e, "cat %s", word);
}

/* Before git or we ourselves open any of its files. Finds the object stores, too. */
static int refuse_waiting(const struct discovered *d, struct repo *r, bool first_time, struct err *e)
{
	if (refuse_chain(d->common, e) < 0 || blocking_files_refuse(d->common, e) < 0 ||
		(first_time && blocking_files_refuse_many(d->common, e) < 0) ||
		fill_objects(r, d->common, first_time, e) < 0)
		return -1;
	return strcmp(d->git_dir, d->common) ? blocking_files_refuse(d->git_dir, e) : 0;
}

static int open_at(const char *dir, const char *rev, bool first_time, struct repo *ret, struct err *e)
{
	auto_str real = canonicalize_file_name(dir);
	auto_discovered d = { 0 };
	auto_repo r = { 0 };

	if (rev[0] == '-' || !rev[0])
		return err_set(e, ERR_NOTFOUND, "there is no revision '%s'", rev);
	if (real && strchr(real, '\n'))
		return err_set(e, ERR_REFUSED,
			"a repository in a directory with a line break in its name is not supported");
	if (discover(dir, &d, e) < 0 || refuse_waiting(&d, &r, first_time, e) < 0 ||
		look_at_settings(&d, &r, e) < 0 || ask_git(&d, dir, rev, &r, e) < 0 ||
		check_settings(&r, e) < 0 || check_place(&r, &d, e) < 0)
		return -1;
	fill_main_top(&r);
	*ret = r;
	r = (struct repo){ 0 };
	return 0;
}

int repo_open(const char *dir, const char *rev, struct repo *ret, struct err *e)
{
	return open_at(dir, rev, false, ret, e);
}

int repo_open_first(const char *dir, const char *rev, struct repo *ret, struct err *e)
{
	return open_at(dir, rev, true, ret, e);
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
	if (refuse_chain(git_dir, e) < 0 || blocking_files_refuse(git_dir, e) < 0 ||
		fill_objects(&r, git_dir, false, e) < 0)
		return -1;
	fill_main_top(&r);
	*ret = r;
	r = (struct repo){ 0 };
	return 0;
}
