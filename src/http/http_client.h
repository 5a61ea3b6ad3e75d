/*
 * An HTTP/1.1 client: one request with a JSON body over a connected socket, and one answer, of which nothing
 * is believed and no more is kept than the caller allows. Needs nothing but libc, base and sys.
 *
 *	auto_http_answer a = HTTP_ANSWER_INIT(1 << 20);
 *	http_set_time_limit(fd, 150);
 *	if (http_post(fd, "/api/v1/task", "{}", &a) < 0) … nobody answered: errno
 *	if (a.status == 200) … buf_str(&a.body)
 */
#ifndef HTTP_HTTP_CLIENT_H
#define HTTP_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define HTTP_REQUEST_MAX     (2u << 20)
#define HTTP_ANSWER_HEAD_MAX (16u << 10)

struct http_answer {
	int status;      /* 200 …; 0 if there is no answer */
	struct buf body; /* its limit is that of the answer's body */
};
#define HTTP_ANSWER_INIT(limit)                                                                              \
	{                                                                                                    \
		.body = BUF_INIT(limit)                                                                      \
	}
void http_answer_release(struct http_answer *a);
#define auto_http_answer __attribute__((cleanup(http_answer_release))) struct http_answer

/* Limits each wait on the socket: for the other side to accept (if set before connect), to take, to send. -1
 * and errno. */
int http_set_time_limit(int fd, unsigned seconds);

/* Sends the request and waits for the answer. The status is 0 if what came is no HTTP, or if the other side
 * ended without a word. A body that was cut off or is larger than allowed is left empty; the status stands.
 * -1 and errno if the request is too large (EMSGSIZE), or if nothing came because the connection broke or
 * the time was over: EPIPE or ECONNRESET mean that the other side has closed it without having read all. */
int http_post(int fd, const char *path, const char *json, struct http_answer *ret);
/* The same without a body. */
int http_get(int fd, const char *path, struct http_answer *ret);

/* Takes apart what has come so far: 1 if it is all there (or `ended`, and nothing more comes), 0 if more is
 * needed, -1 if it is no answer. data is followed by a NUL, as a buf's is. */
int http_answer_take(const char *data, size_t len, bool ended, struct http_answer *ret);

#endif
