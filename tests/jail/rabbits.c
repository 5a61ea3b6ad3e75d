/*
 * rabbits NAME COUNT SECONDS [STOP]: starts processes that do not let themselves be caught, and ends at once.
 * Each is forked twice, has a session of its own, and ignores what it can; every second one is another
 * process twenty times a second, the others sit and wait. They end after the time, or when the file STOP
 * exists.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void run(bool runs, const char *stop, time_t end)
{
	for (int sig = 1; sig < 64; sig++)
		signal(sig, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	while (time(NULL) < end && access(stop, F_OK) < 0) {
		pid_t pid = runs ? fork() : 0;

		if (pid > 0)
			_exit(0);
		setsid();
		usleep(50000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	prctl(PR_SET_NAME, argv[1]);
	for (int i = atoi(argv[2]); i > 0; i--)
		if (!fork()) {
			if (fork())
				_exit(0);
			run(i % 2, argc > 4 ? argv[4] : "/nonexistent", time(NULL) + atoi(argv[3]));
		}
	return 0;
}
