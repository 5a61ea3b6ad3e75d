#include "sys/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/fd.h"

int worker_start(struct worker *b, int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
	struct err said = ERR_INIT;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	b->pid = fork();
	if (!b->pid) {
		fn(arg, &said);
		_exit(write(ends[1], &said, sizeof(said)) < 0);
	}
	close(ends[1]);
	if (b->pid > 0) {
		b->said = ends[0];
		return 0;
	}
	b->pid = 0;
	close(ends[0]);
	return err_sys(e, "cannot start a process");
}

int worker_wait(struct worker *b, struct err *e)
{
	struct err said;
	ssize_t n;

	do
		n = read(b->said, &said, sizeof(said));
	while (n < 0 && errno == EINTR);
	fd_closep(&b->said);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	b->pid = 0;
	if (n != sizeof(said))
		return err_set(e, ERR_FAILED, "a process that did a part of the work was killed");
	if (said.kind == ERR_NONE)
		return 0;
	*e = said;
	return -1;
}

void worker_release(struct worker *b)
{
	struct err ignored = ERR_INIT;

	if (b->pid)
		worker_wait(b, &ignored);
}
