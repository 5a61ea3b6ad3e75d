#include "config/config.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/path.h"
#include "config/agents.h"
#include "config/defaults.h"
#include "config/repository.h"

struct config_agent *config_agent_add(struct config *c, const char *name)
{
	struct config_agent *a = (struct config_agent *)config_agent_by_name(c, name);

	if (a)
		return a;
	c->agents = xrealloc(c->agents, c->nagents + 1, sizeof(*c->agents));
	a = &c->agents[c->nagents++];
	*a = (struct config_agent){ .name = xstrdup(name) };
	return a;
}

void config_cache_set(struct config *c, const char *path, const char *mode)
{
	struct config_cache *found = NULL;

	for (size_t i = 0; i < c->ncaches && !found; i++)
		if (!strcmp(c->caches[i].path, path))
			found = &c->caches[i];
	if (!found) {
		c->caches = xrealloc(c->caches, c->ncaches + 1, sizeof(*c->caches));
		found = &c->caches[c->ncaches++];
		*found = (struct config_cache){ .path = xstrdup(path) };
	}
	free(found->mode);
	found->mode = xstrdup(mode);
}

void config_defaults(struct config *ret)
{
	*ret = (struct config){
		.net = xstrdup(DEFAULT_NET),
		.log_size = DEFAULT_LOG_SIZE,
		.max_processes = DEFAULT_MAX_PROCESSES,
		.max_inodes = DEFAULT_MAX_INODES,
		.max_open_files = DEFAULT_MAX_OPEN_FILES,
		.check_every = DEFAULT_CHECK_EVERY,
		.policy = {
			.rewrite = xstrdup(DEFAULT_REWRITE),
			.identity = xstrdup(DEFAULT_IDENTITY),
			.max_size = DEFAULT_MAX_SIZE,
			.max_file_size = DEFAULT_MAX_FILE_SIZE,
			.max_files = DEFAULT_MAX_FILES,
			.max_commits = DEFAULT_MAX_COMMITS,
		},
		.on_dirty = xstrdup(DEFAULT_ON_DIRTY),
		.merge_strategy = xstrdup(DEFAULT_MERGE_STRATEGY),
		.rebase_frequency = DEFAULT_REBASE_FREQUENCY,
		.pause_on_conflict = true,
		.push_retries = DEFAULT_PUSH_RETRIES,
		.snapshot_every = DEFAULT_SNAPSHOT_EVERY,
		.stale_after = DEFAULT_STALE_AFTER,
		.serve_port = DEFAULT_SERVE_PORT,
		.plan_max_parallel = DEFAULT_PLAN_MAX_PARALLEL,
		.plan_max_running = DEFAULT_PLAN_MAX_RUNNING,
		.plan_quota_wait = DEFAULT_PLAN_QUOTA_WAIT,
		.tickets_at_once = DEFAULT_TICKETS_AT_ONCE,
		.tickets_timeout = DEFAULT_TICKETS_TIMEOUT,
		.guard = xstrdup(DEFAULT_GUARD),
	};
	strvec_pushv(&ret->policy.protect, default_protected);
	strvec_pushv(&ret->tools, default_tools);
	for (size_t i = 0; default_caches[i]; i++)
		config_cache_set(ret, default_caches[i], CACHE_TASK);
	strvec_pushv(&ret->env, default_env);
	strvec_pushv(&ret->notify.on, default_notify_on);
	for (const struct default_agent *d = default_agents; d->name; d++) {
		struct config_agent *a = config_agent_add(ret, d->name);

		strvec_pushv(&a->programs, d->programs);
		strvec_pushv(&a->login, d->login);
		strvec_pushv(&a->hosts, d->hosts);
		strvec_pushv(&a->env, d->env);
		strvec_pushv(&a->resume, d->resume);
		strvec_pushv(&a->options, d->options);
		strvec_pushv(&a->prompt, d->prompt);
		strvec_pushv(&a->headless, d->headless);
		strvec_pushv(&a->set, d->set);
		strvec_pushv(&a->files, d->files);
		strvec_pushv(&a->settings, d->settings);
		strvec_pushv(&a->dirs, d->dirs);
		strvec_pushv(&a->resume_terminal, d->resume_terminal);
		strvec_pushv(&a->quiet_hosts, d->quiet_hosts);
		strvec_pushv(&a->quota, d->quota);
		strvec_pushv(&a->mcp, d->mcp);
		strvec_pushv(&a->model, d->model);
		strvec_pushv(&a->effort, d->effort);
	}
}

static void policy_release(struct config_policy *p)
{
	rules_release(&p->rules);
	strvec_release(&p->protect);
	strvec_release(&p->allow);
	strvec_release(&p->scope);
	strvec_release(&p->within);
	free(p->rewrite);
	free(p->identity);
	free(p->author);
}

static void records_release(struct config *c)
{
	for (size_t i = 0; i < c->norigins; i++) {
		free(c->origins[i].key);
		free(c->origins[i].item);
		free(c->origins[i].at);
	}
	free(c->origins);
	asks_release(c);
}

static void agents_release(struct config *c)
{
	for (size_t i = 0; i < c->nagents; i++) {
		struct config_agent *a = &c->agents[i];
		struct strvec *lists[] = { &a->programs, &a->login, &a->env, &a->hosts, &a->resume,
			&a->options, &a->prompt, &a->headless, &a->set, &a->files, &a->settings, &a->dirs,
			&a->resume_terminal, &a->quiet_hosts, &a->run, &a->quota, &a->mcp, &a->model,
			&a->effort };

		free(a->name);
		free(a->credentials);
		for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
			strvec_release(lists[k]);
	}
	free(c->agents);
}

void config_release(struct config *c)
{
	records_release(c);
	strvec_release(&c->setup);
	strvec_release(&c->setup_inputs);
	strvec_release(&c->setup_network);
	strvec_release(&c->include);
	free(c->system_file);
	free(c->home);
	free(c->file);
	free(c->path);
	free(c->default_agent);
	free(c->guard);
	free(c->backend);
	strvec_release(&c->submodules);
	free(c->net);
	free(c->detach_keys);
	strvec_release(&c->include);
	strvec_release(&c->setup);
	strvec_release(&c->setup_inputs);
	strvec_release(&c->setup_network);
	strvec_release(&c->net_allow);
	strvec_release(&c->tools);
	strvec_release(&c->allow_read);
	strvec_release(&c->allow_read_at);
	strvec_release(&c->allow_write);
	strvec_release(&c->allow_write_at);
	strvec_release(&c->env);
	strvec_release(&c->tickets_agents);
	strvec_release(&c->notify.command);
	strvec_release(&c->notify.on);
	agents_release(c);
	for (size_t i = 0; i < c->noperations; i++) {
		free(c->operations[i].name);
		free(c->operations[i].rule);
	}
	free(c->operations);
	for (size_t i = 0; i < c->ncaches; i++) {
		free(c->caches[i].path);
		free(c->caches[i].mode);
	}
	free(c->caches);
	policy_release(&c->policy);
	free(c->on_dirty);
	free(c->merge_strategy);
	*c = (struct config){ 0 };
}

const struct config_agent *config_agent_by_name(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->nagents; i++)
		if (!strcmp(c->agents[i].name, name))
			return &c->agents[i];
	return NULL;
}

int config_agent_find(
	const struct config *c, const char *name, const struct config_agent **ret, struct err *e)
{
	const struct config_agent *found = config_agent_by_name(c, name);
	struct nearest near = { .typed = name };
	char meant[NEAREST_TEXT_MAX];

	if (found) {
		*ret = found;
		return 0;
	}
	for (size_t i = 0; i < c->nagents; i++)
		nearest_try(&near, c->agents[i].name, strlen(c->agents[i].name));
	err_set(e, ERR_NOTFOUND, "there is no agent '%s'%s in the configuration", name,
		nearest_text(&near, meant));
	return err_hint(e, "garth agent ls");
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
