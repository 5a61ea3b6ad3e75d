/* Finds a notify.command whose program is missing: the user would wait for notifications that never come. */
#include "base/alloc.h"
#include "doctor/parts.h"
#include "task/notify.h"

int notify_look(struct survey *s, struct findings *out, struct err *e)
{
	const char *missing;
	auto_str program = notify_program(&s->c->config, &missing);

	(void)e;
	if (!program && missing)
		finding_add(out, "notify-missing", s->c->config.file ? s->c->config.file : "notify.command",
			"notify.command: there is no program '%s' that can be run", missing);
	return 0;
}
