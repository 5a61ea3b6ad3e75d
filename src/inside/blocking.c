#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/shell_word.h"
#include "git/blocking_files.h"
#include "inside/inside.h"
#include "sys/fd.h"
#include "workspace/submodules.h"

/* Names are the agent's: only plain ones are put into a command to copy. */
static bool is_plain(const char *path)
{
	return !path[strspn(path, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./-")];
}

static int look(const struct inside *in, const char *git_dir, const char *within, struct err *e)
{
	auto_fd dir = open_beneath(in->at.ws.dir, git_dir, O_RDONLY | O_DIRECTORY, 0);
	auto_str path = NULL;

	if (dir < 0 || !blocking_files_refuse_private(dir, &path, e))
		return 0;
	/* in a worktree .git is a file */
	if (!is_plain(path) || !is_plain(within) || (backend_of(&in->task)->git_worktree && !*within))
		return err_hint(e, "garth shell %s", in->task.name);
	return err_hint(
		e, "garth exec %s -- rm %s%s.git/%s", in->task.name, within, *within ? "/" : "", path);
}

int inside_refuse_blocking(const struct inside *in, struct err *e)
{
	auto_submodules s = { 0 };

	if (look(in, in->git_dir, in->within, e) < 0)
		return -1;
	if (*in->within || submodules_load(in->at.ws.dir, &s, e) < 0)
		return *in->within ? 0 : -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_str git_dir = xasprintf("sub/%zu/git", i);

		if (submodule_is_here(&s.v[i]) && look(in, git_dir, s.v[i].path, e) < 0)
			return -1;
	}
	return 0;
}
