#include "sys/digest.h"

#include <nettle/sha1.h>
#include <nettle/sha2.h>

void digest_of(size_t hash_len, const void *data, size_t len, unsigned char out[DIGEST_MAX])
{
	struct sha256_ctx s256;
	struct sha1_ctx s1;

	if (hash_len == DIGEST_SHA1_LEN) {
		sha1_init(&s1);
		sha1_update(&s1, len, data);
		sha1_digest(&s1, SHA1_DIGEST_SIZE, out);
	} else {
		sha256_init(&s256);
		sha256_update(&s256, len, data);
		sha256_digest(&s256, SHA256_DIGEST_SIZE, out);
	}
}
