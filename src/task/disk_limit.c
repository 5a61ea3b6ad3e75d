#include "task/disk_limit.h"

#include <signal.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/size.h"

#define AT_LEAST (20ull << 30)

uint64_t disk_share(uint64_t room)
{
	uint64_t share = room / 4, most = room / 10 * 9;

	if (share < AT_LEAST)
		share = AT_LEAST;
	return share < most ? share : most;
}

uint64_t disk_max(const struct config *c, int dir, uint64_t held)
{
	uint64_t max = AT_LEAST;
	struct statvfs v;

	if (c->max_disk)
		return c->max_disk;
	if (!fstatvfs(dir, &v))
		max = disk_share((uint64_t)v.f_bavail * v.f_frsize + held);
	return c->max_disk_cap && c->max_disk_cap < max ? c->max_disk_cap : max;
}

bool disk_is_near(uint64_t held, uint64_t max)
{
	return max && held >= max / 5 * 4;
}

char *disk_explain(int exit_code, uint64_t max, const char *task)
{
	char is[SIZE_TEXT_MAX], more[SIZE_TEXT_MAX];

	if (exit_code != 128 + SIGXFSZ)
		return NULL;
	return xasprintf(
		"a process was killed (SIGXFSZ) because a file grew beyond what the task may hold on disk, "
		"limits.max_disk (%s): garth resume --limit max_disk=%s %s raises that",
		size_text(max, is), size_option(max * 2, more), task);
}
