/* Any bytes as a pack, a tree and a commit for garth-fast-unpack: what is taken lies in the room that was given.
 * The sum at the pack's end is made right, so that more than it is looked at. */
#include <nettle/sha1.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fast_unpack/fast_unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char room[PLAIN_CONTENT_MAX];

static void look(const char *data, size_t len, size_t hash_len)
{
	static struct plain_pack pack = { .room = room };

	if (!plain_pack(data, len, hash_len, &pack))
		return;
	if (!pack.n || pack.n > PLAIN_OBJECTS_MAX)
		abort();
	for (size_t i = 0; i < pack.n; i++)
		if (pack.v[i].data < room || pack.v[i].data + pack.v[i].len > room + sizeof(room))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + SHA1_DIGEST_SIZE);
	struct sha1_ctx s;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	plain_commit(copy, size, 20);
	plain_tree(copy, size, 20);
	look(copy, size, 20);
	look(copy, size, 32);
	sha1_init(&s);
	sha1_update(&s, size, data);
	sha1_digest(&s, SHA1_DIGEST_SIZE, (uint8_t *)copy + size);
	look(copy, size + SHA1_DIGEST_SIZE, 20);
	free(copy);
	return 0;
}
