#include "sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/fd.h"

/*
 * Open file description locks (fcntl, not flock): F_OFD_GETLK tells whether a lock is held without taking it,
 * so a query never makes somebody else's attempt to take it fail.
 */
static int lock_call(int fd, int cmd, struct flock *l)
{
	*l = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	return fcntl(fd, cmd, l);
}

int lock_take(int dir, const char *name, bool wait, int *ret_fd, struct err *e)
{
	auto_fd fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct flock l;

	if (fd < 0)
		return err_sys(e, "cannot open lock '%s'", name);
	while (lock_call(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l) < 0) {
		if (errno == EAGAIN || errno == EACCES)
			return err_set(e, ERR_BUSY, "'%s' is locked by another process", name);
		if (errno != EINTR)
			return err_sys(e, "cannot lock '%s'", name);
	}
	*ret_fd = fd_steal(&fd);
	return 0;
}

void lock_drop(int *fd)
{
	struct flock l = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (*fd >= 0)
		fcntl(*fd, F_OFD_SETLK, &l);
	fd_closep(fd);
	*fd = -1;
}

/* Only for reading: closing it again is no news for those who watch the lock (runtime/watch.h). */
int lock_open(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
}

bool lock_is_held_at(int fd)
{
	struct flock l;

	return fd >= 0 && !lock_call(fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;
}

bool lock_is_held(int dir, const char *name)
{
	auto_fd fd = lock_open(dir, name);

	return lock_is_held_at(fd);
}
