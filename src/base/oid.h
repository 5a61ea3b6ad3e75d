/*
 * The ids of git's objects. As text they are lower-case hexadecimal digits, two for each byte of the hash: 40
 * for SHA-1, 64 for SHA-256; "" means no object. hash_len is the repository's hash length in bytes, 20 or 32.
 */
#ifndef BASE_OID_H
#define BASE_OID_H

#include <stdbool.h>
#include <stddef.h>

#define OID_SIZE    65 /* an id as text with its NUL, for either hash */
#define OID_RAW_MAX 32 /* an id as bytes */

/* Whether s is n lower-case hexadecimal digits, and nothing else. */
bool hex_is(const char *s, size_t n);
/* Whether s is an id, and nothing else. */
bool oid_is(const char *s, unsigned hash_len);
/* Whether s begins with an id that is not followed by more digits. */
bool oid_starts(const char *s, unsigned hash_len);
/* Copies the id that s begins with. If there is none: false, and out is unchanged. */
bool oid_take(const char *s, unsigned hash_len, char out[OID_SIZE]);
/* Whether s means "no object" for git: all zeros, or empty. */
bool oid_is_none(const char *s);

/* From text to bytes, with zeros after them, and back. False if the text is no id. */
bool oid_from_hex(const char *hex, unsigned hash_len, unsigned char out[OID_RAW_MAX]);
void oid_to_hex(const unsigned char *oid, unsigned hash_len, char out[OID_SIZE]);

#endif
