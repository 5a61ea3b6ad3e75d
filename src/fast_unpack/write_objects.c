#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fast_unpack/fast_unpack.h"
#include "sys/fd.h"

#define ARGS_MAX 64

static bool start_one(char **git, const char *kind, struct plain_writer *ret)
{
	char *argv[ARGS_MAX + 8],
		*tail[] = { "hash-object", "-w", "--no-filters", "--stdin-paths", "-t", (char *)kind, NULL };
	posix_spawn_file_actions_t actions;
	int down[2], up[2], rc;
	size_t n = 0;
	pid_t pid;

	for (; git[n]; n++) {
		if (n == ARGS_MAX)
			return false;
		argv[n] = git[n];
	}
	memcpy(argv + n, tail, sizeof(tail));
	if (pipe2(down, O_CLOEXEC) < 0 || pipe2(up, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, down[0], 0);
	posix_spawn_file_actions_adddup2(&actions, up[1], 1);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(down[0]);
	close(up[1]);
	*ret = (struct plain_writer){ down[1], up[0] };
	return !rc;
}

bool plain_writers_start(char **git, struct plain_writer writers[PLAIN_KINDS])
{
	static const char *const kinds[] = {
		[PLAIN_COMMIT] = "commit", [PLAIN_TREE] = "tree", [PLAIN_BLOB] = "blob"
	};

	for (int k = PLAIN_COMMIT; k < PLAIN_KINDS; k++)
		if (!start_one(git, kinds[k], &writers[k]))
			return false;
	return true;
}

/* Writes the object to a file and its path to git. All paths fit into a pipe, so neither side blocks. */
static bool write_one(const struct plain_writer *h, const struct plain_object *o, const char *dir, size_t i)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%zu\n", dir, i);
	auto_fd fd = -1;

	if (n >= (int)sizeof(path))
		return false;
	path[n - 1] = '\0';
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write_full(fd, o->data, o->len) < 0)
		return false;
	path[n - 1] = '\n';
	return !write_full(h->in, path, (size_t)n);
}

bool plain_write(const struct plain_writer writers[PLAIN_KINDS], const struct plain_pack *pack,
	const char *dir, size_t hash_len)
{
	for (size_t i = 0; i < pack->n; i++)
		if (!write_one(&writers[pack->v[i].kind], &pack->v[i], dir, i))
			return false;
	for (size_t i = 0; i < pack->n; i++) {
		char id[80];

		if (read_full(writers[pack->v[i].kind].out, id, 2 * hash_len + 1) !=
				(ssize_t)(2 * hash_len + 1) ||
			id[2 * hash_len] != '\n')
			return false;
	}
	return true;
}
