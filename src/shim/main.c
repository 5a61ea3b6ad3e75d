#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "shim/shim.h"

int main(int argc, char **argv)
{
	struct shim inside = {
		.bin = SHIM_BIN,
		.hook = SHIM_HOOK,
		.socket = SHIM_SOCKET,
		.task = SHIM_TASK,
		.operations = SHIM_OPERATIONS,
	};
	auto_str bin = NULL, hook = NULL, task = NULL, operations = NULL;
	const char *dir = getenv("GARTH_DIR"), *socket = getenv("GARTH_SOCKET");
	const char *name = argc ? path_base(argv[0]) : "";

	/* in a Landlock-only jail it is elsewhere; if an agent changes the variable, it only loses the
	 * gateway */
	if (dir && *dir) {
		inside.bin = bin = path_join(dir, "bin");
		inside.hook = hook = path_join(dir, "hook");
		inside.task = task = path_join(dir, "task");
		inside.operations = operations = path_join(dir, "operations");
		inside.socket = socket ? socket : "";
	}
	if (!strcmp(name, "git"))
		return shim_git(&inside, argc, argv);
	if (!strcmp(name, "reference-transaction") || !strcmp(name, "hook"))
		return shim_hook(&inside, argc, argv);
	if (!strcmp(name, "garth"))
		return shim_garth(&inside, argc, argv);
	fputs("garth-shim: runs as 'git', as 'garth' or as a hook 'reference-transaction'\n", stderr);
	return 2;
}
