#include "plan/markdown.h"

#include <string.h>
#include <strings.h>

#include "base/path.h"

#define BEGIN "<!-- loom METADATA"
#define END   "<!-- END loom METADATA"

struct text {
	const char *at, *end;
};

/* The next line, without its end; t moves behind it. False at the end. */
static bool next_line(struct text *t, struct text *ret)
{
	const char *nl = t->at < t->end ? memchr(t->at, '\n', (size_t)(t->end - t->at)) : NULL;

	if (t->at == t->end)
		return false;
	*ret = (struct text){ t->at, nl ? nl : t->end };
	t->at = nl ? nl + 1 : t->end;
	if (ret->end > ret->at && ret->end[-1] == '\r')
		ret->end--;
	return true;
}

static size_t blanks(struct text t)
{
	size_t n = 0;

	while (t.at + n < t.end && (t.at[n] == ' ' || t.at[n] == '\t'))
		n++;
	return n;
}

static bool begins(struct text t, const char *word)
{
	return (size_t)(t.end - t.at) >= strlen(word) && !strncmp(t.at, word, strlen(word));
}

/* How many backquotes the line begins with, after its blanks. */
static size_t fence_of(struct text line)
{
	size_t from = blanks(line), n = 0;

	while (line.at + from + n < line.end && line.at[from + n] == '`')
		n++;
	return n;
}

static bool is_yaml_fence(struct text line)
{
	size_t n = fence_of(line);
	struct text rest = { line.at + blanks(line) + n, line.end };

	rest.at += blanks(rest);
	return n >= 3 && (begins(rest, "yaml") || begins(rest, "yml"));
}

static bool closes(struct text line, size_t length, size_t indent)
{
	size_t n = fence_of(line);
	struct text rest = { line.at + blanks(line) + n, line.end };

	return n >= length && blanks(line) < indent + 4 && rest.at + blanks(rest) == rest.end;
}

static bool is_end(struct text line, size_t indent)
{
	return blanks(line) < indent + 4 && begins((struct text){ line.at + blanks(line), line.end }, END);
}

/* Moves behind the line with the marker: the first line that begins with it, else the first that contains it. */
static bool find_marker(struct text *t, const char *marker, unsigned *line)
{
	const char *any;

	for (struct text rest = *t, l; next_line(&rest, &l);) {
		++*line;
		l.at += blanks(l);
		if (begins(l, marker))
			return *t = rest, true;
	}
	any = memmem(t->at, (size_t)(t->end - t->at), marker, strlen(marker));
	if (!any)
		return false;
	*line = 0;
	for (struct text l; t->at <= any && next_line(t, &l);)
		++*line;
	return true;
}

static bool ends_with(const char *file, const char *const *endings)
{
	for (; *endings; endings++)
		if (strlen(file) > strlen(*endings) &&
			!strcasecmp(file + strlen(file) - strlen(*endings), *endings))
			return true;
	return false;
}

bool markdown_is(const char *file, const char *text, size_t len)
{
	static const char *const markdown[] = { ".md", ".markdown", ".mdx", NULL }, *const yaml[] = { ".yaml",
		".yml", ".json", NULL };

	if (ends_with(path_base(file), markdown))
		return true;
	if (ends_with(path_base(file), yaml))
		return false;
	for (struct text t = { text, text + len }, l; next_line(&t, &l);)
		if (begins(l, BEGIN))
			return true;
	return false;
}

static int refuse(const char *file, unsigned line, const char *what, struct err *e)
{
	return err_set(e, ERR_CONFIG, "%s:%u:1: %s", file, line, what);
}

int markdown_find(const char *file, const char *text, size_t len, size_t *ret_at, size_t *ret_len,
	unsigned *ret_line, struct err *e)
{
	struct text t = { text, text + len }, all = t, l;
	unsigned line = 0, first;
	size_t length, indent;
	const char *yaml;

	if (!find_marker(&t, BEGIN, &line))
		return refuse(file, 1, "there is no plan in this Markdown: '" BEGIN " -->' is missing", e);
	first = line;
	if (!memmem(t.at, (size_t)(t.end - t.at), END, strlen(END)))
		return refuse(file, first, "'" END " -->' is missing after this line", e);
	do {
		if (!next_line(&t, &l) || is_end(l, 0))
			return refuse(file, first, "no block of '```yaml' between the two markers", e);
		line++;
	} while (!is_yaml_fence(l));
	length = fence_of(l);
	indent = blanks(l);
	yaml = t.at;
	first = line;
	for (;;) {
		const char *end = t.at;

		if (!next_line(&t, &l) || is_end(l, indent))
			return refuse(file, first, "this block of YAML does not end", e);
		if (!closes(l, length, indent))
			continue;
		*ret_at = (size_t)(yaml - all.at);
		*ret_len = (size_t)(end - yaml);
		*ret_line = first + 1;
		return 0;
	}
}
