#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/ls.h"
#include "cli/say.h"
#include "cli/show_question.h"
#include "cli/terminal.h"
#include "task/life.h"

/* A table that is not for a terminal is as wide as it gets. */
static size_t width(void)
{
	struct wire_size size;

	return isatty(1) && !terminal_size(&size) ? size.cols : 0;
}

static void tell_nothing(const struct ls_query *q, const struct ls_view *v)
{
	if (!say_is_heard())
		return;
	if (v->tasks.n) {
		say_state("no task matches");
		say_hint("garth ls%s", q->all_projects ? " --all-projects" : "");
	} else {
		say_state("there are no tasks");
		say_hint("garth run -- bash");
	}
}

/* What is not listed, or listed although nobody asked for it. For people only. */
static void tell_projects(const struct ls_view *v)
{
	char count[COUNT_TEXT_MAX];

	if (!say_is_heard())
		return;
	if (v->no_own)
		say_state("this project has no tasks; these are all others");
	if (v->elsewhere) {
		say_state("%s task%s of other projects want%s attention", count_text(v->elsewhere, count),
			v->elsewhere == 1 ? "" : "s", v->elsewhere == 1 ? "s" : "");
		say_hint("garth ls --all-projects");
	}
}

static void print(struct context *c, const struct ls_query *q, const struct ls_view *v)
{
	auto_strvec lines = STRVEC_INIT, notes = STRVEC_INIT;

	if (v->n)
		ls_table(c, v, width(), say_colours(1), &lines);
	else
		tell_nothing(q, v);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	fflush(stdout);
	ls_notes(v, &notes);
	say_warnings(&notes);
	/* on a narrow terminal the table has only the beginning of a question */
	for (size_t i = 0; i < v->n; i++)
		question_tell(c, v->rows[i].task, true);
	tell_projects(v);
}

/* "done,failed" is two words. */
static void split_states(struct strvec *states)
{
	auto_strvec all = *states;

	*states = (struct strvec)STRVEC_INIT;
	for (size_t i = 0; i < all.n; i++)
		for (const char *p = all.v[i];; p++) {
			size_t n = strcspn(p, ",");

			strvec_pushn(states, p, n);
			p += n;
			if (!*p)
				break;
		}
}

int cmd_ls(int argc, char **argv)
{
	bool json = false, watch = false;
	struct ls_query q = { 0 };
	const struct opt opts[] = {
		{ 'a', "all", OPT_FLAG, &q.removed, NULL, "list discarded tasks too" },
		{ 'A', "all-projects", OPT_FLAG, &q.all_projects, NULL, "list the tasks of all projects" },
		{ 's', "state", OPT_LIST, &q.states, "STATE",
			"only tasks in this state, or those that want 'attention' (repeatable)", WORD_STATE },
		{ 0, "agent", OPT_STR, &q.agent, "NAME", "only tasks of this agent or program", WORD_AGENT },
		{ 'w', "watch", OPT_FLAG, &watch, NULL, "stay, and follow what changes" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "ls", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_ls_view v = { 0 };
	int code = 0;

	CMD_PARSE(&l, argc, argv);
	split_states(&q.states);
	q.silent = watch;
	if (ls_check(&q, &e) < 0 || context_open_to_look(&c, &e) < 0)
		code = say_error(&e);
	else if (watch && json)
		code = (err_set(&e, ERR_USAGE, "--watch and --json do not go together"), say_error(&e));
	else if (watch)
		code = ls_watch(&c, &q, &e);
	else if (ls_load(&c, &q, &v, &e) < 0)
		code = say_error(&e);
	else if (json)
		json_print(ls_json(&c, &v));
	else
		print(&c, &q, &v);
	strvec_release(&q.states);
	return code;
}
