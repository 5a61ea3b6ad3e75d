/* The texts of a journal as JSON. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "merge/journal.h"

json_t *journal_pack(const char *s)
{
	auto_buf b = BUF_INIT(1 << 20);

	for (; *s; s++) {
		if ((unsigned char)*s >= 0x80 || *s == '%')
			buf_printf(&b, "%%%02X", (unsigned char)*s);
		else
			buf_addch(&b, *s);
	}
	return json_string(buf_str(&b));
}

char *journal_unpack(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	auto_buf b = BUF_INIT(1 << 20);

	for (; s && *s; s++) {
		char hex[3] = { s[0] == '%' ? s[1] : '\0', s[0] == '%' && s[1] ? s[2] : '\0', '\0' };

		if (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
			buf_addch(&b, (char)strtoul(hex, NULL, 16));
			s += 2;
		} else {
			buf_addch(&b, *s);
		}
	}
	return buf_steal(&b);
}

void journal_links_release(struct journal_links *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct journal_link *x = &l->v[i];
		char *const all[] = { x->path, x->from, x->to, x->how, x->head, x->top, x->admin,
			x->git_dir };

		for (size_t k = 0; k < ARRAY_SIZE(all); k++)
			free(all[k]);
	}
	free(l->v);
	*l = (struct journal_links){ 0 };
}

struct journal_link *journal_add_link(struct journal_links *l)
{
	struct journal_link *n;

	l->v = xrealloc(l->v, l->n + 1, sizeof(*l->v));
	n = &l->v[l->n++];
	*n = (struct journal_link){ xstrdup(""), xstrdup(""), xstrdup(""), xstrdup(""), xstrdup(""),
		xstrdup(""), xstrdup(""), xstrdup("") };
	return n;
}

json_t *journal_links_pack(const struct journal_links *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct journal_link *x = &l->v[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
				      journal_pack(x->path), "old", journal_pack(x->from), "new",
				      journal_pack(x->to), "checkout", journal_pack(x->how), "head",
				      journal_pack(x->head), "top", journal_pack(x->top), "git_dir",
				      journal_pack(x->admin), "repository", journal_pack(x->git_dir)));
	}
	return list;
}

void journal_links_unpack(const json_t *list, struct journal_links *ret)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);

		ret->v = xrealloc(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = (struct journal_link){ journal_unpack(o, "path"), journal_unpack(o, "old"),
			journal_unpack(o, "new"), journal_unpack(o, "checkout"), journal_unpack(o, "head"),
			journal_unpack(o, "top"), journal_unpack(o, "git_dir"),
			journal_unpack(o, "repository") };
	}
}
