#include <fcntl.h>
#include <unistd.h>

#include "shim/shim.h"
#include "sys/fd.h"

static void take(const char *line, size_t len, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	if (len <= n || memcmp(line, key, n) != 0 || len - n >= size)
		return;
	memcpy(out, line + n, len - n);
	out[len - n] = '\0';
}

void facts_read(const char *file, struct facts *ret)
{
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[8192];
	ssize_t n = fd < 0 ? -1 : read_full(fd, text, sizeof(text) - 1);

	memset(ret, 0, sizeof(*ret));
	if (n <= 0)
		return;
	text[n] = '\0';
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		take(line, len, "name=", ret->name, sizeof(ret->name));
		take(line, len, "branch=", ret->branch, sizeof(ret->branch));
		take(line, len, "target=", ret->target, sizeof(ret->target));
		take(line, len, "trailer=", ret->trailer, sizeof(ret->trailer));
		take(line, len, "workspace=", ret->workspace, sizeof(ret->workspace));
		line += len + (line[len] == '\n');
	}
}

const char *facts_short(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}
