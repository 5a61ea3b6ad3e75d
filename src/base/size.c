#include "base/size.h"

#include <stdio.h>

static const char *const units[] = { "", "KB", "MB", "GB", "TB" };
#define UNITS_MAX (sizeof(units) / sizeof(units[0]) - 1)

const char *size_text(uint64_t bytes, char out[SIZE_TEXT_MAX])
{
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1024 && unit < UNITS_MAX) {
		value /= 1024;
		unit++;
	}
	if (unit)
		snprintf(out, SIZE_TEXT_MAX, "%.1f %s", value, units[unit]);
	else
		snprintf(out, SIZE_TEXT_MAX, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
	return out;
}

const char *size_option(uint64_t bytes, char out[SIZE_TEXT_MAX])
{
	unsigned unit = 0;

	/* two digits are precise enough */
	while (bytes >= 10 * 1024 && unit < UNITS_MAX) {
		bytes = (bytes + 1023) / 1024;
		unit++;
	}
	snprintf(out, SIZE_TEXT_MAX, "%llu%s", (unsigned long long)bytes, units[unit]);
	return out;
}

const char *count_text(uint64_t n, char out[COUNT_TEXT_MAX])
{
	char digits[COUNT_TEXT_MAX];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *at = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return out;
}
