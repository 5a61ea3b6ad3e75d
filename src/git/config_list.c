#include "git/config_list.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "base/strvec.h"
#include "git/discover.h"
#include "git/named_path.h"
#include "git/run.h"
#include "sys/fd.h"

#define LIST_MAX (4u << 20)
/* Included by the repository's own files, directly or not; git itself goes 10 deep. */
#define FILES_MAX 64

bool config_is_own(const char *scope)
{
	return !strcmp(scope, "local") || !strcmp(scope, "worktree");
}

bool config_next(const struct buf *list, size_t *at, const char **scope, const char **key, size_t *ret_len,
	const char **value)
{
	if (*at >= list->len)
		return false;
	*scope = list->data + *at;
	*at += strlen(*scope) + 1;
	if (*at >= list->len)
		return false;
	*key = list->data + *at;
	*at += strlen(*key) + 1;
	*ret_len = strcspn(*key, "\n");
	*value = *key + *ret_len;
	*value += **value == '\n';
	return true;
}

static bool is_include(const char *key, size_t n)
{
	static const char conditional[] = "includeif.", last[] = ".path";
	size_t first = strlen(conditional), end = strlen(last);

	if (n == strlen("include.path") && !strncmp(key, "include.path", n))
		return true;
	return n > first + end && !strncmp(key, conditional, first) && !strncmp(key + n - end, last, end);
}

/* What git makes of the value, as an absolute path; NULL if it makes nothing of it. `from` is the file that has it. */
static char *path_of(const char *value, const char *from)
{
	const char *slash = strchr(value, '/'), *dir = getenv("HOME");
	size_t n = slash ? (size_t)(slash - value) : strlen(value);
	struct passwd *pw;

	if (*value == '~' && n > 1) {
		auto_str name = xstrndup(value + 1, n - 1);

		pw = getpwnam(name);
		dir = pw ? pw->pw_dir : NULL;
	}
	if (*value == '~')
		return dir ? xasprintf("%s/%s", dir, value + n) : NULL;
	if (*value == '/')
		return xstrdup(value);
	return *value ? xasprintf("%.*s%s", (int)(path_base(from) - from), from, value) : NULL;
}

static int refuse_waiting(const char *path, struct err *e)
{
	auto_str word = shell_quoted(path);

	err_set(e, ERR_REFUSED, "the included '%s' is a FIFO or a device, and git would wait for it", path);
	return err_hint(e, "ls -l %s", word);
}

static int check_file(const char *path, struct err *e)
{
	struct stat st;

	/* git puts the place there that it is installed at */
	if (strstr(path, "%(prefix)"))
		return err_set(e, ERR_REFUSED,
			"the repository's own configuration includes '%s', which depends on git's place",
			path);
	if (named_path_check(path, "the repository's own configuration includes", e) < 0)
		return -1;
	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) ? refuse_waiting(path, e) : 0;
}

/* Whether git would find an include in it. The name of a section has no escapes. */
static int may_include(const char *path, bool *ret, struct err *e)
{
	static const char word[] = "include";
	auto_buf text = BUF_INIT(LIST_MAX);
	size_t n = strlen(word);

	*ret = false;
	if (read_file(AT_FDCWD, path, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	for (size_t i = 0; !*ret && i + n <= text.len; i++)
		*ret = !strncasecmp(text.data + i, word, n);
	return 0;
}

/* Judges what the file includes, whether or not a condition holds at this moment, and adds it to the files. git is not
 * told of the repository: it would read all of its configuration first. */
static int check_includes(const char *file, struct strvec *files, struct err *e)
{
	auto_buf list = BUF_INIT(LIST_MAX);
	struct git g = { .shows_config = true };

	if (git_do(&g, &list, e, "config", "--file", file, "--list", "-z", "--no-includes", NULL) < 0)
		return err_wrap(e, "cannot read '%s'", file);
	for (size_t at = 0; at < list.len; at += strlen(list.data + at) + 1) {
		const char *key = list.data + at;
		size_t n = strcspn(key, "\n");
		auto_str path = is_include(key, n) && key[n] ? path_of(key + n + 1, file) : NULL;

		if (!path || strvec_has(files, path))
			continue;
		if (check_file(path, e) < 0)
			return -1;
		if (files->n >= FILES_MAX)
			return err_set(e, ERR_REFUSED,
				"the repository's own configuration includes more than %d files", FILES_MAX);
		strvec_push(files, path);
	}
	return 0;
}

/* The repository's own files and what they include. */
static int check_all(const char *git_dir, struct err *e)
{
	auto_str common = discover_common(git_dir);
	auto_strvec files = STRVEC_INIT;
	bool may;

	strvec_pushf(&files, "%s/config", common ? common : git_dir);
	strvec_pushf(&files, "%s/config.worktree", git_dir);
	for (size_t i = 0; i < files.n; i++)
		if (may_include(files.v[i], &may, e) < 0 ||
			(may && check_includes(files.v[i], &files, e) < 0))
			return -1;
	return 0;
}

int config_list(const char *git_dir, struct buf *ret, struct err *e)
{
	struct git g = { .dir = git_dir, .shows_config = true };

	if (check_all(git_dir, e) < 0)
		return -1;
	if (git_do(&g, ret, e, "config", "--list", "--show-scope", "-z", "--includes", NULL) < 0)
		return err_wrap(e, "cannot read the configuration of '%s'", git_dir);
	return 0;
}
