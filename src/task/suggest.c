#include "task/suggest.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

static void find(const char *typed, const struct strvec *names, struct nearest *ret)
{
	*ret = (struct nearest){ .typed = typed };
	for (size_t i = 0; i < names->n; i++)
		nearest_try(ret, names->v[i], strlen(names->v[i]));
}

void task_suggest(
	const char *typed, const struct strvec *names, const struct strvec *discarded, struct err *e)
{
	size_t at = strlen(e->msg);
	struct nearest near;
	char meant[NEAREST_TEXT_MAX];

	find(typed, names, &near);
	if (near.word) {
		snprintf(e->msg + at, sizeof(e->msg) - at, "%s", nearest_text(&near, meant));
		return;
	}
	find(typed, discarded, &near);
	if (!near.word)
		return;
	snprintf(e->msg + at, sizeof(e->msg) - at, " (is '%s' meant, which is discarded?)", near.word);
	err_hint(e, "garth undo %s", near.word);
}
