#include "credentials/dummy.h"

#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define PREFIX_MAX 16
/* letters and digits that make 128 bits */
#define RANDOM_MIN 22
#define DUMMY_MAX  (64u << 10)

/* The part that names the secret's kind: up to the last separator near its start. */
static size_t prefix_of(const char *secret, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && i < PREFIX_MAX; i++)
		if (secret[i] == '-' || secret[i] == '_')
			n = i + 1;
	if (!n && !strncmp(secret, "AIza", 4))
		n = 4;
	/* nothing of a short secret is kept: it may be a password with a dash */
	return len - n < RANDOM_MIN ? 0 : n;
}

/* Header and claims of a JSON web token, with the dot after them; 0 if it is none. */
static size_t jwt_open_part(const char *secret)
{
	const char *first = strchr(secret, '.'), *second = first ? strchr(first + 1, '.') : NULL;

	if (strncmp(secret, "eyJ", 3) || !second || strchr(second + 1, '.'))
		return 0;
	return (size_t)(second + 1 - secret);
}

static void add_random(
	const unsigned char key[DUMMY_KEY_LEN], const char *secret, size_t want, struct buf *out)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t block[SHA256_DIGEST_SIZE];
	struct hmac_sha256_ctx ctx;

	for (uint32_t round = 0, i = 0; want; want--, i++) {
		if (i % sizeof(block) == 0) {
			uint8_t number[4] = { (uint8_t)round, (uint8_t)(round >> 8), (uint8_t)(round >> 16),
				0 };

			round++;
			hmac_sha256_set_key(&ctx, DUMMY_KEY_LEN, key);
			hmac_sha256_update(&ctx, sizeof(number), number);
			hmac_sha256_update(&ctx, strlen(secret), (const uint8_t *)secret);
			hmac_sha256_digest(&ctx, sizeof(block), block);
		}
		buf_addch(out, letters[block[i % sizeof(block)] % (sizeof(letters) - 1)]);
	}
}

char *dummy_of(const unsigned char key[DUMMY_KEY_LEN], const char *secret)
{
	size_t len = strlen(secret), kept = jwt_open_part(secret), mark = strlen(DUMMY_MARK), rest;
	auto_buf out = BUF_INIT(DUMMY_MAX);

	if (!kept)
		kept = prefix_of(secret, len);
	buf_add(&out, secret, kept);
	buf_addstr(&out, DUMMY_MARK);
	rest = len > kept + mark + RANDOM_MIN ? len - kept - mark : RANDOM_MIN;
	add_random(key, secret, rest, &out);
	return buf_steal(&out);
}

bool dummy_in(const char *text, size_t len)
{
	return memmem(text, len, DUMMY_MARK, strlen(DUMMY_MARK)) != NULL;
}
