/*
 * A table that fits a width: columns as wide as their content, the last one gets the rest.
 *
 *	static const struct table_column columns[] = { { "TASK", 12 }, { "STATE" }, { "LAST" } };
 *	struct table t = { columns, 3, width, colours };
 *	table_add(&t, (const char *[]){ "fix", "done", subject }, (const char *[]){ NULL, "\033[36m", NULL });
 *	table_lines(&t, &lines);
 *	table_release(&t);
 *
 * Cells are cleaned here. If the table is too wide, the last column shrinks first, down to TABLE_LAST_MIN; then the
 * columns with a `min`, the widest first; then whole columns go, from the right. A column without content and without
 * a title that must stay is left out. The last column's `min` counts if it is more than TABLE_LAST_MIN.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strvec.h"

#define TABLE_LAST_MIN    16
#define TABLE_COLUMNS_MAX 12

struct table_column {
	const char *title;
	size_t min;    /* it may shrink to this; 0: it stays as wide as its content */
	bool optional; /* left out if no row has something in it */
	bool right;    /* aligned to the right */
};

struct table {
	const struct table_column *columns;
	size_t n;
	size_t width; /* of the terminal; 0 for any */
	bool colours;
	char **cells;   /* n for each row */
	size_t *widths; /* of each cell */
	const char **shades;
	size_t rows;
};

/* One row: n cells, and the escape sequence for the colour of each, NULL for none. Both are copied, the sequences
 * as pointers. */
void table_add(struct table *t, const char *const *cells, const char *const *shades);
/* The title line, and a line for each row. No line is wider than `width`, unless that is hopelessly small. */
void table_lines(const struct table *t, struct strvec *ret);
void table_release(struct table *t);

#endif
