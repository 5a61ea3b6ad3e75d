#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "git/run.h"
#include "jail/probe.h"
#include "merge/merge.h"
#include "task/life.h"
#include "task/remove.h"

/* git's version and whether it is new enough. */
static void probe_git(struct probe *p)
{
	struct probe_row *row = &p->rows[p->n++];
	struct git g = { 0 };
	auto_buf out = BUF_SMALL;
	struct err e = ERR_INIT;
	int major = 0, minor = 0;

	*row = (struct probe_row){ .name = "git", .purpose = "everything", .required = true };
	if (git_do(&g, &out, &e, "version", NULL) < 0) {
		snprintf(row->found, sizeof(row->found), "%s", "not found");
		snprintf(row->enable, sizeof(row->enable), "sudo apt install git");
		return;
	}
	sscanf(buf_str(&out), "git version %d.%d", &major, &minor);
	row->ok = major > 2 || (major == 2 && minor >= 38);
	snprintf(row->found, sizeof(row->found), "%d.%d%s", major, minor,
		row->ok ? "" : ", 2.38 or newer is needed");
}

static void print_rows(const struct probe *p)
{
	bool colours = say_colours(1);

	for (int i = 0; i < p->n; i++) {
		const struct probe_row *r = &p->rows[i];
		const char *sign = r->ok         ? (say_utf8() ? "✓" : "ok")
				   : r->required ? (say_utf8() ? "✗" : "NO")
						 : (say_utf8() ? "▲" : "no");

		printf("%s%s%s %-22s %-30s %s\n",
			colours ? (r->ok                ? "\033[32m"
					  : r->required ? "\033[31m"
							: "\033[33m")
				: "",
			sign, colours ? "\033[0m" : "", r->name, r->found, r->purpose);
		if (!r->ok && *r->enable)
			printf("  %s %s\n", say_utf8() ? "↳" : "->", r->enable);
	}
}

static json_t *json_rows(const struct probe *p)
{
	json_t *rows = json_array();

	for (int i = 0; i < p->n; i++) {
		const struct probe_row *r = &p->rows[i];

		json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:b, s:s, s:s}", "name", r->name,
						    "purpose", r->purpose, "ok", r->ok, "required",
						    r->required, "found", r->found, "enable", r->enable));
	}
	return rows;
}

/* Tasks that a process left half done are settled by looking at them; this tells which. */
static int settle_tasks(struct context *c, struct strvec *found, struct err *e)
{
	auto_task_list l = { 0 };

	if (context_store(c, e) < 0 || store_task_list(c->store, false, &l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		auto_str before = xstrdup(l.v[i].state);
		bool gone = false, left = false;

		if (task_settle(c, &l.v[i], &gone, e) < 0)
			strvec_pushf(found, "%s: %s", l.v[i].name, e->msg);
		else if (gone)
			strvec_pushf(found, "%s: was left half %s, removed", l.v[i].name,
				!strcmp(before, STATE_CREATING) ? "made" : "discarded");
		else if (strcmp(before, l.v[i].state))
			strvec_pushf(found, "%s: its keeper is gone, now %s; its workspace is kept",
				l.v[i].name, l.v[i].state);
		if (!gone && remove_leftovers(c, &l.v[i], &left, e) < 0)
			strvec_pushf(found, "%s: %s", l.v[i].name, e->msg);
		else if (!gone && left)
			strvec_pushf(found, "%s: its gateway was killed at work; what it left is removed",
				l.v[i].name);
	}
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	bool json = false, ok = true;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "doctor", opts, 0, 0, false, 0, 0 };
	auto_strvec found = STRVEC_INIT;
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	struct probe p = { 0 };

	CMD_PARSE(&l, argc, argv);
	probe_kernel(&p);
	probe_git(&p);
	for (int i = 0; i < p.n; i++)
		ok = ok && (p.rows[i].ok || !p.rows[i].required);
	if (context_open(&c, &e) < 0 || merge_settle(&c, &found, &e) < 0 || settle_tasks(&c, &found, &e) < 0)
		return say_error(&e);
	if (json) {
		json_print(json_pack(
			"{s:b, s:o, s:o}", "ok", ok, "checks", json_rows(&p), "tasks", json_list(&found)));
		return ok ? 0 : 1;
	}
	print_rows(&p);
	for (size_t i = 0; i < found.n; i++)
		say_state("%s", found.v[i]);
	if (!ok)
		say_warning("something that Garth needs is missing; the lines above say how to enable it");
	return ok ? 0 : 1;
}
