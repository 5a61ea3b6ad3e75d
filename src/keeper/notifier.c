#include "keeper/notifier.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "keeper/state.h"
#include "sys/fd.h"

/* Bytes on their way, as the kernel counts them: a few messages. The socket holds ten times as much. */
#define WAITING_MAX 16384

struct message {
	enum notify_event event;
	char why[400];
};

static void serve(const struct notify_job *j, int fd)
{
	bool ended = false;
	struct message m;

	while (recv(fd, &m, sizeof(m), 0) == (ssize_t)sizeof(m)) {
		m.why[sizeof(m.why) - 1] = '\0';
		ended |= m.event == NOTIFY_ENDED || m.event == NOTIFY_NOTHING;
		notify_send(j, m.event, m.why);
	}
	if (!ended)
		notify_send(j, NOTIFY_LOST, "");
}

/* Nothing of the caller's stays open but the socket and the task's directory. */
static void be_notifier(const struct notify_job *j, int fd)
{
	int keep[] = { fd, j->task_dir }, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int std = 0; std < 3 && null >= 0; std++)
		dup2(null, std);
	keeper_leave("garth-notify", keep, ARRAY_SIZE(keep));
	if (!chdir("/"))
		serve(j, fd);
	_exit(0);
}

int notifier_start(const struct notify_job *j)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	pid = fork();
	if (!pid) {
		setsid();
		pid = fork();
		if (!pid) {
			close(ends[0]);
			be_notifier(j, ends[1]);
		}
		_exit(pid < 0);
	}
	close(ends[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ends[0];
}

/* An agent that goes over a limit and back again causes one message after the other, and the user's program may be slow.
 * They must not take the place of the one about the end. */
static bool has_room(int fd)
{
	int waiting = 0;

	return ioctl(fd, SIOCOUTQ, &waiting) < 0 || waiting < WAITING_MAX;
}

void notifier_tell(int fd, enum notify_event event, const char *why)
{
	struct message m = { .event = event };

	if (fd < 0 || (event == NOTIFY_LIMIT && !has_room(fd)))
		return;
	snprintf(m.why, sizeof(m.why), "%s", why);
	(void)!send(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}
