#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "mcp_files/files.h"
#include "sys/fd.h"
#include "sys/linux.h"

/* As JavaScript prints a date. */
static void add_time(struct buf *out, const char *name, const struct statx_timestamp *at)
{
	time_t seconds = (time_t)at->tv_sec;
	char day[64], zone[64];
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return;
	strftime(day, sizeof(day), "%a %b %d %Y %H:%M:%S GMT%z", &tm);
	strftime(zone, sizeof(zone), "%Z", &tm);
	buf_printf(out, "%s: %s (%s)\n", name, day,
		!strcmp(zone, "UTC") || !*zone ? "Coordinated Universal Time" : zone);
}

static int add_hash(struct mcp_call *c, const char *path, struct buf *out)
{
	auto_buf data = BUF_INIT(FILES_TEXT_MAX);
	struct stat st;
	char hash[65];

	if (!arg_flag(c, "hash"))
		return 0;
	if (read_whole(c, path, &data, &st) < 0)
		return -1;
	hash_text(buf_str(&data), data.len, hash);
	buf_printf(out, "\nsha256: %s", hash);
	return 0;
}

void tool_info(struct mcp_call *c)
{
	auto_str path = arg_path(c, "path");
	auto_fd fd = path ? beneath(c->ctx, path, O_PATH, 0) : -1;
	auto_buf out = BUF_SMALL;
	struct statx st;

	if (!path)
		return;
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		tool_refuse_errno(c, path, "look at it");
		return;
	}
	buf_printf(&out, "size: %llu\n", (unsigned long long)st.stx_size);
	add_time(&out, "created", st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime);
	add_time(&out, "modified", &st.stx_mtime);
	add_time(&out, "accessed", &st.stx_atime);
	buf_printf(&out, "isDirectory: %s\nisFile: %s\npermissions: %03o",
		S_ISDIR(st.stx_mode) ? "true" : "false", S_ISREG(st.stx_mode) ? "true" : "false",
		st.stx_mode & 0777u);
	if (!add_hash(c, path, &out))
		mcp_text(c, buf_str(&out), out.len);
}

void tool_roots(struct mcp_call *c)
{
	const struct files *f = c->ctx;
	auto_buf out = BUF_SMALL;

	buf_addstr(&out, "Allowed directories:\n");
	add_name(&out, f->path);
	mcp_text(c, buf_str(&out), out.len);
}
