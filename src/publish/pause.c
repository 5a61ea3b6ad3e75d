#include "publish/pause.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "limits/change_state.h"
#include "sys/sock.h"
#include "task/life.h"

/* The id 0 is nobody's: the signal goes to everything inside, and the keeper tells those who watch why. */
static int signal_all(struct gate *g, int sig, const char *why, struct err *e)
{
	struct order_msg m = { .type = ORDER_SIGNAL, .value = sig };

	snprintf(m.err.msg, sizeof(m.err.msg), "%s", why);
	if (sock_send(g->inside.orders, &m, sizeof(m), NULL, 0) < 0)
		return err_sys(e, "cannot reach what runs in task '%s'", g->task.name);
	return 0;
}

int pause_task(struct gate *g, const char *why, struct err *e)
{
	if (strcmp(g->task.state, STATE_RUNNING))
		return err_set(
			e, ERR_REFUSED, "task '%s' does not run, it is %s", g->task.name, g->task.state);
	/* one that waits to be used would wait for ever */
	runner_drop_piped(&g->inside, &g->packer);
	return limits_change_state(&g->context, &g->task, g->audit, "pause", STATE_PAUSED, why, e) < 0
		       ? -1
		       : signal_all(g, SIGSTOP, why, e);
}

int resume_task(struct gate *g, struct err *e)
{
	if (strcmp(g->task.state, STATE_PAUSED))
		return err_set(
			e, ERR_REFUSED, "task '%s' is not paused, it is %s", g->task.name, g->task.state);
	return limits_change_state(&g->context, &g->task, g->audit, "resume", STATE_RUNNING, "", e) < 0
		       ? -1
		       : signal_all(g, SIGCONT, "", e);
}
