/* G2: what the clients of an HTTP server may take: connections, time, the size of a body. */
#include "scratch.h"

#include <event2/event.h>
#include <event2/http.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "http/guard.h"
#include "sys/sock.h"

#define GET "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

struct world {
	struct scratch *s;
	struct event_base *base;
	struct http_guard guard;
	bool late;                   /* requests are not answered at once */
	struct evhttp_request *kept; /* the last one of those */
	unsigned requests;
};

static void on_request(struct evhttp_request *req, void *arg)
{
	struct world *w = arg;

	w->requests++;
	if (!w->late) {
		http_guard_reply(&w->guard, req, 200, NULL);
		return;
	}
	w->kept = req;
	http_guard_hold(req);
	http_guard_grant(&w->guard, req, 0);
}

static int open_world(void **state)
{
	static struct world w;
	const struct http_guard_spec spec = {
		.body_max = 10, .methods = EVHTTP_REQ_GET | EVHTTP_REQ_POST, .request = on_request, .arg = &w
	};
	struct err e = ERR_INIT;
	int fd;

	w = (struct world){ .base = event_base_new() };
	if (!w.base || setup((void **)&w.s) < 0 || sock_listen(w.s->fd, "l", &fd, &e) < 0)
		return -1;
	*state = &w;
	return http_guard_open(&w.guard, w.base, fd, &spec);
}

static int close_world(void **state)
{
	struct world *w = *state;
	void *s = w->s;

	http_guard_close(&w->guard);
	event_base_free(w->base);
	return teardown(&s);
}

static int client(struct world *w)
{
	struct err e = ERR_INIT;
	int fd;

	assert_int_equal(sock_connect(w->s->fd, "l", &fd, &e), 0);
	return fd;
}

static void run_for(struct world *w, unsigned ms)
{
	struct deadline d = deadline_in(ms);

	do
		event_base_loop(w->base, EVLOOP_NONBLOCK);
	while (deadline_sleep(&d, 5));
}

/* The status of the answer, after waiting that long; 0 if there is none. */
static int answer(struct world *w, int fd, unsigned ms)
{
	char text[256] = "";

	run_for(w, ms);
	if (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) < 13)
		return 0;
	return atoi(text + strlen("HTTP/1.1 "));
}

static int ask(struct world *w, const char *request)
{
	auto_fd fd = client(w);

	assert_int_equal(write_full(fd, request, strlen(request)), 0);
	return answer(w, fd, 100);
}

static void large_and_unknown_requests_are_refused(void **state)
{
	struct world *w = *state;
	auto_buf head = BUF_INIT(1 << 20);

	assert_int_equal(ask(w, GET), 200);
	assert_int_equal(ask(w, "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789"), 200);
	assert_int_equal(w->requests, 2);
	assert_int_equal(ask(w, "POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n0123456789a"), 413);
	assert_int_not_equal(ask(w, "DELETE / HTTP/1.1\r\n\r\n"), 200);
	buf_addstr(&head, "GET / HTTP/1.1\r\nX: ");
	/* line ends are not counted */
	while (head.len <= HTTP_HEAD_MAX + 16)
		buf_addch(&head, 'x');
	buf_addstr(&head, "\r\n\r\n");
	assert_int_not_equal(ask(w, buf_str(&head)), 200);
	assert_int_equal(w->requests, 2);
	assert_int_equal(ask(w, GET), 200);
}

static void connections_beyond_the_limit_wait(void **state)
{
	struct world *w = *state;
	int fds[HTTP_CONNECTIONS_MAX], last;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = client(w);
	run_for(w, 100);
	last = client(w);
	assert_int_equal(write_full(last, GET, strlen(GET)), 0);
	assert_int_equal(answer(w, last, 200), 0);
	assert_int_equal(http_guard_count(&w->guard), HTTP_CONNECTIONS_MAX);
	close(fds[0]);
	assert_int_equal(answer(w, last, 200), 200);
	assert_int_equal(http_guard_count(&w->guard), HTTP_CONNECTIONS_MAX);
	for (size_t i = 1; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	close(last);
	run_for(w, 100);
	assert_int_equal(http_guard_count(&w->guard), 0);
}

/* Also one that was full when it was stopped. */
static void a_stopped_guard_accepts_nobody(void **state)
{
	struct world *w = *state;
	int fds[HTTP_CONNECTIONS_MAX], last;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = client(w);
	run_for(w, 100);
	http_guard_stop(&w->guard);
	assert_int_equal(write_full(fds[0], GET, strlen(GET)), 0);
	assert_int_equal(answer(w, fds[0], 100), 200);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	last = client(w);
	assert_int_equal(write_full(last, GET, strlen(GET)), 0);
	assert_int_equal(answer(w, last, 200), 0);
	assert_int_equal(http_guard_count(&w->guard), 0);
	close(last);
}

/* The guard's own clock ends a connection, and an answer that comes later goes nowhere. */
static void time_is_over(void **state)
{
	struct world *w = *state;
	int quick = client(w), fd = client(w);
	struct pollfd p = { fd, POLLIN, 0 };

	assert_int_equal(write_full(quick, GET, strlen(GET)), 0);
	assert_int_equal(answer(w, quick, 100), 200);
	w->late = true;
	assert_int_equal(write_full(fd, GET, strlen(GET)), 0);
	run_for(w, 100);
	assert_non_null(w->kept);
	assert_true(http_guard_fd(w->kept) >= 0);
	run_for(w, 3000);
	assert_int_equal(poll(&p, 1, 0), 1);
	http_guard_reply(&w->guard, w->kept, 200, NULL);
	assert_int_equal(answer(w, fd, 50), 0);
	/* who was granted HTTP_SECONDS is still there */
	w->late = false;
	assert_int_equal(write_full(quick, GET, strlen(GET)), 0);
	assert_int_equal(answer(w, quick, 100), 200);
	close(quick), close(fd);
}

/* A guard that cannot open has closed the descriptor, and may still be closed. */
static void failing_leaves_nothing(void **state)
{
	struct event_base *base = event_base_new();
	const struct http_guard_spec spec = { .request = on_request };
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct http_guard g;

	(void)state;
	assert_int_equal(http_guard_open(&g, base, fd, &spec), -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	http_guard_close(&g);
	event_base_free(base);
}

#define guard_test(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		guard_test(large_and_unknown_requests_are_refused),
		guard_test(connections_beyond_the_limit_wait),
		guard_test(a_stopped_guard_accepts_nobody),
		guard_test(time_is_over),
		cmocka_unit_test(failing_leaves_nothing),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
