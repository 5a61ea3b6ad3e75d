#include <stdio.h>

#include "base/path.h"
#include "shim/shim.h"

int main(int argc, char **argv)
{
	static const struct shim inside = {
		.bin = SHIM_BIN,
		.hook = SHIM_HOOK,
		.socket = SHIM_SOCKET,
		.task = SHIM_TASK,
		.operations = SHIM_OPERATIONS,
	};
	const char *name = argc ? path_base(argv[0]) : "";

	if (!strcmp(name, "git"))
		return shim_git(&inside, argc, argv);
	if (!strcmp(name, "reference-transaction") || !strcmp(name, "hook"))
		return shim_hook(&inside, argc, argv);
	fputs("garth-shim: runs as 'git' or as a hook 'reference-transaction'\n", stderr);
	return 2;
}
