#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp_files/files.h"
#include "sys/fd.h"

void tool_list(struct mcp_call *c)
{
	auto_str path = arg_path(c, "path");
	auto_fd dir = path ? open_directory(c, path) : -1;
	auto_buf out = BUF_INIT(2 * FILES_TEXT_MAX);
	auto_names n = { 0 };

	if (dir < 0)
		return;
	if (names_read(dir, &n) < 0) {
		tool_refuse_errno(c, path, "list it");
		return;
	}
	for (size_t i = 0; i < n.names.n; i++) {
		buf_printf(&out, "%s%s ", i ? "\n" : "", n.is_dir[i] ? "[DIR]" : "[FILE]");
		add_name(&out, n.names.v[i]);
	}
	mcp_text(c, buf_str(&out), out.len);
}

struct sized {
	const char *name;
	bool is_dir;
	int64_t size;
};

/* As JavaScript's localeCompare orders ASCII: punctuation, digits, letters without their case. */
static int rank(unsigned char c)
{
	static const char order[] = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";
	const char *at = c < 0x80 ? strchr(order, tolower(c)) : NULL;

	return at && c ? (int)(at - order) + 1 : c == ' ' ? 0 : 1000 + c;
}

static int by_name(const void *x, const void *y)
{
	const char *a = ((const struct sized *)x)->name, *b = ((const struct sized *)y)->name;
	size_t i = 0;

	while (a[i] && b[i] && rank((unsigned char)a[i]) == rank((unsigned char)b[i]))
		i++;
	if (a[i] && b[i])
		return rank((unsigned char)a[i]) - rank((unsigned char)b[i]);
	if (a[i] || b[i])
		return a[i] ? 1 : -1;
	/* small letters first */
	return -strcmp(a, b);
}

static int by_size(const void *x, const void *y)
{
	const struct sized *a = x, *b = y;

	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void size_text(char out[40], int64_t size)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double value = (double)size;
	int unit = 0;

	while (value >= 1024 && unit < 4)
		value /= 1024, unit++;
	if (!unit)
		snprintf(out, 40, "%lld B", (long long)(size > 0 ? size : 0));
	else
		snprintf(out, 40, "%.2f %s", value, units[unit]);
}

/* JavaScript counts UTF-16 units. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80 ? 1 + ((unsigned char)*s >= 0xf0) : 0;
	return n;
}

static void add_entry(struct buf *out, const struct sized *s)
{
	auto_buf name = BUF_SMALL;
	char size[40];

	add_name(&name, s->name);
	buf_printf(out, "%s %s", s->is_dir ? "[DIR]" : "[FILE]", buf_str(&name));
	for (int i = width(buf_str(&name)); i < 30; i++)
		buf_addch(out, ' ');
	size_text(size, s->size);
	if (s->is_dir)
		buf_addstr(out, " \n");
	else
		buf_printf(out, " %10s\n", size);
}

static int64_t size_of(const struct files *f, int dir, const char *name)
{
	struct stat st;
	auto_fd fd = -1;

	(void)f;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (!S_ISLNK(st.st_mode))
		return st.st_size;
	/* a link counts as what it leads to, if that is beneath its own directory */
	fd = beneath(&(struct files){ .root = dir }, name, O_PATH, 0);
	return fd >= 0 && !fstat(fd, &st) ? st.st_size : 0;
}

void tool_list_sizes(struct mcp_call *c)
{
	const char *order = arg_text(c, "sortBy");
	auto_str path = arg_path(c, "path");
	auto_fd dir = path ? open_directory(c, path) : -1;
	auto_buf out = BUF_INIT(4 * FILES_TEXT_MAX);
	int64_t total = 0, dirs = 0;
	auto_names n = { 0 };
	struct sized *v;
	char size[40];

	if (dir < 0)
		return;
	if (order && strcmp(order, "name") && strcmp(order, "size")) {
		tool_refuse(c, "bad_arguments", NULL, "sortBy must be \"name\" or \"size\"");
		return;
	}
	if (names_read(dir, &n) < 0) {
		tool_refuse_errno(c, path, "list it");
		return;
	}
	v = xcalloc(n.names.n + 1, sizeof(*v));
	for (size_t i = 0; i < n.names.n; i++) {
		v[i] = (struct sized){ n.names.v[i], n.is_dir[i], size_of(c->ctx, dir, n.names.v[i]) };
		total += v[i].is_dir ? 0 : v[i].size;
		dirs += v[i].is_dir;
	}
	qsort(v, n.names.n, sizeof(*v), order && !strcmp(order, "size") ? by_size : by_name);
	for (size_t i = 0; i < n.names.n; i++)
		add_entry(&out, &v[i]);
	free(v);
	size_text(size, total);
	buf_printf(&out, "\nTotal: %lld files, %lld directories\nCombined size: %s",
		(long long)n.names.n - dirs, (long long)dirs, size);
	mcp_text(c, buf_str(&out), out.len);
}
