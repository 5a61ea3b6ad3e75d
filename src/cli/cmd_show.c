#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/show_question.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/ports.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_credentials.h"
#include "cli/show_limits.h"
#include "cli/show_network.h"
#include "cli/show_submodules.h"
#include "cli/show_tickets.h"
#include "cli/task_relations.h"
#include "runtime/run.h"
#include "task/cleanup.h"
#include "task/verdict.h"
#include "task/seen.h"
#include "task/walls.h"
#include "runtime/choose_network.h"

static void line(const char *name, const char *value)
{
	auto_buf clean = BUF_INIT(1 << 20);

	printf("%-10s %s\n", name, say_one_line(&clean, value));
}

static void time_line(const char *name, int64_t when)
{
	char text[64], age[32];
	time_t t = (time_t)when;
	struct tm tm;

	if (!when)
		return;
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("%-10s %s (%s)\n", name, text, say_age(when, age, sizeof(age)));
}

static int show_jail(struct context *c, struct task_at *at, const char *mode, bool json, struct err *e)
{
	struct run_opts s = { 0 };
	auto_strvec not_shown = STRVEC_INIT;
	__attribute__((cleanup(network_release))) struct network net = { 0 };
	struct walls_opts o = { .net = &net, .not_shown = &not_shown };
	auto_buf text = BUF_INIT(4 << 20);
	auto_jail jail = { 0 };

	if (runtime_network(c, at->task, mode, NULL, &s, e) < 0)
		return say_error(e);
	net = s.net;
	if (walls_describe(c, at, &o, &jail, e) < 0 || jail_check(&jail, e) < 0)
		return say_error(e);
	for (size_t i = 0; i < not_shown.n; i++)
		say_warning("%s", not_shown.v[i]);
	jail_print(&jail, &text);
	if (json) {
		json_t *rows = json_array(), *o_json = json_object();

		for (size_t i = 0; i < jail.nrows; i++)
			json_array_append_new(rows,
				json_pack("{s:s, s:b, s:o, s:o}", "kind", jail_kind_name(jail.rows[i].kind),
					"write", (jail.rows[i].flags & JAIL_WRITE) != 0, "source",
					json_text(jail.rows[i].source), "mounted_at",
					json_text(jail.rows[i].target)));
		json_object_set_new(o_json, "uid", json_integer(jail.uid));
		json_object_set_new(o_json, "gid", json_integer(jail.gid));
		json_object_set_new(o_json, "task", json_text(at->task->name));
		json_object_set_new(o_json, "network_mode", json_text(net.mode));
		json_object_set_new(o_json, "lowers", json_list(&jail.lowers));
		json_object_set_new(o_json, "upper", jail.upper ? json_text(jail.upper) : json_null());
		json_object_set_new(o_json, "rows", rows);
		return json_print(o_json);
	}
	fputs(buf_str(&text), stdout);
	return 0;
}

/* A task that is removed, or whose repository is gone, is shown as far as possible. */
static void print_work(const struct task_work *w, const struct err *why)
{
	if (why->kind != ERR_NONE) {
		line("changed", "unknown");
		return;
	}
	printf("%-10s %zu file%s%s\n", "changed", w->files.n, w->files.n == 1 ? "" : "s",
		w->drafts ? ", and drafts in its repository" : "");
	for (size_t i = 0; i < w->files.n && i < 20; i++)
		line("", w->files.v[i]);
	if (w->files.n > 20)
		printf("%-10s … and %zu more\n", "", w->files.n - 20);
	if (w->ignored)
		printf("%-10s %zu file%s\n", "ignored", w->ignored, w->ignored == 1 ? "" : "s");
}

static void print_pushed(const struct task *t)
{
	auto_str text = NULL;

	if (!*t->pushed_tip)
		return;
	text = xasprintf("%s of %s%s", t->pushed_branch, t->pushed_remote,
		strcmp(t->pushed_tip, t->published) ? ", without its newest commits" : "");
	line("pushed", text);
}

/* Names of files are on lines of their own, below the note's text. */
static void print_note(const struct task *t)
{
	auto_buf note = BUF_SMALL;
	const char *label = "note";

	task_say_list(t, &note);
	for (const char *s = buf_str(&note); *s; s += strspn(s, "\n")) {
		auto_str one = xstrndup(s, strcspn(s, "\n"));

		line(label, one);
		label = "";
		s += strlen(one);
	}
}

static void print_standing(const struct task *t, const struct relations *s)
{
	auto_strvec conflicts = STRVEC_INIT;
	char sign[48];

	if (*t->published) {
		line("published", t->published);
		printf("%-10s %lld\n", "commits", (long long)t->commits);
	}
	print_pushed(t);
	printf("%-10s %s %s\n", "standing", relations_word(s), relations_sign(s, sign, sizeof(sign)));
	relations_conflict_lines(t, s, NULL, &conflicts);
	for (size_t i = 0; i < conflicts.n; i++)
		line("conflicts", conflicts.v[i]);
	print_note(t);
}

static void print_snapshots(const struct snapshot_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct snapshot *s = &l->v[i];
		char age[32];
		auto_str text =
			xasprintf("%lld %.12s %s%s%s (%s)", (long long)s->number, s->commit, s->reason,
				*s->message ? ": " : "", s->message, say_age(s->created, age, sizeof(age)));

		line(i ? "" : "snapshots", text);
	}
}

static json_t *json_snapshots(const struct snapshot_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(
			a, json_pack("{s:I, s:s, s:s, s:o, s:b, s:o}", "snapshot", (json_int_t)l->v[i].number,
				   "tip", l->v[i].commit, "reason", l->v[i].reason, "message",
				   json_text(l->v[i].message), "has_files", *l->v[i].state != 0, "created",
				   json_time(l->v[i].created)));
	return a;
}

static void print_branch(const struct task *t, const struct relations *s)
{
	line("project", t->project);
	line("branch", t->branch + strlen("refs/heads/"));
	line("base", t->base);
	line("target", !strncmp(t->target, "refs/heads/", 11) ? t->target + 11 : t->target);
	print_standing(t, s);
	line("backend", t->backend);
}

static void print_task(struct context *c, struct task_at *at, const struct task_work *w,
	const struct err *why, const struct limits_used *limits, const struct relations *s,
	const struct snapshot_list *snapshots)
{
	const struct task *t = at->task;
	auto_str question = question_line(c, t), host = workspace_host_dir(&c->home, t);
	auto_str state = xasprintf("%s%s", t->state, cleanup_is_stale(c, t) ? ", stale" : "");
	auto_strvec options = STRVEC_INIT;
	auto_buf ports = BUF_SMALL;

	line("task", t->name);
	line("state", state);
	if (question)
		line("asks", question);
	question_options(c, t, &options);
	for (size_t i = 0; i < options.n; i++)
		line("", options.v[i]);
	if (!backend_of(t)->has_git)
		line("project", "none: it has no repository");
	else
		print_branch(t, s);
	line("workspace", t->workspace);
	if (host && strcmp(host, t->workspace) != 0)
		line("on host", host);
	if (t->strict)
		line("isolation", "strict: its objects are its own");
	show_submodules(at);
	time_line("created", t->created);
	if (*t->command) {
		line("command", t->command);
		time_line("started", t->started);
		time_line("ended", t->ended);
		if (t->ended)
			printf("%-10s %d\n", "exit code", t->exit_code);
		line("session", t->session);
	}
	ports_text(c, t, &ports);
	if (ports.len)
		line("ports", ports.data);
	print_snapshots(snapshots);
	show_tickets(c, t);
	show_credentials(at);
	show_network(c, at);
	limits_show(limits, t);
	print_work(w, why);
}

/* why: the files could not be looked at. */
static void json_work(const struct task_work *w, const struct err *why, json_t *o)
{
	bool known = why->kind == ERR_NONE;

	json_object_set_new(o, "uncommitted", known ? json_files(&w->files) : json_null());
	json_object_set_new(o, "drafts", known ? json_boolean(w->drafts != 0) : json_null());
	json_object_set_new(o, "ignored", known ? json_integer((json_int_t)w->ignored) : json_null());
	if (!known)
		json_object_set_new(o, "problem", json_text(why->msg));
}

int cmd_show(int argc, char **argv)
{
	bool jail = false, json = false;
	const char *net = NULL;
	const struct opt opts[] = {
		{ 0, "jail", OPT_FLAG, &jail, NULL, "print the jail: mounts, rules, limits" },
		{ 0, "net", OPT_STR, &net, "MODE", "with --jail: show it for none, allow or host",
			WORD_NETWORK },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "show", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_at at = { .ws.dir = -1 };
	auto_task_work w = { 0 };
	struct err e = ERR_INIT, why = ERR_INIT;
	auto_snapshot_list snapshots = { 0 };
	auto_relations standing = { 0 };
	auto_task_list all = { 0 };
	struct limits_used limits;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	progress_begin("looking at the files");
	task_judge_again(&c, &t);
	if (task_open_files(&c, &t, &at, &why, &e) < 0)
		return say_error(&e);
	if (jail && why.kind != ERR_NONE)
		return say_error(&why);
	if (jail && runtime_configure(&c, &t, &e) < 0)
		return say_error(&e);
	if (jail)
		return progress_end(), show_jail(&c, &at, net, json, &e);
	if (!json)
		seen_mark(&c, &t);
	/* the rest can still be shown */
	if (why.kind == ERR_NONE && task_work(&c, &at, &w, &e) < 0)
		why = e;
	if (limits_used(&c, &at, &limits, &e) < 0 || store_task_list(c.store, false, &all, &e) < 0 ||
		store_snapshot_list(c.store, t.id, &snapshots, &e) < 0)
		return say_error(&e);
	relations_find(&c, &t, &all, &standing);
	progress_end();
	if (json) {
		json_t *o = json_task(&t);

		json_object_set_new(o, "stale", json_boolean(cleanup_is_stale(&c, &t)));
		json_work(&w, &why, o);
		relations_json(&standing, o);
		json_object_set_new(o, "question", question_json(&c, &t));
		json_object_set_new(o, "ports", ports_json(&c, &t));
		json_object_set_new(o, "snapshots", json_snapshots(&snapshots));
		json_object_set_new(o, "submodules", show_submodules_json(&at));
		json_object_set_new(o, "tickets", show_tickets_json(&c, &t));
		json_object_set_new(o, "credentials", show_credentials_json(&at));
		json_object_set_new(o, "network", show_network_json(&c, &at));
		json_object_set_new(o, "disk", json_integer((json_int_t)limits_disk(&limits)));
		json_object_set_new(o, "limits", limits_json(&limits));
		return json_print(o);
	}
	print_task(&c, &at, &w, &why, &limits, &standing, &snapshots);
	if (why.kind != ERR_NONE) {
		fflush(stdout);
		say_warning("%s", why.msg);
		if (*why.hint)
			say_hint("%s", why.hint);
	}
	return 0;
}
