/* Decides whether a person sits at a run's terminal: see run.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "task/run.h"

static const char *const shells[] = { "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "tcsh",
	"csh", "nu", "elvish", "xonsh" };

/* Agents, with the options that make each of them work unattended. */
static const struct {
	const char *program, *unattended[6];
	const char *attended[3]; /* and those that undo it */
} agents[] = {
	{ "claude", { "-p", "--print" } },
	{ "codex", { "exec", "e", "review", "app-server", "mcp-server" } },
	{ "gemini", { "-p", "--prompt" } },
	{ "opencode", { "run", "serve" } },
	{ "goose", { "run" }, { "-s", "--interactive" } },
};

/* Whether the shell has only options and none that names a command (-c). An option with a separate value,
 * such as --rcfile FILE, is taken for a script. */
static bool is_bare_shell(char *const *argv)
{
	for (argv++; *argv; argv++)
		if ((*argv)[0] != '-' || ((*argv)[1] != '-' && strchr(*argv, 'c')) ||
			!strncmp(*argv, "--command", 9))
			return false;
	return true;
}

static bool has_one(char *const *argv, const char *const *words, size_t n)
{
	for (argv++; *argv; argv++)
		for (size_t i = 0; i < n && words[i]; i++) {
			size_t len = strlen(words[i]);

			if (!strncmp(*argv, words[i], len) && (!(*argv)[len] || (*argv)[len] == '='))
				return true;
		}
	return false;
}

enum session_kind session_kind(char *const *argv, bool terminal)
{
	const char *name = argv[0] ? path_base(argv[0]) : "";

	if (!terminal)
		return SESSION_BATCH;
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (!strcmp(name, shells[i]))
			return is_bare_shell(argv) ? SESSION_SHELL : SESSION_BATCH;
	for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
		if (!strcmp(name, agents[i].program))
			return has_one(argv, agents[i].unattended, ARRAY_SIZE(agents[i].unattended)) &&
					       !has_one(argv, agents[i].attended,
						       ARRAY_SIZE(agents[i].attended))
				       ? SESSION_BATCH
				       : SESSION_AGENT;
	return SESSION_BATCH;
}
