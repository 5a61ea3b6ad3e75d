#include <string.h>
#include <strings.h>

#include "fast_unpack/fast_unpack.h"

#define NAME_LEN_MAX 255

struct entry {
	const char *name;
	size_t name_len;
	const char *id;
	bool dir, link;
};

static bool take_mode(const char **at, const char *end, struct entry *e)
{
	static const struct {
		const char *mode;
		bool dir, link;
	} modes[] = { { "100644 ", false, false }, { "100755 ", false, false }, { "120000 ", false, true },
		{ "40000 ", true, false } };

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		size_t n = strlen(modes[i].mode);

		if ((size_t)(end - *at) < n || memcmp(*at, modes[i].mode, n) != 0)
			continue;
		*at += n;
		e->dir = modes[i].dir;
		e->link = modes[i].link;
		return true;
	}
	return false;
}

/* "MODE NAME\0<id>" */
static bool take_entry(const char **at, const char *end, size_t hash_len, struct entry *e)
{
	static const char null[32];
	const char *nul;

	if (!take_mode(at, end, e))
		return false;
	nul = memchr(*at, 0, (size_t)(end - *at));
	if (!nul || (size_t)(end - nul) < hash_len + 1)
		return false;
	e->name = *at;
	e->name_len = (size_t)(nul - *at);
	e->id = nul + 1;
	*at = e->id + hash_len;
	return memcmp(e->id, null, hash_len) != 0;
}

/* The name as a file system may see it that ignores case and some characters: only its ASCII letters, in
 * lower case. At most n - 1 bytes of it. */
static void fold(const struct entry *e, char *out, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < e->name_len && len + 1 < n; i++) {
		char c = e->name[i];

		if (!((unsigned char)c & 0x80))
			out[len++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
	}
	out[len] = '\0';
}

/* Of the names that begin with .git, .gitignore and .github are common. git checks the content of .gitmodules
 * and .gitattributes in every directory. */
static bool is_plain_git_name(const struct entry *e, const char *folded)
{
	if (strspn(e->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") !=
		e->name_len)
		return false;
	if (!strncmp(folded, ".gitmodules", 11) || !strncmp(folded, ".gitattributes", 14))
		return false;
	return folded[4] == '-' || (folded[4] >= 'a' && folded[4] <= 'z');
}

static bool is_plain_name(const struct entry *e)
{
	char folded[20], last = e->name_len ? e->name[e->name_len - 1] : '\0';

	if (!e->name_len || e->name_len > NAME_LEN_MAX || last == '.' || last == ' ')
		return false;
	for (size_t i = 0; i < e->name_len; i++) {
		unsigned char c = (unsigned char)e->name[i];

		/* the last three mean streams, short names and separators on other systems */
		if (c < ' ' || c == 0x7f || c == '/' || c == ':' || c == '~' || c == '\\')
			return false;
	}
	fold(e, folded, sizeof(folded));
	if (e->link && (!strncmp(folded, ".git", 4) || !strncmp(folded, ".mailmap", 8)))
		return false;
	return strncmp(folded, ".git", 4) || is_plain_git_name(e, folded);
}

/* git's order: a directory's name is compared as if a slash followed it. */
static bool is_before(const struct entry *a, const struct entry *b)
{
	size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
	int c = memcmp(a->name, b->name, n);
	unsigned char x = (unsigned char)(a->name_len > n ? a->name[n] : a->dir ? '/' : '\0');
	unsigned char y = (unsigned char)(b->name_len > n ? b->name[n] : b->dir ? '/' : '\0');

	return c ? c < 0 : x < y;
}

/* Finds the same name twice. In git's order a file x may be followed by x-y and x.y, and only then by a
 * directory x; every name in between begins with x. So the files that may still get a duplicate form a stack
 * in which each name is a proper prefix of the next. */
struct files {
	struct entry v[NAME_LEN_MAX + 1];
	size_t n;
};

static bool is_twice(struct files *f, const struct entry *e)
{
	while (f->n && (f->v[f->n - 1].name_len > e->name_len ||
			       memcmp(f->v[f->n - 1].name, e->name, f->v[f->n - 1].name_len) != 0))
		f->n--;
	if (f->n && f->v[f->n - 1].name_len == e->name_len)
		return true;
	if (!e->dir)
		f->v[f->n++] = *e;
	return false;
}

bool plain_tree(const char *data, size_t len, size_t hash_len)
{
	const char *at = data, *end = data + len;
	struct entry last = { 0 };
	struct files files = { .n = 0 };

	while (at < end) {
		struct entry e = { 0 };

		if (!take_entry(&at, end, hash_len, &e) || !is_plain_name(&e))
			return false;
		if ((last.name && !is_before(&last, &e)) || is_twice(&files, &e))
			return false;
		last = e;
	}
	return true;
}
