/* A pointer of Git LFS, as an agent commits it: what is taken for one names a place in a store and nothing else. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/oid.h"
#include "git/lfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lfs_pointer p, again;
	auto_buf text = BUF_SMALL;

	if (!lfs_parse((const char *)data, size, &p))
		return 0;
	if (!hex_is(p.oid, 64) || strlen(p.oid) != 64 || p.size > INT64_MAX)
		abort();
	lfs_print(&p, &text);
	if (!lfs_parse(buf_str(&text), text.len, &again) || strcmp(p.oid, again.oid) != 0 ||
		p.size != again.size)
		abort();
	return 0;
}
