/* Any bytes for a terminal: nothing but printable text, newlines, tabs, and colours where they are wanted. */
#include <stdint.h>

#include "base/clean.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct buf *b, bool colours)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if (c == 0x1b && colours && b->data[i + 1] == '[') {
			i += 2;
			while (strchr("0123456789;:", b->data[i]) && b->data[i])
				i++;
			if (b->data[i] != 'm')
				abort();
		} else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
			abort();
		} else if (c == 0xc2 && (unsigned char)b->data[i + 1] < 0xa0) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int colours = 0; colours < 2; colours++) {
		auto_buf out = BUF_INIT(4 * size + 16);
		auto_buf again = BUF_INIT(4 * size + 16);

		clean_text(&out, (const char *)data, size, colours);
		if (out.overflow)
			abort();
		check(&out, colours);
		clean_text(&again, buf_str(&out), out.len, colours);
		if (again.len != out.len || memcmp(buf_str(&again), buf_str(&out), out.len))
			abort();
	}
	return 0;
}
