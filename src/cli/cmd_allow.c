#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/hosts.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "runtime/choose_network.h"
#include "cli/say.h"
#include "cli/session.h"
#include "publish/policy.h"
#include "sys/fd.h"
#include "task/network.h"
#include "runtime/run.h"

static void free_bools(bool **p)
{
	free(*p);
}

static int record(struct context *c, const struct task *t, const char *event, const char *what, struct err *e)
{
	auto_audit log = NULL;

	if (context_store(c, e) < 0 || audit_open(c->home.fd, c->store, &log, e) < 0)
		return -1;
	return audit_add(log, event, t, json_pack("{s:o}", "what", audit_text(what)), e);
}

static int allow_host(struct context *c, struct task *t, int dir, const char *host, struct err *e)
{
	if (reach_forward(c, t, dir, host, e) < 0 || record(c, t, "allow-host", host, e) < 0)
		return -1;
	return network_add(dir, true, &c->config, host, e);
}

static int tell_hosts(struct context *c, const struct task *t, bool json)
{
	struct err e = ERR_INIT;
	auto_network n = { 0 };
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, &e) < 0)
		return say_error(&e);
	if (network_load(dir, task_is_busy(c, t), &n, &e) < 0 &&
		network_choose(&c->config, NULL, NULL, NULL, &n, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t->name), "hosts", json_list(&n.allow)));
	for (size_t i = 0; i < n.allow.n; i++)
		printf("%s\n", n.allow.v[i]);
	return 0;
}

/* A name that ends like a domain, an address, or either with a port. A protected path is not taken for a
 * host, because allowing such paths is what this command is for. */
static bool looks_like_host(const struct context *c, const char *word)
{
	const struct policy policy = { .rules = &c->config.policy, .task = "" };
	const char *name = word + (strncmp(word, "*.", 2) ? 0 : 2);
	const char *dot = strrchr(name, '.'), *end = dot ? dot + 1 : NULL;
	struct host h;
	size_t n = 0;

	if (!host_parse_pair(name, strlen(name), 443, &h) || policy_is_protected(&policy, word))
		return false;
	while (end && isalpha((unsigned char)end[n]))
		n++;
	return h.is_address || (n >= 2 && (!end[n] || end[n] == ':'));
}

/* Whether the published commit has the path. */
static bool is_in_tree(struct context *c, const struct task *t, const char *path)
{
	auto_str name = xasprintf("%s:%s", *t->published ? t->published : t->base, path);
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	auto_task now = { 0 };
	struct git g;

	if (context_store(c, &ignored) < 0 || store_task_by_id(c->store, t->id, &now, &ignored) < 0 ||
		task_open(c, &now, &at, &ignored) < 0 || !backend_of(&now)->has_git)
		return false;
	g = repo_git(&at.repo);
	return !git_do(&g, NULL, &ignored, "cat-file", "-e", name, NULL);
}

/* Decides for each word whether it is a host, before anything is changed. Asks the user if there is a
 * terminal. */
static int sort_words(
	struct context *c, const struct task *t, char **words, int n, bool *are_hosts, struct err *e)
{
	for (int i = 0; i < n; i++) {
		char line[16];

		if (!looks_like_host(c, words[i]) || is_in_tree(c, t, words[i]))
			continue;
		if (!isatty(0) || !isatty(2)) {
			err_set(e, ERR_USAGE,
				"'%s' looks like a host; if it is a path to publish: garth allow --path %s %s",
				words[i], t->name, words[i]);
			return err_hint(e, "garth allow --host %s %s", t->name, words[i]);
		}
		fprintf(stderr, "is '%s' a host to reach, or a path to publish? [h/p] ", words[i]);
		if (!fgets(line, sizeof(line), stdin) || !strchr("hp", line[0]))
			return err_set(e, ERR_USAGE, "neither h nor p: nothing is allowed");
		are_hosts[i] = line[0] == 'h';
	}
	return 0;
}

static int allow_path(struct context *c, const struct task *t, const char *path, struct err *e)
{
	if (!*path || *path == '/' || strlen(path) > 400)
		return err_set(
			e, ERR_USAGE, "'%s' is not a path in the repository, or a pattern for one", path);
	return record(c, t, "allow", path, e) < 0 ? -1 : store_allow(c->store, t->id, path, e);
}

static int tell_paths(struct context *c, const struct task *t, bool asked, bool json)
{
	auto_strvec globs = STRVEC_INIT;
	struct err e = ERR_INIT;

	if (context_store(c, &e) < 0 || store_allowed(c->store, t->id, &globs, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t->name), "allowed", json_list(&globs)));
	for (size_t i = 0; i < globs.n; i++)
		printf("%s\n", globs.v[i]);
	if (asked && !globs.n)
		say_state("task '%s' may publish no protected path", t->name);
	return 0;
}

/* Allows paths, or hosts if --host was given or the user said so. *ret_hosts: whether there was a host. */
static int allow_words(
	struct context *c, struct task *t, char **words, int n, bool sort, bool *ret_hosts, struct err *e)
{
	__attribute__((cleanup(free_bools))) bool *hosts = xcalloc((size_t)n + 1, sizeof(*hosts));
	auto_fd dir = -1;

	for (int i = 0; i < n; i++)
		hosts[i] = *ret_hosts;
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || (sort && sort_words(c, t, words, n, hosts, e) < 0))
		return -1;
	for (int i = 0; i < n; i++) {
		if ((hosts[i] ? allow_host(c, t, dir, words[i], e) : allow_path(c, t, words[i], e)) < 0)
			return err_wrap(e, "task '%s'", t->name);
		say_done("task '%s' may %s %s", t->name, hosts[i] ? "reach" : "publish", words[i]);
		*ret_hosts |= hosts[i];
	}
	return 0;
}

int cmd_allow(int argc, char **argv)
{
	bool json = false, hosts = false, paths = false;
	const struct opt opts[] = {
		{ 0, "host", OPT_FLAG, &hosts, NULL, "the words are hosts: let the task reach them" },
		{ 0, "path", OPT_FLAG, &paths, NULL, "the words are paths, even if they look like hosts" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "allow", opts, 1, -1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (hosts && paths)
		return err_set(&e, ERR_USAGE, "--host and --path do not go together"), say_error(&e);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0 || runtime_configure(&c, &t, &e) < 0 ||
		allow_words(&c, &t, argv + 1, l.words - 1, !hosts && !paths, &hosts, &e) < 0)
		return say_error(&e);
	return hosts ? tell_hosts(&c, &t, json) : tell_paths(&c, &t, l.words == 1, json);
}
