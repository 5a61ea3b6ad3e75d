#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/remaining.h"
#include "cli/say.h"
#include "task/cleanup.h"
#include "task/life.h"

/* The user types this word to also remove the only copies of work. */
#define WORD "remove"

struct cleanup {
	bool inactive, json;
	const char *older;
	struct cleanup_opts opts;
};

/* "90m", "12h", "1d", "2w" in seconds. */
static int parse_age(const char *text, int64_t *ret, struct err *e)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (digits && digits < 7 && text[digits] == units[i].unit && !text[digits + 1]) {
			*ret = atoll(text) * units[i].seconds;
			return 0;
		}
	return err_set(e, ERR_USAGE, "'%s' is not an age: 90m, 12h, 1d or 2w are", text);
}

static int check_form(struct cleanup *k, struct err *e)
{
	int64_t age = 0;

	if (k->inactive + k->opts.force + k->opts.merged + (k->older != NULL) != 1)
		return err_set(e, ERR_USAGE,
			"name one of --all-inactive, --merged, --older-than AGE and --force-all");
	if (k->older && parse_age(k->older, &age, e) < 0)
		return -1;
	k->opts.before = k->older ? (int64_t)time(NULL) - age : k->opts.merged ? INT64_MIN : CLEANUP_ALL;
	return 0;
}

/* Lists work that exists nowhere else, and asks for the word. */
static int ask(struct context *c, const struct cleanup *k, struct task_list *all, struct err *e)
{
	char answer[64] = "";
	size_t only = 0;

	for (size_t i = 0; i < all->n; i++) {
		auto_buf why = BUF_SMALL;

		if (life_is_running(&all->v[i]) || cleanup_would_go(c, &all->v[i], &why))
			continue;
		only++;
		say_warning_text("", buf_str(&why));
	}
	if (!only || k->opts.look)
		return 0;
	fprintf(stderr,
		"type \"" WORD "\" to have %s moved to the trash all the same: ", only == 1 ? "it" : "them");
	if (!fgets(answer, sizeof(answer), stdin))
		fputc('\n', stderr);
	answer[strcspn(answer, "\n")] = '\0';
	if (!strcmp(answer, WORD))
		return 0;
	return err_set(e, ERR_REFUSED, "nothing was removed"), err_hint(e, "garth cleanup --all-inactive");
}

static int report_json(const struct cleanup *k, const struct cleanup_report *r)
{
	json_t *kept = json_array();

	for (size_t i = 0; i < r->kept.n; i++)
		json_array_append_new(kept, json_pack("{s:o, s:o}", "task", json_text(r->kept.v[i]), "why",
						    json_text(r->why.v[i])));
	return json_print(json_pack("{s:o, s:o, s:b}", "discarded", json_list(&r->removed), "kept", kept,
		"dry_run", k->opts.look));
}

static int report(const struct cleanup *k, const struct cleanup_report *r)
{
	const char *many = r->removed.n == 1 ? "" : "s";
	char removed[COUNT_TEXT_MAX], kept[COUNT_TEXT_MAX];

	if (k->json)
		return report_json(k, r);
	for (size_t i = 0; i < r->kept.n; i++)
		say_warning_text("kept: ", r->why.v[i]);
	count_text(r->removed.n, removed);
	count_text(r->kept.n, kept);
	for (size_t i = 0; i < r->removed.n; i++)
		printf("%s\n", r->removed.v[i]);
	if (k->opts.look)
		say_state("%s task%s would be discarded, %s kept", removed, many, kept);
	else
		say_done("%s task%s discarded, %s kept; work stays in the trash for %d days", removed, many,
			kept, TASK_TRASH_DAYS);
	/* one undo restores all of them, in their repository */
	if (r->removed.n == 1 && !k->opts.look)
		say_hint("garth undo %s", r->removed.v[0]);
	else if (r->removed.n && !k->opts.look)
		say_hint("garth undo --list");
	return 0;
}

int cmd_cleanup(int argc, char **argv)
{
	struct cleanup k = { 0 };
	const struct opt opts[] = {
		{ 0, "all-inactive", OPT_FLAG, &k.inactive, NULL, "every task that is not running" },
		{ 0, "merged", OPT_FLAG, &k.opts.merged, NULL, "tasks whose commits are merged" },
		{ 0, "older-than", OPT_STR, &k.older, "AGE",
			"tasks without activity for this long: 12h, 1d, 2w", WORD_TEXT },
		{ 0, "force-all", OPT_FLAG, &k.opts.force, NULL,
			"all, even with the only copy of work; asks first" },
		{ 'n', "dry-run", OPT_FLAG, &k.opts.look, NULL, "only tell what would be removed" },
		{ 0, "json", OPT_FLAG, &k.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "cleanup", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_list all = { 0 };
	auto_cleanup_report r = { 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (check_form(&k, &e) < 0 || context_open(&c, &e) < 0 || context_store(&c, &e) < 0 ||
		store_task_list(c.store, false, &all, &e) < 0 || (k.opts.force && ask(&c, &k, &all, &e) < 0))
		return say_error(&e);
	progress_begin("looking at the tasks");
	cleanup_tasks(&c, &all, &k.opts, &r);
	progress_end();
	for (size_t i = 0; !k.opts.look && i < all.n; i++)
		if (all.v[i].removed)
			remaining_tell_branch(&c, &all.v[i]);
	return report(&k, &r);
}
