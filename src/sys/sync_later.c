#include "sys/sync_later.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/linux.h"
#include "sys/lock.h"

void sync_later(int dir, const char *mark, const char *unless)
{
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	/* close before forking again: after waiting for this child, the caller can release its lock for good
	 * */
	if (dup2(dir, 3) != 3 || close_range(4, ~0U, 0) < 0 || fork())
		_exit(0);
	setsid();
	if (!syncfs(3) && !(unless && lock_is_held(3, unless)))
		unlinkat(3, mark, 0);
	_exit(0);
}
