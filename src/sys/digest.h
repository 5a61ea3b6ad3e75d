/* SHA-1 and SHA-256 of bytes in memory, as git's two object formats use them. */
#ifndef SYS_DIGEST_H
#define SYS_DIGEST_H

#include <stddef.h>

#define DIGEST_SHA1_LEN   20
#define DIGEST_SHA256_LEN 32
#define DIGEST_MAX        DIGEST_SHA256_LEN

/* hash_len is DIGEST_SHA1_LEN or DIGEST_SHA256_LEN and selects the hash. */
void digest_of(size_t hash_len, const void *data, size_t len, unsigned char out[DIGEST_MAX]);

#endif
