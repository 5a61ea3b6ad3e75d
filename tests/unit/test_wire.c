#include "testing.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper/wire.h"
#include "sys/fd.h"

static bool head_ok(uint32_t type, uint32_t len)
{
	struct wire_head h = { type, len };

	return wire_head_ok(&h);
}

static void heads_are_checked_by_type(void **state)
{
	(void)state;
	assert_false(head_ok(0, 0));
	assert_false(head_ok(WIRE_TYPES, 0));
	assert_false(head_ok(UINT32_MAX, 0));
	assert_true(head_ok(WIRE_CANCEL, 0));
	assert_false(head_ok(WIRE_CANCEL, 1));
	assert_true(head_ok(WIRE_STDIN, WIRE_DATA_MAX));
	assert_false(head_ok(WIRE_STDIN, WIRE_DATA_MAX + 1));
	assert_false(head_ok(WIRE_OUT, 0));
	assert_true(head_ok(WIRE_EXEC, WIRE_FRAME_MAX));
	assert_false(head_ok(WIRE_EXEC, WIRE_FRAME_MAX + 1));
	assert_false(head_ok(WIRE_EXIT, 3));
	assert_true(head_ok(WIRE_EXIT, 4));
	assert_true(head_ok(WIRE_FAIL, sizeof(struct err)));
	assert_false(head_ok(WIRE_FAIL, sizeof(struct err) - 1));
}

static void *send_exec(void *arg)
{
	int *fd = arg;
	char *data = calloc(1, WIRE_FRAME_MAX);

	memset(data, 'x', WIRE_FRAME_MAX);
	if (wire_send(*fd, WIRE_EXEC, data, WIRE_FRAME_MAX) < 0)
		perror("wire_send");
	wire_send(*fd, WIRE_DETACH, NULL, 0);
	free(data);
	close(*fd);
	return NULL;
}

static void frames_arrive_whole(void **state)
{
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	enum wire_type type;
	pthread_t t;
	int p[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	assert_int_equal(pthread_create(&t, NULL, send_exec, &p[1]), 0);
	assert_int_equal(wire_recv(p[0], &type, &body), 1);
	assert_int_equal(type, WIRE_EXEC);
	assert_int_equal(body.len, WIRE_FRAME_MAX);
	assert_int_equal(body.data[WIRE_FRAME_MAX - 1], 'x');
	assert_int_equal(wire_recv(p[0], &type, &body), 1);
	assert_int_equal(type, WIRE_DETACH);
	assert_int_equal(body.len, 0);
	assert_int_equal(wire_recv(p[0], &type, &body), 0);
	pthread_join(t, NULL);
	close(p[0]);
}

static int recv_bytes(const void *data, size_t len, size_t limit)
{
	auto_fd fd = fd_of_bytes("frames", data, len);
	auto_buf body = BUF_INIT(limit);
	enum wire_type type;

	assert_true(fd >= 0);
	return wire_recv(fd, &type, &body);
}

static void broken_frames_are_errors(void **state)
{
	struct {
		struct wire_head h;
		char body[8];
	} f = { .h = { WIRE_OUT, 8 } };

	(void)state;
	assert_int_equal(recv_bytes(&f, 0, 100), 0);
	assert_int_equal(recv_bytes(&f, sizeof(f), 100), 1);
	assert_int_equal(recv_bytes(&f, sizeof(f) - 1, 100), -1);
	assert_int_equal(errno, EPROTO);
	assert_int_equal(recv_bytes(&f, 3, 100), -1);
	assert_int_equal(errno, EPROTO);
	assert_int_equal(recv_bytes(&f, sizeof(f), 7), -1);
	assert_int_equal(errno, EMSGSIZE);
	f.h.type = 77;
	assert_int_equal(recv_bytes(&f, sizeof(f), 100), -1);
	assert_int_equal(errno, EPROTO);
}

static void what_is_no_frame_is_not_sent(void **state)
{
	int p[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	assert_int_equal(wire_send(p[0], WIRE_EXIT, "x", 1), -1);
	assert_int_equal(errno, EMSGSIZE);
	close(p[1]);
	assert_int_equal(wire_send(p[0], WIRE_CANCEL, NULL, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(p[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_checked_by_type),
		cmocka_unit_test(frames_arrive_whole),
		cmocka_unit_test(broken_frames_are_errors),
		cmocka_unit_test(what_is_no_frame_is_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
