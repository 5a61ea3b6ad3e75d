#include "testing.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hosts.h"

static bool asks(const struct strvec *list, const char *text, uint16_t port)
{
	struct host h;

	return host_parse(text, strlen(text), port, &h) && hosts_allow(list, &h);
}

static void test_whole_labels(void **state)
{
	auto_strvec list = STRVEC_INIT, none = STRVEC_INIT;

	(void)state;
	strvec_pushl(&list, "github.com", "*.crates.io", "example.org:8443", "xn--mnchen-3ya.de", NULL);
	assert_true(asks(&list, "github.com", 443));
	assert_true(asks(&list, "GitHub.COM", 80));
	assert_true(asks(&list, "github.com.", 443));
	assert_true(asks(&list, "static.crates.io", 443));
	assert_true(asks(&list, "a.b.crates.io", 443));
	assert_true(asks(&list, "example.org", 8443));
	assert_true(asks(&list, "XN--MNCHEN-3YA.de", 443));
	assert_false(asks(&none, "github.com", 443));
	assert_false(asks(&list, "github.com", 22));
	assert_false(asks(&list, "example.org", 443));
	assert_false(asks(&list, "crates.io", 443));
	assert_false(asks(&list, "evilcrates.io", 443));
	assert_false(asks(&list, "evil-github.com", 443));
	assert_false(asks(&list, "github.com.evil.com", 443));
	assert_false(asks(&list, "github.com..", 443));
	assert_false(asks(&list, "m\xc3\xbcnchen.de", 443));
	assert_false(asks(&list, "www.github.com", 443));
}

static void test_what_is_no_host(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a..b", ".a", "a b", "a\r\nb", "a/b", "a@b", "a:b",
		"*", "*.a", "127.1", "0177.0.0.1", "0x7f000001", "0x7f.0.0.1", "2130706433", "017700000001",
		"1.2.3", "1.2.3.4.", "1.2.3.256", "a.0x7f", "[1.2.3.4]", "[]", "[::1", "::1]", "fe80::1%eth0",
		"a\\b" };
	char nul[] = "github.com\0.evil.com", name[300];
	struct host h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (host_parse(bad[i], strlen(bad[i]), 443, &h))
			fail_msg("'%s' is taken for '%s'", bad[i], h.name);
	assert_false(host_parse(nul, sizeof(nul) - 1, 443, &h));
	assert_false(host_parse("github.com", 10, 0, &h));
	memset(name, 'a', sizeof(name));
	assert_false(host_parse(name, 64, 443, &h));
	assert_true(host_parse(name, 63, 443, &h));
	assert_false(host_parse(name, sizeof(name), 443, &h));
}

static void test_pairs(void **state)
{
	struct host h;

	(void)state;
	assert_true(host_parse_pair("a.b:443", 7, 0, &h));
	assert_int_equal(h.port, 443);
	assert_true(host_parse_pair("[::1]:8080", 10, 0, &h));
	assert_string_equal(h.name, "::1");
	assert_int_equal(h.port, 8080);
	assert_true(host_parse_pair("a.b", 3, 80, &h));
	assert_false(host_parse_pair("a.b", 3, 0, &h));
	assert_false(host_parse_pair("::1:8080", 8, 0, &h));
	for (size_t i = 0; i < 5; i++) {
		static const char *const bad[] = { "a.b:", "a.b:0", "a.b:65536", "a.b:+1", "a.b: 1" };

		assert_false(host_parse_pair(bad[i], strlen(bad[i]), 80, &h));
	}
}

static bool leads(const struct strvec *list, const char *name, const char *address)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct host h;

	assert_true(host_parse(name, strlen(name), 443, &h));
	if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
		return hosts_allow_address(list, &h, (struct sockaddr *)&four);
	assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
	return hosts_allow_address(list, &h, (struct sockaddr *)&six);
}

static void test_where_a_name_leads(void **state)
{
	static const char *const private[] = { "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.1.2.3", "172.16.0.1",
		"172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
		"255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "fe80::1",
		"fd00::1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1" };
	auto_strvec list = STRVEC_INIT, ranges = STRVEC_INIT;

	(void)state;
	strvec_pushl(&list, "github.com", "localhost", NULL);
	strvec_pushl(&ranges, "github.com", "10.0.0.0/8", "[fd00::1]:443", "192.168.1.7", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(private); i++)
		if (leads(&list, "github.com", private[i]))
			fail_msg("%s may be reached by a public name", private[i]);
	assert_true(leads(&list, "github.com", "140.82.121.3"));
	assert_true(leads(&list, "github.com", "2606:50c0:8000::153"));
	assert_true(leads(&ranges, "github.com", "10.200.0.1"));
	assert_true(leads(&ranges, "github.com", "fd00::1"));
	assert_true(leads(&ranges, "github.com", "192.168.1.7"));
	assert_false(leads(&ranges, "github.com", "192.168.1.8"));
	assert_false(leads(&ranges, "github.com", "172.16.9.9"));
	assert_true(asks(&ranges, "10.9.9.9", 443));
	assert_false(asks(&list, "10.9.9.9", 443));
	assert_false(asks(&list, "140.82.121.3", 443));
}

/* J5: which ports of the user's own machine are forwarded, and to which of its addresses */
static void test_loopback(void **state)
{
	auto_strvec list = STRVEC_INIT;
	uint16_t ports[4];
	struct host h;
	bool v4, v6;

	(void)state;
	strvec_pushl(&list, "localhost:8080", "127.0.0.1:8080", "LocalHost:9", "[::1]:5432", "127.0.0.2:6",
		"x.localhost:7", "127.0.0.0/8", "*.localhost:8", "a.b:10", NULL);
	assert_int_equal(hosts_loopback_ports(&list, ports, 4), 3);
	assert_int_equal(ports[0], 8080);
	assert_int_equal(ports[1], 9);
	assert_int_equal(ports[2], 5432);
	hosts_loopback(&list, 9, &v4, &v6);
	assert_true(v4 && v6);
	hosts_loopback(&list, 5432, &v4, &v6);
	assert_true(!v4 && v6);
	hosts_loopback(&list, 7, &v4, &v6);
	assert_false(v4 || v6);
	strvec_release(&list);
	strvec_push(&list, "localhost");
	assert_int_equal(hosts_loopback_ports(&list, ports, 1), 2);
	assert_int_equal(ports[0], 443);
	assert_true(host_parse("::ffff:127.0.0.1", 16, 1, &h) && host_is_loopback(&h));
	assert_true(host_parse("LOCALHOST.", 10, 1, &h) && host_is_loopback(&h));
	assert_false(host_parse("127.0.0.2", 9, 1, &h) && host_is_loopback(&h));
}

static void test_entries(void **state)
{
	static const char *const good[] = { "a", "a.b", "*.a.b", "a.b:1", "1.2.3.4", "1.2.3.4:5", "[::1]",
		"[::1]:5", "::1", "10.0.0.0/8", "fd00::/8" };
	static const char *const bad[] = { "", "*", "*.*.a", "a.*", "http://a", "a/b", "a:", "*.1.2.3.4",
		"10.0.0.0/33", "a.b/8", "1.2.3.4/x", "a b", "10.0.0.0/" };
	struct err e = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (hosts_check(good[i], &e) < 0)
			fail_msg("%s", e.msg);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!hosts_check(bad[i], &e))
			fail_msg("'%s' is taken", bad[i]);
}

static void assert_near(const struct strvec *list, const char *asked, enum hosts_near want, const char *entry)
{
	const char *got;
	struct host h;

	if (!host_parse_pair(asked, strlen(asked), 443, &h))
		fail_msg("'%s' is not a host", asked);
	if (hosts_near(list, &h, &got) != want)
		fail_msg("'%s' is near '%s'", asked, got ? got : "nothing");
	if (entry)
		assert_string_equal(got, entry);
	else
		assert_null(got);
}

/* J5: what a user may have meant who did not list a host */
static void test_near(void **state)
{
	auto_strvec list = STRVEC_INIT;

	(void)state;
	strvec_pushl(
		&list, "github.com", "*.crates.io", "s1.example", "db.example:5432", "10.0.0.7:8080", NULL);
	assert_near(&list, "github.com:22", HOSTS_PORT, "github.com");
	assert_near(&list, "static.crates.io:8443", HOSTS_PORT, "*.crates.io");
	assert_near(&list, "db.example", HOSTS_PORT, "db.example:5432");
	assert_near(&list, "10.0.0.7:80", HOSTS_PORT, "10.0.0.7:8080");
	assert_near(&list, "gihub.com", HOSTS_SPELLING, "github.com");
	assert_near(&list, "githuub.com", HOSTS_SPELLING, "github.com");
	assert_near(&list, "gitlub.com", HOSTS_SPELLING, "github.com");
	assert_near(&list, "gihtub.com", HOSTS_SPELLING, "github.com");
	assert_near(&list, "github.co", HOSTS_SPELLING, "github.com");
	assert_near(&list, "crates.io", HOSTS_ABOVE, "*.crates.io");
	assert_near(&list, "s2.example", HOSTS_FAR, NULL);
	assert_near(&list, "bithug.com", HOSTS_FAR, NULL);
	assert_near(&list, "example.com", HOSTS_FAR, NULL);
	assert_near(&list, "10.0.0.8:8080", HOSTS_FAR, NULL);
}

/* J5: nothing is offered for copying that garth allow would take for an option */
static void test_offered(void **state)
{
	static const struct {
		const char *host, *entry;
		int port;
	} t[] = {
		{ "A.Example.", "a.example", 443 },
		{ "a.example", "a.example:22", 22 },
		{ "fd00::7", "[fd00::7]", 80 },
		{ "-q.example", NULL, 443 },
		{ "--host", NULL, 443 },
		{ "a b", NULL, 443 },
		{ "a.example", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		auto_str entry = hosts_entry(t[i].host, t[i].port);

		if (t[i].entry)
			assert_string_equal(entry, t[i].entry);
		else
			assert_null(entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_labels),
		cmocka_unit_test(test_what_is_no_host),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_where_a_name_leads),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
