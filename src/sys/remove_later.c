#include "sys/remove_later.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/linux.h"
#include "sys/tree.h"

/* So many entries are removed at once, without a background process. */
#define AT_ONCE 150

/* The background process keeps none of the caller's descriptors: otherwise it would prolong the caller's
 * locks, and a reader of the caller's output would wait for its end. */
static void remove_in_background(int dir, const char *name)
{
	struct err ignored = ERR_INIT;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (dup2(dir, 3) != 3 || close_range(4, ~0U, 0) < 0 || fork())
		_exit(0);
	setsid();
	signal(SIGHUP, SIG_IGN);
	setpriority(PRIO_PROCESS, 0, 10);
	tree_remove(3, name, &ignored);
	_exit(0);
}

int later_remove(int dir, const char *name, struct err *e)
{
	int rc = tree_remove_some(dir, name, AT_ONCE, e);
	pid_t pid;

	if (rc <= 0)
		return rc;
	pid = fork();
	if (!pid)
		remove_in_background(dir, name);
	if (pid < 0)
		return tree_remove(dir, name, e);
	return waitpid(pid, NULL, 0) < 0 ? err_sys(e, "cannot remove '%s' in the background", name) : 0;
}
