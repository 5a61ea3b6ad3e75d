#include "cli/run_agent.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/say.h"
#include "task/installed_agent.h"

#define PLACEHOLDER "{prompt}"

bool run_agent_is_prompt(char *const *words)
{
	return words[0] && !words[1] && strpbrk(words[0], " \t\n") && access(words[0], X_OK) < 0;
}

static int choose(
	struct context *c, const struct run_agent *a, const struct config_agent **ret, struct err *e)
{
	const char *name = a->name ? a->name : c->config.default_agent;
	auto_buf names = BUF_SMALL;
	size_t n;

	if (a->name)
		return config_agent_find(&c->config, name, ret, e);
	if (name)
		return config_agent_find(&c->config, name, ret, e) < 0
			       ? err_wrap(e, "%s", config_origin(&c->config, "agents.default", NULL))
			       : 0;
	*ret = installed_agent(c, &n, &names);
	if (n == 1) {
		if (!a->quiet)
			say_state("agent %s, the only one that is installed here", (*ret)->name);
		return 0;
	}
	if (!n)
		return err_set(e, ERR_PROGRAM,
			       "no command is given, and no agent that garth knows is installed"),
		       err_hint(e, "garth run -- CMD");
	err_set(e, ERR_USAGE,
		"which agent is meant? Installed are %s; for one of them always, put 'agents: {default: %s}' into %s",
		buf_str(&names), (*ret)->name, c->config.path ? c->config.path : "the configuration");
	return err_hint(e, "garth run --agent %s%s", (*ret)->name, a->prompt ? " \"...\"" : "");
}

/* Replaces {prompt} in a word. */
static void fill_in(const char *word, const char *prompt, struct strvec *ret)
{
	const char *at = strstr(word, PLACEHOLDER);

	if (at)
		strvec_pushf(ret, "%.*s%s%s", (int)(at - word), word, prompt, at + strlen(PLACEHOLDER));
	else
		strvec_push(ret, word);
}

/* Without a prompt: the same options without it. A subcommand that takes a prompt is left out too. */
static void without_prompt(const struct config_agent *a, struct strvec *ret)
{
	strvec_push(ret, a->programs.v[0]);
	if (a->prompt.n < 2 || a->prompt.v[1][0] != '-')
		return;
	for (size_t i = 1; i < a->prompt.n; i++)
		if (strcmp(a->prompt.v[i], "--") && !strstr(a->prompt.v[i], PLACEHOLDER))
			strvec_push(ret, a->prompt.v[i]);
}

int run_agent_words(struct context *c, const struct run_agent *a, struct strvec *ret, struct err *e)
{
	const struct config_agent *agent;
	const struct strvec *words;

	if (choose(c, a, &agent, e) < 0)
		return -1;
	if (!agent->programs.n)
		return err_set(e, ERR_USAGE, "agents.%s.programs in the configuration names no program",
			agent->name);
	if (!a->prompt && a->headless)
		return err_set(e, ERR_USAGE, "there is no terminal to talk to %s: give it a prompt",
			       agent->name),
		       err_hint(e, "garth run --agent %s \"fix the login\"", agent->name);
	if (!a->prompt) {
		without_prompt(agent, ret);
		return 0;
	}
	words = a->headless && agent->headless.n ? &agent->headless : &agent->prompt;
	if (!words->n)
		return err_set(e, ERR_USAGE,
			"agents.%s.prompt in the configuration is missing: how the agent takes a prompt",
			agent->name);
	for (size_t i = 0; i < words->n; i++)
		fill_in(words->v[i], a->prompt, ret);
	return 0;
}
