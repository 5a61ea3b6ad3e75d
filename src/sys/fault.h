/*
 * Fault injection for tests: in a build with -Dfault=true, GARTH_FAULT=STEP makes the process kill itself
 * (SIGKILL: no clean-up runs) when it reaches fault("STEP"), and GARTH_FAULT=stop:STEP makes it stop there
 * (SIGSTOP), to be continued when the test has done something in between. GARTH_FAULT=short:WHAT makes the
 * limit of time fault_short("WHAT", …) a single second. In every other build it is nothing.
 */
#ifndef SYS_FAULT_H
#define SYS_FAULT_H

#ifdef GARTH_FAULT_INJECTION
void fault(const char *step);
unsigned fault_short(const char *what, unsigned seconds);
#else
static inline unsigned fault_short(const char *what, unsigned seconds)
{
	(void)what;
	return seconds;
}

static inline void fault(const char *step)
{
	(void)step;
}
#endif

#endif
