#include "fsmonitor/report.h"

#include "git/index.h"

struct side {
	struct index_reader r;
	struct index_entry entry;
	int more;
};

static int side_open(struct side *s, struct bytes b, unsigned hash_len, struct err *e)
{
	return index_open(&s->r, b.data, b.len, hash_len, e);
}

static int side_next(struct side *s, struct err *e)
{
	s->more = index_next(&s->r, &s->entry, e);
	return s->more;
}

static int base_next(struct side *base, struct known *known, struct err *e)
{
	if (side_next(base, e) > 0 && base->r.version < 4)
		known_add_base(known, base->entry.path);
	return base->more;
}

/* git's order: by the bytes of the path, then by stage. */
static int entry_cmp(const struct index_entry *a, const struct index_entry *b)
{
	size_t len = a->path_len < b->path_len ? a->path_len : b->path_len;
	int c = memcmp(a->path, b->path, len);

	if (c)
		return c;
	if (a->path_len != b->path_len)
		return a->path_len < b->path_len ? -1 : 1;
	return (int)a->stage - (int)b->stage;
}

static bool same_thing(const struct index_entry *a, const struct index_entry *b, unsigned hash_len)
{
	return a->mode == b->mode && a->intent_to_add == b->intent_to_add &&
	       memcmp(a->oid, b->oid, hash_len) == 0;
}

static int compare(struct side *base, struct side *own, struct buf *out, struct known *known, struct err *e)
{
	if (base_next(base, known, e) < 0)
		return -1;
	while (side_next(own, e) > 0) {
		int c = 1;

		while (base->more > 0 && (c = entry_cmp(&base->entry, &own->entry)) < 0)
			if (base_next(base, known, e) < 0)
				return -1;
		if (base->more == 0 || c > 0 || !same_thing(&base->entry, &own->entry, own->r.hash_len))
			buf_add(out, own->entry.path, own->entry.path_len + 1);
	}
	while (own->more == 0 && base->more > 0)
		base_next(base, known, e);
	if (own->more < 0 || base->more < 0)
		return -1;
	return out->overflow ? err_set(e, ERR_FAILED, "the index has too many changes to list") : 0;
}

static int report(struct bytes base, struct bytes own, unsigned hash_len, struct buf *out,
	struct known *known, struct err *e)
{
	struct side b = { .more = 0 }, o = { .more = 0 };
	int ret = -1;

	if (side_open(&b, base, hash_len, e) == 0 && side_open(&o, own, hash_len, e) == 0)
		ret = compare(&b, &o, out, known, e);
	if (ret == 0) {
		size_t len = 0;
		const unsigned char *cache = index_extension(&o.r, "UNTR", &len);

		/* the names of version 4 are freed with their reader */
		known->base_whole = b.r.version < 4;
		known_add_cache(known, cache, len, hash_len);
	}
	index_close(&b.r);
	index_close(&o.r);
	return ret;
}

int report_index(struct bytes base, struct bytes own, struct buf *out, struct known *ret, struct err *e)
{
	size_t start = out->len;

	if (report(base, own, 20, out, ret, e) == 0)
		return 0;
	if (out->overflow)
		return -1;
	buf_cut(out, start);
	known_release(ret);
	return report(base, own, 32, out, ret, e);
}
