/* What of the credentials proxy needs no network: dummies, request heads, paths, scrubbing, editing of log-in files. */
#include "testing.h"

#include "base/alloc.h"
#include "credentials/allowed.h"
#include "credentials/dummy.h"
#include "credentials/head.h"
#include "credentials/member.h"
#include "credentials/route.h"
#include "credentials/scrub.h"
#include "credentials/vault.h"

static const unsigned char key[DUMMY_KEY_LEN] = "one key", other_key[DUMMY_KEY_LEN] = "another";

static void test_dummies(void **state)
{
	static const char claude[] =
		"sk-ant-api03-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwX";
	auto_str one = dummy_of(key, claude), again = dummy_of(key, claude),
		 other = dummy_of(other_key, claude);
	auto_str shorter = dummy_of(key, "ab-c"),
		 google = dummy_of(key, "AIzaSyA1234567890abcdefghijklmnopqrstuv");

	(void)state;
	assert_int_equal(strlen(one), strlen(claude));
	assert_int_equal(strncmp(one, "sk-ant-api03-", 13), 0);
	assert_null(strstr(one, "aBcDeFgHiJ"));
	assert_string_equal(one, again);
	assert_string_not_equal(one, other);
	assert_true(dummy_in(one, strlen(one)));
	assert_false(dummy_in(claude, strlen(claude)));
	assert_int_equal(strncmp(google, "AIza" DUMMY_MARK, 14), 0);
	/* nothing is kept of a short one, and it is not easier to guess */
	assert_int_equal(strncmp(shorter, DUMMY_MARK, strlen(DUMMY_MARK)), 0);
	assert_true(strlen(shorter) >= strlen(DUMMY_MARK) + 22);
}

static void test_web_tokens(void **state)
{
	static const char open[] = "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.";
	static const char jwt[] =
		"eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJlLXNpZ25hdHVyZS1zaWduYXR1cmUtc2ln";
	auto_str dummy = dummy_of(key, jwt);

	(void)state;
	assert_int_equal(strlen(dummy), strlen(jwt));
	assert_int_equal(strncmp(dummy, open, strlen(open)), 0);
	assert_null(strstr(dummy, "c2lnbmF0"));
}

/* The status with which a head is refused; 0: it is taken; 1: more is needed. */
static int parse(const char *text)
{
	struct head h;
	int rc = head_parse(text, strlen(text), &h), status = rc < 0 ? h.status : !rc;

	head_release(&h);
	return status;
}

#define GOOD "POST /anthropic/v1/messages HTTP/1.1\r\nHost: x\r\n"

static void test_heads(void **state)
{
	struct head h;

	(void)state;
	assert_int_equal(
		head_parse(GOOD "X-Api-Key:  a b \t\r\nContent-Length: 3\r\n\r\nabc", strlen(GOOD) + 46, &h),
		1);
	assert_string_equal(h.method, "POST");
	assert_string_equal(h.target, "/anthropic/v1/messages");
	assert_string_equal(head_value(&h, "x-api-key"), "a b");
	assert_int_equal(h.length, 3);
	head_release(&h);
	assert_int_equal(parse(GOOD), 1);
	assert_int_equal(parse(GOOD "\r\n"), 0);
	assert_int_equal(parse(GOOD "Transfer-Encoding: chunked\r\n\r\n"), 0);
}

/* Everything by which two readers could disagree about a request. */
static void test_smuggling(void **state)
{
	(void)state;
	assert_int_equal(parse(GOOD "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Content-Length: 3, 3\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Content-Length: +3\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Content-Length: 0x3\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Transfer-Encoding: gzip, chunked\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Transfer-Encoding: xchunked\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "Transfer-Encoding : chunked\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "X: a\n\r\n"), 400);
	assert_int_equal(parse(GOOD "X: a\rY: b\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "X: a\r\n folded\r\n\r\n"), 400);
	assert_int_equal(parse(GOOD "No colon\r\n\r\n"), 400);
	assert_int_equal(parse("POST http://evil.example/x HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
	assert_int_equal(parse("POST //x HTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
	assert_int_equal(parse("CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
	assert_int_equal(parse("GET / HTTP/1.0\r\nHost: x\r\n\r\n"), 505);
	assert_int_equal(parse("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 400);
	assert_int_equal(parse("GET / HTTP/1.1\r\n\r\n"), 400);
}

static ssize_t take_body(const char *fields, const char *text, struct buf *out, bool *done)
{
	auto_buf head = BUF_SMALL;
	struct head h;
	struct body b;
	ssize_t n;

	buf_printf(&head, GOOD "%s\r\n", fields);
	assert_int_equal(head_parse(head.data, head.len, &h), 1);
	body_begin(&b, &h);
	n = body_take(&b, &h, text, strlen(text), out);
	*done = b.done;
	head_release(&h);
	return n;
}

static void test_bodies(void **state)
{
	static const char chunked[] = "Transfer-Encoding: chunked\r\n";
	auto_buf out = BUF_SMALL;
	bool done;

	(void)state;
	assert_int_equal(take_body("Content-Length: 3\r\n", "abcdef", &out, &done), 3);
	assert_true(done);
	assert_string_equal(out.data, "abc");
	buf_reset(&out);
	assert_int_equal(take_body(chunked, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET", &out, &done), 20);
	assert_true(done);
	assert_string_equal(out.data, "abcde");
	buf_reset(&out);
	take_body(chunked, "3\r\nab", &out, &done);
	assert_false(done);
	assert_int_equal(take_body(chunked, "3;x=y\r\nabc\r\n", &out, &done), -1);
	assert_int_equal(take_body(chunked, "-3\r\nabc\r\n", &out, &done), -1);
	assert_int_equal(take_body(chunked, "3\nabc\r\n", &out, &done), -1);
	assert_int_equal(take_body(chunked, "3\r\nabcd\r\n", &out, &done), -1);
	assert_int_equal(take_body(chunked, "ffffffffffffffff\r\n", &out, &done), -1);
	assert_int_equal(take_body(chunked, "0\r\nTrailer: x\r\n\r\n", &out, &done), -1);
}

static void test_paths(void **state)
{
	auto_strvec rows = STRVEC_INIT;

	(void)state;
	strvec_pushl(&rows, "POST /v1/messages", "GET /v1/models/", "POST ", (char *)NULL);
	assert_true(request_allowed(&rows, "POST", "/v1/messages"));
	assert_true(request_allowed(&rows, "POST", "/v1/messages?beta=true"));
	assert_true(request_allowed(&rows, "GET", "/v1/models/x"));
	assert_true(request_allowed(&rows, "POST", ""));
	assert_false(request_allowed(&rows, "GET", "/v1/messages"));
	assert_false(request_allowed(&rows, "POST", "/v1/messages/batches"));
	assert_false(request_allowed(&rows, "POST", "/v1/messagesx"));
	assert_false(request_allowed(&rows, "GET", "/v1/models"));
	assert_false(request_allowed(&rows, "post", "/v1/messages"));
	assert_true(path_is_plain("/a/v1beta/models/x:generateContent?a=%2f.."));
	assert_false(path_is_plain("/a/v1/models/../organizations"));
	assert_false(path_is_plain("/a/v1/models/%2E%2e/organizations"));
	assert_false(path_is_plain("/a/v1/models/%2forganizations"));
	assert_false(path_is_plain("/a/v1/models//x"));
	assert_false(path_is_plain("/a/v1/models/..\\x"));
	assert_false(path_is_plain("/a/v1/models/%252e"));
	assert_false(path_is_plain("/a#b"));
	assert_false(path_is_plain("/a/v1/models/%0d%0ax"));
	assert_false(path_is_plain("/a/v1/models/%C0%AE%C0%AE"));
	assert_true(path_is_plain("/a/v1/models/%c3%a4"));
	/* what makes another method of it */
	assert_false(request_allowed(&rows, "POST", "/v1/messages?$httpMethod=DELETE"));
	assert_false(request_allowed(&rows, "POST", "/v1/messages?a=b&%24http%4dethod=DELETE"));
	assert_false(request_allowed(&rows, "POST", "/v1/messages?a;_method"));
	assert_true(request_allowed(&rows, "POST", "/v1/messages?x=_method&a_method=b&_methods=c&%5"));
}

static void add_service(struct vault *v, const char *name, const char *url, bool tls, const char *path)
{
	struct service *s = vault_add_service(v, name);

	free(s->url);
	s->url = xstrdup(url);
	s->tls = tls;
	strvec_push(&s->paths, path);
}

/* Where a request goes: "NAME REST" of a service, "- REST" if it is passed on as it is, or the status of a refusal. */
static void assert_goes(const struct vault *v, const char *host, const char *request, const char *want)
{
	auto_str text = xasprintf("%s HTTP/1.1\r\nHost: x\r\n%s\r\n", request,
		strstr(want, "#") ? "Cookie: a=" DUMMY_MARK "x\r\n" : "");
	auto_str got = NULL, plain = xstrndup(want, strcspn(want, "#"));
	struct route r;
	struct head h;

	assert_int_equal(head_parse(text, strlen(text), &h), 1);
	if (!route_find(v, &h, host, &r))
		got = xasprintf("%d", r.status);
	else
		got = xasprintf("%s %s", r.service < 0 ? "-" : v->services[r.service].name, r.path);
	assert_string_equal(got, plain);
	head_release(&h);
}

static void test_routes(void **state)
{
	auto_vault v = { 0 };

	(void)state;
	add_service(&v, "model", "https://api.example", true, "POST /v1/messages");
	add_service(&v, "token", "https://auth.example/token", true, "POST ");
	add_service(&v, "info", "https://auth.example", true, "GET /tokeninfo");
	add_service(&v, "plain", "https://auth.example/plain", false, "POST ");
	add_service(&v, "other", "https://api.example.org", true, "* /");
	assert_goes(&v, "api.example", "POST /v1/messages?beta=true", "model /v1/messages?beta=true");
	assert_goes(&v, "auth.example", "POST /token", "token ");
	assert_goes(&v, "auth.example", "POST /token?a", "token ?a");
	assert_goes(&v, "auth.example", "GET /tokeninfo", "info /tokeninfo");
	/* of another method, path or host: without a secret, and only if it names none */
	assert_goes(&v, "auth.example", "GET /token", "- /token");
	assert_goes(&v, "auth.example", "POST /tokens", "- /tokens");
	assert_goes(&v, "auth.example", "POST /plain", "- /plain");
	assert_goes(&v, "auth.example", "POST /v1/messages", "- /v1/messages");
	assert_goes(&v, "api.exampl", "POST /v1/messages", "- /v1/messages");
	assert_goes(&v, "api.example.or", "POST /v1/messages", "- /v1/messages");
	assert_goes(&v, "auth.example", "GET /token", "403#");
	assert_goes(&v, "api.example", "POST /v1/messages/../x", "400");
	/* the names of services are for plain HTTP only, and so are those without TLS */
	assert_goes(&v, "api.example", "POST /model/v1/messages", "- /model/v1/messages");
	assert_goes(&v, NULL, "POST /model/v1/messages", "model /v1/messages");
	assert_goes(&v, NULL, "POST /plain", "plain ");
	assert_goes(&v, NULL, "POST /v1/messages", "404");
	assert_goes(&v, NULL, "GET /model/v1/messages", "403");
}

static void pass(
	struct scrub *s, const struct vault *v, const char *data, size_t len, bool last, struct buf *out)
{
	const char *clean;
	size_t n = scrub_next(s, v, data, len, last, &clean);

	buf_add(out, clean, n);
}

/* A secret is found wherever the stream is cut. */
static void test_scrubbing(void **state)
{
	static const char text[] = "one SECRET-SECRET-SECRET, SECRET-SECRE and SECRET-SECRET-SECRET";
	auto_vault v = { 0 };
	auto_str want = NULL, dummy = NULL;

	(void)state;
	dummy = dummy_of(key, "SECRET-SECRET-SECRET");
	vault_add_secret(&v, dummy, "SECRET-SECRET-SECRET", "s", "", "V");
	want = xasprintf("one %.20s, SECRET-SECRE and %.20s", dummy, dummy);
	for (size_t cut = 0; cut <= strlen(text); cut++) {
		struct scrub s = SCRUB_INIT;
		auto_buf out = BUF_SMALL;

		pass(&s, &v, text, cut, false, &out);
		assert_null(strstr(buf_str(&out), "SECRET-SECRET-SECRET"));
		pass(&s, &v, text + cut, strlen(text) - cut, false, &out);
		pass(&s, &v, "", 0, true, &out);
		assert_string_equal(out.data, want);
		scrub_release(&s);
	}
}

static void test_members(void **state)
{
	static const char file[] =
		"{\n\t\"x\": [1, {\"tokens\": 2}, \"}\\\"\"],\"tokens\" : { \"a\":null, \"b\":  \"old\"},"
		" \"n\":-1.5e3 }\n\n";
	auto_buf text = BUF_SMALL;
	auto_str b = NULL;

	(void)state;
	buf_addstr(&text, file);
	b = member_string(text.data, text.len, "tokens.b");
	assert_string_equal(b, "old");
	assert_null(member_string(text.data, text.len, "tokens.a"));
	assert_null(member_string(text.data, text.len, "tokens.c"));
	assert_true(member_set(&text, "tokens.b", "newer"));
	assert_true(member_set(&text, "tokens.a", "A"));
	assert_true(member_set_raw(&text, "n", "17"));
	assert_true(member_set(&text, "n", "N"));
	assert_false(member_set(&text, "y", "N"));
	assert_string_equal(text.data,
		"{\n\t\"x\": [1, {\"tokens\": 2}, \"}\\\"\"],\"tokens\" : { \"a\":\"A\", "
		"\"b\":  \"newer\"}, \"n\":\"N\" }\n\n");
	assert_null(member_string("{\"a\":\"b", 7, "a"));
	assert_null(member_string("{\"a\"", 4, "a"));
	assert_null(member_string("[]", 2, "a"));
}

static void test_vault(void **state)
{
	auto_vault v = { 0 }, copy = { 0 };
	auto_buf packed = BUF_SMALL;
	struct err e = ERR_INIT;
	struct service *s = vault_add_service(&v, "a");

	(void)state;
	strvec_push(&s->headers, "x-api-key");
	s->tls = true;
	v.cert = xstrdup("certificate");
	v.cert_key = xstrdup("its key");
	vault_add_service(&v, "b");
	vault_add_secret(&v, "dummy", "real", "a", "/f", "m");
	vault_pack(&v, &packed);
	assert_int_equal(vault_unpack(packed.data, packed.len, &copy, &e), 0);
	assert_int_equal(vault_unpack(packed.data, packed.len, &copy, &e), 0);
	assert_int_equal(copy.nservices, 2);
	assert_true(copy.services[0].tls);
	assert_false(copy.services[1].tls);
	assert_string_equal(copy.cert, "certificate");
	assert_string_equal(copy.cert_key, "its key");
	assert_int_equal(copy.nsecrets, 1);
	assert_string_equal(vault_secret(&copy, vault_service(&copy, "a", 1), "dummy", 5)->real, "real");
	/* another service does not get it */
	assert_null(vault_secret(&copy, vault_service(&copy, "b", 1), "dummy", 5));
	assert_null(vault_secret(&copy, vault_service(&copy, "a", 1), "dumm", 4));
	assert_int_equal(vault_unpack("{\"secrets\":[{}]}", 16, &copy, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dummies),
		cmocka_unit_test(test_web_tokens),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_smuggling),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_scrubbing),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_vault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
