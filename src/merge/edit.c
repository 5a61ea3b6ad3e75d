#include "merge/edit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "git/checkout.h"
#include "git/content.h"
#include "git/gitlinks.h"
#include "sys/fd.h"

#define DIFF_MAX (256u << 20)

void edits_release(struct edits *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	buf_release(&c->raw);
	*c = (struct edits){ 0 };
}

static struct edit *add(struct edits *c)
{
	if (!(c->n & (c->n - 1)))
		c->v = xrealloc(c->v, c->n ? 2 * c->n : 1, sizeof(*c->v));
	c->v[c->n] = (struct edit){ 0 };
	return &c->v[c->n++];
}

static int refuse_submodule(const char *path, struct err *e)
{
	return err_set(e, ERR_REFUSED,
		"it adds or removes a submodule ('%s') in a checkout, which is not supported yet", path);
}

int edits_load(const struct repo *r, const char *from, const char *to, struct edits *ret, struct err *e)
{
	auto_edits c = { .raw = BUF_INIT(DIFF_MAX) };
	int hex = 2 * (int)r->hash_len, got;
	struct diff_entry d;
	size_t at = 0;

	if (checkout_diff(r, from, to, DIFF_MAX, &c.raw, e) < 0 || content_check_diff(r, &c.raw, e) < 0)
		return -1;
	while ((got = diff_next(&c.raw, &at, r->hash_len, &d)) > 0) {
		bool was_link = d.old_mode == GITLINK_MODE, is_link = d.new_mode == GITLINK_MODE;
		struct edit *n = add(&c);

		if (was_link != is_link)
			return refuse_submodule(d.path, e);
		n->kind = is_link       ? EDIT_LINK
			  : !d.old_mode ? EDIT_ADD
			  : d.new_mode  ? EDIT_REPLACE
					: EDIT_REMOVE;
		n->old_mode = d.old_mode;
		n->new_mode = d.new_mode;
		snprintf(n->old_oid, sizeof(n->old_oid), "%.*s", hex, d.old_oid);
		snprintf(n->new_oid, sizeof(n->new_oid), "%.*s", hex, d.new_oid);
		n->path = xstrdup(d.path);
	}
	if (got < 0)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	*ret = c;
	c = (struct edits){ 0 };
	return 0;
}

struct edit *edits_find(const struct edits *c, const char *path, size_t len)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strncmp(c->v[mid].path, path, len);

		if (!order && !c->v[mid].path[len])
			return &c->v[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

struct mark mark_of(const struct stat *st)
{
	return (struct mark){ st->st_ino, st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_mode };
}

int mark_take(int dir, const char *name, struct mark *ret)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	*ret = mark_of(&st);
	return 0;
}

bool mark_same(const struct mark *a, const struct mark *b)
{
	return a->ino == b->ino && a->size == b->size && a->seconds == b->seconds && a->nanos == b->nanos &&
	       a->mode == b->mode;
}

static void put_mark(struct buf *out, const struct mark *m)
{
	buf_printf(out, " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %u", m->ino, m->size, m->seconds,
		m->nanos, m->mode);
}

int edits_write(int dir, const struct edits *c, struct err *e)
{
	auto_buf out = BUF_INIT(1u << 30);

	for (size_t i = 0; i < c->n; i++) {
		buf_printf(&out, "%c %zu", c->v[i].kind, c->v[i].kept);
		put_mark(&out, &c->v[i].was);
		put_mark(&out, &c->v[i].now);
		buf_printf(&out, " %s", c->v[i].path);
		buf_addch(&out, '\0');
	}
	if (out.overflow)
		return err_set(e, ERR_FAILED, "too many files change at once");
	return write_file(dir, "plan", buf_str(&out), out.len, 0600, e);
}

int edits_read(int dir, struct edits *ret, struct err *e)
{
	auto_edits c = { 0 };
	auto_buf text = BUF_INIT(1u << 30);

	if (read_file(dir, "plan", &text, e) < 0)
		return -1;
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		struct edit *n = add(&c);
		struct mark *w = &n->was, *i = &n->now;
		char kind = 0;
		int end = 0;

		sscanf(text.data + at,
			"%c %zu %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %u %" SCNu64 " %" SCNd64
			" %" SCNd64 " %" SCNd64 " %u%n",
			&kind, &n->kept, &w->ino, &w->size, &w->seconds, &w->nanos, &w->mode, &i->ino,
			&i->size, &i->seconds, &i->nanos, &i->mode, &end);
		if (!end || text.data[at + (size_t)end] != ' ')
			return err_set(e, ERR_FAILED, "the plan of an update is broken");
		n->kind = (enum edit_kind)kind;
		n->path = xstrdup(text.data + at + end + 1);
	}
	*ret = c;
	c = (struct edits){ 0 };
	return 0;
}
