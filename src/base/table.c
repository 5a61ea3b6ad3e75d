#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/width.h"

#define GAP 2
/* No cell is longer, whatever the width. */
#define CELL_MAX 500

/* Most cells are short and have nothing to be cleaned. */
static bool is_plain(const char *text, size_t *ret_len)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] <= '~' && n < CELL_MAX)
		n++;
	*ret_len = n;
	return !text[n];
}

static char *take_cell(const char *text, size_t *ret_width)
{
	auto_buf clean = BUF_INIT(1 << 20), cut = BUF_INIT(1 << 16);

	if (is_plain(text, ret_width))
		return xstrdup(text);
	clean_line(&clean, text);
	*ret_width = width_cut(&cut, buf_str(&clean), CELL_MAX);
	return buf_steal(&cut);
}

/* Makes room for a row; the arrays grow by doubling. */
static void grow(struct table *t)
{
	size_t rows = t->rows;

	if (rows & (rows - 1))
		return;
	rows = rows ? 2 * rows : 1;
	t->cells = xrealloc(t->cells, rows * t->n, sizeof(*t->cells));
	t->shades = xrealloc(t->shades, rows * t->n, sizeof(*t->shades));
	t->widths = xrealloc(t->widths, rows * t->n, sizeof(*t->widths));
}

void table_add(struct table *t, const char *const *cells, const char *const *shades)
{
	size_t from = t->rows * t->n;

	grow(t);
	for (size_t i = 0; i < t->n; i++) {
		t->cells[from + i] = take_cell(cells[i] ? cells[i] : "", &t->widths[from + i]);
		t->shades[from + i] = shades ? shades[i] : NULL;
	}
	t->rows++;
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->rows * t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->shades);
	free(t->widths);
	t->widths = NULL;
	t->cells = NULL;
	t->shades = NULL;
	t->rows = 0;
}

static size_t total(const struct table *t, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += widths[i] ? widths[i] + (sum ? GAP : 0) : 0;
	return sum;
}

/* The last resort: the first two columns say the most. */
static bool drop_column(const struct table *t, size_t *widths)
{
	for (size_t i = t->n; i-- > 2;)
		if (widths[i])
			return widths[i] = 0, true;
	return false;
}

/* Takes what is too much from the last column and then from the widest that may shrink. */
static void shrink(const struct table *t, size_t *widths)
{
	size_t last = t->n - 1, sum;
	size_t floor = t->columns[last].min > TABLE_LAST_MIN ? t->columns[last].min : TABLE_LAST_MIN;

	while ((sum = total(t, widths)) > t->width) {
		size_t over = sum - t->width, widest = t->n;

		if (widths[last] > floor) {
			size_t can = widths[last] - floor;

			widths[last] -= over < can ? over : can;
			continue;
		}
		for (size_t i = 0; i < last; i++)
			if (t->columns[i].min && widths[i] > t->columns[i].min &&
				(widest == t->n || widths[i] > widths[widest]))
				widest = i;
		if (widest < t->n)
			widths[widest]--;
		else if (widths[last])
			widths[last]--;
		else if (!drop_column(t, widths))
			return;
	}
}

static void measure(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t most = 0;

		for (size_t row = 0; row < t->rows; row++)
			if (t->widths[row * t->n + i] > most)
				most = t->widths[row * t->n + i];
		if (!most && t->columns[i].optional)
			widths[i] = 0;
		else
			widths[i] = most > strlen(t->columns[i].title) ? most : strlen(t->columns[i].title);
	}
	if (t->width)
		shrink(t, widths);
}

static void pad(struct buf *line, size_t n)
{
	static const char spaces[] = "                                ";

	for (size_t some; n; n -= some) {
		some = n < sizeof(spaces) - 1 ? n : sizeof(spaces) - 1;
		buf_add(line, spaces, some);
	}
}

/* One line as it is given: cells, how wide each is, and their colours (NULL for none). */
struct line {
	const char *const *cells;
	const size_t *widths;
	const char *const *shades;
};

static void put_line(const struct table *t, const size_t *columns, const struct line *l, struct buf *out)
{
	size_t owed = 0; /* spaces that are written only if something follows */

	buf_reset(out);
	for (size_t i = 0; i < t->n; i++) {
		const char *cell = l->cells[i], *shade = t->colours && l->shades ? l->shades[i] : NULL;
		size_t used = l->widths[i], rest;

		if (!columns[i])
			continue;
		rest = used < columns[i] ? columns[i] - used : 0;
		if (*cell) {
			pad(out, owed + (t->columns[i].right ? rest : 0));
			owed = 0;
			buf_addstr(out, shade ? shade : "");
			if (used <= columns[i])
				buf_addstr(out, cell);
			else
				rest = columns[i] - width_cut(out, cell, columns[i]);
			buf_addstr(out, shade ? "\033[0m" : "");
		}
		owed += GAP + (t->columns[i].right && *cell ? 0 : rest);
	}
}

void table_lines(const struct table *t, struct strvec *ret)
{
	size_t columns[TABLE_COLUMNS_MAX], lengths[TABLE_COLUMNS_MAX];
	const char *titles[TABLE_COLUMNS_MAX];
	auto_buf line = BUF_INIT(1 << 20);

	for (size_t i = 0; i < t->n; i++) {
		titles[i] = t->columns[i].title;
		lengths[i] = strlen(titles[i]);
	}
	measure(t, columns);
	put_line(t, columns, &(struct line){ titles, lengths, NULL }, &line);
	strvec_push(ret, buf_str(&line));
	for (size_t row = 0; row < t->rows; row++) {
		size_t from = row * t->n;

		put_line(t, columns,
			&(struct line){
				(const char *const *)t->cells + from, t->widths + from, t->shades + from },
			&line);
		strvec_push(ret, buf_str(&line));
	}
}
