#include "config_text.h"
#include "scratch.h"

#include "base/alloc.h"
#include "base/path.h"
#include "config/check.h"
#include "config/config.h"

static int load(const char *home, const char *xdg_config, const char *file, struct config *c, struct err *e)
{
	return config_load(&(struct config_places){ home, xdg_config, file, "/dev/null" }, c, e);
}

static void test_defaults(void **state)
{
	static const char *const agents[] = { "claude", "codex", "gemini", "opencode", "goose" };
	auto_config c = { 0 };

	(void)state;
	config_defaults(&c);
	assert_null(c.backend);
	assert_string_equal(c.net, "allow");
	assert_int_equal(c.log_size, 10 << 20);
	assert_true(strvec_has(&c.tools, ".nvm"));
	assert_true(strvec_has(&c.env, "LC_*"));
	assert_int_equal(c.allow_read.n, 0);
	assert_string_equal(c.on_dirty, "fail");
	assert_string_equal(c.merge_strategy, "merge");
	assert_false(c.merge_keep);
	assert_false(c.auto_rebase);
	assert_false(c.fetch);
	assert_int_equal(c.rebase_frequency, 3600);
	assert_true(c.pause_on_conflict);
	assert_int_equal(c.snapshot_every, 10);
	assert_int_equal(c.stale_after, 7 * 86400);
	assert_int_equal(c.serve_port, 7817);
	assert_null(c.detach_keys);
	assert_int_equal(c.notify.command.n, 0);
	assert_int_equal(c.notify.on.n, 4);
	assert_int_equal(c.noperations, 0);
	for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
		assert_non_null(config_agent_by_name(&c, agents[i]));
}

/* J8, G5: the limits and rules by default */
static void test_policy_defaults(void **state)
{
	auto_config c = { 0 };

	(void)state;
	config_defaults(&c);
	assert_int_equal(c.policy.max_size, 1 << 30);
	assert_int_equal(c.policy.max_file_size, 100 << 20);
	assert_int_equal(c.policy.max_files, 10000);
	assert_int_equal(c.policy.max_commits, 100);
	assert_int_equal(c.max_disk, 0);
	assert_int_equal(c.max_open_files, 4096);
	assert_string_equal(c.policy.rewrite, "keep");
	assert_string_equal(c.policy.identity, "agent");
	assert_null(c.policy.author);
	assert_int_equal(c.policy.allow.n, 0);
	assert_true(strvec_has(&c.policy.protect, ".github/workflows/**"));
	for (size_t i = 0; i < c.policy.protect.n; i++)
		assert_null(check_glob(c.policy.protect.v[i]));
}

static void test_gateway_keys(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(
		apply(&c,
			"limits: {max_worktree_size: 2GB, max_file_size: 1MB, max_files: 7, max_commits: 0}\n"
			"policy:\n  protected: [deploy, 'a/**/*.x']\n  allow: .envrc\n  rewrite: refuse\n"
			"  identity: forced\n  author: Bot T. <bot@example.com>\n"
			"git: {operations: {rebase: local, stash: routed, update-ref: blocked}, fetch: true}\n"
			"task: {on_dirty: keep}\nmerge: {strategy: squash, keep: true}\n"
			"sync: {auto_rebase: true, rebase_frequency: 60, pause_on_conflict: false}\n"
			"snapshot: {every: 1}\ncleanup: {stale_after: 12h}\nserve: {port: 0}\n"
			"terminal: {detach_keys: 'ctrl-p,ctrl-q'}\n",
			&e),
		0);
	assert_int_equal(c.policy.max_size, 2ull << 30);
	assert_int_equal(c.policy.max_file_size, 1 << 20);
	assert_int_equal(c.policy.max_files, 7);
	assert_int_equal(c.policy.max_commits, 0);
	assert_true(strvec_has(&c.policy.protect, "deploy") && strvec_has(&c.policy.protect, "CODEOWNERS"));
	assert_string_equal(c.policy.allow.v[0], ".envrc");
	assert_string_equal(c.policy.rewrite, "refuse");
	assert_string_equal(c.policy.identity, "forced");
	assert_string_equal(c.policy.author, "Bot T. <bot@example.com>");
	assert_int_equal(c.noperations, 3);
	assert_true(c.fetch);
	assert_string_equal(c.operations[2].name, "update-ref");
	assert_string_equal(c.operations[2].rule, "blocked");
	assert_string_equal(c.on_dirty, "keep");
	assert_string_equal(c.merge_strategy, "squash");
	assert_true(c.merge_keep);
	assert_true(c.auto_rebase);
	assert_int_equal(c.rebase_frequency, 60);
	assert_false(c.pause_on_conflict);
	assert_int_equal(c.snapshot_every, 1);
	assert_int_equal(c.stale_after, 12 * 3600);
	assert_int_equal(c.serve_port, 0);
	assert_string_equal(c.detach_keys, "ctrl-p,ctrl-q");
	/* a second layer replaces a rule */
	assert_int_equal(config_apply(&c, "git: {operations: {rebase: blocked}}", 36, "d.yaml", &e), 0);
	assert_int_equal(c.noperations, 3);
	assert_true(c.fetch);
	assert_string_equal(c.operations[0].rule, "blocked");
}

static void test_notify(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(
		apply(&c, "notify: {command: [~/bin/tell, '{message}', -x], on: [blocked, limit]}\n", &e), 0);
	assert_int_equal(c.notify.command.n, 3);
	assert_string_equal(c.notify.command.v[0], "~/bin/tell");
	/* this list replaces the built-in one */
	assert_int_equal(c.notify.on.n, 2);
	assert_string_equal(c.notify.on.v[1], "limit");
	assert_refused("notify: {command: [bin/tell]}\n",
		"c.yaml:1:20: 'bin/tell' in 'notify.command' is neither the name of a program nor an absolute");
	assert_refused(
		"notify: {command: [./tell]}\n", "c.yaml:1:20: './tell' in 'notify.command' is neither");
	assert_refused(
		"notify: {command: [/a/../b]}\n", "c.yaml:1:20: '/a/../b' in 'notify.command' is not a");
	assert_refused(
		"notify: {command: notify-send}\n", "c.yaml:1:19: 'notify.command' must be a list of words");
	assert_refused("notify: {on: blocked}\n",
		"c.yaml:1:14: 'notify.on' must be a list of 'blocked', 'failed', 'done' or 'limit'");
	assert_refused("notify: {on: [never]}\n", "c.yaml:1:15: 'notify.on' must be 'blocked', 'failed',");
}

static void test_gateway_values(void **state)
{
	static const char *const people[] = { "Bot", "<a@b>", " <a@b>", "Bot<a@b>", "Bot <>", "Bot <a@b",
		"Bot <a@b> x", "Bot <a b>", "B <a> <b>", " Bot <a@b>", "Bot  <a@b>" };
	static const char *const globs[] = { "''", "/", "../x", "a/./b", "a//b", "\"a\\nb\"" };

	(void)state;
	assert_refused(
		"limits: {max_files: 10KB}\n", "c.yaml:1:21: 'limits.max_files' must be a whole number");
	assert_refused(
		"limits: {max_commits: -1}\n", "c.yaml:1:23: 'limits.max_commits' must be a whole number");
	assert_refused(
		"limits: {max_files: 99999999999999999999}\n", "c.yaml:1:21: 'limits.max_files' is too");
	assert_refused("snapshot: {every: 0}\n", "c.yaml:1:19: 'snapshot.every' must be a number above 0");
	assert_refused(
		"cleanup: {stale_after: 0d}\n", "c.yaml:1:24: 'cleanup.stale_after' must be a time above 0");
	assert_refused("cleanup: {stale_after: long}\n",
		"c.yaml:1:24: 'cleanup.stale_after' must be a time, such as");
	assert_refused("serve: {port: 65536}\n", "c.yaml:1:15: 'serve.port' must be a port, up to 65535");
	assert_refused("terminal: {detach_keys: d}\n",
		"c.yaml:1:25: 'terminal.detach_keys': the first key that detaches has ctrl-");
	assert_refused("serve: {port: -1}\n", "c.yaml:1:15: 'serve.port' must be a whole number");
	assert_refused(
		"sync: {auto_rebase: maybe}\n", "c.yaml:1:21: 'sync.auto_rebase' must be true or false");
	assert_refused("task: {on_dirty: drop}\n",
		"c.yaml:1:18: 'task.on_dirty' must be 'fail', 'commit' or 'keep', not 'drop'");
	assert_refused("git: {operations: [rebase]}\n", "c.yaml:1:19: 'git.operations' must be a mapping");
	assert_refused("git: {operations: {rebase: maybe}}\n",
		"c.yaml:1:28: 'git.operations.rebase' must be 'local', 'routed', 'gateway' or 'blocked', not 'maybe'");
	assert_refused("git: {operations: {'a b': local}}\n", "c.yaml:1:20: 'a b' in 'git.operations'");
	assert_refused("git: {operations: {--exec: local}}\n", "c.yaml:1:20: '--exec' in 'git.operations'");
	assert_refused("polcy: {}\n", "c.yaml:1:1: unknown key 'polcy' (is 'policy' meant?)");
	for (size_t i = 0; i < ARRAY_SIZE(people); i++) {
		auto_str text = xasprintf("policy: {author: '%s'}\n", people[i]);

		assert_refused(text, "c.yaml:1:18: '");
	}
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++) {
		auto_str text = xasprintf("policy: {protected: [%s]}\n", globs[i]);

		assert_refused(text, "c.yaml:1:22: '");
	}
	assert_null(check_glob("/a/"));
	assert_null(check_glob("**"));
}

/* J7: the built-in lists obey the rules for a user's file, and more */
static void test_defaults_hold_no_secrets(void **state)
{
	static const char *const never[] = { "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GIT_DIR",
		"GIT_SSH_COMMAND", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PYTHONPATH",
		"NODE_OPTIONS", "XDG_RUNTIME_DIR", "HOME", "PATH", "LESSOPEN", "GITHUB_TOKEN",
		"AWS_SECRET_ACCESS_KEY", "http_proxy", "HTTPS_PROXY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
		"TMUX" };
	auto_config c = { 0 };

	(void)state;
	config_defaults(&c);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		assert_false(config_env_matches(&c.env, never[i], strlen(never[i])));
	for (size_t i = 0; i < c.tools.n; i++)
		if (check_tool(c.tools.v[i]))
			fail_msg("tool %s %s", c.tools.v[i], check_tool(c.tools.v[i]));
	for (size_t i = 0; i < c.nagents; i++) {
		for (size_t j = 0; j < c.agents[i].login.n; j++) {
			assert_null(check_login(c.agents[i].login.v[j]));
			/* one agent's files are not seen by way of a tool's directory */
			for (size_t k = 0; k < c.tools.n; k++)
				assert_false(path_within(c.agents[i].login.v[j], c.tools.v[k]));
		}
		for (size_t j = 0; j < c.agents[i].env.n; j++)
			assert_null(check_variable(c.agents[i].env.v[j]));
	}
}

static void test_every_key(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	size_t tools, agents;
	const struct config_agent *a;

	(void)state;
	config_defaults(&c);
	tools = c.tools.n;
	agents = c.nagents;
	config_release(&c);
	assert_int_equal(
		apply(&c,
			"workspace:\n  backend: worktree\n"
			"jail:\n  tools: [.x/bin, .nvm]\n  allow_read: [/srv/data]\n  env: [MY_VAR, MY_*]\n"
			"network:\n  mode: host\n"
			"limits:\n  log_size: 64KB\n"
			"agents:\n  aider:\n    programs: [aider]\n    login: [.aider.conf.yml]\n    env: [OPENAI_API_KEY]\n"
			"  claude:\n    programs: my-claude\n",
			&e),
		0);
	assert_string_equal(c.backend, "worktree");
	assert_string_equal(c.net, "host");
	assert_int_equal(c.log_size, 64 << 10);
	assert_int_equal(c.tools.n, tools + 1);
	assert_string_equal(c.allow_read.v[0], "/srv/data");
	assert_true(strvec_has(&c.env, "MY_*") && strvec_has(&c.env, "TERM"));
	assert_int_equal(c.nagents, agents + 1);
	a = config_agent_by_program(&c, "/usr/local/bin/aider");
	assert_non_null(a);
	assert_string_equal(a->login.v[0], ".aider.conf.yml");
	a = config_agent_by_program(&c, "my-claude");
	assert_string_equal(a->name, "claude");
	assert_ptr_equal(a, config_agent_by_program(&c, "/opt/claude"));
	assert_true(strvec_has(&a->login, ".claude.json"));
	assert_null(config_agent_by_program(&c, "/usr/bin/claude/x"));
	assert_null(config_agent_by_program(&c, "claude-other"));
}

static void test_prompts(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	const struct config_agent *a;

	(void)state;
	assert_int_equal(
		apply(&c,
			"agents: {default: mine, mine: {prompt: [m, \"{prompt}\"]}, claude: {headless: [c, -x]}}",
			&e),
		0);
	assert_string_equal(c.default_agent, "mine");
	a = config_agent_by_name(&c, "mine");
	assert_int_equal(a->prompt.n, 2);
	assert_int_equal(a->headless.n, 0);
	a = config_agent_by_name(&c, "claude");
	assert_string_equal(a->headless.v[1], "-x");
	assert_null(config_agent_by_name(&c, "default"));
	assert_refused("agents: {default: {}}\n", "c.yaml:1:19: 'agents.default'");
}

/* Every agent that garth knows takes a prompt, in exactly one place, on a terminal and without one. */
static void test_known_agents_take_prompts(void **state)
{
	auto_config c = { 0 };

	(void)state;
	config_defaults(&c);
	for (size_t i = 0; i < c.nagents; i++)
		for (size_t k = 0; k < 2; k++) {
			const struct strvec *words = k ? &c.agents[i].headless : &c.agents[i].prompt;
			size_t found = 0;

			assert_true(words->n && strvec_has(&c.agents[i].programs, words->v[0]));
			for (size_t j = 0; j < words->n; j++)
				found += strstr(words->v[j], "{prompt}") != NULL;
			assert_int_equal(found, 1);
		}
}

static void test_setup(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(
		apply(&c,
			"workspace:\n  include: [.env, '!x']\n  setup: [npm ci, [make, \"a b\", it's]]\n"
			"  setup_inputs: [package-lock.json]\n  setup_network: [registry.npmjs.org]\n",
			&e),
		0);
	assert_int_equal(c.include.n, 2);
	assert_string_equal(c.include.v[1], "!x");
	assert_int_equal(c.setup.n, 2);
	assert_string_equal(c.setup.v[0], "npm ci");
	assert_string_equal(c.setup.v[1], "make 'a b' 'it'\\''s'");
	assert_string_equal(c.setup_inputs.v[0], "package-lock.json");
	assert_string_equal(c.setup_network.v[0], "registry.npmjs.org");
	config_release(&c);
	assert_int_equal(apply(&c, "workspace: {setup: make deps}", &e), 0);
	assert_int_equal(c.setup.n, 1);
	assert_string_equal(c.setup.v[0], "make deps");
	assert_refused("workspace:\n  setup: {npm: ci}\n",
		"c.yaml:2:10: a command in 'workspace.setup' must be a text for a shell, or a list of words");
	assert_refused("workspace:\n  setup_network: ['no host!']\n",
		"c.yaml:2:19: 'no host!' in 'workspace.setup_network' is not a host");
	assert_refused("workspace:\n  include: ['']\n", "c.yaml:2:13: '' in 'workspace.include' is empty");
}

static void test_later_agent_wins(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(apply(&c, "agents: {mine: {programs: [claude]}}", &e), 0);
	assert_string_equal(config_agent_by_program(&c, "claude")->name, "mine");
}

static void test_empty_sections(void **state)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(apply(&c, "jail:\n  # tools: [x]\nagents:\nlimits: {}\n", &e), 0);
	config_release(&c);
	assert_int_equal(apply(&c, "jail:\n  env:\nagents:\n  claude:\n  new:\n    env: []\n", &e), 0);
	assert_non_null(config_agent_by_name(&c, "new"));
}

/* O2: unknown keys are errors that name the line, and the column, and the key */
static void test_unknown_keys(void **state)
{
	(void)state;
	assert_refused("workspace:\n  backend: overlay\nnetz: 1\n", "c.yaml:3:1: unknown key 'netz'");
	assert_refused("limits:\n  log_size: 1\n  foo: 2\n", "c.yaml:3:3: unknown key 'limits.foo'");
	assert_refused("agents:\n  x:\n    nope: [a]\n", "c.yaml:3:5: unknown key 'agents.x.nope'");
	assert_refused("'': 1\n", "c.yaml:1:1: unknown key ''");
	assert_refused("jail.tools: [x]\n", "c.yaml:1:1: unknown key 'jail.tools'");
	assert_refused("limits: {log_size.x: 1}\n", "c.yaml:1:10: unknown key 'limits.log_size.x'");
	assert_refused("jail: {log_size: 1}\n", "c.yaml:1:8: unknown key 'jail.log_size'");
}

static void test_suggestions(void **state)
{
	(void)state;
	assert_refused(
		"limits:\n  logsize: 1\n", "c.yaml:2:3: unknown key 'limits.logsize' (is 'log_size' meant?)");
	assert_refused("netwrok: {}\n", "c.yaml:1:1: unknown key 'netwrok' (is 'network' meant?)");
	assert_refused("agent: {}\n", "c.yaml:1:1: unknown key 'agent' (is 'agents' meant?)");
	assert_refused("agents: {x: {progams: []}}\n",
		"c.yaml:1:14: unknown key 'agents.x.progams' (is 'programs' meant?)");
}

static void test_no_far_suggestions(void **state)
{
	static const char *const far[] = { "x: 1", "zzz: 1", "jail: {e: 1}", "jail: {xxx: 1}",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(far); i++) {
		auto_config c = { 0 };
		struct err e = ERR_INIT;

		assert_int_equal(apply(&c, far[i], &e), -1);
		if (i != 2)
			assert_null(strstr(e.msg, "meant"));
	}
}

static void test_types(void **state)
{
	(void)state;
	assert_refused("- a\n", "c.yaml:1:1: the file must be a mapping");
	assert_refused("just text\n", "c.yaml:1:1: the file must be a mapping");
	assert_refused("jail: 3\n", "c.yaml:1:7: 'jail' must be a mapping");
	assert_refused("agents: [claude]\n", "c.yaml:1:9: 'agents' must be a mapping");
	assert_refused("agents: {x: y}\n", "c.yaml:1:13: 'agents.x' must be a mapping");
	assert_refused("agents: {X: {}}\n", "c.yaml:1:10: an agent's name");
	assert_refused("limits:\n  log_size: many\n", "c.yaml:2:13: 'limits.log_size' must be a size");
	assert_refused("limits: {log_size: -5}\n", "c.yaml:1:20: 'limits.log_size'");
	assert_refused("workspace: {backend: cloud}\n",
		"c.yaml:1:22: 'workspace.backend' must be 'overlay', 'worktree' or 'clone', not 'cloud'");
	assert_refused("workspace: {backend: }\n", "c.yaml:1:22: 'workspace.backend' has no value");
	assert_refused("network: {mode: [none]}\n", "c.yaml:1:17: 'network.mode' must be one value");
	assert_refused("jail: {tools: {a: b}}\n", "c.yaml:1:15: 'jail.tools' must be a list");
}

static void test_relative_paths(void **state)
{
	static const char *const bad[] = { "/abs", "..", "../x", "a/../b", "a//b", "./a", "a/", ".", "~/.nvm",
		"''", ".ssh", ".ssh/keys", ".cargo", ".config", ".local", ".local/share", ".local/share/uv",
		".dotnet", ".aws/x", ".cargo/credentials.toml", ".garth", ".garth/tasks" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str text = xasprintf("jail:\n  tools: [.fine, %s]\n", bad[i]);

		assert_refused(text, "c.yaml:2:18: '");
	}
	assert_null(check_tool(".sshuttle"));
	assert_null(check_tool("..a"));
}

static void test_login_paths(void **state)
{
	(void)state;
	assert_non_null(check_login(".ssh"));
	assert_non_null(check_login(".config"));
	assert_non_null(check_login(".cargo"));
	assert_non_null(check_login("../x"));
	assert_non_null(check_login("/etc/passwd"));
	assert_null(check_login(".netrc"));
	assert_null(check_login(".aws/credentials"));
	assert_null(check_login(".config/aider"));
}

static void test_allow_read(void **state)
{
	static const char *const bad[] = { "/", "../rel", "a/../b", "/srv/", "/srv/../etc", "/home",
		"/home/u", "/home/u/.ssh", "/home/u/.ssh/id", "/home/u/.config", "/home/u/.netrc", "/root",
		"/etc", "/tmp", "/run", "/run/user/1", "/var", "/var/run/docker.sock", "/proc", "/proc/1",
		"/sys", "/dev/sda" };
	static const char *const good[] = { "/srv", "/home/u/data", "/home/u/.sshx", "/home/u2/x",
		"/home/u/.config/nvim", "/etc/foo", "/tmp/x", "/runner", "/var/cache/x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_str text = xasprintf("jail: {allow_read: [%s]}\n", bad[i]);

		assert_refused(text, "c.yaml:1:21: '");
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_null(check_allow_read(good[i], "/home/u"));
	assert_non_null(check_allow_read("/home/u/.ssh", "/home/u/"));
	assert_non_null(check_allow_read("/data", "/data/u"));
	assert_non_null(check_allow_read("/", NULL));
	assert_null(check_allow_read("/srv", NULL));
	assert_null(check_allow_read("/srv", ""));
}

static void test_variables(void **state)
{
	auto_strvec v = STRVEC_INIT;

	(void)state;
	assert_refused("jail: {env: ['*']}\n", "c.yaml:1:14: '*'");
	assert_refused("jail: {env: [A=B]}\n", "c.yaml:1:14: 'A=B'");
	assert_refused("jail: {env: [A*B]}\n", "c.yaml:1:14: 'A*B'");
	assert_refused("agents: {x: {programs: [/bin/x]}}\n", "c.yaml:1:25: '/bin/x'");
	strvec_pushl(&v, "TERM", "LC_*", NULL);
	assert_true(config_env_matches(&v, "TERM", 4));
	assert_true(config_env_matches(&v, "LC_ALL", 6));
	assert_true(config_env_matches(&v, "LC_", 3));
	assert_false(config_env_matches(&v, "LC", 2));
	assert_false(config_env_matches(&v, "TERMX", 5));
	assert_false(config_env_matches(&v, "TER", 3));
	assert_false(config_env_matches(&v, "", 0));
}

static void test_which_file(void **state)
{
	struct scratch *s = *state;
	auto_str xdg = path_join(s->path, "xdg");
	auto_str own = path_join(s->path, "own.yaml");
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(load(s->path, NULL, NULL, &c, &e), 0);
	assert_null(c.file);
	config_release(&c);
	close(mkdirs_beneath(s->fd, ".config/garth", 0700, -1, -1));
	close(mkdirs_beneath(s->fd, "xdg/garth", 0700, -1, -1));
	put(s->fd, ".config/garth/config.yaml", "limits: {log_size: 1}\n");
	put(s->fd, "xdg/garth/config.yaml", "limits: {log_size: 2}\n");
	put(s->fd, "own.yaml", "limits: {log_size: 3}\n");
	assert_int_equal(load(s->path, NULL, NULL, &c, &e), 0);
	assert_int_equal(c.log_size, 1);
	config_release(&c);
	assert_int_equal(load(s->path, "relative", "", &c, &e), 0);
	assert_int_equal(c.log_size, 1);
	config_release(&c);
	assert_int_equal(load(s->path, xdg, "", &c, &e), 0);
	assert_int_equal(c.log_size, 2);
	config_release(&c);
	assert_int_equal(load(s->path, xdg, own, &c, &e), 0);
	assert_int_equal(c.log_size, 3);
	assert_string_equal(c.file, own);
	config_release(&c);
	assert_int_equal(load(NULL, NULL, NULL, &c, &e), 0);
	config_release(&c);
	assert_int_equal(load(s->path, NULL, "/dev/null", &c, &e), 0);
	assert_int_equal(c.log_size, 10 << 20);
}

static void test_home_is_checked_against(void **state)
{
	struct scratch *s = *state;
	auto_str path = path_join(s->path, "config.yaml");
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	put(s->fd, "config.yaml", "jail:\n  allow_read: [/srv/u]\n");
	assert_int_equal(load("/srv/u", NULL, path, &c, &e), -1);
	assert_non_null(strstr(e.msg, "config.yaml:2:16: "));
	assert_non_null(strstr(e.msg, "whole home"));
	assert_int_equal(load("/srv/v", NULL, path, &c, &e), 0);
}

static int load_unreadable(const struct scratch *s)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;
	auto_str path = path_join(s->path, "c.yaml");

	if (fchmodat(s->fd, "c.yaml", 0, 0) < 0)
		return 2;
	return load("/x", NULL, path, &c, &e) < 0 && e.kind == ERR_CONFIG && e.sys == EACCES ? 0 : 1;
}

static void test_files_that_cannot_be_read(void **state)
{
	struct scratch *s = *state;
	auto_str missing = path_join(s->path, "missing"), fifo = path_join(s->path, "fifo");
	auto_str large = path_join(s->path, "large");
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(load("/x", NULL, missing, &c, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_int_equal(load("/x", NULL, s->path, &c, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(load("/x", NULL, fifo, &c, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	put(s->fd, "large", "a: 1\n");
	assert_int_equal(truncate(large, (1 << 20) + 1), 0);
	assert_int_equal(load("/x", NULL, large, &c, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "larger"));
	put(s->fd, "c.yaml", "a: 1\n");
	if (geteuid() == 0)
		assert_int_equal(fchownat(s->fd, "c.yaml", 65534, 65534, 0), 0);
	assert_int_equal(as_user(s, load_unreadable), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_policy_defaults),
		cmocka_unit_test(test_gateway_keys),
		cmocka_unit_test(test_gateway_values),
		cmocka_unit_test(test_notify),
		cmocka_unit_test(test_defaults_hold_no_secrets),
		cmocka_unit_test(test_every_key),
		cmocka_unit_test(test_prompts),
		cmocka_unit_test(test_known_agents_take_prompts),
		cmocka_unit_test(test_setup),
		cmocka_unit_test(test_later_agent_wins),
		cmocka_unit_test(test_empty_sections),
		cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_no_far_suggestions),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_relative_paths),
		cmocka_unit_test(test_login_paths),
		cmocka_unit_test(test_allow_read),
		cmocka_unit_test(test_variables),
		scratch_test(test_which_file),
		scratch_test(test_home_is_checked_against),
		scratch_test(test_files_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
