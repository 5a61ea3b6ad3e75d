/* "c1", "c2", "t1" or "t2" (commit or tree, SHA-1 or SHA-256), and any bytes as that object: taking it apart
 * ends, and what a strict look lets pass is what git itself would write. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "publish/walk_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tree(const struct tree *t, unsigned hash_len)
{
	const char *end = t->data.data + t->data.len;

	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->v[i].name;

		if (name < t->data.data || name >= end || (const char *)t->v[i].oid + hash_len > end)
			abort();
		if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
			!strcasecmp(name, ".git"))
			abort();
		if (i && strcmp(t->v[i - 1].name, name) >= 0)
			abort();
	}
}

static void look_at_tree(const uint8_t *data, size_t size, unsigned hash_len)
{
	for (int strict = 0; strict < 2; strict++) {
		auto_tree t = { .data = BUF_INIT(1 << 20) };

		buf_add(&t.data, (const char *)data, size);
		if (!tree_parse(&t, hash_len, strict) && strict)
			check_tree(&t, hash_len);
	}
}

static void look_at_commit(const uint8_t *data, size_t size, unsigned hash_len)
{
	auto_buf text = BUF_INIT(1 << 20);
	auto_commit c = { 0 };

	buf_add(&text, (const char *)data, size);
	if (commit_parse(&c, &text, hash_len))
		return;
	if (strlen(c.tree) != 2 * (size_t)hash_len || c.nparents > COMMIT_PARENTS_MAX || !c.author ||
		!c.committer || c.message < text.data || c.message > text.data + text.len)
		abort();
	for (size_t i = 0; i < c.nparents; i++)
		if (strlen(c.parents[i]) != 2 * (size_t)hash_len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned hash_len = size > 1 && data[1] == '2' ? 32 : 20;

	if (size < 2 || size > 1 << 16)
		return 0;
	if (data[0] == 'c')
		look_at_commit(data + 2, size - 2, hash_len);
	else
		look_at_tree(data + 2, size - 2, hash_len);
	return 0;
}
