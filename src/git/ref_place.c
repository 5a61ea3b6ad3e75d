#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/ref.h"
#include "sys/fd.h"

static int refuse(const char *git_dir, const char *path, mode_t mode, struct err *e)
{
	auto_str whole = path_join(git_dir, path), word = shell_quoted(whole);

	/* git would wait for it to be opened */
	if (!S_ISLNK(mode))
		return err_set(e, ERR_REFUSED, "'%s' is not a file", whole), err_hint(e, "rm %s", word);
	err_set(e, ERR_REFUSED, "'%s' is a link, which may lead to a file that is not the repository's",
		whole);
	if (!strncmp(path, "logs", 4))
		return err_hint(e, "rm %s", word);
	return err_hint(e, "cp -rL %s %s.own && rm %s && mv %s.own %s", word, word, word, word, word);
}

static bool is_plain(mode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode);
}

/* Refuses the first link on the way to the file. What does not exist yet, git makes. */
static int check_path(int dir, const char *git_dir, const char *path, struct err *e)
{
	auto_str part = xstrdup(path);
	struct stat st;

	if (!lstat_beneath(dir, path, &st) && is_plain(st.st_mode))
		return 0;
	for (char *end = part; end; end = *end ? end : NULL) {
		char was;

		end += strcspn(end, "/");
		was = *end;
		*end = '\0';
		if (!lstat_beneath(dir, part, &st) && !is_plain(st.st_mode))
			return refuse(git_dir, part, st.st_mode, e);
		*end = was;
		end += was == '/';
	}
	return 0;
}

int ref_check_place(const char *git_dir, const char *name, struct err *e)
{
	auto_fd dir = open(git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_str log = path_join("logs", name);

	if (dir < 0)
		return err_sys(e, "cannot open '%s'", git_dir);
	/* an old git made HEAD a link to its branch; it is not written here */
	return (strcmp(name, "HEAD") && check_path(dir, git_dir, name, e) < 0) ||
			       check_path(dir, git_dir, log, e) < 0 ||
			       check_path(dir, git_dir, "packed-refs", e) < 0 ||
			       check_path(dir, git_dir, "reftable/tables.list", e) < 0
		       ? -1
		       : 0;
}

/* Lines are "VERB NAME …", or "option …". */
int ref_check_places(const struct repo *r, const struct ref_txn *t, struct err *e)
{
	for (const char *l = t->text.len ? t->text.data : ""; *l; l = strchr(l, '\n') + 1) {
		const char *from = strchr(l, ' ') + 1;
		auto_str name = xstrndup(from, strcspn(from, " \n"));

		if (strncmp(l, "option ", 7) && ref_check_place(r->git_dir, name, e) < 0)
			return -1;
	}
	return 0;
}
