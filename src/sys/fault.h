/*
 * Fault injection for tests: in a build with -Dfault=true, GARTH_FAULT=STEP makes the process kill itself
 * (SIGKILL: no clean-up runs) when it reaches fault("STEP"), and GARTH_FAULT=STEP:full makes fault_full("STEP")
 * answer as a full disk does. In every other build both are nothing.
 */
#ifndef SYS_FAULT_H
#define SYS_FAULT_H

#include <stdbool.h>

#ifdef GARTH_FAULT_INJECTION
void fault(const char *step);
bool fault_full(const char *step); /* sets errno to ENOSPC */
#else
static inline void fault(const char *step)
{
	(void)step;
}
static inline bool fault_full(const char *step)
{
	(void)step;
	return false;
}
#endif

#endif
