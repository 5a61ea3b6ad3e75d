/* garth-credentials: the process that has a task's real credentials (server.h). The keeper starts it with a control socket
 * on descriptor 3. It starts itself with --renew (renew.h); the command that starts a task starts it with --authority. It
 * prints nothing and writes no log. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/err.h"
#include "credentials/authority.h"
#include "credentials/control.h"
#include "credentials/renew.h"
#include "credentials/server.h"

/* Nobody can read its memory: there is no core file, no debugger can attach, and the user's other processes get nothing
 * from /proc. */
static void close_up(void)
{
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;

	close_up();
	if (argc == 2 && !strcmp(argv[1], RENEW_ARGUMENT))
		return renew_main(&e) < 0;
	if (argc == 2 && !strcmp(argv[1], CREDENTIALS_AUTHORITY))
		return authority_main(&e) < 0;
	/* renewals end by themselves */
	signal(SIGCHLD, SIG_IGN);
	return argc == 1 ? server_run(CREDENTIALS_CONTROL_FD, &e) < 0 : 2;
}
