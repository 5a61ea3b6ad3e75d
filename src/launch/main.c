/*
 * garth-launch: reads the description of a jail from descriptor 3, makes its namespaces, and ends. The new
 * process enters the jail and serves the keeper on descriptor 4. It has no options and prints nothing: all
 * results go over the order socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "landlock_only.h"
#include "init.h"
#include "jail/enter.h"
#include "jail/idmap.h"
#include "jail/overlay_rename.h"
#include "jail/workdir.h"
#include "listen.h"
#include "skip_covered.h"
#include "spawn.h"
#include "sys/fd.h"
#include "sys/linux.h"

#define DESCRIPTION_FD 3
#define ORDERS_FD      4

static int read_description(struct jail *ret, struct err *e)
{
	auto_buf packed = BUF_INIT(JAIL_PACKED_MAX);

	if (read_rest(DESCRIPTION_FD, &packed, "the description of the jail", e) < 0)
		return -1;
	close(DESCRIPTION_FD);
	return jail_unpack(buf_str(&packed), packed.len, ret, e);
}

static int tell_born(pid_t pid)
{
	return init_tell(ORDERS_FD, ORDER_BORN, 0, pid, NULL, -1);
}

static int fail(struct err *e)
{
	e->kind = ERR_START;
	init_tell(ORDERS_FD, ORDER_FAILED, 0, 0, e, -1);
	return 1;
}

/* Opens, inside, the descriptor that is sent out with READY. */
static int make_gift(const struct jail *j)
{
	if (j->listens)
		return listen_v4((uint16_t)j->listens);
	return j->gives ? open(j->gives, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* Waits until the new process has entered the jail, which closes its end of the pipe. Removing files earlier
 * would slow its mounts down, because both change directories of one file system. */
static void await_end(const int pipe[2])
{
	char byte;

	close(pipe[1]);
	while (read(pipe[0], &byte, 1) < 0 && errno == EINTR)
		;
}

int main(void)
{
	struct err e = ERR_INIT;
	auto_jail j;
	int *mapped, entered[2];
	pid_t pid;

	jail_init(&j);
	if (close_range(ORDERS_FD + 1, ~0u, 0) < 0 || fcntl(ORDERS_FD, F_SETFD, FD_CLOEXEC) < 0) {
		err_sys(&e, "cannot close descriptors");
		return fail(&e);
	}
	if (read_description(&j, &e) < 0)
		return fail(&e);
	spawn_limit_files(j.max_open_files);
	if (j.landlock_only)
		landlock_only_run(&j, ORDERS_FD, tell_born, make_gift);
	mapped = idmap_caches(&j);
	if (pipe2(entered, O_CLOEXEC) < 0) {
		err_sys(&e, "cannot make a pipe");
		return fail(&e);
	}
	if (workdir_renew(&j, &e) < 0 || enter_namespaces(&j, tell_born, &pid, &e) < 0)
		return fail(&e);
	if (pid) {
		await_end(entered);
		workdir_tidy(&j);
		return 0;
	}
	setsid();
	if (enter_jail(&j, mapped, ORDERS_FD, &e) < 0)
		return fail(&e);
	skip_covered(&j);
	rename_help(&j);
	init_serve(ORDERS_FD, make_gift(&j));
}
