#include "sys/hold_signals.h"

#include <signal.h>

static unsigned holds;
static sigset_t before;

void signals_hold(void)
{
	sigset_t ends;

	if (holds++)
		return;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
}

void signals_let_go(void)
{
	if (!--holds)
		sigprocmask(SIG_SETMASK, &before, NULL);
}
