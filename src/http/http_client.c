#include "http/http_client.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>

#define STEP 8192

void http_answer_release(struct http_answer *a)
{
	buf_release(&a->body);
}

int http_set_time_limit(int fd, unsigned seconds)
{
	struct timeval limit = { .tv_sec = seconds };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		return -1;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
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

/* -1: not given. SSIZE_MAX: more than max, or no number. */
static ssize_t content_length(const char *head, const char *end, size_t max)
{
	const char *value = header(head, end, "content-length");
	size_t n = 0;

	if (!value)
		return -1;
	if (*value < '0' || *value > '9')
		return SSIZE_MAX;
	for (; *value >= '0' && *value <= '9'; value++) {
		n = n * 10 + (size_t)(*value - '0');
		if (n > max)
			return SSIZE_MAX;
	}
	return (ssize_t)n;
}

int http_answer_take(const char *data, size_t len, bool ended, struct http_answer *ret)
{
	const char *end = memmem(data, len, "\r\n\r\n", 4), *body;
	size_t max = ret->body.max, have;
	ssize_t want;

	if (!end || end - data > HTTP_ANSWER_HEAD_MAX)
		return ended || len > HTTP_ANSWER_HEAD_MAX ? -1 : 0;
	if (strncmp(data, "HTTP/1.", 7) != 0 || (data[7] != '0' && data[7] != '1') || data[8] != ' ')
		return -1;
	for (int i = 9; i < 12; i++)
		if (data[i] < '0' || data[i] > '9')
			return -1;
	body = end + 4;
	have = len - (size_t)(body - data);
	want = content_length(data, end + 2, max);
	if (!ended && have <= max && want != SSIZE_MAX && (want < 0 || have < (size_t)want))
		return 0;
	ret->status = (data[9] - '0') * 100 + (data[10] - '0') * 10 + (data[11] - '0');
	buf_reset(&ret->body);
	if (want < 0)
		want = (ssize_t)have;
	if (have >= (size_t)want)
		buf_add(&ret->body, body, (size_t)want);
	return 1;
}

/* why: the error of sending, or 0. */
static int receive(int fd, int why, struct http_answer *ret)
{
	auto_buf raw = BUF_INIT(HTTP_ANSWER_HEAD_MAX + ret->body.max + 2 * STEP);
	int done = 0;

	while (!done) {
		char *at = buf_reserve(&raw, STEP);
		ssize_t n = at ? recv(fd, at, STEP, 0) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			why = errno;
		if (n > 0) {
			raw.len += (size_t)n;
			raw.data[raw.len] = '\0';
		}
		done = http_answer_take(buf_str(&raw), raw.len, n <= 0, ret);
	}
	errno = why;
	return why && !raw.len ? -1 : 0;
}

static int exchange(int fd, const struct buf *request, struct http_answer *ret)
{
	ret->status = 0;
	buf_reset(&ret->body);
	if (request->overflow) {
		errno = EMSGSIZE;
		return -1;
	}
	if (!send_all(fd, buf_str(request), request->len))
		return receive(fd, 0, ret);
	/* a server that does not want all of it may have answered anyway */
	return errno == EPIPE ? receive(fd, EPIPE, ret) : -1;
}

int http_get(int fd, const char *path, struct http_answer *ret)
{
	auto_buf request = BUF_INIT(HTTP_REQUEST_MAX);

	buf_printf(&request, "GET %s HTTP/1.1\r\nHost: garth\r\nConnection: close\r\n\r\n", path);
	return exchange(fd, &request, ret);
}

int http_post(int fd, const char *path, const char *json, struct http_answer *ret)
{
	auto_buf request = BUF_INIT(HTTP_REQUEST_MAX);

	buf_printf(&request,
		"POST %s HTTP/1.1\r\nHost: garth\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n",
		path, strlen(json));
	buf_addstr(&request, json);
	return exchange(fd, &request, ret);
}
