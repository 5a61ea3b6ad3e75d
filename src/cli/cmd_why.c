#include <stdio.h>

#include "base/alloc.h"
#include "base/path.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/session.h"
#include "config/check.h"
#include "config/protect.h"
#include "runtime/choose_network.h"
#include "task/walls.h"

/* What holds for one path. The texts say why; NULL if nothing more than the mount decides. */
struct why {
	char *path;          /* inside */
	const char *below;   /* relative to the workspace; NULL if it is elsewhere */
	const char *mounted; /* the innermost mount around it; NULL: nothing is there */
	bool read, write, publish;
	char *read_why, *write_why, *publish_why;
};

static void why_release(struct why *w)
{
	free(w->path);
	free(w->read_why);
	free(w->write_why);
	free(w->publish_why);
}

static char *inside_path(const struct context *c, const struct task *t, const char *word)
{
	auto_str path = *word == '/' ? xstrdup(word)
			: !strcmp(word, "~") || !strncmp(word, "~/", 2)
				? xasprintf("%s%s", c->user_home, word + 1)
				: xasprintf("%s/%s", t->workspace, strcmp(word, ".") ? word : "");
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	return steal_ptr(path);
}

static char *rule_text(const struct rule *r)
{
	static const char *const keys[RULE_KINDS] = { "allow_read", "allow_write", "deny_read",
		"deny_write" };

	return xasprintf("jail.%s '%s' (%s)", keys[r->kind], r->glob, r->at);
}

/* Why the host's file is not there: the reasons that no configuration changes come first. */
static char *absent_text(const struct context *c, const char *path)
{
	const struct rule *r = rules_read(&c->config.policy.rules, path);
	const char *never = check_allow_read(path, c->user_home);

	if (path_within(path, c->home.path))
		return xstrdup("built-in: the Garth home, with the state of all tasks");
	if (never)
		return xasprintf("built-in: it %s", never);
	if (r && rule_denies(r))
		return rule_text(r);
	return xstrdup("only what is named is shown of the host");
}

static void judge_mount(const struct context *c, const struct jail *j, struct why *w)
{
	const struct jail_row *row = NULL;

	for (size_t i = 0; i < j->nrows; i++)
		if (path_within(w->path, j->rows[i].target) && j->rows[i].kind != JAIL_LINK)
			row = &j->rows[i];
	if (!row) {
		w->read_why = absent_text(c, w->path);
		w->write_why = xstrdup(w->read_why);
		return;
	}
	w->mounted = row->target;
	w->read = true;
	w->write = row->kind == JAIL_OVERLAY || row->kind == JAIL_CACHE || row->flags & JAIL_WRITE;
	if (!strcmp(row->target, c->user_home)) {
		auto_str why = absent_text(c, w->path);

		w->read_why = xasprintf("it is the task's own home; the user's is not shown: %s", why);
	} else if (row->kind == JAIL_CACHE) {
		w->write_why = xstrdup("jail.caches: in a layer of the task's own");
	} else if (!w->write) {
		w->write_why = xstrdup("it is mounted read-only");
	}
}

/* As publish/policy.h judges a path. */
static void judge_publish(const struct context *c, const struct strvec *allowed, struct why *w)
{
	const struct config_policy *p = &c->config.policy;
	const char *glob = protect_path(p, allowed, w->below, false);

	w->publish = !glob && protect_in_scope(p, allowed, "", w->below);
	if (glob)
		w->publish_why = xasprintf("'%s' protects it until garth allow TASK PATH", glob);
	else if (!w->publish)
		w->publish_why = xstrdup("policy.scope does not have it, until garth allow TASK PATH");
}

static void judge_rules(const struct jail *j, struct why *w)
{
	/* without namespaces the description has none, and they hold for the gateway only */
	const struct rule *read = rules_read(&j->rules, w->below), *write = rules_write(&j->rules, w->below);

	if (read) {
		w->read = !rule_denies(read);
		w->read_why = rule_text(read);
	}
	if (write) {
		w->write = !rule_denies(write);
		w->write_why = rule_text(write);
	}
}

static void say(const char *name, bool yes, const char *why)
{
	auto_buf clean = BUF_INIT(1 << 16);

	printf("%-8s %s%s%s\n", name, yes ? "yes" : "no", why ? ": " : "",
		why ? say_one_line(&clean, why) : "");
}

static int print(const struct task *t, const struct why *w, bool json)
{
	auto_buf clean = BUF_INIT(1 << 16);

	if (json)
		return json_print(json_pack("{s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o}", "task",
			json_text(t->name), "path", json_text(w->path), "mounted_at",
			w->mounted ? json_text(w->mounted) : json_null(), "may_read", w->read, "may_write",
			w->write, "may_publish", w->publish, "read_reason",
			w->read_why ? json_text(w->read_why) : json_null(), "write_reason",
			w->write_why ? json_text(w->write_why) : json_null(), "publish_reason",
			w->publish_why ? json_text(w->publish_why) : json_null()));
	printf("%-8s %s\n", "path", say_one_line(&clean, w->path));
	say("read", w->read, w->read_why);
	say("write", w->write, w->write_why);
	if (w->below)
		say("publish", w->publish, w->publish_why);
	return 0;
}

static int explain(struct context *c, struct task_at *at, const char *word, bool json, struct err *e)
{
	__attribute__((cleanup(network_release))) struct network net = { 0 };
	__attribute__((cleanup(why_release))) struct why w = { .path = inside_path(c, at->task, word) };
	struct walls_opts o = { .net = &net };
	auto_strvec allowed = STRVEC_INIT;
	struct run_opts s = { 0 };
	auto_jail jail = { 0 };

	if (!path_is_clean(w.path)) {
		err_set(e, ERR_USAGE, "'%s' is not a plain path: no '.', no '..', no empty part", word);
		return say_error(e);
	}
	if (runtime_network(c, at->task, NULL, NULL, &s, e) < 0 || context_store(c, e) < 0 ||
		store_allowed(c->store, at->task->id, &allowed, e) < 0)
		return say_error(e);
	net = s.net;
	if (walls_describe(c, at, &o, &jail, e) < 0)
		return say_error(e);
	judge_mount(c, &jail, &w);
	if (path_within(w.path, at->task->workspace) && w.mounted &&
		!strcmp(w.mounted, at->task->workspace)) {
		w.below = w.path + strlen(at->task->workspace);
		w.below += *w.below == '/';
		judge_publish(c, &allowed, &w);
		judge_rules(&jail, &w);
	}
	return print(at->task, &w, json);
}

int cmd_why(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "why", opts, 2, 2, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_at at = { .ws.dir = -1 };
	struct err e = ERR_INIT, why = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0 || task_open_files(&c, &t, &at, &why, &e) < 0)
		return say_error(&e);
	if (why.kind != ERR_NONE)
		return say_error(&why);
	return explain(&c, &at, argv[1], json, &e);
}
