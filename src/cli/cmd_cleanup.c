#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "task/life.h"

/* What is typed to have the only copies of work removed as well. */
#define WORD "remove"

struct cleanup {
	bool inactive, force, dry, json;
	const char *older;
	int64_t before; /* last changed by then */
	struct strvec removed;
	json_t *kept;
	size_t nkept;
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

	if (k->inactive + k->force + (k->older != NULL) != 1)
		return err_set(
			e, ERR_USAGE, "one of --all-inactive, --older-than AGE and --force-all is meant");
	if (k->older && parse_age(k->older, &age, e) < 0)
		return -1;
	k->before = (int64_t)time(NULL) - age;
	return 0;
}

static bool is_meant(const struct cleanup *k, const struct task *t)
{
	return !k->older || (t->changed <= k->before && t->ended <= k->before);
}

static void keep(struct cleanup *k, const struct task *t, const char *why)
{
	auto_buf clean = BUF_SMALL;

	k->nkept++;
	json_array_append_new(
		k->kept, json_pack("{s:o, s:o}", "task", json_text(t->name), "why", json_text(why)));
	if (!k->json)
		say_warning("kept: %s", say_one_line(&clean, why));
}

/* Whether it would go, and what would be lost with it. */
static bool would_go(struct context *c, struct task *t, struct buf *why)
{
	const struct discard_opts careful = { .look = true };
	struct err e = ERR_INIT;
	auto_str trash = NULL;

	if (task_discard(c, t, &careful, &trash, &e) == 0)
		return true;
	buf_addstr(why, e.msg);
	return false;
}

static void clean_one(struct context *c, struct cleanup *k, struct task *t)
{
	const struct discard_opts o = { .files = k->force, .drafts = k->force };
	auto_buf why = BUF_SMALL;
	struct err e = ERR_INIT;
	auto_str trash = NULL;

	if (k->dry && (would_go(c, t, &why) || (k->force && !life_is_running(t))))
		strvec_push(&k->removed, t->name);
	else if (k->dry)
		keep(k, t, buf_str(&why));
	else if (task_discard(c, t, &o, &trash, &e) < 0)
		keep(k, t, e.msg);
	else
		strvec_push(&k->removed, t->name);
}

/* Names what exists nowhere else, and waits for the word. */
static int ask(struct context *c, const struct cleanup *k, struct task_list *all, struct err *e)
{
	char answer[64] = "";
	size_t only = 0;

	for (size_t i = 0; i < all->n; i++) {
		auto_buf why = BUF_SMALL, clean = BUF_SMALL;

		if (life_is_running(&all->v[i]) || would_go(c, &all->v[i], &why))
			continue;
		only++;
		say_warning("%s", say_one_line(&clean, buf_str(&why)));
	}
	if (!only || k->dry)
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

static int report(struct cleanup *k)
{
	if (k->json)
		return json_print(json_pack("{s:o, s:O, s:b}", "removed", json_list(&k->removed), "kept",
			k->kept, "dry_run", k->dry));
	for (size_t i = 0; i < k->removed.n; i++)
		printf("%s\n", k->removed.v[i]);
	if (!say_is_heard())
		return 0;
	if (k->dry)
		say_state("%zu task%s would go, %zu would stay", k->removed.n, k->removed.n == 1 ? "" : "s",
			k->nkept);
	else
		say_done("%zu task%s removed, %zu kept; work stays in the trash for %d days", k->removed.n,
			k->removed.n == 1 ? "" : "s", k->nkept, TASK_TRASH_DAYS);
	if (k->removed.n && !k->dry)
		say_hint("garth undo %s", k->removed.v[k->removed.n - 1]);
	return 0;
}

int cmd_cleanup(int argc, char **argv)
{
	struct cleanup k = { 0 };
	const struct opt opts[] = {
		{ 0, "all-inactive", OPT_FLAG, &k.inactive, NULL, "every task that is not running" },
		{ 0, "older-than", OPT_STR, &k.older, "AGE",
			"those that nothing happened to for so long: 12h, 1d, 2w" },
		{ 0, "force-all", OPT_FLAG, &k.force, NULL,
			"with the only copy of their work, too; asks for the word" },
		{ 'n', "dry-run", OPT_FLAG, &k.dry, NULL, "tell what would go" },
		{ 0, "json", OPT_FLAG, &k.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "cleanup", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_task_list all = { 0 };
	struct err e = ERR_INIT;
	int code;

	CMD_PARSE(&l, argc, argv);
	if (check_form(&k, &e) < 0 || context_open(&c, &e) < 0 || context_store(&c, &e) < 0 ||
		store_task_list(c.store, false, &all, &e) < 0 || (k.force && ask(&c, &k, &all, &e) < 0))
		return say_error(&e);
	k.kept = json_array();
	for (size_t i = 0; i < all.n; i++) {
		bool gone = false;

		if (task_settle(&c, &all.v[i], &gone, &e) < 0)
			keep(&k, &all.v[i], e.msg);
		else if (!gone && is_meant(&k, &all.v[i]))
			clean_one(&c, &k, &all.v[i]);
	}
	code = report(&k);
	json_decref(k.kept);
	strvec_release(&k.removed);
	return code;
}
