/* The sum that a repository's object format makes of some bytes. */
#ifndef SYS_DIGEST_H
#define SYS_DIGEST_H

#include <stddef.h>

#define DIGEST_SHA1_LEN   20
#define DIGEST_SHA256_LEN 32
#define DIGEST_MAX        DIGEST_SHA256_LEN

/* hash_len is one of the two, and tells which it is. */
void digest_of(size_t hash_len, const void *data, size_t len, unsigned char out[DIGEST_MAX]);

#endif
