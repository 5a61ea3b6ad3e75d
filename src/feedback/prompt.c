#include "feedback/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clean.h"

/* How much of the commented line is repeated. */
#define CODE_MAX 300

static void put_general(const struct comment_list *l, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		if (!l->v[i].placed || l->v[i].path)
			continue;
		buf_printf(out, "%s\n%s\n", any ? "" : "\nGeneral remarks:", l->v[i].text);
		any = true;
	}
}

static void put_path(struct buf *out, const char *path)
{
	size_t from = out->len;

	clean_text(out, path, strlen(path), false);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '\n')
			out->data[i] = ' ';
}

static void put_comment(const struct comment *c, struct buf *out)
{
	size_t n = strlen(c->code);

	put_path(out, c->path);
	if (c->line)
		buf_printf(out, ":%lu", c->line);
	buf_addstr(out, c->side == PATCH_OLD ? " (removed)\n" : "\n");
	if (n)
		buf_printf(out, "    %.*s%s\n", (int)(n < CODE_MAX ? n : CODE_MAX), c->code,
			n > CODE_MAX ? " ..." : "");
	buf_printf(out, "%s\n", c->text);
}

int prompt_write(const struct comment_list *l, const char *tip, struct buf *out, struct err *e)
{
	buf_printf(out, "The user has reviewed your commits up to %.12s. Please deal with these comments:\n",
		tip);
	put_general(l, out);
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].placed && l->v[i].path) {
			buf_addch(out, '\n');
			put_comment(&l->v[i], out);
		}
	return out->overflow || out->len > PROMPT_MAX
		       ? err_set(e, ERR_USAGE, "the comments are longer than %u kB", PROMPT_MAX >> 10)
		       : 0;
}

void prompt_carry(struct comment_list *l, const char *tip)
{
	for (size_t i = 0; i < l->n; i++) {
		auto_buf text = BUF_INIT(2 << 20);

		if (l->v[i].placed && l->v[i].path) {
			buf_printf(&text, "At %.12s, ", tip);
			put_comment(&l->v[i], &text);
			free(l->v[i].text);
			l->v[i].text = buf_steal(&text);
		}
		l->v[i].after = 0;
		l->v[i].path = NULL;
	}
}
