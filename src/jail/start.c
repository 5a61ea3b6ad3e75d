#include "jail/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "sys/proc.h"

/* posix_spawn does not copy the caller's memory, and resets all signals to their defaults. */
static int spawn_launch(const char *path, int description, int orders, pid_t *ret_pid)
{
	char *const argv[] = { "garth-launch", NULL }, *const env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int rc;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, description, 3);
	posix_spawn_file_actions_adddup2(&files, orders, 4);
	rc = posix_spawn(ret_pid, path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* Moves a descriptor above the numbers that the child needs. */
static int move_up(int *fd)
{
	int high = fcntl(*fd, F_DUPFD_CLOEXEC, 5);

	fd_closep(fd);
	*fd = high;
	return high;
}

int jail_start(const struct jail *j, int *ret_orders, pid_t *ret_pid, struct err *e)
{
	auto_buf packed = BUF_INIT(JAIL_PACKED_MAX);
	auto_fd description = -1, ours = -1, theirs = -1;
	auto_str path = NULL;
	int pair[2], rc;

	if (jail_check(j, e) < 0)
		return err_wrap(e, "the jail is described badly");
	jail_pack(j, &packed);
	if (packed.overflow)
		return err_set(e, ERR_START, "the description of the jail is too large");
	if (proc_find_part("garth-launch", &path, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "cannot make the order socket");
	ours = pair[0];
	theirs = pair[1];
	description = fd_of_bytes("jail", packed.data, packed.len);
	if (description < 0 || move_up(&description) < 0 || move_up(&theirs) < 0 || fd_nonblock(ours) < 0)
		return err_sys(e, "cannot hand over the jail");
	rc = spawn_launch(path, description, theirs, ret_pid);
	if (rc) {
		errno = rc;
		err_sys(e, "cannot start %s", path);
		e->kind = ERR_START;
		return -1;
	}
	*ret_orders = fd_steal(&ours);
	return 0;
}
