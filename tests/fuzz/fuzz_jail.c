/* A description of a jail of any bytes: unpacked, checked, printed; what unpacks packs to the same bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "jail/jail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf again = BUF_INIT(1 << 24), text = BUF_INIT(1 << 24);
	struct err e = ERR_INIT;
	auto_jail j;

	jail_init(&j);
	if (jail_unpack((const char *)data, size, &j, &e) < 0)
		return 0;
	jail_pack(&j, &again);
	if (again.len != size || memcmp(again.data, data, size) != 0)
		abort();
	if (!jail_check(&j, &e))
		jail_print(&j, &text);
	return 0;
}
