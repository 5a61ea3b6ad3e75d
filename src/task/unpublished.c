#include "task/unpublished.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"

#define TEXT_MAX 2000

void unpublished_release(struct unpublished *u)
{
	free(u->code);
	free(u->path);
	*u = (struct unpublished){ 0 };
}

/* Two lines. A path with a line break in it is cut there. */
void unpublished_note(int task_dir, const char *code, const char *path)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	struct err ignored = ERR_INIT;

	buf_printf(&text, "%s\n%.*s\n", code, (int)strcspn(path, "\n"), path);
	write_file(task_dir, TASK_UNPUBLISHED, buf_str(&text), text.len, 0600, &ignored);
}

int unpublished_load(int task_dir, struct unpublished *ret, struct err *e)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	const char *line;

	if (read_file(task_dir, TASK_UNPUBLISHED, &text, e) < 0)
		return -1;
	line = buf_str(&text);
	ret->code = xstrndup(line, strcspn(line, "\n"));
	line += strcspn(line, "\n");
	line += *line == '\n';
	ret->path = xstrndup(line, strcspn(line, "\n"));
	return 0;
}
