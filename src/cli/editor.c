#include "cli/editor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/user_settings.h"
#include "sys/proc.h"

static char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? xstrdup(value) : NULL;
}

static char *installed(void)
{
	static const char *const usual[] = { "/usr/bin/editor", "/usr/bin/vi", "/bin/vi" };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (!access(usual[i], X_OK))
			return xstrdup(usual[i]);
	return NULL;
}

char *editor_find(void)
{
	const char *term = getenv("TERM");
	bool dumb = !term || !strcmp(term, "dumb");
	char *editor = from_environment("GIT_EDITOR");

	if (!editor)
		editor = settings_editor();
	if (!editor && !dumb)
		editor = from_environment("VISUAL");
	if (!editor)
		editor = from_environment("EDITOR");
	if (!editor && !dumb && isatty(0) && isatty(1))
		editor = installed();
	return editor;
}

/* Whether the words are one command, so that the shell can become it. A shell that waits for the editor would die of
 * the editor's Ctrl-C. */
static bool is_one_command(const char *editor)
{
	size_t first = strcspn(editor, " \t");

	return !strpbrk(editor, ";|&<>(){}`$\n") && !memchr(editor, '=', first) && editor[0] != '!';
}

/* The editor's words are the user's own and are for a shell, as with git: "code --wait", "emacs -nw". The path is
 * not part of them. */
static pid_t start(const char *editor, const char *path)
{
	auto_str words = xasprintf("%s%s \"$@\"", is_one_command(editor) ? "exec " : "", editor);
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", words, editor, path, (char *)NULL);
	_exit(127);
}

int editor_run(const char *editor, const char *path, struct err *e)
{
	void (*on_int)(int) = signal(SIGINT, SIG_IGN), (*on_quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status = 0, code, was;
	pid_t pid = start(editor, path);

	was = errno;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, on_int);
	signal(SIGQUIT, on_quit);
	errno = was;
	if (pid < 0)
		return err_sys(e, "cannot start the editor '%s'", editor);
	code = proc_exit_code(status);
	return code ? err_set(e, ERR_FAILED, "the editor '%s' has failed with exit code %d", editor, code)
		    : 0;
}
