#include <fcntl.h>
#include <unistd.h>

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "shim/facts.h"
#include "sys/fd.h"

#define FACT(name)                                                                                           \
	{                                                                                                    \
#name "=", offsetof(struct facts, name), sizeof(((struct facts *)0)->name)                   \
	}
static const struct {
	const char *key;
	size_t offset, size;
} rows[] = { FACT(name), FACT(branch), FACT(target), FACT(trailer), FACT(workspace), FACT(home), FACT(tmp),
	FACT(project), FACT(garth_home), FACT(network), FACT(guard), FACT(fetch), FACT(push) };

static void take(const char *line, size_t len, struct facts *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = strlen(rows[i].key);
		char *to = (char *)ret + rows[i].offset;

		if (len <= n || memcmp(line, rows[i].key, n) != 0 || len - n >= rows[i].size)
			continue;
		memcpy(to, line + n, len - n);
		to[len - n] = '\0';
	}
}

void facts_read(const char *file, struct facts *ret)
{
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[16384];
	ssize_t n = fd < 0 ? -1 : read_full(fd, text, sizeof(text) - 1);

	memset(ret, 0, sizeof(*ret));
	if (n <= 0)
		return;
	text[n] = '\0';
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		take(line, len, ret);
		line += len + (line[len] == '\n');
	}
}

const char *facts_short(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}
