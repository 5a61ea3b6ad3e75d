#include "gateway/main.h"

#include "gateway/gateway.h"
#include "gateway/server.h"
#include "history/renew.h"
#include "history/sync.h"
#include "publish/end.h"
#include "task/verdict.h"

void gateway_main(const struct gateway_spec *s)
{
	struct err e = ERR_INIT;
	struct gateway g = { .pub = PUBLISHER_INIT(&g.in) };

	if (s->job == GATEWAY_CLOSE)
		task_end_begin(s->run);
	if (inside_open(&g.in, s->task, s->keeper, &e) < 0)
		return;
	switch (s->job) {
	case GATEWAY_SERVE:
		serve(&g, s->agent, s->user, s->linger, &e);
		break;
	case GATEWAY_CLOSE:
		publish_end(&g.pub, &e);
		break;
	case GATEWAY_RENEW:
		renew_shown(&g.in, &e);
		break;
	case GATEWAY_SYNC:
		sync_quiet(&g.pub, &e);
		break;
	case GATEWAY_LEAVE:
	case GATEWAY_FINISH:
		break;
	}
	publisher_close(&g.pub);
	inside_close(&g.in);
}
