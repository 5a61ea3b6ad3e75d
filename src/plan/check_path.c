#include "plan/check_path.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

/* Takes the last name away. */
static bool go_up(struct buf *b)
{
	const char *slash;

	if (!b->len)
		return false;
	slash = strrchr(b->data, '/');
	buf_cut(b, slash ? (size_t)(slash - b->data) : 0);
	return true;
}

static bool add(struct buf *b, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			if (!go_up(b))
				return false;
		} else if (n && !(n == 1 && *path == '.')) {
			if (b->len)
				buf_addch(b, '/');
			buf_add(b, path, n);
		}
		path += n + (path[n] == '/');
	}
	return true;
}

char *check_path(const char *dir, const char *path)
{
	auto_buf b = BUF_SMALL;

	if (!add(&b, dir) || !add(&b, path) || b.overflow)
		return NULL;
	return b.len ? buf_steal(&b) : xstrdup("");
}
