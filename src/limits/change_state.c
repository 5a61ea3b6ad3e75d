#include "limits/change_state.h"

#include "sys/fault.h"
#include "task/life.h"

int limits_change_state(struct context *c, struct task *t, struct audit *a, const char *event, const char *to,
	const char *note, struct err *e)
{
	if (audit_add(a, event, t, json_pack("{s:o}", "why", audit_text(note)), e) < 0 ||
		(to && life_move(c->store, t, to, e) < 0))
		return -1;
	fault("pause-stored");
	return store_task_note(c->store, t->id, note, e);
}
