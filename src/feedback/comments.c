#include "feedback/comments.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define NO_FILE     ((size_t)-1)
#define COMMENT_MAX (1u << 20)

struct reader {
	const struct annotated *a;
	const struct patch *d;
	struct comment_list *out;
	size_t pos;       /* the next line of `a`, if in_place */
	size_t file;      /* the file that the text is in; NO_FILE if unknown */
	bool heading;     /* before the first file, or in Garth's lines after the last */
	bool in_place;    /* the lines are as they were since the last file or hunk began */
	size_t waiting;   /* comments from here on wait for the line below them */
	bool open;        /* the last comment may get another line */
	struct buf words; /* of the last comment */
};

void comment_list_release(struct comment_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].code);
		free(l->v[i].text);
	}
	free(l->v);
	*l = (struct comment_list){ 0 };
}

/* The length without blanks at the end, which editors may remove. */
static size_t trimmed(const char *p, size_t len)
{
	while (len && memchr(" \t\r\n\f\v", p[len - 1], 6))
		len--;
	return len;
}

static bool is_same(const struct annotated *a, size_t i, const char *line, size_t len)
{
	const char *was = buf_str(&a->text) + a->v[i].at;
	size_t n = trimmed(was, a->v[i].len);

	return n == trimmed(line, len) && !memcmp(was, line, n);
}

/* ">" and one blank are the mark, the rest is the comment. */
static void add_words(struct reader *r, const char *line, size_t len, size_t row)
{
	size_t skip = len > 1 && line[1] == ' ' ? 2 : 1;
	struct comment_list *l = r->out;

	if (!r->open) {
		l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
		l->v[l->n++] = (struct comment){ .row = row };
		buf_reset(&r->words);
		r->open = true;
	}
	buf_add(&r->words, line + skip, trimmed(line + skip, len - skip));
	buf_addch(&r->words, '\n');
}

/* Stores the text of the last comment. A comment without words is dropped. */
static void close_comment(struct reader *r)
{
	struct comment *c = r->open ? &r->out->v[r->out->n - 1] : NULL;
	size_t len, from = 0;

	if (!c)
		return;
	r->open = false;
	/* a NUL would end the text */
	for (size_t i = 0; i < r->words.len; i++)
		if (!r->words.data[i])
			r->words.data[i] = ' ';
	len = trimmed(buf_str(&r->words), r->words.len);
	while (from < len && r->words.data[from] == '\n')
		from++;
	if (!(len - from))
		r->out->n--;
	else
		c->text = xstrndup(r->words.data + from, len - from);
}

static void place(const struct reader *r, struct comment *c)
{
	const struct annotated_line *l;
	const char *text;

	c->placed = true;
	if (r->heading) {
		c->code = xstrdup("");
		return;
	}
	c->after = r->pos;
	l = &r->a->v[r->pos - 1];
	text = buf_str(&r->a->text) + l->at;
	c->path = r->d->v[l->file].path;
	c->line = l->number;
	c->side = l->side;
	/* "\ No newline" and lines about the file are not code */
	c->code = l->number && l->len && text[0] != '\\' ? xstrndup(text + 1, l->len - 1) : xstrdup("");
}

/* Places the comments that wait, or gives them up. */
static void settle(struct reader *r, bool found)
{
	for (; r->waiting < r->out->n; r->waiting++) {
		if (found)
			place(r, &r->out->v[r->waiting]);
		else
			r->out->lost++;
	}
}

/* Finds the beginning of a file or hunk after a change. */
static bool find_again(struct reader *r, const char *line, size_t len)
{
	bool file = len >= 5 && !memcmp(line, "diff ", 5);

	for (size_t i = r->pos; i < r->a->n; i++) {
		const struct annotated_line *l = &r->a->v[i];

		if (!file && l->file != r->file)
			break;
		if ((file ? l->begins_file : l->begins_hunk) && is_same(r->a, i, line, len)) {
			r->pos = i + 1;
			r->file = l->file;
			return true;
		}
	}
	if (file)
		r->file = NO_FILE;
	return false;
}

/* A line that is not a comment. */
static void take_line(struct reader *r, const char *line, size_t len)
{
	bool blank = !trimmed(line, len);

	close_comment(r);
	if (r->heading && (blank || line[0] == '#'))
		return;
	if ((r->in_place || r->heading) && r->pos < r->a->n && is_same(r->a, r->pos, line, len)) {
		settle(r, true);
		r->file = r->a->v[r->pos++].file;
		r->in_place = true;
		r->heading = false;
		return;
	}
	if (blank)
		return;
	if (r->in_place && r->pos == r->a->n && line[0] == '#') {
		settle(r, true);
		r->heading = true;
		return;
	}
	settle(r, r->heading);
	r->heading = false;
	r->in_place = find_again(r, line, len);
}

void comments_read(const struct annotated *a, const struct patch *d, const char *text, size_t len,
	struct comment_list *ret)
{
	struct reader r = {
		.a = a, .d = d, .out = ret, .file = NO_FILE, .heading = true, .words = BUF_INIT(COMMENT_MAX)
	};
	const char *end = text + len;
	size_t row = 1;

	*ret = (struct comment_list){ 0 };
	/* a mark that some editors put in front */
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (const char *p = text, *next; p < end; p = next + 1, row++) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next : end;
		if (*p == '>')
			add_words(&r, p, (size_t)(next - p), row);
		else
			take_line(&r, p, (size_t)(next - p));
	}
	close_comment(&r);
	settle(&r, r.heading || (r.in_place && r.pos == a->n));
	buf_release(&r.words);
}

bool comments_any(const char *text, size_t len)
{
	bool begins = true;

	for (size_t i = 0; i < len; i++) {
		if (begins && text[i] == '>' && i + 1 < len) {
			const char *n = memchr(text + i, '\n', len - i);

			if (trimmed(text + i + 1, (n ? (size_t)(n - text) : len) - i - 1))
				return true;
		}
		begins = text[i] == '\n';
	}
	return false;
}

void comments_quote(const char *text, struct buf *out)
{
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
		buf_printf(out, "> %.*s\n", (int)strcspn(p, "\n"), p);
}

void comments_print(const struct annotated *a, const struct comment_list *l, struct buf *out)
{
	const char *text = buf_str(&a->text);
	size_t from = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].after) {
			comments_quote(l->v[i].text, out);
			buf_addch(out, '\n');
		}
	/* they are in the order of the file */
	for (size_t i = 0; i < l->n; i++) {
		size_t to =
			l->v[i].after ? a->v[l->v[i].after - 1].at + a->v[l->v[i].after - 1].len + 1 : from;

		if (!l->v[i].after)
			continue;
		buf_add(out, text + from, to - from);
		comments_quote(l->v[i].text, out);
		from = to;
	}
	buf_add(out, text + from, a->text.len - from);
}
