#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/session.h"
#include "sys/tree.h"
#include "task/walls.h"

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

static int show_jail(struct context *c, struct task_at *at, const char *net, bool json, struct err *e)
{
	struct walls_opts o = { 0 };
	auto_buf text = BUF_INIT(4 << 20);
	auto_jail jail = { 0 };

	if (session_net(net ? net : c->config.net, &o.net, e) < 0 ||
		walls_describe(c, at, &o, &jail, e) < 0 || jail_check(&jail, e) < 0)
		return say_error(e);
	jail_print(&jail, &text);
	if (json) {
		json_t *rows = json_array(), *o_json = json_object();

		for (size_t i = 0; i < jail.nrows; i++)
			json_array_append_new(rows,
				json_pack("{s:s, s:b, s:o, s:o}", "kind", jail_kind_name(jail.rows[i].kind),
					"write", (jail.rows[i].flags & JAIL_WRITE) != 0, "source",
					json_text(jail.rows[i].source), "target",
					json_text(jail.rows[i].target)));
		json_object_set_new(o_json, "uid", json_integer(jail.uid));
		json_object_set_new(o_json, "gid", json_integer(jail.gid));
		json_object_set_new(o_json, "net", json_text(jail.net == JAIL_NET_HOST ? "host" : "none"));
		json_object_set_new(o_json, "lowers", json_list(&jail.lowers));
		json_object_set_new(o_json, "upper", jail.upper ? json_text(jail.upper) : json_null());
		json_object_set_new(o_json, "rows", rows);
		return json_print(o_json);
	}
	fputs(buf_str(&text), stdout);
	return 0;
}

static void print_work(const struct task_work *w)
{
	printf("%-10s %zu file%s%s\n", "changed", w->files.n, w->files.n == 1 ? "" : "s",
		w->drafts ? ", and drafts in its repository" : "");
	for (size_t i = 0; i < w->files.n && i < 20; i++)
		line("", w->files.v[i]);
	if (w->files.n > 20)
		printf("%-10s … and %zu more\n", "", w->files.n - 20);
	if (w->ignored)
		printf("%-10s %zu file%s\n", "ignored", w->ignored, w->ignored == 1 ? "" : "s");
}

static void print_task(const struct task *t, const struct task_work *w, uint64_t disk)
{
	line("task", t->name);
	line("state", t->state);
	line("project", t->project);
	line("branch", t->branch + strlen("refs/heads/"));
	line("base", t->base);
	line("target", !strncmp(t->target, "refs/heads/", 11) ? t->target + 11 : t->target);
	line("backend", t->backend);
	line("workspace", t->workspace);
	if (t->strict)
		line("isolation", "strict: its objects are its own");
	time_line("created", t->created);
	if (*t->command) {
		line("command", t->command);
		time_line("started", t->started);
		time_line("ended", t->ended);
		if (t->ended)
			printf("%-10s %d\n", "exit code", t->exit_code);
		line("session", t->session);
	}
	printf("%-10s %.1f MB\n", "disk", (double)disk / 1e6);
	print_work(w);
}

int cmd_show(int argc, char **argv)
{
	bool jail = false, json = false;
	const char *net = NULL;
	const struct opt opts[] = {
		{ 0, "jail", OPT_FLAG, &jail, NULL, "print the walls, as they are put up" },
		{ 0, "net", OPT_STR, &net, "MODE", "with --jail: for this network" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "show", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_at at = { .ws.dir = -1 };
	auto_task_work w = { 0 };
	struct err e = ERR_INIT;
	uint64_t disk = 0;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || task_find(&c, argv[0], &t, &e) < 0 || task_open(&c, &t, &at, &e) < 0)
		return say_error(&e);
	if (jail)
		return show_jail(&c, &at, net, json, &e);
	if (task_work(&at, &w, &e) < 0 || tree_disk(at.ws.dir, "", &disk, &e) < 0)
		return say_error(&e);
	if (json) {
		json_t *o = json_task(&t);

		json_object_set_new(o, "files", json_list(&w.files));
		json_object_set_new(o, "drafts", json_boolean(w.drafts != 0));
		json_object_set_new(o, "ignored", json_integer((json_int_t)w.ignored));
		json_object_set_new(o, "disk", json_integer((json_int_t)disk));
		return json_print(o);
	}
	print_task(&t, &w, disk);
	return 0;
}
