#include "git/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ASK_MAX (16u << 20)

/* The answer at *at: its bytes, or NULL for a missing object; false at the end. */
static bool next(const struct buf *out, size_t *at, const char **ret, size_t *len)
{
	const char *line = buf_str(out) + *at;
	const char *end = *at < out->len ? memchr(line, '\n', out->len - *at) : NULL;
	const char *last;

	if (!end)
		return false;
	*ret = NULL;
	*at += (size_t)(end - line) + 1;
	for (last = end; last > line && last[-1] != ' '; last--)
		;
	if (last == line || !strncmp(last, "missing", 7))
		return true;
	*len = strtoul(last, NULL, 10);
	if (*len > out->len - *at)
		return false;
	*ret = buf_str(out) + *at;
	*at += *len + 1;
	return true;
}

/* One question per name, so that the answers can be counted; "-" names no object. */
static void ask_for(const struct strvec *names, struct buf *ask)
{
	for (size_t i = 0; i < names->n; i++)
		buf_printf(ask, "%s\n", strchr(names->v[i], '\n') ? "-" : names->v[i]);
}

int blob_sizes(const struct git *g, const struct strvec *names, int64_t **ret, struct err *e)
{
	auto_buf ask = BUF_INIT(ASK_MAX), out = BUF_INIT(ASK_MAX);
	auto_strvec args = STRVEC_INIT;
	int64_t *sizes = xcalloc(names->n + 1, sizeof(*sizes));
	const char *line;

	for (size_t i = 0; i < names->n; i++)
		sizes[i] = -1;
	*ret = sizes;
	ask_for(names, &ask);
	if (!ask.len)
		return 0;
	strvec_pushl(&args, "cat-file", "--batch-check=%(objectsize)", NULL);
	if (git_run(g, &args, &ask, &out, e) < 0)
		return free(sizes), -1;
	line = buf_str(&out);
	for (size_t i = 0; i < names->n && *line; i++, line += strcspn(line, "\n"), line += *line == '\n')
		if (strspn(line, "0123456789") == strcspn(line, "\n"))
			sizes[i] = strtoll(line, NULL, 10);
	return 0;
}

int blob_read(const struct git *g, const struct strvec *names, blob_fn *fn, void *arg, struct err *e)
{
	auto_buf ask = BUF_INIT(ASK_MAX), out = BUF_INIT(64 << 20);
	auto_strvec args = STRVEC_INIT;
	size_t at = 0, len = 0;
	const char *blob;

	ask_for(names, &ask);
	if (!ask.len)
		return 0;
	strvec_pushl(&args, "cat-file", "--batch", NULL);
	if (git_run(g, &args, &ask, &out, e) < 0)
		return -1;
	for (size_t i = 0; i < names->n && next(&out, &at, &blob, &len); i++)
		if (blob && fn(i, blob, len, arg, e) < 0)
			return -1;
	return 0;
}
