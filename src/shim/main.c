#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "shim/shim.h"

/* Gemini CLI runs git without the system's settings, or with others. Root's git needs one of them, which is Garth's own
 * (task/walls.c): that a workspace on the host is root's, and to be trusted. */
static void keep_trust(void)
{
	const char *off = getenv("GIT_CONFIG_NOSYSTEM"), *other = getenv("GIT_CONFIG_SYSTEM");
	const char *count = getenv("GIT_CONFIG_COUNT");
	unsigned long n = count ? strtoul(count, NULL, 10) : 0;
	char key[64], value[64], more[32];

	if (((!off || !*off) && !other) || access("/etc/gitconfig", R_OK) < 0 || n > INT_MAX - 1)
		return;
	snprintf(key, sizeof(key), "GIT_CONFIG_KEY_%lu", n);
	snprintf(value, sizeof(value), "GIT_CONFIG_VALUE_%lu", n);
	snprintf(more, sizeof(more), "%lu", n + 1);
	setenv(key, "safe.directory", 1);
	setenv(value, "*", 1);
	setenv("GIT_CONFIG_COUNT", more, 1);
}

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
	if (!strcmp(name, "git")) {
		keep_trust();
		return shim_git(&inside, argc, argv);
	}
	if (!strcmp(name, "reference-transaction") || !strcmp(name, "hook"))
		return shim_hook(&inside, argc, argv);
	if (!strcmp(name, "garth"))
		return shim_garth(&inside, argc, argv);
	fputs("garth-shim: runs as 'git', as 'garth' or as a hook 'reference-transaction'\n", stderr);
	return 2;
}
