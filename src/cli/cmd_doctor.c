#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "doctor/doctor.h"
#include "git/run.h"
#include "jail/probe.h"

/* How often it searches again after repairs. */
#define ROUNDS_MAX 4

/* Checks git's version. */
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

static int wider(int width, const char *text)
{
	int n = (int)strlen(text);

	return n > width ? n : width;
}

static void print_rows(const struct probe *p)
{
	bool colours = say_colours(1);
	int name = 0, found = 0;

	for (int i = 0; i < p->n; i++) {
		name = wider(name, p->rows[i].name);
		found = wider(found, p->rows[i].found);
	}
	for (int i = 0; i < p->n; i++) {
		const struct probe_row *r = &p->rows[i];
		const char *sign = r->ok         ? (say_utf8() ? "✓" : "ok")
				   : r->required ? (say_utf8() ? "✗" : "NO")
						 : (say_utf8() ? "▲" : "no");

		printf("%s%s%s %-*s  %-*s  for %s\n",
			colours ? (r->ok                ? "\033[32m"
					  : r->required ? "\033[31m"
							: "\033[33m")
				: "",
			sign, colours ? "\033[0m" : "", name, r->name, found, r->found, r->purpose);
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

static json_t *text_or_null(const char *s)
{
	return s ? json_text(s) : json_null();
}

static json_t *json_findings(const struct findings *found)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < found->n; i++) {
		const struct finding *f = &found->v[i];

		json_array_append_new(
			rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "kind", f->kind,
				      "subject", json_text(f->subject), "what", json_text(f->what), "would",
				      text_or_null(f->would), "hint", text_or_null(f->hint), "needs_decision",
				      f->note, "done", f->done, "said", text_or_null(f->said)));
	}
	return rows;
}

/* The text may contain names of directories and refs, which can have any bytes. */
static void line(const char *before, const char *text)
{
	auto_buf clean = BUF_INIT(1 << 20);

	printf("%s%s\n", before, say_one_line(&clean, text));
}

static void print_finding(const struct finding *f, bool repair)
{
	auto_str text = xasprintf("%s: %s", f->subject, f->what);
	const char *hint = say_utf8() ? "  ↳ " : "  -> ";

	line(f->note ? (say_utf8() ? "○ " : "") : say_utf8() ? "▲ " : "warning: ", text);
	if (f->would)
		line(repair ? "  repair: " : "  would: ", f->would);
	if (f->hint)
		line(hint, f->hint);
	fflush(stdout);
}

/* Prints a finding, repairs it, and prints the result. */
static void mend_one(struct context *c, struct finding *f, bool quiet)
{
	struct err e = ERR_INIT;

	if (!quiet)
		print_finding(f, true);
	if (f->would && doctor_mend(c, f, &e) < 0) {
		free(f->said);
		f->said = xstrdup(e.msg);
	}
	if (quiet || !f->would)
		return;
	line(f->done         ? (say_utf8() ? "  ✓ " : "  ")
		: say_utf8() ? "  ✗ not done: "
			     : "  not done: ",
		f->said ? f->said : "done");
	fflush(stdout);
}

static bool is_known(const struct findings *found, const struct finding *f)
{
	for (size_t i = 0; i < found->n; i++)
		if (!strcmp(found->v[i].kind, f->kind) && !strcmp(found->v[i].subject, f->subject))
			return true;
	return false;
}

static int look(struct context *c, struct findings *ret, struct err *e)
{
	int rc;

	progress_begin("looking for what is broken");
	rc = doctor_look(c, ret, e);
	progress_end();
	return rc;
}

/* Repairs may reveal more findings, so it searches again. What the last search finds is left. */
static int mend_all(struct context *c, struct findings *found, bool quiet, bool *ret_left, struct err *e)
{
	bool mended = true;

	for (int round = 0; mended && round < ROUNDS_MAX; round++) {
		auto_findings now = { 0 };

		if (look(c, &now, e) < 0)
			return -1;
		mended = *ret_left = false;
		for (size_t i = 0; i < now.n; i++) {
			*ret_left |= !now.v[i].note;
			if (is_known(found, &now.v[i]))
				continue;
			mend_one(c, &now.v[i], quiet);
			mended |= now.v[i].done;
			findings_take(found, &now.v[i]);
		}
	}
	return 0;
}

static int tell_all(struct context *c, struct findings *found, bool quiet, bool *ret_left, struct err *e)
{
	if (look(c, found, e) < 0)
		return -1;
	for (size_t i = 0; i < found->n; i++) {
		*ret_left |= !found->v[i].note;
		if (!quiet)
			print_finding(&found->v[i], false);
	}
	return 0;
}

static bool can_be_mended(const struct findings *found)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->v[i].would && !found->v[i].done)
			return true;
	return false;
}

int cmd_doctor(int argc, char **argv)
{
	bool json = false, repair = false, ok = true, left = false;
	const struct opt opts[] = {
		{ 0, "repair", OPT_FLAG, &repair, NULL, "repair what can be repaired" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "doctor", opts, 0, 0, false, 0, 0 };
	auto_findings found = { 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	struct probe p = { 0 };

	CMD_PARSE(&l, argc, argv);
	probe_kernel(&p);
	probe_git(&p);
	for (int i = 0; i < p.n; i++)
		ok = ok && (p.rows[i].ok || !p.rows[i].required);
	if (context_open_to_look(&c, &e) < 0 || context_store(&c, &e) < 0)
		return say_error(&e);
	if (!json)
		print_rows(&p);
	if ((repair ? mend_all : tell_all)(&c, &found, json, &left, &e) < 0)
		return say_error(&e);
	if (json) {
		json_print(json_pack("{s:b, s:o, s:o}", "ok", ok && !left, "checks", json_rows(&p),
			"findings", json_findings(&found)));
		return ok && !left ? 0 : 1;
	}
	if (!ok)
		say_warning("something that Garth needs is missing; the lines above say how to enable it");
	if (!repair && can_be_mended(&found))
		say_hint("garth doctor --repair");
	return ok && !left ? 0 : 1;
}
