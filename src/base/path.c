#include "base/path.h"

#include "base/alloc.h"

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	return xasprintf("%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (path[n] == '\0' || path[n] == '/');
}

bool path_is_clean(const char *path)
{
	if (path[0] != '/' || !path[1])
		return path[0] == '/';
	for (const char *p = path; *p;) {
		size_t n = strcspn(++p, "/");

		if (!n || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
	}
	return true;
}
