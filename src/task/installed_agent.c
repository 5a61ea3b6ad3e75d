#include "task/installed_agent.h"

#include "task/program.h"

const struct config_agent *installed_agent(const struct context *c, size_t *ret_n, struct buf *names)
{
	const struct config_agent *first = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < c->config.nagents; i++) {
		const struct config_agent *a = &c->config.agents[i];

		if (!a->programs.n || !program_is_shown(c, a->programs.v[0]))
			continue;
		if (names)
			buf_printf(names, "%s%s", names->len ? ", " : "", a->name);
		if (!first)
			first = a;
		++*ret_n;
	}
	return first;
}
