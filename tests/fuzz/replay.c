/* Feeds every file of the directories that are its arguments to the target: a corpus as an ordinary test. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(int dir, const char *name)
{
	auto_buf text = BUF_INIT(16 << 20);
	struct err e = ERR_INIT;

	if (read_file(dir, name, &text, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return -1;
	}
	/* in an allocation of exactly its size, so that a sanitizer sees a read beyond its end */
	char *exact = malloc(text.len ? text.len : 1);

	if (!exact)
		return -1;
	memcpy(exact, buf_str(&text), text.len);
	LLVMFuzzerTestOneInput((const uint8_t *)exact, text.len);
	free(exact);
	return 0;
}

static int replay_dir(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = opendir(path);
	struct dirent *ent;
	int n = 0;

	if (fd < 0 || !d) {
		perror(path);
		return -1;
	}
	while (n >= 0 && (ent = readdir(d)))
		if (ent->d_name[0] != '.')
			n = replay_file(fd, ent->d_name) < 0 ? -1 : n + 1;
	closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay_dir(argv[i]);

		if (n < 0)
			return 1;
		sum += n;
	}
	printf("%d inputs\n", sum);
	return sum ? 0 : 1;
}
