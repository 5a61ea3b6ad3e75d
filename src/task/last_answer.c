#include "task/last_answer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "task/task_command.h"

#define ANSWER "answer"

char *last_answer_load(int task_dir)
{
	auto_buf text = BUF_INIT(TASK_COMMAND_MAX);
	struct err ignored = ERR_INIT;

	return read_file(task_dir, ANSWER, &text, &ignored) < 0 ? NULL : xstrdup(buf_str(&text));
}

int last_answer_save(int task_dir, const char *text, struct err *e)
{
	return write_file(task_dir, ANSWER, text, strlen(text), 0600, e);
}
