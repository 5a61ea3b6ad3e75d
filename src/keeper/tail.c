#include "keeper/state.h"

#include "base/alloc.h"

void tail_add(struct tail *t, const char *data, size_t len)
{
	if (!t->data)
		t->data = xcalloc(1, TAIL_SIZE);
	if (len > TAIL_SIZE) {
		data += len - TAIL_SIZE;
		len = TAIL_SIZE;
	}
	while (len) {
		size_t part = TAIL_SIZE - t->at < len ? TAIL_SIZE - t->at : len;

		memcpy(t->data + t->at, data, part);
		t->at = (t->at + part) % TAIL_SIZE;
		t->len = t->len + part < TAIL_SIZE ? t->len + part : TAIL_SIZE;
		data += part;
		len -= part;
	}
}

void tail_send(const struct tail *t, struct client *c)
{
	auto_str text = xcalloc(1, TAIL_SIZE);
	const char *from = text;
	size_t len = t->len, first;

	if (!len)
		return;
	if (len < TAIL_SIZE) {
		memcpy(text, t->data, len);
	} else {
		const char *line;

		first = TAIL_SIZE - t->at;
		memcpy(text, t->data + t->at, first);
		memcpy(text + first, t->data, t->at);
		line = memchr(text, '\n', len);
		if (line && line + 1 < text + len) {
			len -= (size_t)(line + 1 - text);
			from = line + 1;
		}
	}
	client_send(c, WIRE_OUT, from, len);
}
