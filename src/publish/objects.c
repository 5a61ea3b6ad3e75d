#include "publish/objects.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"

#define AHEAD_MAX       (256u << 10)
#define LINE_MAX_LEN    160
#define SECONDS_DEFAULT 60
/* Makes cat-file write the answers to all requests so far. */
#define FLUSH "flush\n"

/* Requests, and how much of them was written. */
struct asked {
	struct buf text;
	size_t written;
	struct deadline deadline; /* for the next answer */
};

static const char *const type_names[] = { "missing", "commit", "tree", "blob", "tag" };

const char *objects_type_name(enum object_type type)
{
	return type_names[type];
}

static void set_deadline(const struct objects *o, struct asked *a)
{
	a->deadline = deadline_in((int64_t)(o->seconds ? o->seconds : SECONDS_DEFAULT) * 1000);
}

static int is_broken(struct objects *o, struct err *e, const char *why)
{
	o->broken = true;
	return err_set(e, ERR_FAILED, "the reader of objects %s", why);
}

static int write_some(struct objects *o, struct asked *a, struct err *e)
{
	size_t rest = a->text.len - a->written;
	/* a pipe that is ready for writing takes this much without blocking */
	ssize_t n = write(o->in, a->text.data + a->written, rest < PIPE_BUF ? rest : PIPE_BUF);

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return is_broken(o, e, "has ended");
	if (n > 0)
		a->written += (size_t)n;
	return 0;
}

/* Waits until the process can take a request or has written something; *ret_ready: the latter. */
static int wait_for(struct objects *o, struct asked *a, bool *ret_ready, struct err *e)
{
	for (;;) {
		bool asking = a->written < a->text.len;
		struct pollfd p[2] = { { .fd = o->out, .events = POLLIN },
			{ .fd = asking ? o->in : -1, .events = POLLOUT } };
		int left = deadline_left(&a->deadline), n = left ? poll(p, 2, left) : 0;

		if (!n)
			return is_broken(o, e, "does not answer");
		if (n < 0 && errno != EINTR)
			return is_broken(o, e, "cannot be waited for");
		if (n < 0)
			continue;
		if (p[1].revents && write_some(o, a, e) < 0)
			return -1;
		*ret_ready = p[0].revents;
		return 0;
	}
}

/* The number of bytes read, possibly 0. */
static ssize_t read_some(struct objects *o, struct asked *a, char *to, size_t max, struct err *e)
{
	bool ready = false;
	ssize_t n;

	if (wait_for(o, a, &ready, e) < 0)
		return -1;
	if (!ready)
		return 0;
	n = read(o->out, to, max);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	return n > 0 ? n : is_broken(o, e, "has ended");
}

static int fill_ahead(struct objects *o, struct asked *a, struct err *e)
{
	ssize_t n;

	if (o->used == o->ahead.len) {
		buf_reset(&o->ahead);
		o->used = 0;
	}
	o->ahead.max = AHEAD_MAX;
	/* lines are short, so moving an incomplete one to the front makes room */
	if (o->ahead.len == AHEAD_MAX) {
		memmove(o->ahead.data, o->ahead.data + o->used, o->ahead.len - o->used);
		buf_cut(&o->ahead, o->ahead.len - o->used);
		o->used = 0;
	}
	if (!buf_reserve(&o->ahead, AHEAD_MAX - o->ahead.len))
		return is_broken(o, e, "says too much");
	n = read_some(o, a, o->ahead.data + o->ahead.len, AHEAD_MAX - o->ahead.len, e);
	if (n < 0)
		return -1;
	o->ahead.len += (size_t)n;
	return 0;
}

/* The next line, without its end. */
static int read_line(struct objects *o, struct asked *a, char line[LINE_MAX_LEN], struct err *e)
{
	for (;;) {
		size_t have = o->ahead.len - o->used;
		const char *at = have ? o->ahead.data + o->used : NULL;
		const char *end = have ? memchr(at, '\n', have) : NULL;
		size_t n = end ? (size_t)(end - at) : have;

		if (n >= LINE_MAX_LEN)
			return is_broken(o, e, "says nonsense");
		if (end) {
			memcpy(line, at, n);
			line[n] = '\0';
			o->used += n + 1;
			return 0;
		}
		if (fill_ahead(o, a, e) < 0)
			return -1;
	}
}

static bool parse_size(const char *s, uint64_t *ret)
{
	if (!*s || strspn(s, "0123456789") != strlen(s))
		return false;
	errno = 0;
	*ret = strtoull(s, NULL, 10);
	return !errno;
}

/* "OID TYPE SIZE" or "OID missing" */
static int read_head(struct objects *o, struct asked *a, const char *oid, enum object_type *type,
	uint64_t *size, struct err *e)
{
	char line[LINE_MAX_LEN];
	size_t n = strlen(oid);

	set_deadline(o, a);
	if (read_line(o, a, line, e) < 0)
		return -1;
	*size = 0;
	*type = OBJECT_MISSING;
	if (strncmp(line, oid, n) || line[n] != ' ')
		return is_broken(o, e, "answers what was not asked");
	if (!strcmp(line + n + 1, "missing"))
		return 0;
	for (enum object_type t = OBJECT_COMMIT; t <= OBJECT_TAG; t++) {
		size_t len = strlen(type_names[t]);

		if (strncmp(line + n + 1, type_names[t], len) || line[n + 1 + len] != ' ')
			continue;
		*type = t;
		if (parse_size(line + n + 1 + len + 1, size))
			return 0;
	}
	return is_broken(o, e, "says nonsense");
}

static int begin(struct objects *o, struct err *e)
{
	if (o->broken)
		return err_set(e, ERR_FAILED, "the reader of objects was given up");
	return 0;
}

/* What objects_prefetch found; NULL if nothing. */
static const struct told *find_told(const struct objects *o, const char *oid)
{
	for (size_t i = 0; i < o->ntold; i++)
		if (!strcmp(o->told[i].oid, oid))
			return &o->told[i];
	return NULL;
}

static int info(struct objects *o, struct asked *a, const char *oid, enum object_type *type, uint64_t *size,
	struct err *e)
{
	const struct told *t = find_told(o, oid);

	if (!t)
		return read_head(o, a, oid, type, size, e);
	*type = t->type;
	*size = t->size;
	return 0;
}

int objects_info_many(struct objects *o, char *const *oids, size_t n, enum object_type *types,
	uint64_t *sizes, struct err *e)
{
	struct asked a = { .text = BUF_INIT(SIZE_MAX / 2) };
	int rc = begin(o, e);

	for (size_t i = 0; !rc && i < n; i++)
		if (!find_told(o, oids[i]))
			buf_printf(&a.text, "info %s\n", oids[i]);
	if (a.text.len)
		buf_addstr(&a.text, FLUSH);
	for (size_t i = 0; !rc && i < n; i++)
		rc = info(o, &a, oids[i], &types[i], &sizes[i], e);
	buf_release(&a.text);
	return rc;
}

int objects_info(
	struct objects *o, const char *oid, enum object_type *ret_type, uint64_t *ret_size, struct err *e)
{
	char *oids[] = { (char *)oid };

	return objects_info_many(o, oids, 1, ret_type, ret_size, e);
}

/* Reads size bytes of content into `to` (NULL: thrown away), and the newline after them. */
static int read_content(struct objects *o, struct asked *a, char *to, uint64_t size, struct err *e)
{
	char nowhere[65536], newline[LINE_MAX_LEN];
	uint64_t done = o->ahead.len - o->used < size ? o->ahead.len - o->used : size;

	if (to && done)
		memcpy(to, o->ahead.data + o->used, done);
	o->used += done;
	while (done < size) {
		uint64_t left = size - done;
		ssize_t n = to ? read_some(o, a, to + done, left, e)
			       : read_some(o, a, nowhere, left < sizeof(nowhere) ? left : sizeof(nowhere), e);

		if (n < 0)
			return -1;
		done += (uint64_t)n;
	}
	if (read_line(o, a, newline, e) < 0)
		return -1;
	return *newline ? is_broken(o, e, "says more than it announced") : 0;
}

static int read_object(struct objects *o, struct asked *a, const char *oid, enum object_type want,
	struct buf *out, struct err *e)
{
	enum object_type type;
	uint64_t size;
	bool fits;

	if (read_head(o, a, oid, &type, &size, e) < 0)
		return -1;
	if (type == OBJECT_MISSING)
		return err_set(e, ERR_NOTFOUND, "object %s is missing", oid);
	fits = size <= out->max && out->len <= out->max - size;
	if (type == want && fits) {
		char *to = buf_reserve(out, size);

		if (read_content(o, a, to, size, e) < 0)
			return -1;
		out->len += size;
		out->data[out->len] = '\0';
		return 0;
	}
	if (read_content(o, a, NULL, size, e) < 0)
		return -1;
	if (type != want)
		return err_set(e, ERR_FAILED, "object %s is a %s and not a %s", oid, type_names[type],
			type_names[want]);
	out->overflow = true;
	return err_set(e, ERR_FAILED, "object %s has %llu bytes, which is too much for a %s", oid,
		(unsigned long long)size, type_names[type]);
}

int objects_read(struct objects *o, const char *oid, enum object_type want, struct buf *out, struct err *e)
{
	struct asked a = { .text = BUF_SMALL };
	size_t before = out->len;
	int rc;

	if (want != OBJECT_BLOB && object_cache_get(&o->cache, oid, want, out))
		return 0;
	rc = begin(o, e);
	if (!rc) {
		buf_printf(&a.text, "contents %s\n" FLUSH, oid);
		rc = read_object(o, &a, oid, want, out, e);
	}
	if (!rc && want != OBJECT_BLOB && !before)
		object_cache_add(&o->cache, oid, want, out);
	buf_release(&a.text);
	return rc;
}

/* Reads one answer; caches the content if it is a small commit or tree. */
static int fetch_one(struct objects *o, struct asked *a, const char *oid, struct err *e)
{
	auto_buf content = BUF_INIT(OBJECT_CACHE_SIZE);
	struct told *t = &o->told[o->ntold];
	char *to = NULL;

	if (read_head(o, a, oid, &t->type, &t->size, e) < 0)
		return -1;
	if (t->type == OBJECT_MISSING)
		return 0;
	if ((t->type == OBJECT_COMMIT || t->type == OBJECT_TREE) && t->size <= OBJECT_CACHE_SIZE)
		to = buf_reserve(&content, t->size);
	if (read_content(o, a, to, t->size, e) < 0)
		return -1;
	if (to) {
		content.len = t->size;
		object_cache_add(&o->cache, oid, (int)t->type, &content);
	}
	snprintf(t->oid, sizeof(t->oid), "%s", oid);
	o->ntold++;
	return 0;
}

int objects_prefetch(struct objects *o, const struct strvec *oids, struct err *e)
{
	struct asked a = { .text = BUF_INIT(OBJECTS_TOLD_MAX * 80) };
	int rc = begin(o, e);

	o->ntold = 0;
	if (oids->n > OBJECTS_TOLD_MAX)
		return 0;
	for (size_t i = 0; i < oids->n; i++)
		buf_printf(&a.text, "contents %s\n", oids->v[i]);
	buf_addstr(&a.text, FLUSH);
	for (size_t i = 0; !rc && i < oids->n; i++)
		rc = fetch_one(o, &a, oids->v[i], e);
	buf_release(&a.text);
	/* an answer that is left unread would be taken for the next one */
	if (rc)
		o->broken = true;
	return rc;
}

void objects_forget_told(struct objects *o)
{
	o->ntold = 0;
}

void objects_forget(struct objects *o)
{
	object_cache_release(&o->cache);
	o->ntold = 0;
}

void objects_release(struct objects *o)
{
	buf_release(&o->ahead);
	object_cache_release(&o->cache);
	o->ntold = 0;
	o->used = 0;
	o->broken = false;
}
