#include "gateway/main.h"

#include "gateway/server.h"
#include "history/renew.h"
#include "history/sync.h"
#include "publish/end.h"
#include "publish/gate.h"
#include "task/end.h"

void gateway_main(const struct gateway_spec *s)
{
	struct err e = ERR_INIT;
	struct gate g = { 0 };

	if (s->job == GATEWAY_CLOSE)
		task_end_begin(s->run);
	if (gate_open(&g, s->task, s->keeper, &e) < 0)
		return;
	switch (s->job) {
	case GATEWAY_SERVE:
		serve(&g, s->agent, s->user, s->linger, &e);
		break;
	case GATEWAY_CLOSE:
		gate_end(&g, &e);
		break;
	case GATEWAY_RENEW:
		gate_renew(&g, &e);
		break;
	case GATEWAY_SYNC:
		sync_quiet(&g, &e);
		break;
	case GATEWAY_LEAVE:
	case GATEWAY_FINISH:
		break;
	}
	gate_close(&g);
}
