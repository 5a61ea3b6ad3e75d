/* A command of any bytes: what unpacks has a word and a place, and packs to the same bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "jail/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf again = BUF_INIT(1 << 24);
	auto_order_cmd c = { 0 };
	struct err e = ERR_INIT;

	if (order_cmd_unpack((const char *)data, size, &c, &e) < 0)
		return 0;
	if (!c.argv.n || !c.cwd)
		abort();
	order_cmd_pack(&c, &again);
	if (again.len != size || memcmp(again.data, data, size) != 0)
		abort();
	return 0;
}
