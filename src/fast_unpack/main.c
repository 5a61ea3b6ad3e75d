/* garth-fast-unpack: see fast_unpack.h. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fast_unpack/fast_unpack.h"
#include "sys/fd.h"

static char in[PLAIN_PACK_MAX], room[PLAIN_CONTENT_MAX];

/* 1 if there is a pack, 0 at the end. */
static int next_pack(size_t *ret_len)
{
	unsigned char head[4];
	ssize_t n = read_full(STDIN_FILENO, head, sizeof(head));

	if (n != sizeof(head))
		return n ? -1 : 0;
	*ret_len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	if (*ret_len > sizeof(in) || read_full(STDIN_FILENO, in, *ret_len) != (ssize_t)*ret_len)
		return -1;
	return 1;
}

int main(int argc, char **argv)
{
	struct plain_writer writers[PLAIN_KINDS];
	static struct plain_pack pack = { .room = room };
	size_t hash_len, len;
	int rc;

	if (argc < 5 || strcmp(argv[3], "--") != 0) {
		fputs("usage: garth-fast-unpack DIR HASH_LEN -- GIT...\n", stderr);
		return 2;
	}
	hash_len = (size_t)atoi(argv[2]);
	signal(SIGPIPE, SIG_IGN);
	if (!plain_writers_start(argv + 4, writers))
		return 1;
	while ((rc = next_pack(&len)) > 0) {
		bool plain = plain_pack(in, len, hash_len, &pack);

		if (plain && !plain_write(writers, &pack, argv[1], hash_len))
			return 1;
		if (write_full(STDOUT_FILENO, plain ? "p" : "g", 1) < 0)
			return 1;
	}
	return rc ? 1 : 0;
}
