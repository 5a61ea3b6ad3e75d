#include "sys/fault.h"

#ifdef GARTH_FAULT_INJECTION
#include <errno.h>
#include <signal.h>

static bool named(const char *step, const char *suffix)
{
	const char *wanted = getenv("GARTH_FAULT");
	size_t n = strlen(step);

	return wanted && !strncmp(wanted, step, n) && !strcmp(wanted + n, suffix);
}

void fault(const char *step)
{
	if (named(step, ""))
		raise(SIGKILL);
}

bool fault_full(const char *step)
{
	if (!named(step, ":full"))
		return false;
	errno = ENOSPC;
	return true;
}
#else
typedef int fault_is_not_built; /* a file must not be empty */
#endif
