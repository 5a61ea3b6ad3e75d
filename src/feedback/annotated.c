#include "feedback/annotated.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "feedback/fold.h"

#define TEXT_MAX    (128u << 20)
#define NAMES_SHOWN 20
#define IDS         "# garth-review 1 "

void annotated_release(struct annotated *a)
{
	buf_release(&a->text);
	free(a->v);
	free(a->folded);
	*a = (struct annotated){ 0 };
}

/* Appends somebody else's text, cleaned and on one line. */
static void put_clean(struct buf *out, const char *text, size_t len)
{
	size_t from = out->len;

	clean_text(out, text, len < ANNOTATED_LINE_MAX ? len : ANNOTATED_LINE_MAX, false);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '\n')
			out->data[i] = ' ';
	if (len > ANNOTATED_LINE_MAX)
		buf_printf(out, " ... (%zu more bytes)", len - ANNOTATED_LINE_MAX);
}

static struct annotated_line *add_line(struct annotated *a, size_t *room)
{
	if (a->n == *room) {
		*room = *room ? *room * 2 : 256;
		a->v = xrealloc(a->v, *room, sizeof(*a->v));
	}
	a->v[a->n] = (struct annotated_line){ .at = a->text.len };
	return &a->v[a->n++];
}

static void end_line(struct annotated *a, struct annotated_line *l)
{
	l->len = a->text.len - l->at;
	buf_addch(&a->text, '\n');
}

/* A path for a command that the user copies: in quotes, which nothing in it can end. */
static void put_word(struct buf *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
	auto_buf quoted = BUF_SMALL;

	if (!path[strspn(path, plain)] && path[0] != '-') {
		buf_addstr(out, path);
		return;
	}
	buf_addstr(&quoted, path[0] == '-' ? "-- '" : "'");
	for (; *path; path++)
		*path == '\'' ? buf_addstr(&quoted, "'\\''") : buf_addch(&quoted, *path);
	buf_addch(&quoted, '\'');
	put_clean(out, buf_str(&quoted), quoted.len);
}

/* "folded (lock file): +120 -3, garth diff --published fix go.sum" */
static void add_folded(struct annotated *a, const struct patch_file *f, size_t file, const char *why,
	const char *task, size_t *room)
{
	struct annotated_line *l = add_line(a, room);

	l->file = file;
	buf_printf(&a->text, "folded (%s): ", why);
	if (!f->binary)
		buf_printf(&a->text, "+%zu -%zu, ", f->added, f->removed);
	buf_printf(&a->text, "garth diff --published %s ", task);
	put_word(&a->text, f->path);
	end_line(a, l);
}

static void add_file(struct annotated *a, const struct patch *d, size_t file, const char *task, size_t *room)
{
	struct patch_walk w = patch_walk(d, file);
	const char *why = a->folded[file];
	struct patch_line in;

	while (patch_next(&w, &in)) {
		struct annotated_line *l = add_line(a, room);

		l->file = file;
		l->side = in.side;
		l->number = in.number;
		l->begins_file = in.begins_file;
		l->begins_hunk = in.begins_hunk;
		put_clean(&a->text, in.text, in.len);
		end_line(a, l);
		if (why) {
			add_folded(a, &d->v[file], file, why, task, room);
			return;
		}
	}
}

int annotated_build(const struct patch *d, const char *task, struct annotated *ret, struct err *e)
{
	auto_annotated a = { .text = BUF_INIT(TEXT_MAX) };
	size_t shown = 0, room = 0;

	a.files = d->n;
	a.folded = xcalloc(d->n + 1, sizeof(*a.folded));
	for (size_t i = 0; i < d->n; i++) {
		a.added += d->v[i].added;
		a.removed += d->v[i].removed;
		a.folded[i] = fold_why(&d->v[i], &shown);
		add_file(&a, d, i, task, &room);
	}
	if (a.text.overflow)
		return err_set(e, ERR_FAILED, "the diff is too long to be reviewed in one file");
	*ret = a;
	a = (struct annotated){ 0 };
	return 0;
}

static void put_list(struct buf *out, const struct strvec *names)
{
	for (size_t i = 0; i < names->n && i < NAMES_SHOWN; i++) {
		buf_addstr(out, "#   ");
		put_clean(out, names->v[i], strlen(names->v[i]));
		buf_addch(out, '\n');
	}
	if (names->n > NAMES_SHOWN)
		buf_printf(out, "#   and %zu more\n", names->n - NAMES_SHOWN);
}

static void put_how(struct buf *out)
{
	buf_addstr(out,
		"#\n"
		"# Comments are lines that begin with >. Put each one below the line that it is about.\n"
		"# Comments above the first file are general remarks. Leave the other lines as they are.\n"
		"#\n"
		"# When the editor ends, the comments go to the agent; without comments nothing is sent.\n"
		"#\n"
		"# The next line says which commits are shown:\n");
}

/* Editors obey settings in the first and last lines of a file: vim in 5 lines, others in 10, Emacs in the last page. So
 * the agent's text is not there: the heading begins, and the file ends, with at least 10 lines from Garth, and those at
 * the end are a page. */
void annotated_tail(const struct annotated_heading *h, struct buf *out)
{
	if (h->read_only)
		return;
	buf_printf(out,
		"\f\n"
		"# The diff ends here. Comments below are general remarks.\n"
		"#\n"
		"# To send the comments:         save the file and leave the editor\n"
		"# To send nothing:              leave without comments\n"
		"# To keep them for later:       leave with an error (vim: \":cq\")\n"
		"#\n"
		"# When nothing is left to say, merge or discard what was shown:\n"
		"#\n"
		"#   garth review --approve %s\n"
		"#   garth review --reject REASON %s\n",
		h->task, h->task);
}

void annotated_head(const struct annotated *a, const struct annotated_heading *h, struct buf *out)
{
	size_t n = h->commits->n, u = h->uncommitted->n;

	buf_printf(out, "# Review of task '%s': %zu commit%s, %zu file%s, +%zu -%zu\n", h->task, n,
		n == 1 ? "" : "s", a->files, a->files == 1 ? "" : "s", a->added, a->removed);
	if (!h->read_only) {
		put_how(out);
		buf_printf(out, IDS "%s %s\n", h->tip, h->fork);
	}
	if (n)
		buf_addstr(out, "#\n# Commits, the newest first:\n");
	put_list(out, h->commits);
	if (u)
		buf_printf(out, "#\n# %zu uncommitted file%s not in this review (garth diff %s):\n", u,
			u == 1 ? " is" : "s are", h->task);
	put_list(out, h->uncommitted);
	buf_addch(out, '\n');
}

/* Copies the hexadecimal digits at p, up to a length that an id has. */
static bool take_id(const char **p, const char *end, char out[OID_SIZE])
{
	size_t n = 0;

	while (*p + n < end && n < OID_SIZE - 1 && memchr("0123456789abcdef", (*p)[n], 16))
		n++;
	if (n != 40 && n != 64)
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n;
	return true;
}

bool annotated_ids(const char *text, size_t len, char tip[OID_SIZE], char fork[OID_SIZE])
{
	const char *end = text + len;
	size_t n = strlen(IDS);

	for (const char *p = text, *next; p < end; p = next + 1) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next : end;
		if ((size_t)(next - p) > n && !memcmp(p, IDS, n)) {
			p += n;
			return take_id(&p, next, tip) && p < next && *p++ == ' ' && take_id(&p, next, fork);
		}
		/* the heading is over */
		if ((size_t)(next - p) >= 5 && !memcmp(p, "diff ", 5))
			return false;
	}
	return false;
}
