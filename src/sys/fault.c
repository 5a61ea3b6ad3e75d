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
#else
typedef int fault_is_not_built; /* a file must not be empty */
#endif
