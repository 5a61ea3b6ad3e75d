/* What a repository's file may do with each value, and where values come from. */
#include <stdlib.h>

#include "scratch.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "config/config.h"
#include "config/values.h"

#define FILE_NAME ".garth.yaml@1a2b3c4"

static int apply(struct config *c, const char *text, struct err *e)
{
	return config_apply_repository(c, text, strlen(text), FILE_NAME, e);
}

/* "limits:\n  max_files: 3\n" */
static char *file_with(const char *key, const char *value)
{
	const char *dot = strchr(key, '.');

	return xasprintf("%.*s:\n  %s: %s\n", (int)(dot - key), key, dot + 1, value);
}

static void *place(struct config *c, const struct value_row *row)
{
	return (char *)c + row->offset;
}

static const char *sample(const struct value_row *row)
{
	switch (row->type) {
	case VALUE_CHOICE:
		return row->choices[0];
	case VALUE_CHOICES:
		return "[done]";
	case VALUE_BOOL:
		return "true";
	case VALUE_PERSON:
		return "A B <a@b>";
	case VALUE_RULES:
		return "{rebase: local}";
	case VALUE_VARIABLES:
		return "[MY_VAR]";
	case VALUE_ALLOW_READ:
	case VALUE_ALLOW_WRITE:
		return "[/srv/data]";
	case VALUE_CACHES:
		return "[~/.cache/x]";
	case VALUE_COMMAND:
		return "[true]";
	case VALUE_KEYS:
		return "ctrl-a,b";
	case VALUE_SIZE:
	case VALUE_NUMBER:
	case VALUE_POSITIVE:
	case VALUE_PORT:
	case VALUE_TIME:
		return "1";
	default:
		return "[x.example]";
	}
}

/* How many values differ from the built-in ones is counted by their origins. */
static void refused(const struct value_row *row)
{
	auto_str text = file_with(row->key, sample(row));
	auto_config c = { 0 }, own = { 0 };
	struct err e = ERR_INIT;

	config_defaults(&own);
	if (config_apply(&own, text, strlen(text), "own", &e) < 0)
		fail_msg("the sample of %s is wrong: %s", row->key, e.msg);
	config_defaults(&c);
	assert_int_equal(apply(&c, text, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(row->why);
	if (strncmp(e.msg, FILE_NAME ":2:3: '", strlen(FILE_NAME ":2:3: '")) || !strstr(e.msg, row->why))
		fail_msg("%s", e.msg);
	assert_int_equal(c.norigins, 0);
}

/* now, asked, what comes of it */
static void number(const struct value_row *row, uint64_t now, uint64_t asked, uint64_t then)
{
	auto_str value = xasprintf("%llu", (unsigned long long)asked), text = file_with(row->key, value);
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	config_defaults(&c);
	*(uint64_t *)place(&c, row) = now;
	if (apply(&c, text, &e) < 0)
		fail_msg("%s", e.msg);
	if (*(uint64_t *)place(&c, row) != then)
		fail_msg("%s: %llu, and %llu asked", row->key, (unsigned long long)now,
			(unsigned long long)asked);
	assert_int_equal(c.notes.n, asked != now && then == now);
	if (c.notes.n) {
		assert_non_null(strstr(c.notes.v[0], FILE_NAME ":2:"));
		assert_non_null(strstr(c.notes.v[0], row->key));
	}
	assert_string_equal(config_origin(&c, row->key, NULL), then == now ? "built-in" : FILE_NAME ":2:3");
}

static void choices(const struct value_row *row)
{
	for (const char *const *now = row->choices; *now; now++)
		for (const char *const *asked = row->choices; *asked; asked++) {
			const char *strict = asked < now ? *asked : *now;
			auto_str text = file_with(row->key, *asked);
			auto_config c = { 0 };
			struct err e = ERR_INIT;
			char **at;

			config_defaults(&c);
			at = place(&c, row);
			free(*at);
			*at = xstrdup(*now);
			assert_int_equal(apply(&c, text, &e), 0);
			assert_string_equal(*at, strict);
			assert_int_equal(c.notes.n, asked > now);
		}
}

static void boolean(const struct value_row *row, bool strict)
{
	for (int i = 0; i < 4; i++) {
		bool now = i & 1, asked = i & 2;
		auto_str text = file_with(row->key, asked ? "true" : "false");
		auto_config c = { 0 };
		struct err e = ERR_INIT;

		config_defaults(&c);
		*(bool *)place(&c, row) = now;
		assert_int_equal(apply(&c, text, &e), 0);
		assert_int_equal(*(bool *)place(&c, row), asked == strict ? strict : now);
		assert_int_equal(c.notes.n, asked != now && asked != strict);
	}
}

static void test_every_row(void **state)
{
	(void)state;
	for (const struct value_row *row = config_value_rows; row->key; row++) {
		switch (row->repository) {
		case REPOSITORY_REFUSED:
			refused(row);
			break;
		case REPOSITORY_LOWERS:
			number(row, 100, 99, 99);
			number(row, 100, 100, 100);
			number(row, 100, 101, 100);
			if (row->type != VALUE_POSITIVE && row->type != VALUE_TIME) {
				number(row, 100, 0, 0);
				number(row, 0, 1, 0);
			}
			break;
		case REPOSITORY_LIMITS:
			number(row, 100, 99, 99);
			number(row, 100, 101, 100);
			if (row->type != VALUE_TIME)
				number(row, 100, 0, 100);
			if (!row->cap)
				number(row, 0, 7, 7);
			break;
		case REPOSITORY_STRICTER:
			choices(row);
			break;
		case REPOSITORY_TRUE:
		case REPOSITORY_FALSE:
			boolean(row, row->repository == REPOSITORY_TRUE);
			break;
		case REPOSITORY_ADDS:
		case REPOSITORY_BLOCKS:
		case REPOSITORY_SETS:
		case REPOSITORY_ASKS:
			break; /* below */
		}
	}
}

/* A file of the repository can loosen nothing: what it may do at all is this list. */
static void test_what_is_open(void **state)
{
	static const char *const may_set[] = { "workspace.setup_inputs", "merge.strategy", "sync.auto_rebase",
		"agents.default" };
	static const char *const may_ask[] = { "workspace.setup", "workspace.setup_network",
		"workspace.include" };
	static const char *const may_add[] = { "jail.deny_read", "jail.deny_write", "policy.protected" };
	size_t sets = 0, asks = 0, adds = 0;

	(void)state;
	for (const struct value_row *row = config_value_rows; row->key; row++) {
		if (row->repository == REPOSITORY_SETS)
			assert_string_equal(row->key, may_set[sets++]);
		if (row->repository == REPOSITORY_ASKS)
			assert_string_equal(row->key, may_ask[asks++]);
		if (row->repository == REPOSITORY_ADDS)
			assert_string_equal(row->key, may_add[adds++]);
		if (row->user_only)
			assert_int_equal(row->repository, REPOSITORY_REFUSED);
	}
	for (const struct value_row *row = config_agent_rows; row->key; row++)
		assert_int_equal(row->repository,
			strcmp(row->key, "credentials") ? REPOSITORY_REFUSED : REPOSITORY_STRICTER);
	assert_int_equal(sets, ARRAY_SIZE(may_set));
	assert_int_equal(asks, ARRAY_SIZE(may_ask));
	assert_int_equal(adds, ARRAY_SIZE(may_add));
}

static void assert_refused(const char *text, const char *want)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	config_defaults(&c);
	assert_int_equal(apply(&c, text, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (!strstr(e.msg, want))
		fail_msg("'%s' is not '%s'", e.msg, want);
}

static void test_agents(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_refused("agents:\n  claude:\n    login: [.x]\n",
		FILE_NAME ":3:5: 'agents.claude.login' cannot be set");
	assert_refused("agents: {mine: {credentials: none}}\n", "'agents.mine' cannot be set");
	assert_refused("agents:\n  mine:\n    hosts: [a.example]\n", "'agents.mine' cannot be set");
	assert_refused("agents: {default: [a]}\n", "'agents.default' must be one value");
	assert_refused("agents: {default: ../x}\n", "'agents.default'");
	config_defaults(&c);
	assert_int_equal(apply(&c, "agents:\n  default: codex\n", &e), 0);
	assert_string_equal(c.default_agent, "codex");
	assert_string_equal(config_origin(&c, "agents.default", NULL), FILE_NAME ":2:3");
	assert_null(config_agent_by_name(&c, "default"));
}

static const char *credentials_after(const char *users, const char *repositorys)
{
	static char ret[16];
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	const char *now;

	config_defaults(&c);
	assert_int_equal(config_apply(&c, users, strlen(users), "user.yaml", &e), 0);
	assert_int_equal(apply(&c, repositorys, &e), 0);
	now = config_agent_by_name(&c, "claude")->credentials;
	snprintf(ret, sizeof(ret), "%s", now ? now : "unset");
	return ret;
}

/* none is stricter than proxy, proxy than unset, and unset than copy. */
static void test_credentials(void **state)
{
	static const char none[] = "agents: {claude: {credentials: none}}\n";
	static const char proxy[] = "agents: {claude: {credentials: proxy}}\n";
	static const char copy[] = "agents: {claude: {credentials: copy}}\n";

	(void)state;
	assert_string_equal(credentials_after("", none), "none");
	assert_string_equal(credentials_after("", proxy), "proxy");
	assert_string_equal(credentials_after("", copy), "unset");
	assert_string_equal(credentials_after(copy, proxy), "proxy");
	assert_string_equal(credentials_after(proxy, copy), "proxy");
	assert_string_equal(credentials_after(none, proxy), "none");
}

static void test_operations(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_refused("git:\n  operations:\n    push: local\n",
		FILE_NAME ":3:11: 'git.operations.push' can only be 'blocked'");
	assert_refused("git: {operations: {push: [blocked]}}\n", "'git.operations.push'");
	config_defaults(&c);
	assert_int_equal(apply(&c, "git: {operations: {rebase: blocked}}\n", &e), 0);
	assert_string_equal(c.operations[0].rule, "blocked");
}

static void test_protected_are_added(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	size_t before;

	(void)state;
	config_defaults(&c);
	before = c.policy.protect.n;
	assert_int_equal(apply(&c, "policy:\n  protected: [db/**]\n", &e), 0);
	assert_int_equal(c.policy.protect.n, before + 1);
	assert_string_equal(config_origin(&c, "policy.protected", "db/**"), FILE_NAME ":2:15");
	assert_string_equal(config_origin(&c, "policy.protected", "CODEOWNERS"), "built-in");
}

/* limits.max_disk: 0 is a share of the disk, which is not known when the file is read */
static void test_disk(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	config_defaults(&c);
	assert_int_equal(apply(&c, "limits: {max_disk: 5GB}\n", &e), 0);
	assert_int_equal(c.max_disk, 0);
	assert_true(c.max_disk_cap == 5ull << 30);
	assert_int_equal(config_apply(&c, "limits: {max_disk: 9GB}\n", 24, "--limit", &e), 0);
	assert_true(c.max_disk == 9ull << 30);
	assert_int_equal(c.max_disk_cap, 0);
}

static void test_asks(void **state)
{
	static const char text[] = "workspace:\n"
				   "  setup: [[npm, ci], \"make deps\"]\n"
				   "  setup_network: [a.example]\n"
				   "  include: [.env, \"!.env\", .env]\n";
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	config_defaults(&c);
	assert_int_equal(apply(&c, text, &e), 0);
	assert_int_equal(c.nasks, 6);
	/* a second reading asks for the same */
	assert_int_equal(apply(&c, text, &e), 0);
	assert_int_equal(c.nasks, 6);
	assert_int_equal(c.setup_network.n, 1);
	assert_string_equal(c.asks[0].exact, "\"npm ci\"");
	assert_string_equal(c.asks[0].text, "npm ci");
	assert_string_equal(c.asks[1].exact, "\"make deps\"");
	assert_string_equal(c.asks[1].text, "make deps");
	assert_string_equal(c.asks[2].key, "workspace.setup_network");
	assert_int_equal(c.setup.n, 2);
	assert_string_equal(c.setup.v[1], "make deps");
	assert_int_equal(apply(&c, "workspace: {setup: make}\n", &e), 0);
	assert_int_equal(c.nasks, 1);
	assert_int_equal(c.setup.n, 1);
}

/* The user's own file is not asked for. */
static void test_user_is_not_asked(void **state)
{
	static const char text[] = "workspace: {setup: [make], include: [.env]}\n";
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	config_defaults(&c);
	assert_int_equal(config_apply(&c, text, strlen(text), "own", &e), 0);
	assert_int_equal(c.nasks, 0);
	assert_int_equal(c.setup.n, 1);
}

static void test_setup_values(void **state)
{
	(void)state;
	assert_refused("workspace: {setup: {a: b}}\n",
		"a command in 'workspace.setup' must be a text for a shell, or a list");
	assert_refused("workspace: {setup: [[]]}\n",
		"a command in 'workspace.setup' must be a text for a shell, or a list");
	assert_refused("workspace: {setup: [\" \"]}\n", "must be a text for a shell");
	assert_refused("workspace: {setup: [[\"\", x]]}\n", "has no program");
	assert_refused("workspace: {setup: [[[a]]]}\n", "'workspace.setup' must be a list of single values");
	assert_refused("workspace: {setup_inputs: [../x]}\n", "is not a path in the repository");
	assert_refused("workspace: {setup_inputs: [/etc/passwd]}\n", "is not a path in the repository");
	assert_refused("workspace: {setup_inputs: [\"a\\nb\"]}\n", "control character");
	assert_refused("workspace: {include: [../secret]}\n", "leads out of the repository");
	assert_refused("workspace: {include: [\"!a/..\"]}\n", "leads out of the repository");
	assert_refused("workspace: {include: [\"#x\"]}\n", "comment");
	assert_refused("workspace: {setup_network: [\"a b\"]}\n", "is not a host");
	assert_refused("workspace: {setpu: [a]}\n",
		FILE_NAME ":1:13: unknown key 'workspace.setpu' (is 'setup' meant?)");
}

static void test_layers_of_files(void **state)
{
	const struct scratch *s = *state;
	auto_str machine = xasprintf("%s/system.yaml", s->path), user = xasprintf("%s/user.yaml", s->path),
		 at = xasprintf("%s:2:3", machine), over = xasprintf("%s:1:10", user);
	struct config_places p = { "/home/u", NULL, user, machine };
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	put(s->fd, "system.yaml", "limits:\n  max_files: 7\n  max_commits: 7\njail: {env: [ONE]}\n");
	put(s->fd, "user.yaml", "limits: {max_commits: 9}\njail: {env: [TWO]}\n");
	assert_int_equal(config_load(&p, &c, &e), 0);
	assert_int_equal(c.policy.max_files, 7);
	assert_int_equal(c.policy.max_commits, 9);
	assert_true(strvec_has(&c.env, "ONE"));
	assert_true(strvec_has(&c.env, "TWO"));
	assert_string_equal(c.system_file, machine);
	assert_string_equal(config_origin(&c, "limits.max_files", NULL), at);
	assert_string_equal(config_origin(&c, "limits.max_commits", NULL), over);
	assert_string_equal(config_origin(&c, "limits.max_disk", NULL), "built-in");
	assert_string_equal(config_origin(&c, "jail.env", "TERM"), "built-in");
	config_release(&c);
	p.system_file = "/nonexistent/config.yaml";
	assert_int_equal(config_load(&p, &c, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_what_is_open),
		cmocka_unit_test(test_agents),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_protected_are_added),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_user_is_not_asked),
		cmocka_unit_test(test_setup_values),
		scratch_test(test_layers_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
