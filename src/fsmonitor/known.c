#include "fsmonitor/known.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/buf.h"

#define MAX_DEPTH 200
#define STAT_LEN  36

void known_release(struct known *k)
{
	free(k->base);
	strvec_release(&k->cache);
	*k = (struct known)KNOWN_INIT;
}

void known_add_base(struct known *k, const char *path)
{
	if (k->n == k->cap) {
		k->cap = k->cap ? k->cap * 2 : 4096;
		k->base = xrealloc(k->base, k->cap, sizeof(*k->base));
	}
	k->base[k->n++] = path;
}

bool known_in_base(const struct known *k, const char *dir)
{
	size_t low = 0, high = k->n;

	if (!k->base_whole)
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(k->base[middle], dir) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < k->n && strncmp(k->base[low], dir, strlen(dir)) == 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(char *const *)b);
}

bool known_in_cache(const struct known *k, const char *dir)
{
	if (!k->cache_whole)
		return true;
	return k->cache.n && bsearch(dir, k->cache.v, k->cache.n, sizeof(*k->cache.v), compare);
}

struct cursor {
	const unsigned char *at, *end; /* at becomes NULL after malformed data */
};

static size_t take_number(struct cursor *c)
{
	size_t n = 0;
	unsigned char digit;

	do {
		if (!c->at || c->at == c->end || n > UINT32_MAX) {
			c->at = NULL;
			return 0;
		}
		digit = *c->at++;
		n = (n << 7) | (digit & 127u);
		if (digit & 128u)
			n++;
	} while (digit & 128u);
	return n;
}

static void skip_bytes(struct cursor *c, size_t n)
{
	c->at = c->at && n <= (size_t)(c->end - c->at) ? c->at + n : NULL;
}

static const char *take_string(struct cursor *c)
{
	const char *s = (const char *)c->at;
	const unsigned char *nul = c->at ? memchr(c->at, '\0', (size_t)(c->end - c->at)) : NULL;

	c->at = nul ? nul + 1 : NULL;
	return nul ? s : "";
}

/* One directory: the number of untracked names and of subdirectories, its own name, those names, those
 * subdirectories. */
static void take_dir(struct known *k, struct cursor *c, struct buf *path, unsigned depth)
{
	size_t names = take_number(c), dirs = take_number(c), len = path->len;
	const char *name = take_string(c);

	if (depth > MAX_DEPTH || path->overflow)
		c->at = NULL;
	if (depth) {
		buf_printf(path, "%s/", name);
		strvec_push(&k->cache, buf_str(path));
	}
	while (c->at && names--)
		take_string(c);
	while (c->at && dirs--)
		take_dir(k, c, path, depth + 1);
	buf_cut(path, len);
}

void known_add_cache(struct known *k, const unsigned char *ext, size_t len, unsigned hash_len)
{
	auto_buf path = BUF_SMALL;
	struct cursor c;

	if (!ext) {
		k->cache_whole = true;
		return;
	}
	c = (struct cursor){ ext, ext + len };
	skip_bytes(&c, take_number(&c));                 /* the locations for which it is valid */
	skip_bytes(&c, 2 * STAT_LEN + 4 + 2 * hash_len); /* info/exclude, core.excludesFile, flags */
	take_string(&c);                                 /* ".gitignore" */
	if (take_number(&c))
		take_dir(k, &c, &path, 0);
	k->cache_whole = c.at && !path.overflow;
	strvec_sort(&k->cache);
}
