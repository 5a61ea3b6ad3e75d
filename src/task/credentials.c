#include "task/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"

#define NOTE_FILE "credentials"

void credentials_release(struct credentials_note *n)
{
	strvec_release(&n->kept);
	strvec_release(&n->entered);
	free(n->text);
	*n = (struct credentials_note){ 0 };
}

void credentials_save(int task_dir, const struct credentials_note *n)
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	buf_printf(&text, "%s\n%s\n%s", n->agent, n->how, n->tls ? "tls\n" : "");
	for (size_t i = 0; i < n->kept.n; i++)
		buf_printf(&text, "+%s\n", n->kept.v[i]);
	for (size_t i = 0; i < n->entered.n; i++)
		buf_printf(&text, "-%s\n", n->entered.v[i]);
	if (!text.overflow)
		write_file(task_dir, NOTE_FILE, text.data, text.len, 0600, &ignored);
}

bool credentials_load(int task_dir, struct credentials_note *ret)
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char *save = NULL;

	*ret = (struct credentials_note){ 0 };
	if (read_file(task_dir, NOTE_FILE, &text, &ignored) < 0)
		return false;
	ret->text = buf_steal(&text);
	if (!ret->text || !(ret->agent = strtok_r(ret->text, "\n", &save)) ||
		!(ret->how = strtok_r(NULL, "\n", &save))) {
		credentials_release(ret);
		return false;
	}
	for (char *line; (line = strtok_r(NULL, "\n", &save));) {
		if (*line == '+' || *line == '-')
			strvec_push(*line == '+' ? &ret->kept : &ret->entered, line + 1);
		else
			ret->tls = true;
	}
	return true;
}

bool credentials_are_of(int task_dir, const char *agent, bool *ret_tls)
{
	struct credentials_note n;
	bool same = credentials_load(task_dir, &n) && !strcmp(n.agent, agent);

	*ret_tls = same && n.tls;
	credentials_release(&n);
	return same;
}
