#include "cli/plan_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/plan_status.h"
#include "cli/plan_table.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "plan/stage_life.h"
#include "plan/step.h"

#define TICK_MS 1000

void plan_view_begin(struct plan_view *v, int *ret_tick_ms)
{
	struct wire_size size;

	v->screen = !v->json && say_is_heard() && !terminal_size(&size);
	v->begun = time(NULL);
	*ret_tick_ms = v->screen ? TICK_MS : 0;
}

static void forget(struct plan_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->states[i]);
		free(v->notes[i]);
	}
	free(v->states);
	free(v->notes);
	v->states = v->notes = NULL;
	v->n = 0;
}

/* Prints a line for each stage whose state has changed. */
static void show_changes(
	struct plan_view *v, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct stage_row *s = &l->v[i];
		auto_buf clean = BUF_SMALL;

		if (v->n && !strcmp(v->states[i], s->state) && !strcmp(v->notes[i], s->note))
			continue;
		if (!v->n && stage_is(s, STAGE_WAITING))
			continue;
		if (stage_is(s, STAGE_FAILED))
			say_failure("%s: %s: %s", s->name, s->state, say_one_line(&clean, s->note));
		else
			(step_wants_person(s) ? say_question : say_state)("%s: %s%s%s", s->name, s->state,
				*s->note ? ": " : "", say_one_line(&clean, s->note));
		if (p->nstages == l->n)
			plan_status_statements(&p->stages[i], s);
		plan_status_hint(v->c, row, s);
	}
	forget(v);
	v->states = xcalloc(l->n + 1, sizeof(*v->states));
	v->notes = xcalloc(l->n + 1, sizeof(*v->notes));
	for (v->n = 0; v->n < l->n; v->n++) {
		v->states[v->n] = xstrdup(l->v[v->n].state);
		v->notes[v->n] = xstrdup(l->v[v->n].note);
	}
}

/* The table is written over the one before it. */
static void show_table(
	struct plan_view *v, const struct plan *p, const struct plan_row *row, const struct stage_row_list *l)
{
	auto_strvec lines = STRVEC_INIT;
	struct wire_size size = { 24, 80 };
	auto_buf out = BUF_INIT(4u << 20);

	terminal_size(&size);
	size.rows = size.rows > 2 ? (uint16_t)(size.rows - 2) : 1;
	plan_table_lines(v->c, p, row, l, &size, &lines);
	if (v->lines)
		buf_printf(&out, "\033[%zuA", v->lines);
	for (size_t i = 0; i < lines.n; i++)
		buf_printf(&out, "\r\033[K%s\n", lines.v[i]);
	for (size_t i = lines.n; i < v->lines; i++)
		buf_addstr(&out, "\r\033[K\n");
	v->lines = lines.n > v->lines ? lines.n : v->lines;
	fwrite(buf_str(&out), 1, out.len, stderr);
	fflush(stderr);
}

void plan_view_show(
	const struct plan *p, const struct plan_row *row, const struct stage_row_list *stages, void *view)
{
	struct plan_view *v = view;

	if (v->json)
		return;
	if (v->screen)
		show_table(v, p, row, stages);
	else
		show_changes(v, p, row, stages);
}

void plan_view_end(struct plan_view *v)
{
	v->lines = 0;
}

void plan_view_release(struct plan_view *v)
{
	forget(v);
}
