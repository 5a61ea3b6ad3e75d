/* G4: how the shim and the commands ask a gateway over a socket, and what they make of any answer. */
#include "scratch.h"

#include <signal.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "http/http_client.h"

#define BODY_MAX (1u << 20)

static void answers_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		bool ended;
		int r, status;
		const char *body;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, 1, 200, "{}" },
		{ "HTTP/1.0 403 No\r\ncontent-LENGTH:2\r\n\r\n{}trailing", false, 1, 403, "{}" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", false, 0, 0, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", true, 1, 200, "" },
		{ "HTTP/1.1 200 OK\r\n\r\n{}", false, 0, 0, "" },
		{ "HTTP/1.1 200 OK\r\n\r\n{}", true, 1, 200, "{}" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}", false, 1, 200, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", false, 1, 200, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Len", false, 0, 0, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Len", true, -1, 0, "" },
		{ "HTTP/2 200 OK\r\n\r\n", false, -1, 0, "" },
		{ "HTTP/1.1 20\r\n\r\n", false, -1, 0, "" },
		{ "nonsense\r\n\r\n", true, -1, 0, "" },
		{ "", true, -1, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_http_answer a = HTTP_ANSWER_INIT(BODY_MAX);

		assert_int_equal(
			http_answer_take(rows[i].text, strlen(rows[i].text), rows[i].ended, &a), rows[i].r);
		assert_int_equal(a.status, rows[i].status);
		assert_string_equal(buf_str(&a.body), rows[i].body);
	}
}

static void long_heads_are_refused(void **state)
{
	auto_buf text = BUF_INIT(1 << 20);
	auto_http_answer a = HTTP_ANSWER_INIT(BODY_MAX);

	(void)state;
	buf_addstr(&text, "HTTP/1.1 200 OK\r\nX: ");
	while (text.len <= HTTP_ANSWER_HEAD_MAX)
		buf_addch(&text, 'x');
	assert_int_equal(http_answer_take(buf_str(&text), text.len, false, &a), -1);
	buf_addstr(&text, "\r\n\r\n{}");
	assert_int_equal(http_answer_take(buf_str(&text), text.len, true, &a), -1);
}

/* A body may be as long as the caller says, and a longer one is left out. */
static void bodies_are_bounded(void **state)
{
	static const char *const texts[] = { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
		"HTTP/1.1 200 OK\r\n\r\nabcde" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t max = 4; max < 6; max++) {
			auto_http_answer a = HTTP_ANSWER_INIT(max);

			assert_int_equal(http_answer_take(texts[i], strlen(texts[i]), true, &a), 1);
			assert_int_equal(a.status, 200);
			assert_string_equal(buf_str(&a.body), max < 5 ? "" : "abcde");
			/* one that says that it is too long is not waited for */
			assert_int_equal(
				http_answer_take(texts[0], strlen(texts[0]) - 1, false, &a), max < 5);
		}
}

/* What the other side says, in a child that first reads so many bytes of the request (0: none). */
static pid_t other_side(int pair[2], size_t read_bytes, const char *says)
{
	char request[4096];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		for (size_t n = 0; n < read_bytes;) {
			ssize_t r = read(pair[1], request, read_bytes - n < 4096 ? read_bytes - n : 4096);

			if (r <= 0)
				_exit(1);
			n += (size_t)r;
		}
		_exit(write_full(pair[1], says, strlen(says)) < 0);
	}
	close(pair[1]);
	return pid;
}

static int post(size_t read_bytes, const char *says, const char *json, struct http_answer *ret)
{
	int pair[2], rc, why;
	pid_t pid = other_side(pair, read_bytes, says);

	assert_int_equal(http_set_time_limit(pair[0], 20), 0);
	/* a side that ends at once has ended by now */
	if (!read_bytes)
		waitpid(pid, NULL, 0);
	rc = http_post(pair[0], "/x", json, ret);
	why = errno;
	close(pair[0]);
	if (read_bytes)
		waitpid(pid, NULL, 0);
	errno = why;
	return rc;
}

#define REQUEST                                                                                              \
	"POST /x HTTP/1.1\r\nHost: garth\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"         \
	"Connection: close\r\n\r\n{}"

static void requests_are_answered(void **state)
{
	auto_http_answer a = HTTP_ANSWER_INIT(BODY_MAX);

	(void)state;
	assert_int_equal(
		post(strlen(REQUEST), "HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\n[1]", "{}", &a), 0);
	assert_int_equal(a.status, 404);
	assert_string_equal(buf_str(&a.body), "[1]");
	/* nothing of an earlier answer is left */
	assert_int_equal(post(strlen(REQUEST), "hello", "{}", &a), 0);
	assert_int_equal(a.status, 0);
	assert_string_equal(buf_str(&a.body), "");
}

/* Whether the request was read decides whether it may be sent again. */
static void silence_is_told_apart(void **state)
{
	auto_http_answer a = HTTP_ANSWER_INIT(BODY_MAX);

	(void)state;
	assert_int_equal(post(strlen(REQUEST), "", "{}", &a), 0);
	assert_int_equal(a.status, 0);
	assert_int_equal(post(1, "", "{}", &a), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(post(0, "", "{}", &a), -1);
	assert_int_equal(errno, EPIPE);
	/* one that answers without having read has answered */
	assert_int_equal(post(0, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", "{}", &a), 0);
	assert_int_equal(a.status, 413);
}

static void waits_and_requests_are_bounded(void **state)
{
	auto_http_answer a = HTTP_ANSWER_INIT(BODY_MAX);
	auto_buf large = BUF_INIT(2 * HTTP_REQUEST_MAX);
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(http_set_time_limit(pair[0], 1), 0);
	assert_int_equal(http_post(pair[0], "/x", "{}", &a), -1);
	assert_int_equal(errno, EAGAIN);
	while (large.len < HTTP_REQUEST_MAX)
		buf_addstr(&large, "[[[[[[[[[[[[[[[[");
	assert_int_equal(http_post(pair[0], "/x", buf_str(&large), &a), -1);
	assert_int_equal(errno, EMSGSIZE);
	close(pair[0]), close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_taken_apart),
		cmocka_unit_test(long_heads_are_refused),
		cmocka_unit_test(bodies_are_bounded),
		cmocka_unit_test(requests_are_answered),
		cmocka_unit_test(silence_is_told_apart),
		cmocka_unit_test(waits_and_requests_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
