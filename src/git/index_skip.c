#include "git/index_skip.h"

#include <stdint.h>
#include <string.h>

#include "git/index.h"
#include "sys/digest.h"

#define HEADER_LEN    12
#define STAT_LEN      40
#define FLAG_EXTENDED 0x4000u
#define EXT_SKIP      0x4000u
#define MODE_GITLINK  0160000u

static void put16(struct buf *out, unsigned n)
{
	const unsigned char b[] = { (unsigned char)(n >> 8), (unsigned char)n };

	buf_add(out, b, sizeof(b));
}

static unsigned get16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* An index that is being written. */
struct writing {
	struct index_reader *r;
	struct buf *out;
	size_t start;
	bool changed,
		extended; /* some flag differs; an entry has extended flags, which version 2 cannot have */
};

/* Copies an entry, which begins at p, with or without the flag. */
static void put_entry(struct writing *w, const unsigned char *p, const struct index_entry *ent, bool skip)
{
	const struct index_reader *r = w->r;
	size_t fixed = STAT_LEN + r->hash_len, begin = w->out->len;
	unsigned flags = get16(p + fixed), more = flags & FLAG_EXTENDED ? get16(p + fixed + 2) : 0;
	const unsigned char *name = p + fixed + 2 + (flags & FLAG_EXTENDED ? 2 : 0);

	more = skip ? more | EXT_SKIP : more & ~EXT_SKIP;
	buf_add(w->out, p, fixed);
	put16(w->out, more ? flags | FLAG_EXTENDED : flags & ~FLAG_EXTENDED);
	if (more)
		put16(w->out, more);
	w->extended |= more != 0;
	if (r->version == 4) {
		/* the name depends on the one before, which stays where it is */
		buf_add(w->out, name, (size_t)(r->at - name));
		return;
	}
	buf_add(w->out, name, ent->path_len);
	/* one to eight NULs */
	do
		buf_addch(w->out, '\0');
	while ((w->out->len - begin) % 8);
}

static int put_entries(struct writing *w, index_skip_fn *wants, void *arg, struct err *e)
{
	const unsigned char *p = w->r->at;
	struct index_entry ent;
	int more;

	while ((more = index_next(w->r, &ent, e)) > 0) {
		bool skip = ent.skip_worktree;

		if (!ent.stage && (ent.mode & 0170000) != MODE_GITLINK)
			skip = wants(ent.path, ent.skip_worktree, arg);
		w->changed |= skip != ent.skip_worktree;
		put_entry(w, p, &ent, skip);
		p = w->r->at;
	}
	return more;
}

/* All but those with offsets of entries, which git can do without. index_next has checked their lengths. */
static void put_extensions(struct writing *w)
{
	const struct index_reader *r = w->r;
	size_t len;

	for (const unsigned char *p = r->at; p < r->end; p += 8 + len) {
		len = (size_t)p[4] << 24 | (size_t)p[5] << 16 | (size_t)p[6] << 8 | p[7];
		if (memcmp(p, "EOIE", 4) != 0 && memcmp(p, "IEOT", 4) != 0)
			buf_add(w->out, p, 8 + len);
	}
}

/* A hash of zeros means that the index was written with index.skipHash; it stays so. */
static void put_trailer(struct writing *w)
{
	static const unsigned char zero[DIGEST_MAX];
	unsigned char sum[DIGEST_MAX] = { 0 };

	if (memcmp(w->r->end, zero, w->r->hash_len) != 0)
		digest_of(w->r->hash_len, w->out->data + w->start, w->out->len - w->start, sum);
	buf_add(w->out, sum, w->r->hash_len);
}

static int rewrite(struct writing *w, index_skip_fn *wants, void *arg, struct err *e)
{
	buf_add(w->out, w->r->data, HEADER_LEN);
	if (put_entries(w, wants, arg, e) < 0)
		return -1;
	put_extensions(w);
	if (!w->out->overflow && w->changed) {
		if (w->r->version < 4)
			w->out->data[w->start + 7] = w->extended ? 3 : 2;
		put_trailer(w);
	}
	return w->out->overflow ? err_set(e, ERR_FAILED, "the git index is too large") : 0;
}

int index_skip(const void *data, size_t len, unsigned hash_len, index_skip_fn *wants, void *arg,
	struct buf *out, bool *ret_changed, struct err *e)
{
	struct index_reader r;
	struct writing w = { .r = &r, .out = out, .start = out->len };
	int rc = index_open(&r, data, len, hash_len, e) < 0 ? -1 : rewrite(&w, wants, arg, e);

	index_close(&r);
	if (rc < 0 || !w.changed)
		buf_cut(out, w.start);
	if (!rc)
		*ret_changed = w.changed;
	return rc;
}
