#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/message.h"
#include "mcp_files/files.h"
#include "sys/dir.h"
#include "sys/fd.h"

void add_name(struct buf *out, const char *name)
{
	size_t len = strlen(name);

	while (len) {
		size_t good = utf8_valid(name, len);

		buf_add(out, name, good);
		if (good < len)
			buf_addstr(out, "\xef\xbf\xbd"), good++;
		name += good;
		len -= good;
	}
}

void names_release(struct names *n)
{
	strvec_release(&n->names);
	free(n->is_dir);
}

static bool is_directory(int dir, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return ent->d_type == DT_DIR;
	return !fstatat(dir, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

int names_read(int dir, struct names *ret)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir d = own < 0 ? NULL : fdopendir(own);
	struct dirent *ent;

	if (!d)
		return -1;
	/* the kind is sorted along with the name; the separator sorts before every character of a name */
	while ((ent = readdir(d)) && ret->names.n < FILES_ENTRIES)
		if (!dir_is_dot(ent->d_name))
			strvec_pushf(
				&ret->names, "%s\1%c", ent->d_name, is_directory(dirfd(d), ent) ? 'd' : 'f');
	ret->is_dir = xcalloc(ret->names.n + 1, sizeof(bool));
	if (!ret->names.n)
		return 0;
	strvec_sort(&ret->names);
	for (size_t i = 0; i < ret->names.n; i++) {
		size_t n = strlen(ret->names.v[i]);

		ret->is_dir[i] = ret->names.v[i][n - 1] == 'd';
		ret->names.v[i][n - 2] = '\0';
	}
	return 0;
}

struct walker {
	walk_fn *fn;
	void *arg;
	struct buf path;
	struct deadline until;
	unsigned entries;
	bool short_of; /* not everything was visited */
};

static int walk_in(struct walker *w, int dir, unsigned depth)
{
	auto_names n = { 0 };
	size_t len = w->path.len;

	if (names_read(dir, &n) < 0)
		return -1;
	for (size_t i = 0; i < n.names.n; i++) {
		struct entry e = { .name = n.names.v[i], .is_dir = n.is_dir[i], .depth = depth };
		auto_fd sub = -1;

		if (++w->entries > FILES_ENTRIES || !deadline_left(&w->until))
			return w->short_of = true, 0;
		buf_cut(&w->path, len);
		buf_printf(&w->path, "%s%s", len ? "/" : "", e.name);
		e.path = buf_str(&w->path);
		if (!w->fn(&e, w->arg) || !e.is_dir)
			continue;
		if (depth == FILES_DEPTH || w->path.overflow) {
			w->short_of = true;
			continue;
		}
		sub = open_beneath(dir, e.name, O_RDONLY | O_DIRECTORY, 0);
		if (sub >= 0)
			walk_in(w, sub, depth + 1);
		else
			w->short_of |= errno != ENOENT;
	}
	buf_cut(&w->path, len);
	return 0;
}

int walk_files(int dir, walk_fn *fn, void *arg)
{
	struct walker w = {
		.fn = fn, .arg = arg, .path = BUF_INIT(32 << 10), .until = deadline_in(FILES_TOOL_MS)
	};
	int rc = walk_in(&w, dir, 0);

	buf_release(&w.path);
	return rc < 0 ? -1 : w.short_of;
}
