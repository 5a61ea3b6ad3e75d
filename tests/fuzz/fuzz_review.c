/* Any diff of git's, a NUL, and any edited file: comments are placed on lines that exist, and what is written is read
 * back the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "feedback/comments.h"
#include "feedback/prompt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const struct annotated *a, const struct patch *p)
{
	size_t breaks = 0;

	for (size_t i = 0; i < a->text.len; i++)
		breaks += a->text.data[i] == '\n';
	if (breaks != a->n)
		abort();
	for (size_t i = 0; i < a->n; i++) {
		char first = a->v[i].len ? a->text.data[a->v[i].at] : ' ';

		if (a->v[i].file >= p->n || first == '>' || first == '#')
			abort();
	}
}

static void check_comments(const struct annotated *a, const struct comment_list *l)
{
	size_t lost = 0;

	for (size_t i = 0; i < l->n; i++) {
		lost += !l->v[i].placed;
		if (!l->v[i].text || !*l->v[i].text || l->v[i].after > a->n)
			abort();
		if (l->v[i].placed && (!l->v[i].path != !l->v[i].after || !l->v[i].code))
			abort();
	}
	if (lost != l->lost)
		abort();
}

/* Writes the comments at their places, and reads them again. */
static void write_and_read(const struct annotated *a, const struct patch *p, const struct comment_list *l)
{
	auto_comment_list again = { 0 };
	auto_buf out = BUF_INIT(64 << 20);
	size_t placed = 0, found = 0;

	comments_print(a, l, &out);
	comments_read(a, p, buf_str(&out), out.len, &again);
	for (size_t i = 0; i < l->n; i++)
		placed += l->v[i].after > 0;
	for (size_t i = 0; i < again.n; i++)
		found += again.v[i].after > 0;
	/* two comments on one line become one */
	if (again.lost || found > placed || (placed && !found))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t len = nul ? (size_t)(nul - data) : size;
	auto_buf prompt = BUF_INIT(2 * PROMPT_MAX);
	char tip[OID_SIZE], fork[OID_SIZE];
	auto_comment_list l = { 0 };
	auto_annotated a = { 0 };
	struct err e = ERR_INIT;
	auto_patch p = { 0 };

	if (patch_parse((const char *)data, len, &p, &e) < 0 || annotated_build(&p, "fix", &a, &e) < 0)
		return 0;
	check_lines(&a, &p);
	if (!nul)
		return 0;
	annotated_ids((const char *)nul + 1, size - len - 1, tip, fork);
	comments_read(&a, &p, (const char *)nul + 1, size - len - 1, &l);
	check_comments(&a, &l);
	write_and_read(&a, &p, &l);
	prompt_write(&l, "0123456789abcdef", &prompt, &e);
	prompt_carry(&l, "0123456789abcdef");
	return 0;
}
