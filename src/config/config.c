#include "config/config.h"

#include "base/alloc.h"
#include "base/name.h"
#include "base/path.h"
#include "base/yaml.h"
#include "config/check.h"
#include "config/defaults.h"

enum type { BACKEND, NET, SIZE, TOOLS, ALLOW_READ, VARIABLES, PROGRAMS, LOGIN };

struct row {
	const char *key;
	enum type type;
	size_t offset;
};

static const struct row config_rows[] = {
	{ "workspace.backend", BACKEND, offsetof(struct config, backend) },
	{ "jail.tools", TOOLS, offsetof(struct config, tools) },
	{ "jail.allow_read", ALLOW_READ, offsetof(struct config, allow_read) },
	{ "jail.env", VARIABLES, offsetof(struct config, env) },
	{ "network.mode", NET, offsetof(struct config, net) },
	{ "limits.log_size", SIZE, offsetof(struct config, log_size) },
	{ "agents", 0, 0 }, /* read_agents */
	{ 0 },
};

static const struct row agent_rows[] = {
	{ "programs", PROGRAMS, offsetof(struct config_agent, programs) },
	{ "login", LOGIN, offsetof(struct config_agent, login) },
	{ "env", VARIABLES, offsetof(struct config_agent, env) },
	{ 0 },
};

/* What a run over one file has at hand. */
struct source {
	struct config *config;
	const char *file;
};

static const char *check_item(const struct source *s, enum type type, const char *value)
{
	switch (type) {
	case TOOLS:
		return check_tool(value);
	case LOGIN:
		return check_login(value);
	case ALLOW_READ:
		return check_allow_read(value, s->config->home);
	case VARIABLES:
		return check_variable(value);
	case PROGRAMS:
		return check_program(value);
	default:
		return NULL;
	}
}

static int read_list(const struct source *s, const struct yaml *y, const struct row *row, const char *what,
	struct strvec *to, struct err *e)
{
	auto_strvec items = STRVEC_INIT;

	if (yaml_is_null(y))
		return 0;
	if (yaml_strings(y, s->file, what, &items, e) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		const char *wrong = check_item(s, row->type, items.v[i]);

		if (wrong)
			return yaml_error(y->kind == YAML_LIST ? y->items[i] : y, s->file, e,
				"'%s' in '%s' %s", items.v[i], what, wrong);
		if (!strvec_has(to, items.v[i]))
			strvec_push(to, items.v[i]);
	}
	return 0;
}

static int read_choice(const struct source *s, const struct yaml *y, const char *const choices[2],
	const char *what, char **to, struct err *e)
{
	auto_str value = NULL;

	if (yaml_string(y, s->file, what, &value, e) < 0)
		return -1;
	if (strcmp(value, choices[0]) && strcmp(value, choices[1]))
		return yaml_error(
			y, s->file, e, "'%s' is '%s' or '%s', not '%s'", what, choices[0], choices[1], value);
	free(*to);
	*to = steal_ptr(value);
	return 0;
}

static int read_value(const struct source *s, const struct yaml *y, const struct row *row, const char *what,
	void *to, struct err *e)
{
	static const char *const backends[] = { "overlay", "worktree" };
	static const char *const nets[] = { "none", "host" };

	switch (row->type) {
	case BACKEND:
		return read_choice(s, y, backends, what, to, e);
	case NET:
		return read_choice(s, y, nets, what, to, e);
	case SIZE:
		return yaml_size(y, s->file, what, to, e);
	default:
		return read_list(s, y, row, what, to, e);
	}
}

static size_t min3(size_t a, size_t b, size_t c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Edit distance; anything far apart is just "far". */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[33];

	if (na > 32 || nb > 32)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

/* The part of a row's key that stands at this level, where the row lies under the prefix; NULL elsewhere. */
static const char *at_level(const struct row *row, const char *prefix, size_t *ret_len)
{
	size_t n = strlen(prefix);

	if (n && (strncmp(row->key, prefix, n) || row->key[n++] != '.'))
		return NULL;
	*ret_len = strcspn(row->key + n, ".");
	return row->key + n;
}

static int unknown_key(const struct source *s, const struct yaml *map, size_t i, const struct row *rows,
	const char *prefix, const char *what, struct err *e)
{
	const char *name = map->keys[i].name, *near = NULL;
	size_t best = 3, near_len = 0;

	for (const struct row *row = rows; row->key; row++) {
		size_t len, d;
		const char *known = at_level(row, prefix, &len);

		if (!known)
			continue;
		d = distance(name, strlen(name), known, len);
		if (d < best && d < len) {
			best = d;
			near = known;
			near_len = len;
		}
	}
	if (near)
		return yaml_key_error(
			map, i, s->file, e, "unknown key '%s' (is '%.*s' meant?)", what, (int)near_len, near);
	return yaml_key_error(map, i, s->file, e, "unknown key '%s'", what);
}

static int read_agents(const struct source *s, const struct yaml *agents, struct err *e);

/* Reads a mapping whose keys are those of the rows beneath the prefix. `shown` is the prefix for messages. */
static int read_map(const struct source *s, const struct yaml *map, const struct row *rows,
	const char *prefix, const char *shown, char *base, struct err *e)
{
	if (yaml_is_null(map))
		return 0;
	if (map->kind != YAML_MAP)
		return *shown ? yaml_error(map, s->file, e, "'%s' is a mapping of keys to values", shown)
			      : yaml_error(map, s->file, e, "the file is not a mapping of keys to values");
	for (size_t i = 0; i < map->n; i++) {
		const char *name = map->keys[i].name;
		auto_str key = xasprintf("%s%s%s", prefix, *prefix ? "." : "", name);
		auto_str what = xasprintf("%s%s%s", shown, *shown ? "." : "", name);
		const struct row *row = rows;
		size_t len = 0;
		int rc;

		while (row->key && (!at_level(row, prefix, &len) || strlen(name) != len ||
					   strncmp(at_level(row, prefix, &len), name, len)))
			row++;
		if (!row->key)
			return unknown_key(s, map, i, rows, prefix, what, e);
		if (strcmp(row->key, key))
			rc = read_map(s, map->items[i], rows, key, what, base, e);
		else if (rows == config_rows && !strcmp(key, "agents"))
			rc = read_agents(s, map->items[i], e);
		else
			rc = read_value(s, map->items[i], row, what, base + row->offset, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static struct config_agent *agent_named(struct config *c, const char *name)
{
	struct config_agent *a = (struct config_agent *)config_agent_by_name(c, name);

	if (a)
		return a;
	c->agents = xrealloc(c->agents, c->nagents + 1, sizeof(*c->agents));
	a = &c->agents[c->nagents++];
	*a = (struct config_agent){ .name = xstrdup(name) };
	return a;
}

static int read_agents(const struct source *s, const struct yaml *agents, struct err *e)
{
	if (yaml_is_null(agents))
		return 0;
	if (agents->kind != YAML_MAP)
		return yaml_error(agents, s->file, e, "'agents' is a mapping of names to agents");
	for (size_t i = 0; i < agents->n; i++) {
		const char *name = agents->keys[i].name;
		auto_str what = xasprintf("agents.%s", name);
		struct err ignored = ERR_INIT;

		if (name_check_task(name, &ignored) < 0)
			return yaml_key_error(agents, i, s->file, e,
				"an agent's name has only a-z, 0-9, '.', '_' and '-', not '%s'", name);
		if (read_map(s, agents->items[i], agent_rows, "", what, (char *)agent_named(s->config, name),
			    e) < 0)
			return -1;
	}
	return 0;
}

int config_apply(struct config *c, const char *text, size_t len, const char *file, struct err *e)
{
	struct source s = { c, file };
	auto_yaml y = NULL;

	if (yaml_parse(text, len, file, &y, e) < 0)
		return -1;
	return read_map(&s, y, config_rows, "", "", (char *)c, e);
}

void config_defaults(struct config *ret)
{
	*ret = (struct config){ .net = xstrdup(DEFAULT_NET), .log_size = DEFAULT_LOG_SIZE };
	strvec_pushv(&ret->tools, default_tools);
	strvec_pushv(&ret->env, default_env);
	for (const struct default_agent *d = default_agents; d->name; d++) {
		struct config_agent *a = agent_named(ret, d->name);

		strvec_pushv(&a->programs, d->programs);
		strvec_pushv(&a->login, d->login);
		strvec_pushv(&a->env, d->env);
	}
}

void config_release(struct config *c)
{
	free(c->home);
	free(c->file);
	free(c->backend);
	free(c->net);
	strvec_release(&c->tools);
	strvec_release(&c->allow_read);
	strvec_release(&c->env);
	for (size_t i = 0; i < c->nagents; i++) {
		free(c->agents[i].name);
		strvec_release(&c->agents[i].programs);
		strvec_release(&c->agents[i].login);
		strvec_release(&c->agents[i].env);
	}
	free(c->agents);
	*c = (struct config){ 0 };
}

const struct config_agent *config_agent_by_name(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->nagents; i++)
		if (!strcmp(c->agents[i].name, name))
			return &c->agents[i];
	return NULL;
}

const struct config_agent *config_agent_by_program(const struct config *c, const char *program)
{
	for (size_t i = c->nagents; i-- > 0;)
		if (strvec_has(&c->agents[i].programs, path_base(program)))
			return &c->agents[i];
	return NULL;
}

bool config_env_matches(const struct strvec *names, const char *name, size_t len)
{
	for (size_t i = 0; i < names->n; i++) {
		size_t n = strlen(names->v[i]);

		if (n && names->v[i][n - 1] == '*' ? len >= n - 1 && !strncmp(names->v[i], name, n - 1)
						   : len == n && !strncmp(names->v[i], name, n))
			return true;
	}
	return false;
}
