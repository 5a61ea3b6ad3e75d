#include "jail/seccomp.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/seccomp_program.h"

int seccomp_enter(struct err *e)
{
	struct sock_fprog program = { seccomp_program_len, (struct sock_filter *)seccomp_program };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_sys(e, "cannot load the filter");
	return 0;
}
