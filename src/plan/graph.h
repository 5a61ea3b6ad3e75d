/*
 * Draws the graph of a plan's stages: as text, for Graphviz, or for Mermaid. Marks are words to put beside the stages,
 * such as their states; NULL for none.
 */
#ifndef PLAN_GRAPH_H
#define PLAN_GRAPH_H

#include "base/buf.h"
#include "plan/plan.h"

enum graph_style { GRAPH_TEXT, GRAPH_DOT, GRAPH_MERMAID };

/* Texts of agents and plans are cleaned for a terminal. */
void plan_graph(const struct plan *p, enum graph_style style, const char *const *marks, struct buf *out);

#endif
