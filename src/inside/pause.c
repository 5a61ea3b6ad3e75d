#include "inside/pause.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "limits/change_state.h"
#include "sys/sock.h"
#include "task/life.h"

/* The id 0 means everything inside. The keeper tells the clients why. */
static int signal_all(struct inside *in, int sig, const char *why, struct err *e)
{
	struct order_msg m = { .type = ORDER_SIGNAL, .value = sig };

	snprintf(m.err.msg, sizeof(m.err.msg), "%s", why);
	if (sock_send(in->runner->orders, &m, sizeof(m), NULL, 0) < 0)
		return err_sys(e, "cannot reach what runs in task '%s'", in->task.name);
	return 0;
}

int pause_task(struct inside *in, const char *why, struct err *e)
{
	if (strcmp(in->task.state, STATE_RUNNING))
		return err_set(
			e, ERR_REFUSED, "task '%s' does not run, it is %s", in->task.name, in->task.state);
	/* a paused packer would never end */
	runner_drop_piped(in->runner, &in->packer);
	return limits_change_state(&in->context, &in->task, in->audit, "pause", STATE_PAUSED, why, e) < 0
		       ? -1
		       : signal_all(in, SIGSTOP, why, e);
}

int pause_for_user(struct inside *in, struct err *e)
{
	return pause_task(in, "paused by the user", e) < 0
		       ? -1
		       : store_task_note(in->context.store, in->task.id, "", e);
}

int resume_task(struct inside *in, struct err *e)
{
	if (strcmp(in->task.state, STATE_PAUSED))
		return err_set(
			e, ERR_REFUSED, "task '%s' is not paused, it is %s", in->task.name, in->task.state);
	return limits_change_state(&in->context, &in->task, in->audit, "resume", STATE_RUNNING, "", e) < 0
		       ? -1
		       : signal_all(in, SIGCONT, "", e);
}
