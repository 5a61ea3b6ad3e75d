#include <stdio.h>

#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"

static void list(const char *name, const struct strvec *v)
{
	printf("  %s:\n", name);
	for (size_t i = 0; i < v->n; i++)
		printf("    - %s\n", v->v[i]);
}

static void print_yaml(const struct config *c)
{
	printf("# built-in%s%s\n", c->file ? ", and " : " alone", c->file ? c->file : "");
	printf("workspace:\n  backend: %s\n",
		c->backend ? c->backend : "overlay  # where the kernel allows, else worktree");
	printf("jail:\n");
	list("tools", &c->tools);
	if (c->allow_read.n)
		list("allow_read", &c->allow_read);
	list("env", &c->env);
	printf("network:\n  mode: %s\nlimits:\n  log_size: %llu\nagents:\n", c->net,
		(unsigned long long)c->log_size);
	for (size_t i = 0; i < c->nagents; i++) {
		printf("  %s:\n", c->agents[i].name);
		printf("  "), list("programs", &c->agents[i].programs);
		printf("  "), list("login", &c->agents[i].login);
		printf("  "), list("env", &c->agents[i].env);
	}
}

static json_t *as_json(const struct config *c)
{
	json_t *agents = json_object();

	for (size_t i = 0; i < c->nagents; i++)
		json_object_set_new(agents, c->agents[i].name,
			json_pack("{s:o, s:o, s:o}", "programs", json_list(&c->agents[i].programs), "login",
				json_list(&c->agents[i].login), "env", json_list(&c->agents[i].env)));
	return json_pack("{s:o, s:{s:o}, s:{s:o, s:o, s:o}, s:{s:s}, s:{s:I}, s:o}", "file",
		c->file ? json_text(c->file) : json_null(), "workspace", "backend",
		c->backend ? json_text(c->backend) : json_null(), "jail", "tools", json_list(&c->tools),
		"allow_read", json_list(&c->allow_read), "env", json_list(&c->env), "network", "mode", c->net,
		"limits", "log_size", (json_int_t)c->log_size, "agents", agents);
}

int cmd_config(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "config", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(as_json(&c.config));
	print_yaml(&c.config);
	return 0;
}
