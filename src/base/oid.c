#include "base/oid.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

bool hex_is(const char *s, size_t n)
{
	return strspn(s, digits) == n && !s[n];
}

bool oid_is(const char *s, unsigned hash_len)
{
	return hex_is(s, 2 * (size_t)hash_len);
}

bool oid_starts(const char *s, unsigned hash_len)
{
	return strspn(s, digits) == 2 * (size_t)hash_len;
}

bool oid_take(const char *s, unsigned hash_len, char out[OID_SIZE])
{
	size_t n = 2 * (size_t)hash_len;

	if (n >= OID_SIZE || !oid_starts(s, hash_len))
		return false;
	memcpy(out, s, n);
	out[n] = '\0';
	return true;
}

bool oid_is_none(const char *s)
{
	return !s[strspn(s, "0")];
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool oid_from_hex(const char *hex, unsigned hash_len, unsigned char out[OID_RAW_MAX])
{
	memset(out, 0, OID_RAW_MAX);
	for (unsigned i = 0; i < hash_len; i++) {
		int high = digit(hex[2 * i]);
		int low = high < 0 ? -1 : digit(hex[2 * i + 1]);

		if (low < 0)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return !hex[2 * (size_t)hash_len];
}

void oid_to_hex(const unsigned char *oid, unsigned hash_len, char out[OID_SIZE])
{
	for (unsigned i = 0; i < hash_len; i++) {
		out[2 * i] = digits[oid[i] >> 4];
		out[2 * i + 1] = digits[oid[i] & 15];
	}
	out[2 * (size_t)hash_len] = '\0';
}
