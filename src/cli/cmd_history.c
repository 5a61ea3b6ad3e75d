#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "runtime/gateway_client.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "runtime/rollback.h"
#include "task/verdict.h"

/* Sends a request to the task's gateway and prints the answer with `tell`, or as JSON. path is NULL for a
 * rollback, which takes more than one request. */
static int ask(const char *name, const char *path, json_t *in, bool json, const char *doing,
	void (*tell)(const struct task *t, json_t *answer))
{
	auto_context c = { .home.fd = -1 };
	auto_strvec warnings = STRVEC_INIT;
	json_t *answer = NULL;
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	int rc;

	if (cmd_open_task(CMD_NEEDS_GIT, name, &c, &t, &e) < 0) {
		json_decref(in);
		return say_error(&e);
	}
	progress_begin(doing);
	rc = path ? gateway_ask(&c, &t, path, in, &answer, &e)
		  : runtime_rollback(&c, &t, in, &warnings, &answer, &e);
	progress_end();
	say_warnings(&warnings);
	/* the request may have changed what the last run left behind */
	task_judge_again(&c, &t);
	if (rc < 0)
		return say_error(&e);
	if (json) {
		json_object_set_new(answer, "task", json_text(t.name));
		return json_print(answer);
	}
	tell(&t, answer);
	json_decref(answer);
	return 0;
}

/* Printed even if stderr is not a terminal, because it is about work that exists only once. */
static void tell_left(json_t *answer, const char *key, const char *what)
{
	const json_t *list = json_object_get(answer, key), *one;
	auto_strvec names = STRVEC_INIT;
	char count[COUNT_TEXT_MAX];
	size_t i;

	json_array_foreach(list, i, one) strvec_push(&names, json_string_value(one));
	if (names.n)
		say_warning_list(&names, "%s path%s %s, since no snapshot can hold %s",
			count_text(names.n, count), names.n == 1 ? " is" : "s are", what,
			names.n == 1 ? "it" : "them");
}

static void tell_snapshot(const struct task *t, json_t *answer)
{
	long long n = json_integer_value(json_object_get(answer, "snapshot"));

	printf("%lld\n", n);
	tell_left(answer, "left_out", "not in the snapshot");
	say_done("snapshot %lld of task '%s' is taken", n, t->name);
	say_hint("garth rollback %s --to-snapshot %lld", t->name, n);
}

int cmd_snapshot(int argc, char **argv)
{
	const char *message = NULL;
	bool json = false;
	const struct opt opts[] = {
		{ 'm', "message", OPT_STR, &message, "TEXT", "what the snapshot is for", WORD_TEXT },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "snapshot", opts, 1, 1, false, 0, 0 };
	struct err e = ERR_INIT;
	json_t *in;

	CMD_PARSE(&l, argc, argv);
	in = json_object();
	if (message)
		json_object_set_new(in, "message", json_text(message));
	return ask(argv[0], "/user/v1/snapshot", in, json, "taking a snapshot", tell_snapshot);
}

static void tell_stashed(json_t *answer)
{
	const json_t *list = json_object_get(answer, "stashed"), *one;
	auto_strvec names = STRVEC_INIT;
	size_t i;

	json_array_foreach(list, i, one) strvec_push(&names, json_string_value(one));
	if (names.n)
		say_warning_list(&names, "uncommitted changes in %zu submodule%s are in %s stash now",
			names.n, names.n == 1 ? "" : "s", names.n == 1 ? "its" : "their");
}

static void tell_rollback(const struct task *t, json_t *answer)
{
	long long before = json_integer_value(json_object_get(answer, "snapshot"));

	tell_left(answer, "left_out", "not rolled back");
	tell_stashed(answer);
	say_done("task '%s' is rolled back", t->name);
	if (before)
		say_hint("garth undo %s", t->name);
}

/* A path that is not UTF-8 is sent as hex digits, because JSON strings are UTF-8. */
static void set_file(json_t *in, const char *file)
{
	auto_buf hex = BUF_INIT(1 << 16);
	json_t *plain = json_string(file);

	if (plain) {
		json_object_set_new(in, "file", plain);
		return;
	}
	for (; *file; file++)
		buf_printf(&hex, "%02x", (unsigned char)*file);
	json_object_set_new(in, "file_hex", json_string(buf_str(&hex)));
}

int cmd_rollback(int argc, char **argv)
{
	const char *file = NULL, *to = NULL, *from = NULL;
	bool full = false, force = false, json = false;
	const struct opt opts[] = {
		{ 0, "full", OPT_FLAG, &full, NULL, "back to the start; untracked and ignored files go" },
		{ 0, "to-snapshot", OPT_STR, &to, "N", "back to a snapshot, with its uncommitted files",
			WORD_SNAPSHOT },
		{ 0, "file", OPT_STR, &file, "PATH", "one file, back to the last commit", WORD_FILE },
		{ 0, "from", OPT_STR, &from, "N", "with --file: take the file from a snapshot",
			WORD_SNAPSHOT },
		{ 'f', "force", OPT_FLAG, &force, NULL, "remove even what no snapshot can hold" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "rollback", opts, 1, 1, false, 0, 0 };
	const char *number;
	struct err e = ERR_INIT;
	char *end = NULL;
	json_t *in;
	long n;

	CMD_PARSE(&l, argc, argv);
	if (full + (to != NULL) + (file != NULL) != 1 || (from && !file))
		return err_set(&e, ERR_USAGE, "name one of --full, --to-snapshot N, --file PATH"),
		       err_hint(&e, "garth show %s", argv[0]), say_error(&e);
	number = to ? to : from;
	n = number ? strtol(number, &end, 10) : 0;
	if (number && (*end || n < 1))
		return err_set(&e, ERR_USAGE, "'%s' is not a snapshot's number", number), say_error(&e);
	in = json_object();
	if (full)
		json_object_set_new(in, "full", json_true());
	if (force)
		json_object_set_new(in, "force", json_true());
	if (n)
		json_object_set_new(in, "snapshot", json_integer(n));
	if (file)
		set_file(in, file);
	return ask(argv[0], NULL, in, json, "rolling back", tell_rollback);
}

static void tell_publish(const struct task *t, json_t *answer)
{
	long long n = json_integer_value(json_object_get(answer, "new_commits"));
	char count[COUNT_TEXT_MAX];

	if (n)
		say_done("%s commit%s of task '%s' %s published", count_text((uint64_t)n, count),
			n == 1 ? "" : "s", t->name, n == 1 ? "is" : "are");
	else
		say_state("task '%s' has nothing new to publish", t->name);
	if (!n && *t->elsewhere)
		say_hint("garth publish %s --from %s", t->name, t->elsewhere);
	else
		say_hint("garth merge %s", t->name);
}

int cmd_publish(int argc, char **argv)
{
	bool json = false;
	const char *from = NULL;
	const struct opt opts[] = {
		{ 0, "from", OPT_STR, &from, "BRANCH", "another branch of the task, HEAD, or a commit",
			WORD_TEXT },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "publish", opts, 1, 1, false, 0, 0 };
	struct err e = ERR_INIT;
	json_t *in, *name = NULL;

	CMD_PARSE(&l, argc, argv);
	if (from && (!*from || !(name = json_string(from))))
		return err_set(&e, ERR_USAGE, "--from must name a branch"), say_error(&e);
	in = json_object();
	if (name)
		json_object_set_new(in, "from", name);
	return ask(argv[0], "/user/v1/publish", in, json, "publishing", tell_publish);
}
