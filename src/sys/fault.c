#include "sys/fault.h"

#ifdef GARTH_FAULT_INJECTION
#include <signal.h>

void fault(const char *step)
{
	const char *wanted = getenv("GARTH_FAULT");

	if (!wanted)
		return;
	if (!strcmp(wanted, step))
		raise(SIGKILL);
	if (!strncmp(wanted, "stop:", 5) && !strcmp(wanted + 5, step))
		raise(SIGSTOP);
}

unsigned fault_short(const char *what, unsigned seconds)
{
	const char *wanted = getenv("GARTH_FAULT");

	return wanted && !strncmp(wanted, "short:", 6) && !strcmp(wanted + 6, what) ? 1 : seconds;
}
#else
typedef int fault_is_not_built; /* ISO C forbids an empty file */
#endif
