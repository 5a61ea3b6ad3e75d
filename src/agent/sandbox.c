#include <fcntl.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"

#define CONFIG_MAX (1u << 20)

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

bool agent_brings_sandbox(const struct config_agent *a, char *const *argv, int user_home)
{
	auto_buf config = BUF_INIT(CONFIG_MAX);
	struct err ignored = ERR_INIT;

	if (!a || strcmp(a->name, "codex") || !is_program_of(a, *argv))
		return false;
	for (; *argv; argv++)
		if (is_off(*argv))
			return false;
	return read_file(user_home, ".codex/config.toml", &config, &ignored) < 0 || !is_off(buf_str(&config));
}
