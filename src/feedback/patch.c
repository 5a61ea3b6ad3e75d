#include "feedback/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define FILE_HEAD "diff --git "
#define HUNK_HEAD "@@ "

void patch_release(struct patch *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->v[i].path);
	free(d->v);
	*d = (struct patch){ 0 };
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

/* The length of the line at p, without its line break. */
static size_t line_length(const char *p, const char *end)
{
	const char *n = memchr(p, '\n', (size_t)(end - p));

	return n ? (size_t)(n - p) : (size_t)(end - p);
}

static const char *next_line(const char *p, size_t len, const char *end)
{
	return p + len < end ? p + len + 1 : end;
}

static bool is_octal(const char *p, size_t n)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= n || p[i] < '0' || p[i] > '7')
			return false;
	return true;
}

/* One character after a backslash. Returns how many bytes it has. */
static size_t unescape(const char *p, size_t n, struct buf *out)
{
	static const char from[] = "abtnvfr\"\\", to[] = "\a\b\t\n\v\f\r\"\\";
	const char *known;

	if (is_octal(p, n))
		return buf_addch(out, (char)((p[0] - '0') << 6 | (p[1] - '0') << 3 | (p[2] - '0'))), 3;
	known = n && *p ? strchr(from, *p) : NULL;
	return known ? (buf_addch(out, to[known - from]), 1) : 0;
}

/* A path as git prints it: in C's quotes if it has unusual characters. NULL if it is not well-formed. */
static char *take_path(const char *p, size_t n)
{
	auto_buf out = BUF_SMALL;

	if (!n || memchr(p, '\0', n))
		return NULL;
	if (*p != '"')
		return xstrndup(p, n);
	if (n < 2 || p[n - 1] != '"')
		return NULL;
	for (size_t i = 1; i < n - 1;) {
		size_t used = 1;

		if (p[i] != '\\')
			buf_addch(&out, p[i++]);
		else if (!(used = unescape(p + i + 1, n - 2 - i, &out)))
			return NULL;
		else
			i += 1 + used;
	}
	return out.overflow || !out.len ? NULL : xstrndup(buf_str(&out), out.len);
}

/* ":100644 100644 OLD NEW R100\tOLD PATH\tNEW PATH" */
static int take_raw(const char *line, size_t len, struct patch *d, struct err *e)
{
	const char *tab = memchr(line, '\t', len), *last = tab, *blank = tab, *end = line + len;
	struct patch_file f = { 0 };

	while (blank && blank > line && blank[-1] != ' ')
		blank--;
	for (const char *p = tab; p; p = memchr(p + 1, '\t', (size_t)(end - p - 1)))
		last = p;
	if (tab && blank < tab)
		f.status = *blank;
	if (!f.status || !(f.path = take_path(last + 1, (size_t)(end - last - 1))))
		return err_set(e, ERR_FAILED, "cannot read what git says of a changed file");
	d->v = xrealloc(d->v, d->n + 1, sizeof(*d->v));
	d->v[d->n++] = f;
	return 0;
}

/* Counts what a line changes. Between "diff --git" and the first "@@" there are lines that begin with "---" and
 * "+++" and are not content. */
static void count(struct patch_file *f, const char *line, size_t len, bool *in_hunk)
{
	f->lines++;
	if (begins(line, len, FILE_HEAD))
		*in_hunk = false;
	else if (begins(line, len, HUNK_HEAD))
		*in_hunk = true;
	else if (!*in_hunk)
		f->binary |= begins(line, len, "Binary files ");
	else if (len && line[0] == '+')
		f->added++;
	else if (len && line[0] == '-')
		f->removed++;
}

/* Whether git can print this line. What follows relies on it: no line of a diff looks like a comment. */
static bool is_possible(const char *line, size_t len, bool in_hunk)
{
	if (!len || begins(line, len, FILE_HEAD) || begins(line, len, HUNK_HEAD))
		return true;
	return in_hunk ? memchr(" +-\\", line[0], 4) != NULL : line[0] != '>' && line[0] != '#';
}

/* How many parts of the patch a file has: git shows a file that becomes a link as removed and added. */
static size_t parts_of(const struct patch_file *f)
{
	return f->status == 'T' ? 2 : 1;
}

static int take_patch(const char *p, const char *end, struct patch *d, struct err *e)
{
	size_t file = 0, parts = 0;
	bool in_hunk = false;

	for (size_t len; p < end; p = next_line(p, len, end)) {
		len = line_length(p, end);
		if (begins(p, len, FILE_HEAD)) {
			if (parts && parts == parts_of(&d->v[file]))
				file++, parts = 0;
			if (file >= d->n)
				return err_set(e, ERR_FAILED, "git's diff has one file too many");
			if (!parts++)
				d->v[file].start = (size_t)(p - d->text);
		} else if (!parts) {
			return err_set(e, ERR_FAILED, "git's diff does not begin with a file");
		}
		if (!is_possible(p, len, in_hunk))
			return err_set(e, ERR_FAILED, "git's diff has a line that is not part of a diff");
		count(&d->v[file], p, len, &in_hunk);
		d->v[file].end = (size_t)(next_line(p, len, end) - d->text);
	}
	if (d->n && (file != d->n - 1 || !parts || parts != parts_of(&d->v[file])))
		return err_set(e, ERR_FAILED, "git's diff is not complete");
	return 0;
}

int patch_parse(const char *text, size_t len, struct patch *ret, struct err *e)
{
	const char *p = text, *end = text + len;
	auto_patch d = { .text = text };

	while (p < end && *p == ':') {
		size_t n = line_length(p, end);

		if (take_raw(p, n, &d, e) < 0)
			return -1;
		p = next_line(p, n, end);
	}
	if (p < end && *p == '\n')
		p++;
	if (take_patch(p, end, &d, e) < 0)
		return -1;
	*ret = d;
	d = (struct patch){ 0 };
	return 0;
}

struct patch_walk patch_walk(const struct patch *d, size_t file)
{
	return (struct patch_walk){ .at = d->text + d->v[file].start, .end = d->text + d->v[file].end };
}

/* "@@ -12,3 +14,5 @@ name" */
static void begin_hunk(struct patch_walk *w, const char *line, size_t len)
{
	auto_str head = xstrndup(line, len < 100 ? len : 100);
	char *p = NULL;

	w->old = w->new = 0;
	if (begins(head, strlen(head), "@@ -"))
		w->old = strtoul(head + 4, &p, 10);
	p = p ? strchr(p, '+') : NULL;
	if (p)
		w->new = strtoul(p + 1, NULL, 10);
	w->in_hunk = true;
}

/* A line of content. An empty one is a blank line of the file that git printed without its mark. */
static void content(struct patch_walk *w, struct patch_line *l)
{
	char mark = l->len ? l->text[0] : ' ';

	if (mark == '\\') { /* "\ No newline at end of file" belongs to the line above */
		l->side = w->last.side;
		l->number = w->last.number;
		return;
	}
	l->side = mark == '-' ? PATCH_OLD : PATCH_NEW;
	l->number = mark == '-' ? w->old : w->new;
	w->old += mark != '+';
	w->new += mark != '-';
}

bool patch_next(struct patch_walk *w, struct patch_line *ret)
{
	struct patch_line l = { .text = w->at };

	if (w->at >= w->end)
		return false;
	l.len = line_length(w->at, w->end);
	w->at = next_line(w->at, l.len, w->end);
	l.begins_file = begins(l.text, l.len, FILE_HEAD);
	l.begins_hunk = begins(l.text, l.len, HUNK_HEAD);
	if (l.begins_file)
		w->in_hunk = false;
	else if (l.begins_hunk)
		begin_hunk(w, l.text, l.len);
	else if (w->in_hunk)
		content(w, &l);
	w->last = l;
	*ret = l;
	return true;
}
