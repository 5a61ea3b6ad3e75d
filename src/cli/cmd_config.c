#include <stdio.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/keys.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/schema.h"

/* Unquoted if YAML reads it as the same string, else in double quotes. */
static void scalar(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-*";

	if (*s && strspn(s, plain) == strlen(s) && !strchr("-*", *s) && strcasecmp(s, "null")) {
		printf("%s", s);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			printf("\\x%02x", (unsigned char)*s);
		else
			printf("%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	}
	putchar('"');
}

static void list(const char *name, const struct strvec *v)
{
	printf("  %s:\n", name);
	for (size_t i = 0; i < v->n; i++)
		printf("    - "), scalar(v->v[i]), putchar('\n');
}

static void number(const char *name, uint64_t n)
{
	printf("  %s: %llu\n", name, (unsigned long long)n);
}

static const char *const rule_keys[RULE_KINDS] = { "allow_read", "allow_write", "deny_read", "deny_write" };

static void rules_of(const struct config *c, enum rule_kind kind, struct strvec *ret)
{
	for (size_t i = 0; i < c->policy.rules.n; i++)
		if (c->policy.rules.v[i].kind == kind)
			strvec_push(ret, c->policy.rules.v[i].glob);
}

static void print_policy(const struct config_policy *p)
{
	printf("policy:\n");
	list("protected", &p->protect);
	if (p->allow.n)
		list("allow", &p->allow);
	printf("  rewrite: %s\n  identity: %s\n", p->rewrite, p->identity);
	if (p->author)
		printf("  author: "), scalar(p->author), putchar('\n');
}

static void print_git(const struct config *c)
{
	printf("git:\n  fetch: %s\n", c->fetch ? "true" : "false");
	number("push_retries", c->push_retries);
	if (c->noperations)
		printf("  operations:\n");
	for (size_t i = 0; i < c->noperations; i++)
		printf("    %s: %s\n", c->operations[i].name, c->operations[i].rule);
	printf("task:\n  on_dirty: %s\nmerge:\n  strategy: %s\n  keep: %s\n", c->on_dirty, c->merge_strategy,
		c->merge_keep ? "true" : "false");
	printf("sync:\n  auto_rebase: %s\n", c->auto_rebase ? "true" : "false");
	number("rebase_frequency", c->rebase_frequency);
	printf("  pause_on_conflict: %s\nsnapshot:\n", c->pause_on_conflict ? "true" : "false");
	number("every", c->snapshot_every);
	printf("cleanup:\n");
	number("stale_after", c->stale_after);
	printf("serve:\n");
	number("port", c->serve_port);
	printf("terminal:\n  detach_keys: ");
	scalar(c->detach_keys ? c->detach_keys : KEYS_DEFAULT);
	puts(c->detach_keys ? "" : "  # and " KEYS_ALSO);
	printf("notify:\n");
	if (c->notify.command.n)
		list("command", &c->notify.command);
	if (c->notify.on.n)
		list("on", &c->notify.on);
	else
		printf("  on: []\n");
}

static void print_yaml(const struct config *c)
{
	printf("# built-in%s%s\n", c->file ? ", and " : " alone", c->file ? c->file : "");
	printf("workspace:\n  backend: %s\n",
		c->backend ? c->backend : "overlay  # where the kernel allows, else worktree");
	if (c->submodules.n)
		list("submodules", &c->submodules);
	printf("jail:\n");
	list("tools", &c->tools);
	printf("  caches:\n");
	for (size_t i = 0; i < c->ncaches; i++) {
		auto_str path = xasprintf("~/%s", c->caches[i].path);

		printf("    "), scalar(path), printf(": %s\n", c->caches[i].mode);
	}
	for (size_t kind = 0; kind < RULE_KINDS; kind++) {
		auto_strvec globs = STRVEC_INIT;

		rules_of(c, kind, &globs);
		if (globs.n)
			list(rule_keys[kind], &globs);
	}
	list("env", &c->env);
	printf("network:\n  mode: %s\n", c->net);
	if (c->net_allow.n)
		list("allow", &c->net_allow);
	printf("limits:\n");
	number("log_size", c->log_size);
	number("max_worktree_size", c->policy.max_size);
	number("max_file_size", c->policy.max_file_size);
	number("max_files", c->policy.max_files);
	number("max_commits", c->policy.max_commits);
	if (c->max_disk)
		number("max_disk", c->max_disk);
	else
		printf("  max_disk: 0  # a share of the disk\n");
	number("max_inodes", c->max_inodes);
	number("max_open_files", c->max_open_files);
	number("check_every", c->check_every);
	number("max_processes", c->max_processes);
	number("max_memory", c->max_memory);
	number("max_core", c->max_core);
	number("max_cpu", c->max_cpu);
	print_policy(&c->policy);
	print_git(c);
	printf("agents:\n");
	if (c->default_agent)
		printf("  default: %s\n", c->default_agent);
	for (size_t i = 0; i < c->nagents; i++) {
		printf("  %s:\n", c->agents[i].name);
		printf("  "), list("programs", &c->agents[i].programs);
		printf("  "), list("login", &c->agents[i].login);
		printf("  "), list("env", &c->agents[i].env);
		printf("  "), list("hosts", &c->agents[i].hosts);
		if (c->agents[i].resume.n)
			printf("  "), list("resume", &c->agents[i].resume);
		if (c->agents[i].options.n)
			printf("  "), list("options", &c->agents[i].options);
		if (c->agents[i].prompt.n)
			printf("  "), list("prompt", &c->agents[i].prompt);
		if (c->agents[i].headless.n)
			printf("  "), list("headless", &c->agents[i].headless);
	}
}

static json_t *text_or_null(const char *s)
{
	return s ? json_text(s) : json_null();
}

static json_t *agents_json(const struct config *c)
{
	json_t *agents = json_object();

	if (c->default_agent)
		json_object_set_new(agents, "default", json_text(c->default_agent));
	for (size_t i = 0; i < c->nagents; i++)
		json_object_set_new(agents, c->agents[i].name,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "prompt",
				json_list(&c->agents[i].prompt), "headless",
				json_list(&c->agents[i].headless), "options",
				json_list(&c->agents[i].options), "resume", json_list(&c->agents[i].resume),
				"programs", json_list(&c->agents[i].programs), "login",
				json_list(&c->agents[i].login), "env", json_list(&c->agents[i].env), "hosts",
				json_list(&c->agents[i].hosts)));
	return agents;
}

static json_t *policy_json(const struct config_policy *p)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:o}", "protected", json_list(&p->protect), "allow",
		json_list(&p->allow), "rewrite", p->rewrite, "identity", p->identity, "author",
		text_or_null(p->author));
}

static json_t *operations_json(const struct config *c)
{
	json_t *operations = json_object();

	for (size_t i = 0; i < c->noperations; i++)
		json_object_set_new(operations, c->operations[i].name, json_string(c->operations[i].rule));
	return operations;
}

static json_t *caches_json(const struct config *c)
{
	json_t *caches = json_object();

	for (size_t i = 0; i < c->ncaches; i++) {
		auto_str path = xasprintf("~/%s", c->caches[i].path);

		json_object_set_new(caches, path, json_string(c->caches[i].mode));
	}
	return caches;
}

static json_t *limits_json(const struct config *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "max_core",
		(json_int_t)c->max_core, "max_disk", (json_int_t)c->max_disk, "max_open_files",
		(json_int_t)c->max_open_files, "max_inodes", (json_int_t)c->max_inodes, "check_every",
		(json_int_t)c->check_every, "max_processes", (json_int_t)c->max_processes, "max_memory",
		(json_int_t)c->max_memory, "max_cpu", (json_int_t)c->max_cpu, "log_size",
		(json_int_t)c->log_size, "max_worktree_size", (json_int_t)c->policy.max_size, "max_file_size",
		(json_int_t)c->policy.max_file_size, "max_files", (json_int_t)c->policy.max_files,
		"max_commits", (json_int_t)c->policy.max_commits);
}

static json_t *as_json(const struct config *c)
{
	json_t *jail = json_pack("{s:o, s:o, s:o}", "tools", json_list(&c->tools), "caches", caches_json(c),
		"env", json_list(&c->env));
	json_t *sync = json_pack("{s:b, s:I, s:b}", "auto_rebase", c->auto_rebase, "rebase_frequency",
		(json_int_t)c->rebase_frequency, "pause_on_conflict", c->pause_on_conflict);

	for (size_t kind = 0; kind < RULE_KINDS; kind++) {
		auto_strvec globs = STRVEC_INIT;

		rules_of(c, kind, &globs);
		json_object_set_new(jail, rule_keys[kind], json_list(&globs));
	}
	return json_pack(
		"{s:o, s:{s:o, s:o}, s:o, s:{s:s, s:o}, s:o, s:o, s:{s:o, s:b, s:I}, s:{s:s}, s:{s:s, s:b}, s:o, s:{s:I}, s:{s:I}, s:{s:I}, s:{s:s}, s:{s:o, s:o}, s:o}",
		"file", text_or_null(c->file), "workspace", "backend", text_or_null(c->backend), "submodules",
		json_list(&c->submodules), "jail", jail, "network", "mode", c->net, "allow",
		json_list(&c->net_allow), "limits", limits_json(c), "policy", policy_json(&c->policy), "git",
		"operations", operations_json(c), "fetch", c->fetch, "push_retries",
		(json_int_t)c->push_retries, "task", "on_dirty", c->on_dirty, "merge", "strategy",
		c->merge_strategy, "keep", c->merge_keep, "sync", sync, "snapshot", "every",
		(json_int_t)c->snapshot_every, "cleanup", "stale_after", (json_int_t)c->stale_after, "serve",
		"port", (json_int_t)c->serve_port, "terminal", "detach_keys",
		c->detach_keys ? c->detach_keys : KEYS_DEFAULT, "notify", "command",
		json_list(&c->notify.command), "on", json_list(&c->notify.on), "agents", agents_json(c));
}

int cmd_config(int argc, char **argv)
{
	bool json = false, schema = false;
	const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		{ 0, "schema", OPT_FLAG, &schema, NULL, "print the JSON schema of task files, for editors" },
		OPT_END,
	};
	struct cmd_line l = { "config", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (schema) {
		json_t *o = schema_of_taskfile();

		json_dumpf(o, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(o);
		return 0;
	}
	if (context_open_to_look(&c, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(json_pack("{s:o}", "config", as_json(&c.config)));
	print_yaml(&c.config);
	return 0;
}
