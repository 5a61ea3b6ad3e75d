/* garth plan: its subcommands, and which options each of them has. */
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "cli/cmd.h"
#include "cli/plan_cmd.h"
#include "cli/say.h"

const struct cmd_part plan_parts[] = {
	{ "check", "FILE", " json keep-walls ", "print what a file says, and what may go wrong" },
	{ "schema", "", " json ", "print a JSON schema of plan files" },
	{ "graph", "FILE or PLAN", " json dot mermaid ", "print the order of the stages" },
	{ "run", "FILE", " json dry-run keep-walls detach fail-fast replan ", "run a plan" },
	{ "resume", "[PLAN]", " json keep-walls detach fail-fast replan ",
		"continue a plan that is not being run" },
	{ "status", "[PLAN]", " json watch ", "print the state of each stage" },
	{ "log", "[PLAN [STAGE]]", " json ", "print what happened, and what checks printed" },
	{ "ls", "", " json all ", "list the plans that are not over" },
	{ "approve", "PLAN STAGE", " tip ", "approve a stage's start, or its commit" },
	{ "reject", "PLAN STAGE [REASON]", "", "send a stage's commit back to its agent" },
	{ "hold", "PLAN STAGE", "", "stop stages before their next step" },
	{ "release", "PLAN STAGE", "", "let held stages continue" },
	{ "retry", "PLAN STAGE", " message check ", "give a stage that failed another turn" },
	{ "skip", "PLAN STAGE", " satisfied ", "skip stages" },
	{ "cancel", "PLAN [STAGE]", "", "end a plan, or some of its stages" },
	{ "merge", "PLAN", " json ", "merge the work of a plan that is done" },
	{ 0 },
};

/* In the same order. */
static const struct subcommand {
	int (*run)(const struct plan_line *l);
	int min_words, max_words;
} subcommands[] = {
	{ plan_cmd_check, 1, 1 },
	{ plan_cmd_schema, 0, 0 },
	{ plan_cmd_graph, 1, 1 },
	{ plan_cmd_run, 1, 1 },
	{ plan_cmd_resume, 0, 1 },
	{ plan_cmd_status, 0, 1 },
	{ plan_cmd_log, 0, 2 },
	{ plan_cmd_ls, 0, 0 },
	{ plan_cmd_approve, 2, 2 },
	{ plan_cmd_reject, 2, -1 },
	{ plan_cmd_hold, 2, -1 },
	{ plan_cmd_release, 2, -1 },
	{ plan_cmd_retry, 2, 2 },
	{ plan_cmd_skip, 2, -1 },
	{ plan_cmd_cancel, 1, -1 },
	{ plan_cmd_merge, 1, 1 },
};
_Static_assert(
	ARRAY_SIZE(plan_parts) == ARRAY_SIZE(subcommands) + 1, "each subcommand has a row in both tables");

static long find(const char *name, struct err *e)
{
	struct nearest near = { .typed = name };
	char meant[NEAREST_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (!strcmp(plan_parts[i].name, name))
			return (long)i;
		nearest_try(&near, plan_parts[i].name, strlen(plan_parts[i].name));
	}
	err_set(e, ERR_USAGE, "'%s' is not a subcommand of plan%s", name, nearest_text(&near, meant));
	err_hint(e, "garth help plan");
	return -1;
}

/* An option that was given, and that the subcommand does not have, is an error. */
static int check_options(const struct cmd_part *s, const struct opt *opts, struct err *e)
{
	for (; opts->name; opts++) {
		bool given = opts->type == OPT_FLAG  ? *(const bool *)opts->value
			     : opts->type == OPT_STR ? *(const char *const *)opts->value != NULL
						     : ((const struct strvec *)opts->value)->n > 0;
		auto_str word = xasprintf(" %s ", opts->name);

		if (given && !strstr(s->options, word))
			return err_set(
				e, ERR_USAGE, "'garth plan %s' has no option '--%s'", s->name, opts->name);
	}
	return 0;
}

static int check_words(const struct cmd_part *part, const struct subcommand *s, int n, struct err *e)
{
	if (n >= s->min_words && (s->max_words < 0 || n <= s->max_words))
		return 0;
	err_set(e, ERR_USAGE,
		n < s->min_words ? "'garth plan %s' needs %s" : "'garth plan %s' takes %s and no more",
		part->name, *part->words ? part->words : "no word");
	return err_hint(e, "garth plan --help");
}

int cmd_plan(int argc, char **argv)
{
	struct plan_line p = { 0 };
	const struct opt opts[] = {
		{ 0, "dry-run", OPT_FLAG, &p.dry_run, NULL,
			"run nothing; print the waves and their commands" },
		{ 0, "keep-walls", OPT_FLAG, &p.keep_walls, NULL,
			"accept a plan with 'sandbox.enabled: false', and run it with walls" },
		{ 'd', "detach", OPT_FLAG, &p.detach, NULL, "run in the background" },
		{ 0, "fail-fast", OPT_FLAG, &p.fail_fast, NULL, "start no stage after one has failed" },
		{ 0, "replan", OPT_FLAG, &p.replan, NULL, "apply a changed file to a plan that has begun" },
		{ 'w', "watch", OPT_FLAG, &p.watch, NULL, "show the status until the plan is over" },
		{ 'a', "all", OPT_FLAG, &p.all, NULL,
			"include plans that are over, and those of all projects" },
		{ 0, "tip", OPT_STR, &p.tip, "COMMIT", "with approve: only this commit", WORD_REVISION },
		{ 'm', "message", OPT_STR, &p.message, "TEXT", "with retry: tell the agent this", WORD_TEXT },
		{ 0, "check", OPT_FLAG, &p.check, NULL, "with retry: only check the commit again" },
		{ 0, "satisfied", OPT_FLAG, &p.satisfied, NULL,
			"with skip: stages that depend on it can start" },
		{ 0, "dot", OPT_FLAG, &p.dot, NULL, "print the graph for Graphviz" },
		{ 0, "mermaid", OPT_FLAG, &p.mermaid, NULL, "print the graph for Mermaid" },
		{ 0, "json", OPT_FLAG, &p.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "plan", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;
	long i;

	CMD_PARSE(&l, argc, argv);
	i = find(argv[0], &e);
	p.n = l.words - 1;
	p.words = p.n ? argv + 1 : (char *[]){ NULL };
	if (i < 0 || check_options(&plan_parts[i], opts, &e) < 0 ||
		check_words(&plan_parts[i], &subcommands[i], p.n, &e) < 0)
		return say_error(&e);
	return subcommands[i].run(&p);
}
