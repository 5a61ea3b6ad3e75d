#include "cli/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "keeper/keeper.h"
#include "sys/fd.h"
#include "task/life.h"

int ports_parse(const char *text, uint16_t *ret, struct err *e)
{
	size_t digits = strspn(text, "0123456789");
	long n = digits && digits < 6 && !text[digits] ? strtol(text, NULL, 10) : 0;

	if (n < 1 || n > UINT16_MAX)
		return err_set(e, ERR_USAGE, "a port must be a number from 1 to 65535, not '%s'", text);
	*ret = (uint16_t)n;
	return 0;
}

struct pair {
	int inside, outside;
};

/* A keeper that was killed leaves its file, but its ports are closed. */
static size_t load(struct context *c, const struct task *t, struct pair ret[KEEPER_PORTS_MAX])
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	char *save = NULL;
	size_t n = 0;

	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0 ||
		read_file(dir, KEEPER_PORTS_FILE, &text, &ignored) < 0 || !task_is_busy(c, t))
		return 0;
	for (char *l = text.len ? strtok_r(text.data, "\n", &save) : NULL; l && n < KEEPER_PORTS_MAX;
		l = strtok_r(NULL, "\n", &save))
		if (sscanf(l, "%d %d", &ret[n].inside, &ret[n].outside) == 2)
			n++;
	return n;
}

void ports_text(struct context *c, const struct task *t, struct buf *ret)
{
	struct pair pairs[KEEPER_PORTS_MAX];
	size_t n = load(c, t, pairs);

	for (size_t i = 0; i < n; i++)
		buf_printf(ret, "%s%d→127.0.0.1:%d", i ? " " : "", pairs[i].inside, pairs[i].outside);
}

json_t *ports_json(struct context *c, const struct task *t)
{
	struct pair pairs[KEEPER_PORTS_MAX];
	size_t n = load(c, t, pairs);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
			json_pack("{s:i, s:i}", "inside", pairs[i].inside, "outside", pairs[i].outside));
	return list;
}
