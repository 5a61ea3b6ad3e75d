#include "publish/walk_parse.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "publish/oidset.h"

#define MODE_DIR     0040000
#define MODE_GITLINK 0160000

void tree_release(struct tree *t)
{
	buf_release(&t->data);
	free(t->v);
	*t = (struct tree){ 0 };
}

bool tree_entry_is_dir(const struct tree_entry *t)
{
	return (t->mode & S_IFMT) == MODE_DIR;
}

bool tree_entry_is_gitlink(const struct tree_entry *t)
{
	return (t->mode & S_IFMT) == MODE_GITLINK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tree_entry *)a)->name, ((const struct tree_entry *)b)->name);
}

/* "MODE NAME\0OID"; returns the position after it, or NULL. */
static const char *parse_entry(struct tree_entry *t, const char *at, const char *end, unsigned hash_len)
{
	const char *space = memchr(at, ' ', (size_t)(end - at));
	const char *nul = space ? memchr(space, '\0', (size_t)(end - space)) : NULL;

	if (!nul || (size_t)(end - nul) < 1 + (size_t)hash_len || space == at || space - at > 7)
		return NULL;
	t->mode = 0;
	for (; at < space; at++) {
		if (*at < '0' || *at > '7')
			return NULL;
		t->mode = t->mode << 3 | (unsigned)(*at - '0');
	}
	t->name = space + 1;
	t->oid = (const unsigned char *)nul + 1;
	return nul + 1 + hash_len;
}

static const char *entry_wrong(const struct tree_entry *t, bool strict)
{
	unsigned kind = t->mode & S_IFMT;

	if (!*t->name || strchr(t->name, '/'))
		return "a name that is none";
	if (t->mode > 0177777 ||
		(kind != MODE_DIR && kind != S_IFREG && kind != S_IFLNK && kind != MODE_GITLINK))
		return "an entry that is neither a file nor a directory";
	if (!strict)
		return NULL;
	if (!strcmp(t->name, ".") || !strcmp(t->name, "..") || !strcasecmp(t->name, ".git"))
		return "a name that is not allowed";
	if (strlen(t->name) > NAME_MAX)
		return "a name that is too long for a file";
	return kind == MODE_DIR && t->mode != MODE_DIR ? "a directory with permissions" : NULL;
}

/* Old histories have trees with a name twice; without strict, the first one counts. */
static const char *sort(struct tree *t, bool strict)
{
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 1; sorted && i < t->n; i++)
		sorted = strcmp(t->v[i - 1].name, t->v[i].name) < 0;
	if (sorted)
		return NULL;
	qsort(t->v, t->n, sizeof(*t->v), by_name);
	for (size_t i = 0; i < t->n; i++) {
		if (!n || strcmp(t->v[n - 1].name, t->v[i].name))
			t->v[n++] = t->v[i];
		else if (strict)
			return "a name twice";
	}
	t->n = n;
	return NULL;
}

const char *tree_parse(struct tree *t, unsigned hash_len, bool strict)
{
	const char *at = buf_str(&t->data), *end = at + t->data.len;
	size_t cap = 0;

	while (at < end) {
		const char *wrong;

		if (t->n == cap) {
			cap = cap ? cap * 2 : 32;
			t->v = xrealloc(t->v, cap, sizeof(*t->v));
		}
		at = parse_entry(&t->v[t->n], at, end, hash_len);
		if (!at)
			return "an entry that is cut off or malformed";
		wrong = entry_wrong(&t->v[t->n++], strict);
		if (wrong)
			return wrong;
	}
	return sort(t, strict);
}

void commit_release(struct commit *c)
{
	free(c->author);
	free(c->committer);
	*c = (struct commit){ 0 };
}

/* A line "NAME VALUE" at *at. Returns the value, *ret_len is its length, and *at is after the line. NULL if
 * it is another line. */
static const char *header(const char **at, const char *name, size_t *ret_len)
{
	size_t n = strlen(name);
	const char *value = *at + n + 1, *end;

	if (strncmp(*at, name, n) || (*at)[n] != ' ')
		return NULL;
	end = strchr(value, '\n');
	if (!end)
		return NULL;
	*ret_len = (size_t)(end - value);
	*at = end + 1;
	return value;
}

static bool header_oid(const char **at, const char *name, unsigned hash_len, char out[OID_SIZE])
{
	const char *start = *at;
	size_t n;
	const char *value = header(at, name, &n);

	if (value && n == 2 * (size_t)hash_len && oid_take(value, hash_len, out))
		return true;
	*at = start;
	return false;
}

/* Up to the last '>', so that nothing can be between the name and the date. */
static char *header_person(const char **at, const char *name)
{
	size_t n;
	const char *value = header(at, name, &n), *close = value ? memrchr(value, '>', n) : NULL;

	return close ? xstrndup(value, (size_t)(close - value) + 1) : NULL;
}

/* A header that git writes once, before these. With two of them, some programs use the first and others the
 * last. */
static bool is_second(const char *line)
{
	static const char *const once[] = { "tree ", "parent ", "author ", "committer " };

	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		if (!strncmp(line, once[i], strlen(once[i])))
			return true;
	return false;
}

static bool has_second(const char *at, const char *end)
{
	for (; at && at < end && *at != '\n'; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (is_second(at))
			return true;
	return false;
}

const char *commit_parse(struct commit *c, const struct buf *data, unsigned hash_len)
{
	const char *at = buf_str(data), *end;

	if (strlen(at) != data->len)
		return "a NUL";
	if (!header_oid(&at, "tree", hash_len, c->tree))
		return "no tree";
	while (!strncmp(at, "parent ", 7)) {
		if (c->nparents == COMMIT_PARENTS_MAX)
			return "too many parents";
		if (!header_oid(&at, "parent", hash_len, c->parents[c->nparents++]))
			return "a parent that is none";
	}
	c->author = header_person(&at, "author");
	c->committer = c->author ? header_person(&at, "committer") : NULL;
	if (!c->committer)
		return "no author or no committer";
	/* further headers, such as a signature, up to the empty line */
	end = *at == '\n' ? at : strstr(at, "\n\n");
	if (end && *at != '\n')
		end++;
	c->message = end ? end + 1 : "";
	c->odd = has_second(at, end ? end : at + strlen(at));
	return NULL;
}
