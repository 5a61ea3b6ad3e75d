/* A unified diff in the form of the npm package "diff", which server-filesystem prints. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

#define CONTEXT 4
/* If more lines differ, everything between the first and the last difference counts as replaced. */
#define STEPS_MAX 2000

struct line {
	const char *at;
	size_t len; /* with its line end */
};

struct side {
	struct line *v;
	size_t n;
};

static struct side split(const char *text, size_t len)
{
	struct side s = { xcalloc(len + 1 < 16 ? 16 : len / 2 + 2, sizeof(*s.v)), 0 };
	size_t cap = len + 1 < 16 ? 16 : len / 2 + 2;

	for (const char *p = text, *end = text + len; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = stop ? (size_t)(stop - p) + 1 : (size_t)(end - p);

		if (s.n == cap)
			s.v = xrealloc(s.v, cap *= 2, sizeof(*s.v));
		s.v[s.n++] = (struct line){ p, n };
		p += n;
	}
	return s;
}

static bool same(struct line a, struct line b)
{
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* Marks the lines that are removed and added, by Myers' algorithm over the part that differs. */
struct marks {
	bool *gone, *come;
};

static void mark_all(struct marks *m, size_t a, size_t na, size_t b, size_t nb)
{
	memset(m->gone + a, true, na);
	memset(m->come + b, true, nb);
}

/* Follows the path back from the end, through the stored rows of furthest points. */
static void trace(const struct side *a, const struct side *b, size_t a0, size_t b0, long na, long nb,
	long *const *rows, long steps, struct marks *m)
{
	long x = na, y = nb;

	(void)a;
	(void)b;
	for (long d = steps; d > 0; d--) {
		const long *v = rows[d - 1] + d;
		long k = x - y;
		bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
		long px = v[down ? k + 1 : k - 1], py = px - (down ? k + 1 : k - 1);

		/* the step, then equal lines up to (x, y) */
		if (down)
			m->come[b0 + (size_t)py] = true;
		else
			m->gone[a0 + (size_t)px] = true;
		x = px;
		y = py;
	}
}

static void compare(
	const struct side *a, const struct side *b, size_t a0, size_t b0, long na, long nb, struct marks *m)
{
	long most = na + nb < STEPS_MAX ? na + nb : STEPS_MAX;
	long **rows = xcalloc((size_t)most + 1, sizeof(*rows)), d;

	for (d = 0; d <= most; d++) {
		long *v = rows[d] = xcalloc((size_t)(2 * d + 3), sizeof(*v));
		const long *before = d ? rows[d - 1] + d : NULL;
		bool done = false;

		v += d + 1;
		for (long k = -d; k <= d; k += 2) {
			long x = !d                                                     ? 0
				 : k == -d || (k != d && before[k - 1] < before[k + 1]) ? before[k + 1]
											: before[k - 1] + 1;
			long y = x - k;

			while (x < na && y < nb && same(a->v[a0 + (size_t)x], b->v[b0 + (size_t)y]))
				x++, y++;
			v[k] = x;
			done |= x >= na && y >= nb;
		}
		if (done)
			break;
	}
	if (d > most)
		mark_all(m, a0, (size_t)na, b0, (size_t)nb);
	else
		trace(a, b, a0, b0, na, nb, rows, d, m);
	for (long i = 0; i <= most && i <= d; i++)
		free(rows[i]);
	free(rows);
}

static void add_line(struct buf *out, char sign, struct line l)
{
	buf_addch(out, sign);
	buf_add(out, l.at, l.len);
	if (!l.len || l.at[l.len - 1] != '\n')
		buf_addstr(out, "\n\\ No newline at end of file\n");
}

/* Where a hunk is: lines [a, a_end) become [b, b_end). */
struct hunk {
	size_t a, a_end, b, b_end;
};

static void print_hunk(
	struct buf *out, const struct side *a, const struct side *b, const struct marks *m, struct hunk h)
{
	size_t na = h.a_end - h.a, nb = h.b_end - h.b;

	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", h.a + (na != 0), na, h.b + (nb != 0), nb);
	while (h.a < h.a_end || h.b < h.b_end) {
		if (h.a < h.a_end && m->gone[h.a])
			add_line(out, '-', a->v[h.a++]);
		else if (h.b < h.b_end && m->come[h.b])
			add_line(out, '+', b->v[h.b++]);
		else
			add_line(out, ' ', a->v[h.a++]), h.b++;
	}
}

static void print_hunks(struct buf *out, const struct side *a, const struct side *b, const struct marks *m)
{
	struct hunk h = { 0 };
	size_t i = 0, j = 0, quiet = 0;
	bool open = false;

	while (i < a->n || j < b->n) {
		if ((i < a->n && m->gone[i]) || (j < b->n && m->come[j])) {
			size_t back = quiet < CONTEXT ? quiet : CONTEXT;

			if (!open)
				h = (struct hunk){ i - back, 0, j - back, 0 };
			open = true;
			quiet = 0;
			while (i < a->n && m->gone[i])
				i++;
			while (j < b->n && m->come[j])
				j++;
			continue;
		}
		i++, j++, quiet++;
		if (open && quiet > 2 * CONTEXT) {
			h.a_end = i - quiet + CONTEXT;
			h.b_end = j - quiet + CONTEXT;
			print_hunk(out, a, b, m, h);
			open = false;
		}
	}
	if (!open)
		return;
	h.a_end = quiet > CONTEXT ? i - quiet + CONTEXT : i;
	h.b_end = quiet > CONTEXT ? j - quiet + CONTEXT : j;
	print_hunk(out, a, b, m, h);
}

void diff_text(
	struct buf *out, const char *path, const char *old, size_t old_len, const char *new, size_t new_len)
{
	struct side a = split(old, old_len), b = split(new, new_len);
	struct marks m = { xcalloc(a.n + 1, 1), xcalloc(b.n + 1, 1) };
	size_t first = 0, last = 0, least = a.n < b.n ? a.n : b.n;

	while (first < least && same(a.v[first], b.v[first]))
		first++;
	while (last < least - first && same(a.v[a.n - 1 - last], b.v[b.n - 1 - last]))
		last++;
	compare(&a, &b, first, first, (long)(a.n - first - last), (long)(b.n - first - last), &m);
	buf_printf(out, "Index: %s\n===================================================================\n",
		path);
	buf_printf(out, "--- %s\toriginal\n+++ %s\tmodified\n", path, path);
	print_hunks(out, &a, &b, &m);
	free(a.v);
	free(b.v);
	free(m.gone);
	free(m.come);
}
