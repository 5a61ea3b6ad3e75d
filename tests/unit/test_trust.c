/* ESCAPES 31: a repository's settings that would run a program in a push or fetch. */
#include "testing.h"

#include "base/alloc.h"
#include "git/trust.h"

/* Entries "scope key=value", each as git prints it. */
static int check(const char *const *entries, size_t n, struct err *e)
{
	auto_buf list = BUF_SMALL;

	for (size_t i = 0; i < n; i++) {
		const char *key = strchr(entries[i], ' ') + 1;
		size_t len = strcspn(key, "=");

		buf_add(&list, entries[i], (size_t)(key - entries[i]) - 1);
		buf_addch(&list, '\0');
		buf_add(&list, key, len);
		if (key[len])
			buf_printf(&list, "\n%s", key + len + 1);
		buf_addch(&list, '\0');
	}
	return trust_check_list(&list, "/home/ann/app", e);
}

static void test_settings(void **state)
{
	static const char *const no[] = { "local core.sshcommand=x", "worktree core.sshcommand=x",
		"local core.gitproxy=x", "local core.askpass=x", "local core.alternaterefscommand=x",
		"local credential.helper=!x", "local credential.https://a.b/c.helper=x",
		"local gpg.program=x", "local gpg.ssh.program=x", "local gpg.ssh.defaultkeycommand=x",
		"local remote.o.uploadpack=x", "local remote.a.b.receivepack=x", "local remote.o.vcs=x",
		"local protocol.allow=always", "local protocol.ext.allow=always",
		"local remote.o.url=ext::sh -c x", "local url.ext::x.insteadof=https://",
		"local http.proxy=x", "local http.https://a.b.proxy=x", "local http.sslverify=false",
		"local hook.x.command=y", "local core.sshcommand", "local http.cookiefile=~/.bashrc",
		"local http.https://a.b.savecookies=true", "local http.sslkey=x", "local credential.trace=/x",
		"local credential.https://a.b.tracesecrets=1", "local credential.protectprotocol=false",
		"local credential.credentialstore=plaintext", "local remote.o.url=..\n/usr",
		"local remote.o.pushurl=a\nb" };
	static const char *const yes[] = { "global core.sshcommand=x", "system credential.helper=x",
		"local remote.o.url=https://a.b/c", "local http.https://a.b/.extraheader=x",
		"local core.filemode=true", "local credential.username=ann", "local user.name=ext::x",
		"local remote.uploadpack.url=/x", "command core.fsmonitor=false" };
	struct err e = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (!check(&no[i], 1, &e) || e.kind != ERR_REFUSED)
			fail_msg("%s", no[i]);
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (check(&yes[i], 1, &e) < 0)
			fail_msg("%s", yes[i]);
}

static void test_word(void **state)
{
	static const char *const given[] = { "global garth.trust=/home/ann/app", "local core.sshcommand=x" };
	static const char *const all[] = { "system garth.trust=*", "local core.sshcommand=x" };
	static const char *const other[] = { "global garth.trust=/home/ann", "local core.sshcommand=x" };
	static const char *const own[] = { "local garth.trust=/home/ann/app", "local core.sshcommand=x" };
	static const char *const empty[] = { "global garth.trust", "local core.sshcommand=x" };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(check(given, 2, &e), 0);
	assert_int_equal(check(all, 2, &e), 0);
	assert_int_equal(check(other, 2, &e), -1);
	assert_int_equal(check(own, 2, &e), -1);
	assert_int_equal(check(empty, 2, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
