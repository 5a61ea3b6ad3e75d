#include <string.h>

#include "agent/agent.h"
#include "base/path.h"

static bool is_off(const char *text)
{
	return strstr(text, "danger-full-access") || strstr(text, "--dangerously-bypass") ||
	       !strcmp(text, "--yolo");
}

/* Another program that uses the agent's log-in has other options. */
static bool is_program_of(const struct config_agent *a, const char *program)
{
	return program && strvec_has(&a->programs, path_base(program));
}

/* An option that switches the sandbox on. */
static bool is_on(const char *word)
{
	return !strcmp(word, "--full-auto") || !strcmp(word, "-s") || !strncmp(word, "--sandbox", 9);
}

/* The task's own /etc/codex/managed_config.toml goes over the user's configuration, but not over options. */
bool agent_brings_sandbox(const struct config_agent *a, char *const *argv)
{
	bool asked = false;

	if (!a || strcmp(a->name, "codex") || !is_program_of(a, *argv))
		return false;
	for (; *argv; argv++) {
		if (is_off(*argv))
			return false;
		asked |= is_on(*argv);
	}
	return asked;
}
