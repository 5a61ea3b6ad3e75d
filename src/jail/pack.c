#include "jail/pack.h"

#include "base/alloc.h"

void pack_num(struct buf *out, uint64_t n)
{
	buf_add(out, &n, sizeof(n));
}

/* The length counts the NUL, so that 0 can mean NULL. */
void pack_str(struct buf *out, const char *s)
{
	size_t len = s ? strlen(s) + 1 : 0;

	pack_num(out, len);
	if (len)
		buf_add(out, s, len);
}

void pack_strvec(struct buf *out, const struct strvec *v)
{
	pack_num(out, v->n);
	for (size_t i = 0; i < v->n; i++)
		pack_str(out, v->v[i]);
}

static uint64_t refuse(struct pack_reader *r)
{
	r->bad = true;
	r->left = 0;
	return 0;
}

uint64_t pack_read_num(struct pack_reader *r, uint64_t max)
{
	uint64_t n;

	if (r->left < sizeof(n))
		return refuse(r);
	memcpy(&n, r->at, sizeof(n));
	if (n > max)
		return refuse(r);
	r->at += sizeof(n);
	r->left -= sizeof(n);
	return n;
}

size_t pack_read_count(struct pack_reader *r, size_t each)
{
	uint64_t n = pack_read_num(r, SIZE_MAX);

	return n > r->left / each ? (size_t)refuse(r) : (size_t)n;
}

char *pack_read_str(struct pack_reader *r)
{
	size_t len = pack_read_count(r, 1);
	char *s;

	if (!len)
		return NULL;
	if (memchr(r->at, '\0', len) != r->at + len - 1) {
		refuse(r);
		return NULL;
	}
	s = xstrndup(r->at, len - 1);
	r->at += len;
	r->left -= len;
	return s;
}

void pack_read_strvec(struct pack_reader *r, struct strvec *ret)
{
	for (size_t n = pack_read_count(r, sizeof(uint64_t)); n; n--) {
		auto_str s = pack_read_str(r);

		if (!s) {
			refuse(r);
			return;
		}
		strvec_push(ret, s);
	}
}

bool pack_done(const struct pack_reader *r)
{
	return !r->bad && !r->left;
}
