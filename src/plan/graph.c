#include "plan/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "plan/rows.h"
#include "plan/waves.h"

/* "a  needs b, c" for each stage, wave by wave. */
static void as_text(const struct plan *p, const char *const *marks, struct buf *out)
{
	size_t *waves = xcalloc(p->nstages, sizeof(*waves)), n = plan_waves(p, waves), width = 0;

	for (size_t i = 0; i < p->nstages; i++)
		if (strlen(p->stages[i].id) > width)
			width = strlen(p->stages[i].id);
	for (size_t wave = 0; wave < n; wave++)
		for (size_t i = 0; i < p->nstages; i++) {
			const struct plan_stage *s = &p->stages[i];

			bool alone = !(marks && marks[i]) && !s->nneeds && !s->noverlaps;

			if (waves[i] != wave)
				continue;
			buf_printf(out, "%*zu  %-*s", n > 9 ? 2 : 1, wave + 1, alone ? 0 : (int)width, s->id);
			if (marks && marks[i])
				buf_printf(out, "  [%s]", marks[i]);
			for (size_t j = 0; j < s->nneeds; j++)
				buf_printf(out, "%s%s", j ? ", " : "  after ", p->stages[s->needs[j]].id);
			for (size_t j = 0; j < s->noverlaps; j++)
				buf_printf(out, "%s%s", j ? ", " : "  not beside ",
					p->stages[s->overlaps[j]].id);
			buf_addch(out, '\n');
		}
	free(waves);
}

/* A text in quotes. Both languages understand HTML entities, so no backslash is needed. */
static void add_quoted(struct buf *out, const char *text)
{
	auto_buf clean = BUF_INIT(1 << 20);

	clean_line(&clean, text);
	for (const char *p = buf_str(&clean); *p; p++) {
		if (strchr("\"<>&#\\", *p))
			buf_printf(out, "&#%d;", *p);
		else
			buf_addch(out, *p);
	}
}

static void add_label(struct buf *out, const struct plan_stage *s, const char *mark)
{
	buf_addch(out, '"');
	add_quoted(out, s->id);
	if (strcmp(s->id, s->name) != 0) {
		buf_addstr(out, ": ");
		add_quoted(out, s->name);
	}
	if (mark) {
		buf_addstr(out, " (");
		add_quoted(out, mark);
		buf_addstr(out, ")");
	}
	buf_addch(out, '"');
}

static void as_dot(const struct plan *p, const char *const *marks, struct buf *out)
{
	buf_addstr(out, "digraph \"");
	add_quoted(out, p->id);
	buf_addstr(out, "\" {\n\trankdir=LR;\n\tnode [shape=box];\n");
	for (size_t i = 0; i < p->nstages; i++) {
		buf_printf(out, "\ts%zu [label=", i);
		add_label(out, &p->stages[i], marks ? marks[i] : NULL);
		buf_addstr(out, "];\n");
	}
	for (size_t i = 0; i < p->nstages; i++) {
		for (size_t j = 0; j < p->stages[i].nneeds; j++)
			buf_printf(out, "\ts%zu -> s%zu;\n", p->stages[i].needs[j], i);
		for (size_t j = 0; j < p->stages[i].noverlaps; j++)
			buf_printf(out, "\ts%zu -> s%zu [dir=none, style=dotted, constraint=false];\n",
				p->stages[i].overlaps[j], i);
	}
	buf_addstr(out, "}\n");
}

static void as_mermaid(const struct plan *p, const char *const *marks, struct buf *out)
{
	buf_addstr(out, "graph LR\n");
	for (size_t i = 0; i < p->nstages; i++) {
		buf_printf(out, "  s%zu[", i);
		add_label(out, &p->stages[i], marks ? marks[i] : NULL);
		buf_addstr(out, "]\n");
	}
	for (size_t i = 0; i < p->nstages; i++) {
		for (size_t j = 0; j < p->stages[i].nneeds; j++)
			buf_printf(out, "  s%zu --> s%zu\n", p->stages[i].needs[j], i);
		for (size_t j = 0; j < p->stages[i].noverlaps; j++)
			buf_printf(out, "  s%zu -.- s%zu\n", p->stages[i].overlaps[j], i);
	}
}

void plan_graph(const struct plan *p, enum graph_style style, const char *const *marks, struct buf *out)
{
	if (style == GRAPH_DOT)
		as_dot(p, marks, out);
	else if (style == GRAPH_MERMAID)
		as_mermaid(p, marks, out);
	else
		as_text(p, marks, out);
}
