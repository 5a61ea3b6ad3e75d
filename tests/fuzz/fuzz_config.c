/* Any text as the user's file: what is taken from it keeps the promises of config.h. */
#include <stdint.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "base/path.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct config *c)
{
	for (size_t i = 0; i < c->allow_read.n; i++)
		if (!path_is_clean(c->allow_read.v[i]) || path_within("/home/u/.ssh", c->allow_read.v[i]) ||
			path_within(c->allow_read.v[i], "/home/u/.ssh"))
			abort();
	for (size_t i = 0; i < c->tools.n; i++) {
		auto_str absolute = path_join("/", c->tools.v[i]);

		if (!path_is_clean(absolute) || path_within("/.ssh", absolute) ||
			path_within(absolute, "/.ssh"))
			abort();
	}
	if (c->backend && strcmp(c->backend, "overlay") && strcmp(c->backend, "worktree") &&
		strcmp(c->backend, "clone"))
		abort();
	if (strcmp(c->net, "none") && strcmp(c->net, "allow") && strcmp(c->net, "host"))
		abort();
	for (size_t i = 0; i < c->net_allow.n; i++)
		if (hosts_check(c->net_allow.v[i], &(struct err)ERR_INIT) < 0)
			abort();
	for (size_t i = 0; i < c->nagents; i++)
		if (config_agent_by_name(c, c->agents[i].name) != &c->agents[i])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	config_defaults(&c);
	c.home = xstrdup("/home/u");
	if (!config_apply(&c, (const char *)data, size, "f", &e))
		check(&c);
	else if (e.kind != ERR_CONFIG || strncmp(e.msg, "f:", 2) || strchr(e.msg, '\n'))
		abort();
	return 0;
}
