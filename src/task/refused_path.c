#include "task/refused_path.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "sys/fd.h"

#define NAME     "refused-path"
#define TEXT_MAX 2000

void refused_path_note(int task_dir, const char *code, const char *path)
{
	struct err ignored = ERR_INIT;

	if ((!strcmp(code, REFUSED_PROTECTED) || !strcmp(code, REFUSED_SCOPE)) && *path)
		write_file(task_dir, NAME, path, strnlen(path, TEXT_MAX), 0600, &ignored);
}

void refused_path_forget(int task_dir)
{
	unlinkat(task_dir, NAME, 0);
}

char *refused_path_load(int task_dir)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	struct err ignored = ERR_INIT;

	return read_file(task_dir, NAME, &text, &ignored) < 0 || !text.len ? NULL : buf_steal(&text);
}
