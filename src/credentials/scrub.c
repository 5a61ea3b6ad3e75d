#include "credentials/scrub.h"

#include <string.h>

void scrub_release(struct scrub *s)
{
	buf_release(&s->work);
}

static void overwrite(const struct secret *s, size_t n, char *text, size_t len)
{
	char *end = text + len, *p = text;

	while ((p = memmem(p, (size_t)(end - p), s->real, n))) {
		/* a dummy is never shorter than its secret */
		memcpy(p, s->dummy, n);
		p += n;
	}
}

void scrub_text(const struct vault *t, char *text, size_t len)
{
	for (size_t i = 0; i < t->nsecrets; i++) {
		size_t n = strlen(t->secrets[i].real);

		if (n >= SCRUB_MIN && n <= strlen(t->secrets[i].dummy))
			overwrite(&t->secrets[i], n, text, len);
	}
}

/* How many bytes at the end may be the beginning of a secret. */
static size_t open_end(const struct vault *t, const char *text, size_t len)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->nsecrets; i++) {
		const char *real = t->secrets[i].real;
		size_t n = strlen(real), k;

		if (n < SCRUB_MIN)
			continue;
		for (k = n - 1 < len ? n - 1 : len; k > longest; k--)
			if (text[len - k] == *real && !memcmp(text + len - k, real, k))
				longest = k;
	}
	return longest;
}

static bool has_secret(const struct vault *t, const char *text, size_t len)
{
	for (size_t i = 0; i < t->nsecrets; i++) {
		size_t n = strlen(t->secrets[i].real);

		if (n >= SCRUB_MIN && memmem(text, len, t->secrets[i].real, n))
			return true;
	}
	return false;
}

size_t scrub_next(
	struct scrub *s, const struct vault *t, const char *data, size_t len, bool last, const char **ret)
{
	size_t hold;

	if (s->passed) {
		memmove(s->work.data, s->work.data + s->passed, s->work.len - s->passed);
		buf_cut(&s->work, s->work.len - s->passed);
		s->passed = 0;
	}
	/* nearly always: nothing is copied */
	if (!s->work.len && !has_secret(t, data, len)) {
		hold = last ? 0 : open_end(t, data, len);
		buf_add(&s->work, data + len - hold, hold);
		*ret = data;
		return len - hold;
	}
	buf_add(&s->work, data, len);
	scrub_text(t, s->work.data, s->work.len);
	hold = last ? 0 : open_end(t, s->work.data, s->work.len);
	*ret = s->work.data;
	return s->passed = s->work.len - hold;
}
