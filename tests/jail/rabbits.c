/*
 * rabbits NAME COUNT SECONDS [STOP]: starts processes that do not let themselves be caught, and ends at once. Each
 * is forked twice, has a session of its own, ignores what it can, and is another process every few milliseconds.
 * They end after the time, or when the file STOP exists.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void run(const char *stop, time_t end)
{
	for (int sig = 1; sig < 64; sig++)
		signal(sig, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	while (time(NULL) < end && access(stop, F_OK) < 0) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		setsid();
		usleep(5000);
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
			run(argc > 4 ? argv[4] : "/nonexistent", time(NULL) + atoi(argv[3]));
		}
	return 0;
}
