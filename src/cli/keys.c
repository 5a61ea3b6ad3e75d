#include "cli/keys.h"

#include "base/alloc.h"

struct key {
	const char *bytes;
	size_t len;
};

#define KEY(text)                                                                                            \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}

/* As terminals send them: plain, and in the two keyboard protocols that a program may have switched on. */
static const struct key prefix[] = { KEY("\x1d"), KEY("\x1b[93;5u"), KEY("\x1b[27;5;93~") };
static const struct key leave[] = { KEY("d"), KEY("\x1b[100u"), KEY("\x1b[27;1;100~") };

static size_t match(const struct key *keys, size_t n, const char *in, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (len >= keys[i].len && !memcmp(in, keys[i].bytes, keys[i].len))
			return keys[i].len;
	return 0;
}

bool keys_pass(struct keys *k, const char *in, size_t len, struct buf *out)
{
	while (len) {
		size_t n = match(prefix, ARRAY_SIZE(prefix), in, len);

		if (k->nheld) {
			if (match(leave, ARRAY_SIZE(leave), in, len))
				return true;
			buf_add(out, k->held, k->nheld);
			k->nheld = 0;
			if (!n)
				buf_add(out, in, n = 1);
		} else if (n) {
			memcpy(k->held, in, n);
			k->nheld = n;
		} else {
			buf_add(out, in, n = 1);
		}
		in += n;
		len -= n;
	}
	return false;
}
