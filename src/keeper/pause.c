#include <signal.h>

#include "base/alloc.h"
#include "keeper/parts.h"

static void order(struct keeper *k, int sig)
{
	orders_send(k, &(struct order_msg){ .type = ORDER_SIGNAL, .value = sig }, NULL, 0);
}

void pause_all(struct keeper *k, const char *why)
{
	free(k->still);
	k->still = xstrndup(why, sizeof(((struct err *)0)->msg));
	order(k, SIGSTOP);
	meter_pause(k);
	life_tell(k, NULL);
}

bool pause_lift(struct keeper *k)
{
	bool stood = k->still;

	free(steal_ptr(k->still));
	order(k, SIGCONT);
	return stood;
}

void pause_over(struct keeper *k)
{
	if (pause_lift(k))
		life_note_main(k, "it goes on");
}
