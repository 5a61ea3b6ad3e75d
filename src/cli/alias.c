#include "cli/alias.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

const struct alias aliases[] = {
	{ "list", "ls" },
	{ "rm", "discard" },
	{ "status", "ls" },
	{ "status", "show" },
	{ 0 },
};

struct look {
	int argc;
	char **argv;
	bool has_word;
};

/* Whether there is a word that is neither an option nor the value of one. */
static void find_word(const struct cmd *c, const struct cmd_line *l, void *data)
{
	struct look *look = data;
	char **copy = xcalloc((size_t)look->argc + 1, sizeof(*copy));
	struct opt *all = cmd_options(l->opts);
	struct err ignored = ERR_INIT;
	int words = 0, rest = look->argc;

	(void)c;
	memcpy(copy, look->argv, (size_t)look->argc * sizeof(*copy));
	if (!opt_parse(all, look->argc, copy, false, &words, &rest, &ignored))
		look->has_word = words || rest < look->argc;
	/* an option that `ls` does not have is one of `show` */
	else
		look->has_word = true;
	free(all);
	free(copy);
}

const struct cmd *alias_find(const char *name, int argc, char **argv)
{
	struct look look = { argc, argv, false };

	for (const struct alias *a = aliases; a->name; a++) {
		if (strcmp(a->name, name) != 0)
			continue;
		if (a[1].name && !strcmp(a[1].name, name)) {
			cmd_look(cmd_find(a->command), find_word, &look);
			return cmd_find(look.has_word ? a[1].command : a->command);
		}
		return cmd_find(a->command);
	}
	return NULL;
}

char *alias_text(const struct cmd *c)
{
	auto_buf names = BUF_SMALL;

	for (const struct alias *a = aliases; a->name; a++)
		if (!strcmp(a->command, c->name))
			buf_printf(&names, "%s%s%s", names.len ? ", " : " (also: ", a->name,
				strcmp(a->command, "show") ? "" : " TASK");
	if (names.len)
		buf_addch(&names, ')');
	return buf_steal(&names);
}
