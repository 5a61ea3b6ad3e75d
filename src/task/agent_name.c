#include "task/agent_name.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "task/task_command.h"

#define AGENT "agent"

char *agent_name_load(int task_dir)
{
	auto_buf name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	auto_task_command cmd = { 0 };

	if (!task_command_load(task_dir, &cmd, &ignored))
		return cmd.agent ? steal_ptr(cmd.agent) : NULL;
	return read_file(task_dir, AGENT, &name, &ignored) < 0 ? NULL : buf_steal(&name);
}

int agent_name_save(int task_dir, const char *name, struct err *e)
{
	return write_file(task_dir, AGENT, name, strlen(name), 0600, e);
}
