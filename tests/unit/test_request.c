#include "testing.h"

#include <string.h>

#include "base/alloc.h"
#include "egress/request.h"

#define PARSE(text, r) request_parse(text, sizeof(text) - 1, false, r)

static void test_connect(void **state)
{
	struct request r;

	(void)state;
	assert_int_equal(PARSE("CONNECT a.b:443 HTTP/1.1\r\nHost: c.d\r\n\r\nrest", &r), 1);
	assert_int_equal(r.kind, REQUEST_CONNECT);
	assert_string_equal(r.host.name, "a.b");
	assert_int_equal(r.host.port, 443);
	assert_int_equal(r.used, 39);
	assert_int_equal(PARSE("CONNECT a.b:443 HTTP/1.1\r\nHost: c.d\r\n", &r), 0);
	assert_int_equal(PARSE("CONNECT a.b HTTP/1.1\r\n\r\n", &r), -1);
	assert_int_equal(PARSE("CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n", &r), -1);
	assert_int_equal(PARSE("CONNECT a.b:443\tHTTP/1.1\r\n\r\n", &r), -1);
	assert_int_equal(PARSE("CONNECT a.b:443 HTTP/2.0\r\n\r\n", &r), -1);
	assert_int_equal(PARSE("CONNECT a.b\0:443 HTTP/1.1\r\n\r\n", &r), -1);
	assert_int_equal(PARSE("\x16\x03\x01", &r), -1);
	assert_int_equal(PARSE("\4\1", &r), -1);
}

static void test_plain(void **state)
{
	struct request r;

	(void)state;
	assert_int_equal(
		PARSE("GET http://A.b/x?y HTTP/1.1\r\nHost: a.b\r\nProxy-Connection: x\r\nConnection: "
		      "keep-alive\r\nX: y\r\n\r\nbody",
			&r),
		1);
	assert_int_equal(r.kind, REQUEST_HTTP);
	assert_string_equal(r.host.name, "a.b");
	assert_int_equal(r.host.port, 80);
	assert_string_equal(
		buf_str(&r.head), "GET /x?y HTTP/1.1\r\nHost: a.b\r\nX: y\r\nConnection: close\r\n\r\n");
	request_release(&r);
	assert_int_equal(PARSE("GET http://a.b:81 HTTP/1.0\r\n\r\n", &r), 1);
	assert_string_equal(buf_str(&r.head), "GET / HTTP/1.1\r\nHost: a.b:81\r\nConnection: close\r\n\r\n");
	request_release(&r);
}

static void test_plain_that_is_refused(void **state)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\nHost: a.b\r\n\r\n",
		"GET https://a.b/ HTTP/1.1\r\n\r\n",
		"GET http:///x HTTP/1.1\r\n\r\n",
		"GET http://a.b@c.d/ HTTP/1.1\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nHost: c.d\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nhOsT:c.d\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nHost: a.b:81\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nHost: a.b\r\nHost: a.b\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nX: y\r\n Host: c.d\r\n\r\n",
		"GET http://a.b/ HTTP/1.1\r\nX: y\rHost: c.d\r\n\r\n",
		"GET  http://a.b/ HTTP/1.1\r\n\r\n",
		"GET http://a.b/ x HTTP/1.1\r\n\r\n",
		"http://a.b/\r\n\r\n",
	};
	struct request r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (request_parse(bad[i], strlen(bad[i]), false, &r) != -1)
			fail_msg("%s", bad[i]);
		request_release(&r);
	}
}

static void test_socks(void **state)
{
	struct request r;

	(void)state;
	assert_int_equal(PARSE("\5\2\0", &r), 0);
	assert_int_equal(PARSE("\5\2\2\0rest", &r), 2);
	assert_int_equal(r.used, 4);
	assert_int_equal(PARSE("\5\1\2", &r), -1);
	assert_int_equal(request_parse("\5\1\0\3\3a.b\1\xbbx", 11, true, &r), 1);
	assert_string_equal(r.host.name, "a.b");
	assert_int_equal(r.host.port, 443);
	assert_int_equal(r.used, 10);
	assert_int_equal(request_parse("\5\1\0\1\x7f\0\0\1\0\x50", 10, true, &r), 1);
	assert_string_equal(r.host.name, "127.0.0.1");
	assert_true(r.host.is_address);
	assert_int_equal(request_parse("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50", 22, true, &r), 1);
	assert_true(r.host.is_address);
	assert_int_equal(request_parse("\5\1\0\4\0\0\0\0", 8, true, &r), 0);
	assert_int_equal(request_parse("\5\2\0\3\3a.b\1\xbb", 10, true, &r), -1);
	assert_int_equal(request_parse("\5\1\0\3\3a\0b\1\xbb", 10, true, &r), -1);
}

/* What is too long for a host is named in part, and the part is not offered as a host to allow. */
static void test_a_cut_name_is_no_host(void **state)
{
	char text[700] = "CONNECT ";
	struct request r;

	(void)state;
	for (size_t i = 8; i < 608; i++)
		text[i] = i % 60 ? 'a' : '.';
	memcpy(text + 608, ":443 HTTP/1.1\r\n\r\n", 18);
	assert_int_equal(request_parse(text, 626, false, &r), -1);
	assert_memory_equal(r.asked, text + 8, 100);
	assert_non_null(strchr(r.asked, ' '));
	/* and one that grows when it is cleaned */
	memset(text + 8, '\x80', 120);
	memcpy(text + 128, ":443 HTTP/1.1\r\n\r\n", 18);
	assert_int_equal(request_parse(text, 146, false, &r), -1);
	assert_non_null(strchr(r.asked, ' '));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_plain_that_is_refused),
		cmocka_unit_test(test_socks),
		cmocka_unit_test(test_a_cut_name_is_no_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
