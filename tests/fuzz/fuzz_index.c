/*
 * Any bytes as an index: read to the end or refused, nothing read out of bounds; what can be read can be
 * bound to another place and read again, and so can it with other flags.
 */
#include <stdint.h>

#include "fsmonitor/report.h"
#include "git/index.h"
#include "git/index_skip.h"
#include "git/untracked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool readable(const void *data, size_t size, unsigned hash_len)
{
	struct index_reader r;
	struct index_entry entry;
	struct err e = ERR_INIT;
	int more = -1;

	if (index_open(&r, data, size, hash_len, &e) == 0) {
		while ((more = index_next(&r, &entry, &e)) > 0)
			if (!entry.path_len || strlen(entry.path) != entry.path_len)
				abort();
	}
	index_close(&r);
	return more == 0;
}

static bool turn(const char *path, bool skipped, void *arg)
{
	(void)path;
	(void)arg;
	return !skipped;
}

static void check_skip(const uint8_t *data, size_t size, unsigned hash_len)
{
	auto_buf out = BUF_INIT(16 << 20);
	struct err e = ERR_INIT;
	bool changed = false, good = readable(data, size, hash_len);
	int ret = index_skip(data, size, hash_len, turn, NULL, &out, &changed, &e);

	if ((ret == 0) != good || (out.len > 0) != (ret == 0 && changed))
		abort();
	if (out.len && !readable(out.data, out.len, hash_len))
		abort();
}

static void check(const uint8_t *data, size_t size, unsigned hash_len)
{
	auto_buf out = BUF_INIT(16 << 20);
	struct err e = ERR_INIT;
	bool good = readable(data, size, hash_len);
	int ret = untracked_retarget(data, size, hash_len, "/some/other/place", &out, &e);

	if ((ret == 0 && !good) || (ret < 0 && out.len))
		abort();
	if (ret == 0 && !readable(out.data, out.len, hash_len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes all = { data, size }, half = { data, size / 2 },
		     rest = { data + size / 2, size - size / 2 };
	auto_known known = KNOWN_INIT;
	auto_buf out = BUF_INIT(16 << 20);
	struct err e = ERR_INIT;

	check(data, size, 20);
	check(data, size, 32);
	check_skip(data, size, 20);
	check_skip(data, size, 32);
	report_index(all, all, &out, &known, &e);
	known_in_base(&known, "d/");
	known_in_cache(&known, "d/");
	known_release(&known);
	buf_reset(&out);
	report_index(half, rest, &out, &known, &e);
	return 0;
}
