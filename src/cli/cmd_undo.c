#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "runtime/undo.h"
#include "sys/lock.h"

/* The message for each outcome, and the command to inspect it with. */
static const struct {
	const char *said, *next;
} outcomes[] = {
	[UNDO_TRASH] = { "it is out of the trash, with all that was in it", "show" },
	[UNDO_ARCHIVE] = { "it is out of its archive, with all that was in it", "show" },
	[UNDO_MERGE] = { "its target is as it was", "diff" },
	[UNDO_WITH_TASK] = { "its target is as it was, and the task is out of the trash", "diff" },
	[UNDO_TARGET] = { "its target is as it was", "audit" },
	[UNDO_ROLLBACK] = { "it is as it was before", "diff" },
	[UNDO_RENAME] = { "it has its old name", "show" },
};

/* Whether it is unclear which task is meant: the name exists in several projects, or there is no name and the
 * current directory is in no project. */
static bool is_ambiguous(const struct undo_list *l, const char *task)
{
	if (!task)
		return !l->project;
	for (size_t i = 1; i < l->n; i++)
		if (l->v[i].deeds[0].project_id != l->v[0].deeds[0].project_id)
			return true;
	return false;
}

static void print_list(const struct undo_list *l, bool numbered)
{
	int width = 7;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if ((int)strlen(l->v[i].project) > width)
			width = (int)strlen(l->v[i].project);
	for (size_t i = 0; i < l->n; i++) {
		auto_str what = undo_describe(&l->v[i]);
		char age[32];

		if (l->v[i].gone)
			continue;
		if (numbered)
			fprintf(stderr, "%3zu  ", ++n);
		fprintf(numbered ? stderr : stdout, "%-5s  %-*s  %s\n",
			say_age(l->v[i].deeds[0].created, age, sizeof(age)), width, l->v[i].project, what);
	}
}

/* Lets the user choose on a terminal; -1 if nothing is chosen. */
static int choose(const struct undo_list *l, size_t *ret)
{
	char answer[32] = "";
	long n;

	if (!isatty(0) || !say_is_heard())
		return -1;
	print_list(l, true);
	fprintf(stderr, "the number of what is to be taken back, or nothing: ");
	if (!fgets(answer, sizeof(answer), stdin))
		fputc('\n', stderr);
	n = strtol(answer, NULL, 10);
	for (size_t i = 0; i < l->n && n > 0; i++)
		if (!l->v[i].gone && !--n)
			return *ret = i, 0;
	return -1;
}

/* Decides which one to undo. */
static int pick(const struct undo_list *l, const char *task, size_t *ret, struct err *e)
{
	auto_buf word = BUF_SMALL;
	auto_str path = NULL;

	*ret = 0;
	if (!l->n && task && l->plan)
		return err_set(e, ERR_REFUSED,
			       "task '%s' is a stage of plan '%s', which is only taken back as a whole", task,
			       l->plan),
		       err_hint(e, "garth plan status %s", l->plan);
	if (!l->n)
		return task ? err_set(e, ERR_NOTFOUND, "there is nothing of task '%s' to take back", task)
			    : err_set(e, ERR_NOTFOUND, "there is nothing to take back");
	if (!is_ambiguous(l, task) || !choose(l, ret))
		return 0;
	if (!task)
		return err_set(e, ERR_REFUSED,
			       "the current directory is in no repository: which task is meant?"),
		       err_hint(e, "garth undo --list");
	err_set(e, ERR_REFUSED, "tasks named '%s' were in several projects: '%s', '%s'", task,
		l->v[0].project, l->v[l->n - 1].project);
	path = path_join(l->v[0].path, l->v[0].deeds[0].task);
	shell_add_word(&word, path);
	return err_hint(e, "garth undo %s", buf_str(&word));
}

static json_t *undo_json(const struct undoable *u)
{
	auto_str what = undo_describe(u);
	json_t *tasks = json_array();

	for (size_t i = u->n; i-- > 0;)
		json_array_append_new(tasks, json_text(u->deeds[i].task));
	if (u->solved)
		json_array_append_new(tasks, json_text(u->solved));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kind",
		undo_came_with_merge(&u->deeds[0]) ? "merge" : u->deeds[0].kind, "what", json_text(what),
		"task_names", tasks, "project", json_text(u->project), "repository", json_text(u->path),
		"created", json_time(u->deeds[0].created));
}

/* Hints name the task so that they work in the current directory. */
static void name_task(struct context *c, const struct deed *d)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	if (!context_store(c, &ignored) && !store_task_any(c->store, d->task_id, &t, &ignored))
		cmd_made_task(c, &t);
}

static int report_one(
	struct context *c, const struct deed *d, const char *solved, enum undo_outcome outcome, bool json)
{
	if (json)
		return json_print(json_pack("{s:o, s:[o], s:s}", "task", json_text(d->task), "task_names",
			json_text(d->task), "undone", d->kind));
	name_task(c, d);
	if (solved && outcome == UNDO_WITH_TASK)
		say_done(
			"the %s of task '%s' is taken back: its target is as it was, and it and task '%s' are out of the trash",
			d->kind, d->task, solved);
	else
		say_done("the %s of task '%s' is taken back: %s", d->kind, d->task, outcomes[outcome].said);
	say_hint("garth %s %s", outcomes[outcome].next, d->task);
	return 0;
}

static int undo_one(struct context *c, struct deed *d, enum undo_outcome *ret, struct err *e)
{
	auto_strvec warnings = STRVEC_INIT;
	int rc = undo_deed(c, d, ret, &warnings, e);

	say_warnings(&warnings);
	return rc;
}

/* Undoes all that one command did, oldest first. A deed that cannot be undone does not stop the others. */
static int undo_many(struct context *c, struct undoable *u, bool json)
{
	auto_strvec done = STRVEC_INIT;
	enum undo_outcome outcome;
	struct err last = ERR_INIT;

	for (size_t i = u->n; i-- > 0;) {
		struct err e = ERR_INIT;

		if (!undo_one(c, &u->deeds[i], &outcome, &e)) {
			strvec_push(&done, u->deeds[i].task);
			continue;
		}
		if (last.kind != ERR_NONE)
			say_warning("%s", last.msg);
		last = e;
	}
	progress_end();
	if (json)
		json_print(json_pack("{s:o, s:o, s:s}", "task", done.n ? json_text(done.v[0]) : json_null(),
			"task_names", json_list(&done), "undone", u->deeds[0].kind));
	else if (done.n && u->merged && last.kind == ERR_NONE)
		say_done("the merge of %s is taken back: %s is as it was, and %zu tasks are out of the trash",
			u->merged, u->target ? u->target : "its target", done.n);
	else if (done.n)
		say_done("the removal of %zu tasks is taken back: they are out of %s", done.n,
			strcmp(u->deeds[0].kind, "archive") ? "the trash" : "their archives");
	if (last.kind != ERR_NONE)
		return say_error(&last);
	say_hint("garth ls");
	return 0;
}

static int undo(struct context *c, const char *task, bool look, bool json)
{
	auto_undo_list l = { 0 };
	enum undo_outcome outcome;
	struct err e = ERR_INIT;
	auto_lock lock = -1;
	auto_str what = NULL;
	struct undoable *u;
	size_t i;
	int rc;

	if (undo_find(c, task, &l, &e) < 0 || pick(&l, task, &i, &e) < 0)
		return say_error(&e);
	u = &l.v[i];
	if (look) {
		json_t *o = json ? undo_json(u) : NULL;

		if (json)
			return json_object_set_new(o, "dry_run", json_true()), json_print(o);
		what = undo_describe(u);
		printf("%s\n", what);
		return 0;
	}
	if (undo_begin(c, u, &lock, &e) < 0)
		return say_error(&e);
	progress_begin("taking it back");
	if (u->n > 1)
		return undo_many(c, u, json);
	rc = undo_one(c, &u->deeds[0], &outcome, &e);
	progress_end();
	if (rc < 0) {
		if (!task && !*e.hint)
			err_hint(&e, "garth undo --list");
		return say_error(&e);
	}
	return report_one(c, &u->deeds[0], u->solved, outcome, json);
}

static int list(struct context *c, const char *task, bool json)
{
	auto_undo_list l = { 0 };
	struct err e = ERR_INIT;
	json_t *all;

	if (undo_find(c, task, &l, &e) < 0)
		return say_error(&e);
	if (!json) {
		print_list(&l, false);
		return 0;
	}
	all = json_array();
	for (size_t i = 0; i < l.n; i++)
		if (!l.v[i].gone)
			json_array_append_new(all, undo_json(&l.v[i]));
	return json_print(json_pack("{s:o}", "deeds", all));
}

int cmd_undo(int argc, char **argv)
{
	bool json = false, only_list = false, look = false;
	const struct opt opts[] = {
		{ 'l', "list", OPT_FLAG, &only_list, NULL, "list what can be undone, newest first" },
		{ 'n', "dry-run", OPT_FLAG, &look, NULL, "only tell what would be undone" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "undo", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	const char *task;

	CMD_PARSE(&l, argc, argv);
	task = l.words ? argv[0] : NULL;
	if ((only_list || look ? context_open_to_look : context_open)(&c, &e) < 0)
		return say_error(&e);
	return only_list ? list(&c, task, json) : undo(&c, task, look, json);
}
