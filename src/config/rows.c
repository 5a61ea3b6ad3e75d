#include "config/config.h"

#include "base/alloc.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/yaml.h"
#include "config/agents.h"
#include "config/credentials.h"
#include "config/defaults.h"
#include "config/origin.h"
#include "config/repository.h"
#include "config/taskfile.h"
#include "config/values.h"

static const char *const backends[] = { "overlay", "worktree", "clone", NULL };
static const char *const cache_modes[] = { CACHE_TASK, CACHE_PROJECT, CACHE_READ_ONLY, CACHE_OFF, NULL };
/* the strictest first, if a repository may choose a stricter one */
static const char *const credentials[] = { CREDENTIALS_NONE, CREDENTIALS_PROXY, CREDENTIALS_COPY, NULL };
static const char *const nets[] = { "none", "allow", "host", NULL };
static const char *const rewrites[] = { "refuse", "keep", NULL };
static const char *const dirty[] = { "fail", "commit", "keep", NULL };
static const char *const guards[] = { "block", "warn", "off", NULL };
static const char *const identities[] = { "agent", "forced", NULL };
static const char *const rules[] = { "local", "routed", "gateway", "blocked", NULL };
static const char *const strategies[] = { "merge", "squash", "rebase", NULL };

/* Why a repository's file may not have a key. */
#define WHY_SHOWS   "it would show files or variables of the machine to tasks"
#define WHY_HOSTS   "it would open the network; hosts for set-up are in 'workspace.setup_network'"
#define WHY_FREES   "it would take protected paths out"
#define WHY_AUTHOR  "only the user decides whose name commits have"
#define WHY_RECORD  "only the user decides what is recorded about a task"
#define WHY_MACHINE "it is about this machine, not about the repository"
#define WHY_TASK    "it is about one task, not about the repository"
#define WHY_RUNS    "it would run a program outside of any jail"
#define WHY_LOGIN   "it would give log-ins to tasks"

/* clang-format off */
#define PLACE(member) offsetof(struct config, member)
static const struct value_row config_rows[] = {
	{ "workspace.backend",        VALUE_CHOICE,     PLACE(backend),              REPOSITORY_REFUSED, backends, WHY_MACHINE },
	{ "workspace.submodules",     VALUE_WORDS,      PLACE(submodules),           REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "workspace.setup",          VALUE_COMMANDS,   PLACE(setup),                REPOSITORY_ASKS },
	{ "workspace.setup_inputs",   VALUE_INPUTS,     PLACE(setup_inputs),         REPOSITORY_SETS },
	{ "workspace.setup_network",  VALUE_HOSTS,      PLACE(setup_network),        REPOSITORY_ASKS },
	{ "workspace.include",        VALUE_PATTERNS,   PLACE(include),              REPOSITORY_ASKS },
	{ "jail.tools",               VALUE_TOOLS,      PLACE(tools),                REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "jail.caches",              VALUE_CACHES,     PLACE(caches),               REPOSITORY_REFUSED, cache_modes, WHY_SHOWS },
	{ "jail.allow_read",          VALUE_ALLOW_READ, PLACE(allow_read),           REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "jail.allow_write",         VALUE_ALLOW_WRITE, PLACE(allow_write),         REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "jail.deny_read",           VALUE_DENY_READ,  PLACE(policy.rules),         REPOSITORY_ADDS },
	{ "jail.deny_write",          VALUE_DENY_WRITE, PLACE(policy.rules),         REPOSITORY_ADDS },
	{ "jail.env",                 VALUE_VARIABLES,  PLACE(env),                  REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "network.mode",             VALUE_CHOICE,     PLACE(net),                  REPOSITORY_STRICTER, nets },
	{ "network.allow",            VALUE_HOSTS,      PLACE(net_allow),            REPOSITORY_REFUSED, NULL, WHY_HOSTS },
	{ "limits.log_size",          VALUE_SIZE,       PLACE(log_size),             REPOSITORY_REFUSED, NULL, WHY_RECORD },
	{ "limits.max_worktree_size", VALUE_SIZE,       PLACE(policy.max_size),      REPOSITORY_LOWERS },
	{ "limits.max_file_size",     VALUE_SIZE,       PLACE(policy.max_file_size), REPOSITORY_LOWERS },
	{ "limits.max_files",         VALUE_NUMBER,     PLACE(policy.max_files),     REPOSITORY_LOWERS },
	{ "limits.max_commits",       VALUE_NUMBER,     PLACE(policy.max_commits),   REPOSITORY_LOWERS },
	{ "limits.max_disk",          VALUE_SIZE,       PLACE(max_disk),             REPOSITORY_LIMITS, .cap = PLACE(max_disk_cap) },
	{ "limits.max_inodes",        VALUE_NUMBER,     PLACE(max_inodes),           REPOSITORY_LIMITS },
	{ "limits.max_open_files",    VALUE_POSITIVE,   PLACE(max_open_files),       REPOSITORY_LOWERS },
	{ "limits.check_every",       VALUE_POSITIVE,   PLACE(check_every),          REPOSITORY_REFUSED, NULL, WHY_MACHINE },
	{ "limits.max_processes",     VALUE_NUMBER,     PLACE(max_processes),        REPOSITORY_LIMITS },
	{ "limits.max_memory",        VALUE_SIZE,       PLACE(max_memory),           REPOSITORY_LIMITS },
	{ "limits.max_core",          VALUE_SIZE,       PLACE(max_core),             REPOSITORY_LOWERS },
	{ "limits.max_cpu",           VALUE_NUMBER,     PLACE(max_cpu),              REPOSITORY_LIMITS },
	{ "policy.protected",         VALUE_GLOBS,      PLACE(policy.protect),       REPOSITORY_ADDS },
	{ "policy.allow",             VALUE_GLOBS,      PLACE(policy.allow),         REPOSITORY_REFUSED, NULL, WHY_FREES },
	{ "policy.scope",             VALUE_GLOBS,      PLACE(policy.scope),         REPOSITORY_REFUSED, NULL, WHY_TASK },
	{ "policy.within",            VALUE_GLOBS,      PLACE(policy.within),        REPOSITORY_REFUSED, NULL, WHY_TASK },
	{ "policy.rewrite",           VALUE_CHOICE,     PLACE(policy.rewrite),       REPOSITORY_STRICTER, rewrites },
	{ "policy.identity",          VALUE_CHOICE,     PLACE(policy.identity),      REPOSITORY_REFUSED, identities, WHY_AUTHOR },
	{ "policy.author",            VALUE_PERSON,     PLACE(policy.author),        REPOSITORY_REFUSED, NULL, WHY_AUTHOR },
	{ "git.fetch",                VALUE_BOOL,       PLACE(fetch),                REPOSITORY_FALSE },
	{ "git.push_retries",         VALUE_NUMBER,     PLACE(push_retries),         REPOSITORY_LOWERS },
	{ "git.operations",           VALUE_RULES,      PLACE(operations),           REPOSITORY_BLOCKS, rules },
	{ "task.on_dirty",            VALUE_CHOICE,     PLACE(on_dirty),             REPOSITORY_STRICTER, dirty },
	{ "merge.strategy",           VALUE_CHOICE,     PLACE(merge_strategy),       REPOSITORY_SETS, strategies },
	{ "merge.keep",               VALUE_BOOL,       PLACE(merge_keep),           REPOSITORY_TRUE },
	{ "sync.auto_rebase",         VALUE_BOOL,       PLACE(auto_rebase),          REPOSITORY_SETS },
	{ "sync.rebase_frequency",    VALUE_POSITIVE,   PLACE(rebase_frequency),     REPOSITORY_REFUSED, NULL, WHY_MACHINE },
	{ "sync.pause_on_conflict",   VALUE_BOOL,       PLACE(pause_on_conflict),    REPOSITORY_TRUE },
	{ "snapshot.every",           VALUE_POSITIVE,   PLACE(snapshot_every),       REPOSITORY_LOWERS },
	{ "cleanup.stale_after",      VALUE_TIME,       PLACE(stale_after),          REPOSITORY_REFUSED, NULL, WHY_MACHINE },
	{ "serve.port",               VALUE_PORT,       PLACE(serve_port),           REPOSITORY_REFUSED, NULL, WHY_MACHINE },
	{ "terminal.detach_keys",     VALUE_KEYS,       PLACE(detach_keys),          REPOSITORY_REFUSED, NULL, WHY_MACHINE, .user_only = true },
	{ "notify.command",           VALUE_COMMAND,    PLACE(notify.command),       REPOSITORY_REFUSED, NULL, WHY_RUNS, .user_only = true },
	{ "notify.on",                VALUE_CHOICES,    PLACE(notify.on),            REPOSITORY_REFUSED, default_notify_on, WHY_RUNS, .user_only = true },
	{ "plan.max_parallel",        VALUE_POSITIVE,   PLACE(plan_max_parallel),    REPOSITORY_REFUSED, NULL, WHY_MACHINE, .user_only = true },
	{ "plan.max_running",         VALUE_POSITIVE,   PLACE(plan_max_running),     REPOSITORY_REFUSED, NULL, WHY_MACHINE, .user_only = true },
	{ "plan.quota_wait",          VALUE_TIME,       PLACE(plan_quota_wait),      REPOSITORY_REFUSED, NULL, WHY_MACHINE, .user_only = true },
	{ "tickets.max",              VALUE_NUMBER,     PLACE(tickets_max),          REPOSITORY_LOWERS },
	{ "tickets.at_once",          VALUE_POSITIVE,   PLACE(tickets_at_once),      REPOSITORY_LOWERS },
	{ "tickets.agents",           VALUE_WORDS,      PLACE(tickets_agents),       REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "tickets.timeout",          VALUE_TIME,       PLACE(tickets_timeout),      REPOSITORY_LOWERS },
	/* "agents" is read by read_agents: names of agents, and these keys */
	{ "agents.default",           VALUE_AGENT,      PLACE(default_agent),        REPOSITORY_SETS },
	{ "agents.guard",             VALUE_CHOICE,     PLACE(guard),                REPOSITORY_STRICTER, guards },
	{ "agents.mcp",               VALUE_BOOL,       PLACE(mcp),                  REPOSITORY_FALSE },
	{ 0 },
};

static const struct value_row agent_rows[] = {
#define AGENT_PLACE(member) offsetof(struct config_agent, member)
	{ "programs", VALUE_PROGRAMS,  AGENT_PLACE(programs), REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "login",    VALUE_LOGIN,     AGENT_PLACE(login),    REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "env",      VALUE_VARIABLES, AGENT_PLACE(env),      REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "hosts",    VALUE_HOSTS,     AGENT_PLACE(hosts),    REPOSITORY_REFUSED, NULL, WHY_HOSTS },
	{ "resume",   VALUE_WORDS,     AGENT_PLACE(resume),   REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "options",  VALUE_WORDS,     AGENT_PLACE(options),  REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "prompt",   VALUE_WORDS,     AGENT_PLACE(prompt),   REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "headless", VALUE_WORDS,     AGENT_PLACE(headless), REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "set",      VALUE_SETTINGS,  AGENT_PLACE(set),      REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "files",    VALUE_FILES,     AGENT_PLACE(files),    REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "mcp",      VALUE_FILES,     AGENT_PLACE(mcp),      REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "settings", VALUE_SHOWN,     AGENT_PLACE(settings), REPOSITORY_REFUSED, NULL, WHY_SHOWS },
	{ "dirs",     VALUE_DIRS,      AGENT_PLACE(dirs),     REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "resume_terminal", VALUE_WORDS, AGENT_PLACE(resume_terminal), REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "quiet_hosts", VALUE_HOSTS,  AGENT_PLACE(quiet_hosts), REPOSITORY_REFUSED, NULL, WHY_RECORD },
	{ "run",      VALUE_WORDS,     AGENT_PLACE(run),      REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "model",    VALUE_WORDS,     AGENT_PLACE(model),    REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "effort",   VALUE_WORDS,     AGENT_PLACE(effort),   REPOSITORY_REFUSED, NULL, WHY_LOGIN },
	{ "quota",    VALUE_WORDS,     AGENT_PLACE(quota),    REPOSITORY_REFUSED, NULL, WHY_RECORD },
	{ "max_parallel", VALUE_NUMBER, AGENT_PLACE(max_parallel), REPOSITORY_REFUSED, NULL, WHY_MACHINE },
	{ "credentials", VALUE_CHOICE, AGENT_PLACE(credentials), REPOSITORY_STRICTER, credentials },
	{ 0 },
};

#define TASK_PLACE(member) offsetof(struct taskfile, member)
static const struct value_row task_rows[] = {
	{ "name",              VALUE_TASK,      TASK_PLACE(name) },
	{ "agent.project_dir", VALUE_TEXT,      TASK_PLACE(project_dir) },
	{ "agent.command",     VALUE_WORDS,     TASK_PLACE(command) },
	{ "agent.resume",      VALUE_WORDS,     TASK_PLACE(resume) },
	{ "agent.name",        VALUE_TEXT,      TASK_PLACE(agent) },
	{ "agent.env",         VALUE_VARIABLES, TASK_PLACE(env) },
	{ "base",              VALUE_TEXT,      TASK_PLACE(base) },
	{ "backend",           VALUE_CHOICE,    TASK_PLACE(backend), 0, backends },
	{ "push",              VALUE_BRANCH,    TASK_PLACE(push) },
	{ "strict_isolation",  VALUE_BOOL,      TASK_PLACE(strict) },
	{ "timeout",           VALUE_TIME,      TASK_PLACE(timeout) },
	{ 0 },
};
/* clang-format on */

/* The component of a row's key that follows the prefix; NULL if the row is not below the prefix. */
static const char *at_level(const struct value_row *row, const char *prefix, size_t *ret_len)
{
	size_t n = strlen(prefix);

	if (n && (strncmp(row->key, prefix, n) || row->key[n++] != '.'))
		return NULL;
	*ret_len = strcspn(row->key + n, ".");
	return row->key + n;
}

static int unknown_key(const struct source *s, const struct yaml *map, size_t i, const struct value_row *rows,
	const char *prefix, const char *what, struct err *e)
{
	struct nearest near = { .typed = map->keys[i].name };
	char meant[NEAREST_TEXT_MAX];

	for (const struct value_row *row = rows; row->key; row++) {
		size_t len;
		const char *known = at_level(row, prefix, &len);

		if (known)
			nearest_try(&near, known, len);
	}
	return yaml_key_error(map, i, s->file, e, "unknown key '%s'%s", what, nearest_text(&near, meant));
}

static int read_agents(const struct source *s, const struct yaml *agents, struct err *e);

/* Reads the i-th value of a mapping. A task file's own values have no origin: they are not configuration. */
static int read_leaf(const struct source *s, const struct yaml *map, size_t i, const struct value_row *row,
	const char *what, char *base, struct err *e)
{
	const struct yaml *y = map->items[i];
	bool is_config = base != (char *)s->task;
	int rc;

	if (s->repository && row->repository == REPOSITORY_REFUSED)
		return yaml_key_error(
			map, i, s->file, e, "'%s' cannot be set by a repository's file: %s", what, row->why);
	rc = s->repository ? repository_read(s, y, row, what, base + row->offset, e)
			   : value_read(s, y, row, what, base + row->offset, e);
	if (rc < 0)
		return -1;
	if (row->cap && !s->repository)
		*(uint64_t *)(void *)(base + row->cap) = 0;
	/* lists note their items themselves */
	if (is_config && !value_is_list(row->type) && row->type != VALUE_RULES && !yaml_is_null(y) &&
		(rc || !s->repository))
		origin_note(s, what, NULL, map->keys[i].line, map->keys[i].column);
	return 0;
}

/* Reads a mapping whose keys are the rows below the prefix. `shown` is the prefix in messages. */
static int read_map(const struct source *s, const struct yaml *map, const struct value_row *rows,
	const char *prefix, const char *shown, char *base, struct err *e)
{
	if (yaml_is_null(map))
		return 0;
	if (map->kind != YAML_MAP)
		return *shown ? yaml_error(map, s->file, e, "'%s' must be a mapping of keys to values", shown)
			      : yaml_error(map, s->file, e, "the file must be a mapping of keys to values");
	for (size_t i = 0; i < map->n; i++) {
		const char *name = map->keys[i].name;
		auto_str key = xasprintf("%s%s%s", prefix, *prefix ? "." : "", name);
		auto_str what = xasprintf("%s%s%s", shown, *shown ? "." : "", name);
		const struct value_row *row = rows;
		size_t len = 0;
		int rc;

		while (row->key && (!at_level(row, prefix, &len) || strlen(name) != len ||
					   strncmp(at_level(row, prefix, &len), name, len)))
			row++;
		if (!row->key)
			return unknown_key(s, map, i, rows, prefix, what, e);
		if (rows == config_rows && !strcmp(key, "agents"))
			rc = read_agents(s, map->items[i], e);
		else if (strcmp(row->key, key))
			rc = read_map(s, map->items[i], rows, key, what, base, e);
		else
			rc = read_leaf(s, map, i, row, what, base, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static const struct value_row *row_of(const char *key)
{
	const struct value_row *row = config_rows;

	while (row->key && strcmp(row->key, key))
		row++;
	return row;
}

static int read_agents(const struct source *s, const struct yaml *agents, struct err *e)
{

	if (yaml_is_null(agents))
		return 0;
	if (agents->kind != YAML_MAP)
		return yaml_error(agents, s->file, e, "'agents' must be a mapping of names to agents");
	for (size_t i = 0; i < agents->n; i++) {
		const char *name = agents->keys[i].name;
		auto_str what = xasprintf("agents.%s", name);
		struct err ignored = ERR_INIT;

		if (row_of(what)->key) {
			if (read_leaf(s, agents, i, row_of(what), what, (char *)s->config, e) < 0)
				return -1;
			continue;
		}
		/* of an agent that there is, a repository's file can have one key */
		if (s->repository && !config_agent_by_name(s->config, name))
			return yaml_key_error(agents, i, s->file, e,
				"'%s' cannot be set by a repository's file: " WHY_LOGIN, what);
		if (name_check_task(name, &ignored) < 0)
			return yaml_key_error(agents, i, s->file, e,
				"an agent's name can have only a-z, 0-9, '.', '_' and '-', not '%s'", name);
		if (read_map(s, agents->items[i], agent_rows, "", what,
			    (char *)config_agent_add(s->config, name), e) < 0)
			return -1;
	}
	return 0;
}

static int apply(
	struct config *c, const char *text, size_t len, const char *file, bool repository, struct err *e)
{
	struct source s = { .config = c, .file = file, .repository = repository };
	auto_yaml y = NULL;

	if (yaml_parse(text, len, file, &y, e) < 0)
		return -1;
	return read_map(&s, y, config_rows, "", "", (char *)c, e);
}

int config_apply(struct config *c, const char *text, size_t len, const char *file, struct err *e)
{
	return apply(c, text, len, file, false, e);
}

int config_apply_repository(struct config *c, const char *text, size_t len, const char *file, struct err *e)
{
	asks_release(c);
	return apply(c, text, len, file, true, e);
}

/* Whether `name` is the first component of any row's key. */
static bool is_at_top(const struct value_row *rows, const char *name)
{
	size_t len;

	for (; rows->key; rows++)
		if (at_level(rows, "", &len) && len == strlen(name) && !strncmp(rows->key, name, len))
			return true;
	return false;
}

/* Whether `name` is the first component of keys that only the user's own file may have. */
static bool is_for_user(const char *name)
{
	size_t len;

	for (const struct value_row *row = config_rows; row->key; row++)
		if (row->user_only && at_level(row, "", &len) && len == strlen(name) &&
			!strncmp(row->key, name, len))
			return true;
	return false;
}

/* Reads one top-level key as a mapping with that key alone. */
static int read_key(
	const struct source *s, const struct yaml *top, size_t i, struct taskfile *t, struct err *e)
{
	struct yaml one = *top;

	one.keys = &top->keys[i];
	one.items = &top->items[i];
	one.n = 1;
	if (is_for_user(one.keys->name))
		return yaml_key_error(top, i, s->file, e,
			"'%s' belongs in the user's configuration, not in a task file", one.keys->name);
	return is_at_top(config_rows, one.keys->name)
		       ? read_map(s, &one, config_rows, "", "", (char *)s->config, e)
		       : read_map(s, &one, task_rows, "", "", (char *)t, e);
}

/* The value of a mapping's key; NULL if it is missing. */
static const struct yaml *value_of(const struct yaml *y, const char *key)
{
	for (size_t i = 0; y && y->kind == YAML_MAP && i < y->n; i++)
		if (!strcmp(y->keys[i].name, key))
			return y->items[i];
	return NULL;
}

static void note_place(const struct yaml *y, struct taskfile_place *ret)
{
	if (y)
		*ret = (struct taskfile_place){ y->line, y->column };
}

/* Refuses keys that need a repository if the task has none. */
static int check_repository(
	const struct source *s, const struct yaml *y, const struct taskfile *t, struct err *e)
{
	static const char *const keys[] = { "base", "push", "backend" };

	for (size_t i = 0; !t->project_dir && i < ARRAY_SIZE(keys); i++)
		if (value_of(y, keys[i]))
			return yaml_error(value_of(y, keys[i]), s->file, e,
				"'%s' is for a task with a repository, and 'agent.project_dir' names none",
				keys[i]);
	return 0;
}

int taskfile_apply(
	struct config *c, const char *text, size_t len, const char *file, struct taskfile *ret, struct err *e)
{
	auto_taskfile t = { 0 };
	struct source s = { .config = c, .file = file, .task = &t };
	auto_yaml y = NULL;

	if (yaml_parse(text, len, file, &y, e) < 0)
		return -1;
	if (y->kind != YAML_MAP)
		return yaml_error(y, file, e, "the file must be a mapping of keys to values");
	for (size_t i = 0; i < y->n; i++)
		if (read_key(&s, y, i, &t, e) < 0)
			return -1;
	if (!t.command.n)
		return yaml_error(y, file, e, "'agent.command' is missing: what is to be run");
	if (check_repository(&s, y, &t, e) < 0)
		return -1;
	note_place(value_of(y, "base"), &t.base_at);
	note_place(value_of(value_of(y, "agent"), "project_dir"), &t.project_at);
	*ret = t;
	t = (struct taskfile){ 0 };
	return 0;
}

void taskfile_release(struct taskfile *t)
{
	char **texts[] = { &t->name, &t->project_dir, &t->agent, &t->base, &t->backend, &t->push };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(steal_ptr(*texts[i]));
	strvec_release(&t->command);
	strvec_release(&t->resume);
	strvec_release(&t->env);
}

const struct value_row *const taskfile_rows[] = { task_rows, config_rows };
const struct value_row *const config_value_rows = config_rows;
const struct value_row *const config_agent_rows = agent_rows;
