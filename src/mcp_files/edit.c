#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"

#define EDITS_MAX    1000
#define REPLACED_MAX 10000

/* The text that is edited, with "\n" as the only line end. For each line end it is known whether the file has "\r\n". */
struct text {
	struct buf now;
	bool *cr; /* of the n-th line end */
	size_t n;
	bool crlf; /* most of them are: new lines end like that */
};

static void text_release(struct text *t)
{
	buf_release(&t->now);
	free(t->cr);
}

static void add_normal(struct buf *out, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != '\r' || i + 1 == len || data[i + 1] != '\n')
			buf_addch(out, data[i]);
}

static size_t count_lines(const char *data, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += data[i] == '\n';
	return n;
}

static void text_take(struct text *t, const struct buf *file)
{
	const char *data = buf_str(file);
	size_t crs = 0;

	t->now = (struct buf)BUF_INIT(2 * FILES_TEXT_MAX);
	t->cr = xcalloc(count_lines(data, file->len) + 1, sizeof(*t->cr));
	for (size_t i = 0; i < file->len; i++) {
		if (data[i] != '\n')
			continue;
		t->cr[t->n] = i && data[i - 1] == '\r';
		crs += t->cr[t->n++];
	}
	t->crlf = 2 * crs > t->n;
	add_normal(&t->now, data, file->len);
}

/* Restores the line ends of the file. */
static void text_give(const struct text *t, struct buf *out)
{
	size_t line = 0;

	for (size_t i = 0; i < t->now.len; i++) {
		if (t->now.data[i] == '\n' && t->cr[line++])
			buf_addch(out, '\r');
		buf_addch(out, t->now.data[i]);
	}
}

/* Replaces len bytes at a place. */
static void splice(struct text *t, size_t at, size_t len, const struct buf *new)
{
	size_t before = count_lines(buf_str(&t->now), at), gone = count_lines(buf_str(&t->now) + at, len);
	size_t come = count_lines(buf_str(new), new->len), n = t->n - gone + come;
	auto_buf out = BUF_INIT(t->now.max);
	bool *cr = xcalloc(n + 1, sizeof(*cr));

	memcpy(cr, t->cr, before * sizeof(*cr));
	memset(cr + before, t->crlf, come * sizeof(*cr));
	memcpy(cr + before + come, t->cr + before + gone, (t->n - before - gone) * sizeof(*cr));
	free(t->cr);
	t->cr = cr;
	t->n = n;
	buf_add(&out, buf_str(&t->now), at);
	buf_add(&out, buf_str(new), new->len);
	buf_add(&out, buf_str(&t->now) + at + len, t->now.len - at - len);
	buf_release(&t->now);
	t->now = out;
	out = (struct buf)BUF_INIT(0);
}

static size_t line_of(const char *text, const char *at)
{
	size_t n = 1;

	for (; text < at; text++)
		n += *text == '\n';
	return n;
}

static int refuse_many(struct mcp_call *c, const char *path, const struct buf *lines, size_t n)
{
	return tool_refuse(c, "ambiguous", path,
		"oldText is found %zu times (lines %s): add lines around it until it is found once, or set replaceAll",
		n, buf_str(lines));
}

/* Exact matches. Returns how many there are; -1: refused. */
static int edit_exact(struct mcp_call *c, const char *path, struct text *t, const struct buf *old,
	const struct buf *new, bool all)
{
	auto_buf lines = BUF_INIT(60);
	size_t n = 0, at = 0, last = 0;
	const char *next;

	while ((next = memmem(buf_str(&t->now) + at, t->now.len - at, buf_str(old), old->len))) {
		last = (size_t)(next - buf_str(&t->now));
		if (lines.len < 40)
			buf_printf(&lines, "%s%zu", n ? ", " : "", line_of(buf_str(&t->now), next));
		if (++n > REPLACED_MAX)
			return tool_refuse(
				c, "ambiguous", path, "oldText is found more than %d times", REPLACED_MAX);
		/* overlapping matches are ambiguous too */
		at = last + (all ? new->len : 1);
		if (all)
			splice(t, last, old->len, new);
		if (t->now.overflow)
			break;
	}
	if (!all && n > 1)
		return refuse_many(c, path, &lines, n);
	if (!all && n)
		splice(t, last, old->len, new);
	return (int)n;
}

struct span {
	const char *at;
	size_t len;
};

static struct span *split(const char *text, size_t len, size_t *ret_n)
{
	size_t n = count_lines(text, len) + 1, i = 0;
	struct span *v = xcalloc(n, sizeof(*v));
	const char *end = text + len;

	for (const char *p = text; i < n; i++) {
		const char *stop = i + 1 < n ? memchr(p, '\n', (size_t)(end - p)) : end;

		v[i] = (struct span){ p, (size_t)(stop - p) };
		p = stop + 1;
	}
	*ret_n = n;
	return v;
}

static struct span trim(struct span s)
{
	while (s.len && isspace((unsigned char)*s.at))
		s.at++, s.len--;
	while (s.len && isspace((unsigned char)s.at[s.len - 1]))
		s.len--;
	return s;
}

static size_t indent(struct span s)
{
	return (size_t)(trim(s).at - s.at) * (trim(s).len != 0) + s.len * (trim(s).len == 0);
}

static bool same_words(struct span a, struct span b)
{
	a = trim(a);
	b = trim(b);
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* Indents the new lines like the old ones, as server-filesystem does it. */
static void add_indented(struct buf *out, struct span first, const struct span *old, size_t nold,
	const struct span *new, size_t nnew)
{
	for (size_t j = 0; j < nnew; j++) {
		size_t was = j < nold ? indent(old[j]) : 0, is = indent(new[j]);

		if (j)
			buf_addch(out, '\n');
		if (!j || (was && is))
			buf_add(out, first.at, indent(first));
		for (size_t k = was; j && was && is && k < is; k++)
			buf_addch(out, ' ');
		if (!j || (was && is))
			buf_add(out, new[j].at + is, new[j].len - is);
		else
			buf_add(out, new[j].at, new[j].len);
	}
}

/* Finds lines that differ only in blanks at their ends. Returns how many such places there are; -1: refused. */
static int edit_lines(
	struct mcp_call *c, const char *path, struct text *t, const struct buf *old, const struct buf *new)
{
	size_t nt, no, nn, found = 0, place = 0;
	struct span *now = split(buf_str(&t->now), t->now.len, &nt), *o = split(buf_str(old), old->len, &no);
	struct span *n = split(buf_str(new), new->len, &nn);
	auto_buf lines = BUF_INIT(60), out = BUF_INIT(t->now.max);

	for (size_t i = 0; i + no <= nt; i++) {
		size_t j = 0;

		while (j < no && same_words(now[i + j], o[j]))
			j++;
		if (j < no)
			continue;
		if (lines.len < 40)
			buf_printf(&lines, "%s%zu", found ? ", " : "", i + 1);
		place = i;
		found++;
	}
	if (found == 1) {
		const char *from = now[place].at, *to = now[place + no - 1].at + now[place + no - 1].len;

		add_indented(&out, now[place], o, no, n, nn);
		splice(t, (size_t)(from - buf_str(&t->now)), (size_t)(to - from), &out);
	}
	free(now);
	free(o);
	free(n);
	return found > 1 ? refuse_many(c, path, &lines, found) : (int)found;
}

static int edit_once(struct mcp_call *c, const char *path, struct text *t, const json_t *edit)
{
	const json_t *from = json_object_get(edit, "oldText"), *to = json_object_get(edit, "newText");
	auto_buf old = BUF_INIT(FILES_TEXT_MAX), new = BUF_INIT(FILES_TEXT_MAX);
	int n;

	if (!json_is_string(from) || !json_is_string(to))
		return tool_refuse(c, "bad_arguments", path, "an edit needs the strings oldText and newText");
	add_normal(&old, json_string_value(from), json_string_length(from));
	add_normal(&new, json_string_value(to), json_string_length(to));
	if (!old.len && t->now.len)
		return tool_refuse(c, "ambiguous", path, "oldText is empty: it is found everywhere");
	if (!old.len) {
		splice(t, 0, 0, &new);
		return 0;
	}
	n = edit_exact(c, path, t, &old, &new, json_is_true(json_object_get(edit, "replaceAll")));
	if (!n)
		n = edit_lines(c, path, t, &old, &new);
	if (!n)
		return tool_refuse(
			c, "no_match", path, "Could not find exact match for edit: %.300s", buf_str(&old));
	return n < 0 || t->now.overflow
		       ? (n < 0 ? -1 : tool_refuse(c, "too_large", path, "the file would be too large"))
		       : 0;
}

/* Prints it in a code fence that is longer than any in the difference. */
static void tell(struct mcp_call *c, const char *path, const struct buf *before, const struct buf *after)
{
	auto_buf diff = BUF_INIT(4 * FILES_TEXT_MAX), out = BUF_INIT(4 * FILES_TEXT_MAX);
	auto_str shown = path_shown(c->ctx, path);
	char fence[65] = "```";

	diff_text(&diff, shown, buf_str(before), before->len, buf_str(after), after->len);
	while (strlen(fence) < 64 && strstr(buf_str(&diff), fence))
		strncat(fence, "`", 2);
	buf_printf(&out, "%sdiff\n", fence);
	buf_add(&out, buf_str(&diff), diff.len);
	buf_printf(&out, "%s\n\n", fence);
	mcp_text(c, buf_str(&out), out.len);
}

static int edit_all(struct mcp_call *c, const char *path, struct text *t)
{
	json_t *edits = json_object_get(c->args, "edits"), *edit;
	size_t i;

	if (json_array_size(edits) > EDITS_MAX)
		return tool_refuse(c, "bad_arguments", path, "at most %d edits are made at once", EDITS_MAX);
	json_array_foreach(edits, i, edit)
	{
		if (edit_once(c, path, t, edit) < 0)
			return -1;
	}
	return 0;
}

void tool_edit(struct mcp_call *c)
{
	auto_buf file = BUF_INIT(FILES_TEXT_MAX), before = BUF_INIT(FILES_TEXT_MAX),
		 out = BUF_INIT(4 * FILES_TEXT_MAX);
	__attribute__((cleanup(text_release))) struct text t = { 0 };
	auto_str path = arg_path(c, "path");
	auto_target p = TARGET_INIT;
	struct stat st;

	if (!path || target_find(c, path, true, &p) < 0 || read_whole(c, p.path, &file, &st) < 0 ||
		check_utf8(c, p.path, buf_str(&file), file.len) < 0 ||
		check_hash(c, p.path, buf_str(&file), file.len) < 0)
		return;
	text_take(&t, &file);
	buf_add(&before, buf_str(&t.now), t.now.len);
	if (edit_all(c, p.path, &t) < 0)
		return;
	text_give(&t, &out);
	if (arg_flag(c, "dryRun") || !replace_file(c, &p, buf_str(&out), out.len, st.st_mode & 0777))
		tell(c, p.path, &before, &t.now);
}
