#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/json_read.h"
#include "shim/shim.h"
#include "sys/fd.h"

#define SECONDS 150

void ask_quote(struct buf *out, const char *s)
{
	jread_quote(out, s);
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
	if (fd >= 0 && json)
		http_post(fd, path, json, ret);
	else if (fd >= 0)
		http_get(fd, path, ret);
	return ret->status;
}
