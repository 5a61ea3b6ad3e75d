#include "scratch.h"

#include "agent/agent.h"
#include "base/alloc.h"
#include "config/config.h"
#include "config/credentials.h"
#include "sys/owner.h"

static const struct agent_place place = { "/src/app", "/w/t" };

struct homes {
	struct config_agent agent;
	int user, task, outside;
};

static struct homes make_homes(const struct scratch *s)
{
	struct homes h = { .agent = { .name = (char *)"x" } };

	h.user = mkdirs_beneath(s->fd, "user", 0700, -1, -1);
	h.task = mkdirs_beneath(s->fd, "task", 0700, -1, -1);
	h.outside = mkdirs_beneath(s->fd, "outside", 0700, -1, -1);
	assert_true(h.user >= 0 && h.task >= 0 && h.outside >= 0);
	return h;
}

static void release_homes(struct homes *h)
{
	strvec_release(&h->agent.login);
	close(h->user);
	close(h->task);
	close(h->outside);
}

static size_t copy(struct homes *h)
{
	auto_login_report r = { 0 };
	struct err e = ERR_INIT;

	if (agent_copy_login(&h->agent, &place, h->user, h->task, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r.copied;
}

/* J7: the log-in files of the agent that is being run, and no others */
static void test_copies_what_is_named(void **state)
{
	struct homes h = make_homes(*state);
	struct stat st;

	put(h.user, "x.json", "{\"k\": \"secret\"}");
	put(h.user, "other", "not for it");
	close(mkdirs_beneath(h.user, ".x/deep/er", 0755, -1, -1));
	put(h.user, ".x/deep/er/auth", "token");
	put(h.user, ".x/history", "private");
	strvec_pushl(&h.agent.login, "x.json", ".x/deep/er/auth", "missing", "x.json/missing", NULL);
	assert_int_equal(copy(&h), 2);
	assert_content(h.task, "x.json", "{\"k\": \"secret\"}");
	assert_content(h.task, ".x/deep/er/auth", "token");
	assert_false(there(h.task, "other"));
	assert_false(there(h.task, ".x/history"));
	assert_false(there(h.task, "missing"));
	assert_int_equal(fstatat(h.task, "x.json", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, owner_inside().uid);
	assert_int_equal(fstatat(h.task, ".x/deep", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, owner_inside().uid);
	release_homes(&h);
}

static void test_what_the_task_has_stays(void **state)
{
	struct homes h = make_homes(*state);

	put(h.user, "x.json", "{\"access_token\": \"old\", \"expires_at\": 100}");
	put(h.task, "x.json", "{\"access_token\": \"renewed\", \"expires_at\": 101}");
	strvec_push(&h.agent.login, "x.json");
	assert_int_equal(copy(&h), 0);
	assert_content(h.task, "x.json", "{\"access_token\": \"renewed\", \"expires_at\": 101}");
	release_homes(&h);
}

/* Log-ins that an earlier version copied, or that have expired since. */
static void test_what_is_outdated_goes(void **state)
{
	static const char *const users =
		"{\"access_token\":\"a2\",\"refresh_token\":\"secret\",\"expires_at\":200}";
	static const char *const old[] = { "{\"access_token\":\"a1\",\"expires_at\":100}",
		"{\"access_token\":\"a1\",\"refresh_token\":\"secret\",\"expires_at\":900}",
		"junk secret junk", "not json" };
	struct homes h = make_homes(*state);
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	put(h.user, "x.json", users);
	put(h.user, "y.json", "aXY=:encrypted");
	put(h.task, "y.json", "aXY=:encrypted");
	strvec_pushl(&h.agent.login, "x.json", "y.json", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		put(h.task, "x.json", old[i]);
		assert_int_equal(copy(&h), 1);
		buf_reset(&text);
		assert_int_equal(read_file(h.task, "x.json", &text, &e), 0);
		assert_non_null(strstr(text.data, "a2"));
		assert_null(strstr(text.data, "secret"));
	}
	assert_int_equal(copy(&h), 0);
	assert_false(there(h.task, "y.json"));
	release_homes(&h);
}

/* The report has both: what is not copied, and when what is copied expires. */
static void test_login_report(void **state)
{
	struct homes h = make_homes(*state);
	auto_login_report r = { 0 };
	struct err e = ERR_INIT;

	put(h.user, "x.json",
		"{\"a\":{\"access\":\"t\",\"expires\":7000000000000},\"b\":{\"access\":\"t\",\"expires\":5}}");
	put(h.user, "y.json", "aXY=:encrypted");
	strvec_pushl(&h.agent.login, "x.json", "y.json", NULL);
	assert_int_equal(agent_copy_login(&h.agent, &place, h.user, h.task, &r, &e), 0);
	assert_int_equal(r.copied, 1);
	assert_int_equal(r.left_out.n, 1);
	assert_string_equal(r.left_out.v[0], "y.json");
	assert_int_equal(r.nends, 2);
	assert_string_equal(r.ends[0].name, "a");
	assert_int_equal(r.ends[0].at, 7000000000);
	assert_int_equal(r.ends[1].at, 5);
	assert_false(there(h.task, "y.json"));
	release_homes(&h);
}

static void test_directories(void **state)
{
	struct homes h = make_homes(*state);

	close(mkdirs_beneath(h.user, ".x/a/b", 0700, -1, -1));
	put(h.user, ".x/1", "one");
	put(h.user, ".x/a/b/2", "two");
	assert_int_equal(symlinkat("..", h.user, ".x/a/loop"), 0);
	assert_int_equal(symlinkat("nowhere", h.user, ".x/dangling"), 0);
	assert_int_equal(symlinkat("self", h.user, ".x/self"), 0);
	assert_int_equal(mkfifoat(h.user, ".x/fifo", 0600), 0);
	strvec_push(&h.agent.login, ".x");
	assert_int_equal(copy(&h), 2);
	assert_content(h.task, ".x/1", "one");
	assert_content(h.task, ".x/a/b/2", "two");
	assert_false(there(h.task, ".x/fifo"));
	assert_false(there(h.task, ".x/a/loop"));
	release_homes(&h);
}

static void test_links_of_the_user_are_followed(void **state)
{
	struct homes h = make_homes(*state);
	struct stat st;

	close(mkdirs_beneath(h.user, "dotfiles/x", 0700, -1, -1));
	put(h.user, "dotfiles/x/auth", "token");
	assert_int_equal(symlinkat("dotfiles/x", h.user, ".x"), 0);
	assert_int_equal(symlinkat("dotfiles/x/auth", h.user, ".auth"), 0);
	strvec_pushl(&h.agent.login, ".x/auth", ".auth", NULL);
	assert_int_equal(copy(&h), 2);
	assert_content(h.task, ".x/auth", "token");
	assert_int_equal(fstatat(h.task, ".x", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(fstatat(h.task, ".auth", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	release_homes(&h);
}

/* In an earlier run the agent could write to the task's home. */
static void test_hostile_task_home(void **state)
{
	struct homes h = make_homes(*state);

	close(mkdirs_beneath(h.user, ".x", 0700, -1, -1));
	close(mkdirs_beneath(h.user, ".y/z", 0700, -1, -1));
	put(h.user, ".x/auth", "token");
	put(h.user, ".y/z/auth", "token");
	put(h.user, "file", "token");
	put(h.user, "file2", "token");
	put(h.user, "file3", "token");
	put(h.user, "last", "token");
	put(h.outside, "victim", "precious");
	assert_int_equal(symlinkat("../outside", h.task, ".x"), 0);
	assert_int_equal(mkdirat(h.task, ".y", 0700), 0);
	assert_int_equal(symlinkat("/proc/self/cwd", h.task, ".y/z"), 0);
	assert_int_equal(symlinkat("../outside/new", h.task, "file"), 0);
	assert_int_equal(symlinkat("../outside/victim", h.task, "file2"), 0);
	assert_int_equal(mkfifoat(h.task, "file3", 0600), 0);
	strvec_pushl(&h.agent.login, ".x/auth", ".y/z/auth", "file", "file2", "file3", "last", NULL);
	assert_int_equal(copy(&h), 1);
	assert_content(h.outside, "victim", "precious");
	assert_false(there(h.outside, "auth"));
	assert_false(there(h.outside, "new"));
	assert_false(there(AT_FDCWD, "auth"));
	assert_content(h.task, "last", "token");
	release_homes(&h);
}

static void test_too_much(void **state)
{
	struct homes h = make_homes(*state);
	auto_login_report r = { 0 };
	struct err e = ERR_INIT;
	int fd;

	put(h.user, "a", "");
	fd = openat(h.user, "a", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (10 << 20) + 1), 0);
	strvec_push(&h.agent.login, "a");
	assert_int_equal(agent_copy_login(&h.agent, &place, h.user, h.task, &r, &e), -1);
	assert_non_null(strstr(e.msg, "larger than"));
	assert_false(there(h.task, "a"));
	assert_int_equal(ftruncate(fd, 10 << 20), 0);
	assert_int_equal(copy(&h), 1);
	close(fd);
	release_homes(&h);
}

static void test_too_many(void **state)
{
	struct homes h = make_homes(*state);
	auto_login_report r = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(mkdirat(h.user, "d", 0700), 0);
	for (int i = 0; i < 1001; i++) {
		char name[32];

		snprintf(name, sizeof(name), "d/%d", i);
		put(h.user, name, "");
	}
	strvec_push(&h.agent.login, "d");
	assert_int_equal(agent_copy_login(&h.agent, &place, h.user, h.task, &r, &e), -1);
	assert_non_null(strstr(e.msg, "1000"));
	release_homes(&h);
}

static void assert_env(const struct strvec *env, const char *const *want)
{
	size_t n = 0;

	for (; want[n]; n++)
		if (!strvec_has(env, want[n]))
			fail_msg("%s is missing", want[n]);
	assert_int_equal(env->n, n);
	assert_null(env->v[env->n]);
}

/* J7: the environment is built from an allow-list */
static void test_environment(void **state)
{
	char *now[] = { (char *)"TERM=xterm", (char *)"LC_ALL=C", (char *)"SSH_AUTH_SOCK=/x",
		(char *)"HOME=/home/u", (char *)"SECRET=1", (char *)"X_KEY=k", (char *)"Y_KEY=y",
		(char *)"TERMX=no", (char *)"EMPTY=", (char *)"NOEQUALS", (char *)"=odd",
		(char *)"LC_X%()=() { :; }", (char *)"TERM=second", NULL };
	auto_strvec extra = STRVEC_INIT, fixed = STRVEC_INIT, env = STRVEC_INIT;
	struct config_agent a = { .name = (char *)"x" };
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	strvec_pushl(&c.env, "TERM", "LC_*", NULL);
	strvec_push(&a.env, "X_KEY");
	strvec_pushl(&extra, "SECRET", "A=1=2", "UNSET", "EMPTY", "HOME=/evil", "A=3", NULL);
	strvec_pushl(&fixed, "HOME=/home/u", "PATH=/bin", NULL);
	assert_int_equal(agent_environment(&c, &a, now, &extra, &fixed, &env, &e), 0);
	assert_env(&env, (const char *const[]){ "TERM=second", "LC_ALL=C", "X_KEY=k", "SECRET=1", "A=3",
				 "EMPTY=", "HOME=/home/u", "PATH=/bin", NULL });
	strvec_release(&env);
	assert_int_equal(agent_environment(&c, NULL, now, NULL, NULL, &env, &e), 0);
	assert_env(&env, (const char *const[]){ "TERM=second", "LC_ALL=C", NULL });
	strvec_release(&env);
	assert_int_equal(agent_environment(&c, NULL, NULL, NULL, NULL, &env, &e), 0);
	assert_int_equal(env.n, 0);
	assert_non_null(env.v);
	strvec_release(&a.env);
}

static void test_malformed_extra(void **state)
{
	static const char *const bad[] = { "", "=x", "1A=x", "A B=x", "A-B", "*" };
	auto_config c = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_strvec extra = STRVEC_INIT, env = STRVEC_INIT;
		struct err e = ERR_INIT;

		strvec_push(&extra, bad[i]);
		assert_int_equal(agent_environment(&c, NULL, NULL, &extra, NULL, &env, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(env.n, 0);
	}
}

/* J7: of all that Claude Code knows of the user's projects, the task's own, and nothing that was said there
 */
static void test_claude_projects(void **state)
{
	static const char *const odd[] = { "[]", "\"text\"" };
	struct homes h = make_homes(*state);
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	put(h.user, ".claude.json",
		"{\"oauthAccount\":{\"id\":1},\"githubRepoPaths\":{\"secret/x\":[\"/src/x\"]},\"projects\":{"
		"\"/src/app\":{\"hasTrustDialogAccepted\":true,\"history\":[{\"display\":\"said\"}],\"lastCost\":3},"
		"\"/src/secret\":{\"mcpServers\":{\"m\":{\"env\":{\"TOKEN\":\"t0k3n\"}}}}}}");
	strvec_push(&h.agent.login, ".claude.json");
	assert_int_equal(copy(&h), 1);
	assert_int_equal(read_file(h.task, ".claude.json", &text, &e), 0);
	assert_non_null(strstr(text.data, "oauthAccount"));
	assert_non_null(strstr(text.data, "\"/w/t\": {\n      \"hasTrustDialogAccepted\": true\n    }"));
	assert_null(strstr(text.data, "secret"));
	assert_null(strstr(text.data, "t0k3n"));
	assert_null(strstr(text.data, "said"));
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		put(h.user, ".claude.json", odd[i]);
		unlinkat(h.task, ".claude.json", 0);
		assert_int_equal(copy(&h), 1);
		assert_content(h.task, ".claude.json", odd[i]);
	}
	release_homes(&h);
}

static void assert_endpoints(const struct config_agent *a, char *const *now, const char *const *want)
{
	auto_strvec hosts = STRVEC_INIT;
	auto_config c = { 0 };
	size_t n = 0;

	strvec_push(&c.env, "PG_HOST");
	agent_endpoints(&c, a, now, NULL, -1, &hosts);
	for (; want[n]; n++)
		if (!strvec_has(&hosts, want[n]))
			fail_msg("%s is missing", want[n]);
	assert_int_equal(hosts.n, n);
}

/* J5: hosts that the user's variables name for the model, and no others */
static void test_endpoints(void **state)
{
	char *now[] = { (char *)"X_BASE_URL=https://me:secret@Llm.corp.example:8443/v1?k=1",
		(char *)"X_HOST=localhost:11434", (char *)"Y_BASE_URL=https://other.example",
		(char *)"PG_HOST=db.example", (char *)"X_KEY=https://key.example",
		(char *)"X_ENDPOINT=http://[fd00::7]/x", NULL };
	char *odd[] = { (char *)"X_BASE_URL=https://*.example",
		(char *)"X_HOST=", (char *)"X_ENDPOINT=://a b", NULL };
	char *aws[] = { (char *)"CLAUDE_CODE_USE_BEDROCK=1", (char *)"AWS_REGION=eu-west-1", NULL };
	char *no_aws[] = { (char *)"CLAUDE_CODE_USE_BEDROCK=0", (char *)"AWS_REGION=eu-west-1", NULL };
	struct config_agent a = { .name = (char *)"x" };

	(void)state;
	strvec_pushl(&a.env, "X_*", "AWS_REGION", "CLAUDE_CODE_USE_BEDROCK", NULL);
	assert_endpoints(&a, now,
		(const char *const[]){ "Llm.corp.example:8443", "localhost:11434", "[fd00::7]", NULL });
	assert_endpoints(&a, odd, (const char *const[]){ NULL });
	assert_endpoints(&a, aws, (const char *const[]){ "bedrock-runtime.eu-west-1.amazonaws.com", NULL });
	assert_endpoints(&a, no_aws, (const char *const[]){ NULL });
	assert_endpoints(NULL, now, (const char *const[]){ NULL });
	strvec_release(&a.env);
}

/* What of the user's the proxy adds is what its agent has: files, and hosts that its list names. */
static void check_secret(const struct config_agent *a, const char *row)
{
	const char *name = strrchr(row, '=') + 1;
	const struct default_service *s = config_service(name);
	auto_str file = xstrndup(row, strcspn(row, ":")), host = NULL;

	if (strchr(row, ':') && !strvec_has(&a->login, file))
		fail_msg("%s: '%s' is no log-in file of it", a->name, file);
	if (!strcmp(name, "-"))
		return;
	if (!s)
		fail_msg("%s: there is no service '%s'", a->name, name);
	host = xstrndup(s->url + 8, strcspn(s->url + 8, "/"));
	if (s->tls && !strvec_has(&a->hosts, host))
		fail_msg("%s: '%s' is not on its list", a->name, host);
}

static void test_names_of_log_ins(void **state)
{
	char *users[] = { "CODEX_HOME=/work/codex", "OPENAI_API_KEY=k",
		"CODEX_API_KEY=", "OPENAI_BASE_URL=https://h", "MY_KEY=k", "MAX_THINKING_TOKENS=5", NULL };
	auto_strvec extra = STRVEC_INIT, names = STRVEC_INIT;
	const struct agent_env env = { users, &extra };
	auto_config c = { 0 };

	(void)state;
	config_defaults(&c);
	strvec_push(&extra, "CODEX_ACCESS_TOKEN=t");
	agent_login_names(config_agent_by_name(&c, "codex"), &env, &names);
	assert_int_equal(names.n, 4);
	assert_string_equal(names.v[0], "file /work/codex/auth.json");
	assert_string_equal(names.v[1], "file /work/codex/config.toml");
	assert_string_equal(names.v[2], "variable OPENAI_API_KEY");
	assert_string_equal(names.v[3], "variable CODEX_ACCESS_TOKEN");
	strvec_release(&names);
	agent_login_names(config_agent_by_name(&c, "claude"), &env, &names);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.v[1], "file .claude/.credentials.json");
}

static void test_rows_of_log_ins(void **state)
{
	auto_config c = { 0 };
	size_t n = 0;

	(void)state;
	config_defaults(&c);
	for (const struct default_login *l = default_logins; l->agent; l++, n++) {
		const struct config_agent *a = config_agent_by_name(&c, l->agent);

		assert_non_null(a);
		for (size_t i = 0; l->secrets[i]; i++)
			check_secret(a, l->secrets[i]);
	}
	assert_int_equal(n, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_copies_what_is_named),
		scratch_test(test_what_the_task_has_stays),
		scratch_test(test_what_is_outdated_goes),
		scratch_test(test_login_report),
		scratch_test(test_directories),
		scratch_test(test_links_of_the_user_are_followed),
		scratch_test(test_hostile_task_home),
		scratch_test(test_too_much),
		scratch_test(test_too_many),
		scratch_test(test_claude_projects),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_malformed_extra),
		cmocka_unit_test(test_names_of_log_ins),
		cmocka_unit_test(test_rows_of_log_ins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
