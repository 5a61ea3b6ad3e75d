#include "cli/show_tickets.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/say.h"
#include "store/ticket.h"
#include "task/tickets.h"

static int load(struct context *c, const struct task *t, struct stage_row_list *ret)
{
	struct err ignored = ERR_INIT;
	auto_plan_row set = { 0 };

	return context_store(c, &ignored) < 0 || store_tickets_of(c->store, t->id, &set, &ignored) < 0
		       ? -1
		       : store_stage_list(c->store, set.id, ret, &ignored);
}

void show_tickets(struct context *c, const struct task *t)
{
	auto_stage_row_list all = { 0 };

	if (load(c, t, &all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		auto_buf note = BUF_SMALL;

		printf("%-10s %s %s", i ? "" : "tickets", all.v[i].task, ticket_state(&all.v[i]));
		if (*all.v[i].note)
			printf(": %s", say_one_line(&note, all.v[i].note));
		putchar('\n');
	}
}

json_t *show_tickets_json(struct context *c, const struct task *t)
{
	auto_stage_row_list all = { 0 };
	json_t *list = json_array();

	if (load(c, t, &all) < 0)
		return list;
	for (size_t i = 0; i < all.n; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:s, s:s, s:o}", "ticket", json_text(all.v[i].name), "task",
				json_text(all.v[i].task), "ticket_state", ticket_state(&all.v[i]), "tip",
				all.v[i].tip, "note", json_text(all.v[i].note)));
	return list;
}

void show_tickets_open(struct context *c, struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_task_at at = { .ws.dir = -1 };
	auto_buf names = BUF_SMALL;

	if (task_open(c, t, &at, &ignored) < 0 || !tickets_are_there(at.ws.dir) ||
		tickets_open(c, &at.repo, t, &names, &ignored) < 0 || !names.len)
		return;
	say_warning("task '%s' has not merged its tickets: %s", t->name, buf_str(&names));
}
