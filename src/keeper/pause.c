#include <signal.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "keeper/state.h"
#include "sys/descendants.h"

#define FREEZE_MS    2000
#define HOLD_SECONDS 1

static void order(struct keeper *k, enum order_type type, int sig)
{
	orders_send(k, &(struct order_msg){ .type = type, .value = sig }, NULL, 0);
}

static bool open_freezer(struct keeper *k)
{
	if (k->first <= 0 || k->starter <= 0)
		return false;
	if (!k->freezer && k->spec.group_name)
		k->freezer = cgroup_freezer(&cgroup_kernel, k->spec.group_name, &k->group);
	return k->freezer && !cgroup_freeze(k->freezer, true);
}

/* Moves every process inside into a frozen group, except the one that starts commands, so that new commands
 * run. Processes that fork meanwhile are moved in the next round. */
static bool freeze(struct keeper *k)
{
	struct deadline d = deadline_in(FREEZE_MS);
	int moved = 1;

	if (!open_freezer(k))
		return false;
	while (moved > 0 && deadline_left(&d)) {
		pid_t *pids = NULL;
		size_t n = descendants_list(k->first, &k->starter, 1, &pids);

		moved = cgroup_gather(k->freezer, pids, n);
		free(pids);
	}
	return !moved;
}

static void on_hold(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	order(arg, ORDER_HOLD, 0);
}

/* Without a freezer, a stopped process can get a SIGCONT that it arranged before: by a timer, a lock, a
 * descriptor. So it is stopped again and again, and its disk usage is measured all the time. */
static void stop(struct keeper *k)
{
	struct timeval often = { .tv_sec = HOLD_SECONDS };

	k->stopped = true;
	order(k, ORDER_SIGNAL, SIGSTOP);
	if (!k->hold)
		k->hold = event_new(k->base, -1, EV_PERSIST, on_hold, k);
	if (k->hold)
		event_add(k->hold, &often);
}

void pause_all(struct keeper *k, const char *why)
{
	bool stood = k->paused;

	free(k->paused);
	k->paused = xstrndup(why, sizeof(((struct err *)0)->msg));
	if (!stood && !freeze(k))
		stop(k);
	if (!stood) {
		order(k, ORDER_COPIES, 0);
		meter_pause(k);
	}
	phase_tell(k, NULL);
}

bool pause_lift(struct keeper *k)
{
	bool stood = k->paused;

	free(steal_ptr(k->paused));
	meter_resume(k);
	if (k->hold)
		event_del(k->hold);
	if (k->freezer)
		cgroup_freeze(k->freezer, false);
	if (k->stopped)
		order(k, ORDER_SIGNAL, SIGCONT);
	k->stopped = false;
	if (stood)
		order(k, ORDER_COPIES, 1);
	return stood;
}

void pause_over(struct keeper *k)
{
	if (pause_lift(k))
		phase_note_main(k, "the task is resumed");
}
