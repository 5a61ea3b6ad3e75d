/*
 * Fault injection for tests, in a build with -Dfault=true. In every other build these functions do nothing.
 *
 *	GARTH_FAULT=STEP         the process kills itself at fault("STEP") with SIGKILL, so no clean-up runs
 *	GARTH_FAULT=stop:STEP    it stops there with SIGSTOP, until the test continues it
 *	GARTH_FAULT=short:WHAT   the time limit fault_short("WHAT", …) is one second
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
