#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shim/shim.h"
#include "sys/fd.h"

#define SECONDS 150

/* The length of the UTF-8 sequence at p, or 0. */
static size_t utf8(const unsigned char *p)
{
	size_t n = p[0] < 0x80                   ? 1
		   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		   : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

void ask_quote(struct buf *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	buf_addch(out, '"');
	while (*p) {
		size_t n = utf8(p);

		if (!n)
			buf_addstr(out, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			buf_printf(out, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			buf_printf(out, "\\u%04x", *p);
		else
			buf_add(out, p, n);
		p += n ? n : 1;
	}
	buf_addch(out, '"');
}

static int reach(const char *path)
{
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s", path), r;

	if (fd < 0 || n < 0 || (size_t)n >= sizeof(at.sun_path))
		return -1;
	if (http_set_time_limit(fd, SECONDS) < 0)
		return -1;
	do
		r = connect(fd, (const struct sockaddr *)&at, sizeof(at));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -1 : fd_steal(&fd);
}

int ask(const char *socket, const char *path, const char *json, struct http_answer *ret)
{
	auto_fd fd = reach(socket);

	ret->status = 0;
	buf_reset(&ret->body);
	if (fd >= 0)
		http_post(fd, path, json, ret);
	return ret->status;
}
