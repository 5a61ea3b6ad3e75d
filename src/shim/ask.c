#include <errno.h>
#include <limits.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

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
	struct timeval limit = { .tv_sec = SECONDS };
	int n = snprintf(at.sun_path, sizeof(at.sun_path), "%s", path), r;

	if (fd < 0 || n < 0 || (size_t)n >= sizeof(at.sun_path))
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -1;
	do
		r = connect(fd, (const struct sockaddr *)&at, sizeof(at));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -1 : fd_steal(&fd);
}

static int send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The value of a header, or NULL. head ends in an empty line. */
static const char *header(const char *head, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = head; line < end; line++) {
		if ((size_t)(end - line) > n && !strncasecmp(line, name, n) && line[n] == ':') {
			line += n + 1;
			return line + strspn(line, " \t");
		}
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			break;
	}
	return NULL;
}

/* -1: not given. SIZE_MAX: more than anybody keeps, or no number. */
static ssize_t content_length(const char *head, const char *end)
{
	const char *value = header(head, end, "content-length");
	size_t n = 0;

	if (!value)
		return -1;
	if (*value < '0' || *value > '9')
		return SSIZE_MAX;
	for (; *value >= '0' && *value <= '9'; value++) {
		n = n * 10 + (size_t)(*value - '0');
		if (n > ANSWER_BODY_MAX)
			return SSIZE_MAX;
	}
	return (ssize_t)n;
}

/* data is followed by a NUL, as a buf's is. */
int answer_take(const char *data, size_t len, bool ended, struct answer *ret)
{
	const char *end = memmem(data, len, "\r\n\r\n", 4), *body;
	ssize_t want;
	size_t have;

	if (!end || end - data > ANSWER_HEAD_MAX)
		return ended || len > ANSWER_HEAD_MAX ? -1 : 0;
	if (strncmp(data, "HTTP/1.", 7) != 0 || (data[7] != '0' && data[7] != '1') || data[8] != ' ')
		return -1;
	for (int i = 9; i < 12; i++)
		if (data[i] < '0' || data[i] > '9')
			return -1;
	body = end + 4;
	have = len - (size_t)(body - data);
	want = content_length(data, end + 2);
	if (!ended && have <= ANSWER_BODY_MAX && want != SSIZE_MAX && (want < 0 || have < (size_t)want))
		return 0;
	ret->status = (data[9] - '0') * 100 + (data[10] - '0') * 10 + (data[11] - '0');
	buf_reset(&ret->body);
	if (want < 0)
		want = (ssize_t)have;
	if (have >= (size_t)want)
		buf_add(&ret->body, body, (size_t)want);
	return 1;
}

static int receive(int fd, struct answer *ret)
{
	auto_buf raw = BUF_INIT(ANSWER_HEAD_MAX + ANSWER_BODY_MAX + 16384);
	int done = 0;

	while (!done) {
		char *at = buf_reserve(&raw, 8192);
		ssize_t n = at ? recv(fd, at, 8192, 0) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			raw.len += (size_t)n;
			raw.data[raw.len] = '\0';
		}
		done = answer_take(buf_str(&raw), raw.len, n <= 0, ret);
	}
	return done;
}

int ask(const char *socket, const char *path, const char *json, struct answer *ret)
{
	auto_buf request = BUF_INIT(OFFER_MAX + 8192);
	auto_fd fd = reach(socket);

	ret->status = 0;
	buf_reset(&ret->body);
	if (fd < 0)
		return 0;
	buf_printf(&request,
		"POST %s HTTP/1.1\r\nHost: garth\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n",
		path, strlen(json));
	buf_addstr(&request, json);
	/* Who does not want all of it may have answered all the same, so a failure to send is no end. */
	if (request.overflow || (send_all(fd, buf_str(&request), request.len) < 0 && errno != EPIPE))
		return 0;
	if (receive(fd, ret) < 0)
		ret->status = 0;
	return ret->status;
}

void answer_release(struct answer *a)
{
	buf_release(&a->body);
}
