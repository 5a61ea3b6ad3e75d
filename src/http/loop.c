#include "http/loop.h"

struct event_base *loop_new(struct event_config *how)
{
	struct event_config *c = how ? how : event_config_new();
	struct event_base *base = NULL;

	if (c && !event_config_avoid_method(c, "epoll"))
		base = event_base_new_with_config(c);
	if (c)
		event_config_free(c);
	return base;
}
