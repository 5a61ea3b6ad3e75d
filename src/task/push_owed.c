#include "task/push_owed.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/fd.h"

#define PUSH_OWED "push-owed"

bool push_owed(int task_dir)
{
	return !faccessat(task_dir, PUSH_OWED, F_OK, AT_SYMLINK_NOFOLLOW);
}

void push_owed_set(int task_dir, bool owes)
{
	struct err ignored = ERR_INIT;

	if (owes)
		write_file(task_dir, PUSH_OWED, "", 0, 0600, &ignored);
	else
		unlinkat(task_dir, PUSH_OWED, 0);
}
