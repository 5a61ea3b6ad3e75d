#include "base/duration.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

bool duration_parse(const char *text, uint64_t *ret)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; digits && digits < 8 && i < ARRAY_SIZE(units); i++)
		if (text[digits] == units[i].unit && (!text[digits] || !text[digits + 1])) {
			*ret = strtoull(text, NULL, 10) * units[i].seconds;
			return true;
		}
	return false;
}
