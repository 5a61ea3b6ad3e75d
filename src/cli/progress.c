#include "cli/progress.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/say.h"

/* The signal handler can run at any moment, so it only calls write(2). */
static char line[256];
static volatile sig_atomic_t shown;

static void show(int signal)
{
	(void)signal;
	shown = 1;
	(void)!write(2, line, strlen(line));
}

void progress_begin(const char *what)
{
	struct sigaction act = { .sa_handler = show, .sa_flags = SA_RESTART };

	if (!say_is_heard() || say_is_json() || say_is_quiet())
		return;
	shown = 0;
	snprintf(line, sizeof(line), "%s%s …", say_utf8() ? "◎ " : "", what);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 300000 }, NULL);
}

void progress_clear(void)
{
	if (shown)
		(void)!write(2, "\r\033[K", 4);
	shown = 0;
}

void progress_end(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	progress_clear();
}
