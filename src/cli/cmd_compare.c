/* garth compare: several tasks side by side, perhaps with a check that garth runs inside each. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/duration.h"
#include "base/table.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "merge/overview.h"
#include "runtime/choose_network.h"
#include "sys/fd.h"
#include "task/agent_name.h"

#define OVERVIEW_MS   5000
#define CHECK_SECONDS 600
#define OUTPUT_MAX    (64u << 10)
#define LAST_MAX      200

/* The result of the check in one task. */
struct check {
	bool ran;
	int code;
	char last[LAST_MAX + 1]; /* the last line of its output, or why it did not run */
};

struct comparison {
	struct task_list tasks;
	struct overview *about;
	struct check *checks;
	char **agents; /* names; NULL if a task has none */
};

static void comparison_release(struct comparison *x)
{
	if (x->about)
		overview_release(x->about, x->tasks.n);
	for (size_t i = 0; x->agents && i < x->tasks.n; i++)
		free(x->agents[i]);
	free(x->agents);
	free(x->checks);
	task_list_release(&x->tasks);
}

static int load(struct context *c, char **names, size_t n, struct comparison *ret, struct err *e)
{
	struct deadline by = deadline_in(OVERVIEW_MS);

	ret->tasks.v = xcalloc(n, sizeof(*ret->tasks.v));
	ret->agents = xcalloc(n, sizeof(*ret->agents));
	ret->checks = xcalloc(n, sizeof(*ret->checks));
	for (size_t i = 0; i < n; i++) {
		struct err ignored = ERR_INIT;
		auto_fd dir = -1;

		if (cmd_find_task(c, names[i], &ret->tasks.v[i], e) < 0)
			return -1;
		ret->tasks.n++;
		if (!home_task_dir(&c->home, ret->tasks.v[i].id, &dir, &ignored))
			ret->agents[i] = agent_name_load(dir);
	}
	ret->about = xcalloc(n + 1, sizeof(*ret->about));
	if (context_store(c, e) < 0)
		return -1;
	overview_find(c, &ret->tasks, &by, ret->about);
	return 0;
}

/* The end of the output is what tells. */
static void take(int fd, const char *data, size_t len, void *arg)
{
	struct buf *out = arg;

	(void)fd;
	if (out->len + len > OUTPUT_MAX)
		buf_reset(out);
	buf_add(out, data, len > OUTPUT_MAX ? OUTPUT_MAX : len);
}

static void keep_last(struct check *k, const char *text)
{
	const char *line = text, *last = text;
	auto_buf clean = BUF_INIT(OUTPUT_MAX * 4);

	for (; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
		if (strcspn(line, "\n"))
			last = line;
	snprintf(k->last, sizeof(k->last), "%.*s", (int)strcspn(last, "\n"), last);
	snprintf(k->last, sizeof(k->last), "%s", say_one_line(&clean, k->last));
}

/* Runs the check inside the task, with the task's own network. It may change files there, as a command of
 * `garth exec` may. */
static void check_one(
	struct context *c, struct task *t, const char *command, uint64_t seconds, struct check *ret)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	struct run_opts o = { .timeout = seconds, .quiet = true };
	auto_buf out = BUF_INIT(OUTPUT_MAX + 1);
	struct err e = ERR_INIT;

	if (runtime_configure(c, t, &e) < 0 || runtime_network(c, t, NULL, NULL, &o, &e) < 0 ||
		runtime_wait_output(c, t, &o, argv, take, &out, &ret->code, &e) < 0) {
		ret->code = err_exit_code(e.kind);
		keep_last(ret, e.msg);
	} else {
		ret->ran = true;
		keep_last(ret, buf_str(&out));
	}
	network_release(&o.net);
}

static json_t *task_json(const struct comparison *x, size_t i, bool checked)
{
	const struct task *t = &x->tasks.v[i];
	const struct overview *o = &x->about[i];
	const struct check *k = &x->checks[i];
	json_t *diff = o->diff_known ? json_pack("{s:I, s:I, s:I}", "file_count", (json_int_t)o->diff.files,
					       "insertions", (json_int_t)o->diff.insertions, "deletions",
					       (json_int_t)o->diff.deletions)
				     : json_null();
	json_t *one = json_pack("{s:o, s:o, s:o, s:o, s:o}", "task", json_text(t->name), "agent",
		x->agents[i] ? json_text(x->agents[i]) : json_null(), "state", json_text(t->state), "diff",
		diff, "commit_subject", o->subject ? json_text(o->subject) : json_null());

	if (checked)
		json_object_set_new(one, "check",
			json_pack("{s:o, s:o}", "exit_code", k->ran ? json_integer(k->code) : json_null(),
				"last_line", json_text(k->last)));
	return one;
}

static void print(const struct comparison *x, bool checked)
{
	static const struct table_column columns[] = { { "TASK", 12, false, false },
		{ "AGENT", 0, true, false }, { "STATE", 0, false, false }, { "FILES", 0, false, true },
		{ "DIFF", 0, false, true }, { "CHECK", 0, true, false }, { "LAST", 0, false, false } };
	const char *minus = say_utf8() ? "−" : "-";
	struct wire_size size;
	size_t width = isatty(1) && !terminal_size(&size) ? size.cols : 0;
	struct table t = { columns, ARRAY_SIZE(columns), width, say_colours(1), NULL, NULL, NULL, 0 };
	auto_strvec lines = STRVEC_INIT;

	for (size_t i = 0; i < x->tasks.n; i++) {
		const struct overview *o = &x->about[i];
		const struct check *k = &x->checks[i];
		auto_str files = o->diff_known ? xasprintf("%zu", o->diff.files) : xstrdup("");
		auto_str diff =
			o->diff_known ? xasprintf("+%zu %s%zu", o->diff.insertions, minus, o->diff.deletions)
				      : xstrdup("");
		auto_str check = !checked  ? xstrdup("")
				 : !k->ran ? xstrdup("not run")
				 : k->code ? xasprintf("exit %d", k->code)
					   : xstrdup("ok");

		table_add(&t,
			(const char *[]){ x->tasks.v[i].name, x->agents[i] ? x->agents[i] : "",
				x->tasks.v[i].state, files, diff, check,
				checked && k->code && *k->last ? k->last
				: o->subject                   ? o->subject
							       : "" },
			(const char *[]){ NULL, NULL, NULL, NULL, NULL,
				!checked  ? NULL
				: k->code ? "\033[31m"
					  : "\033[32m",
				NULL });
	}
	table_lines(&t, &lines);
	table_release(&t);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
}

/* The first whose check succeeded, else the first, is the one to merge in the hint. */
static void tell_next(const struct comparison *x, bool checked)
{
	auto_buf rest = BUF_INIT(4096);
	size_t best = 0;

	while (checked && best < x->tasks.n && x->checks[best].code)
		best++;
	if (best == x->tasks.n)
		return;
	for (size_t i = 0; i < x->tasks.n; i++)
		if (i != best)
			buf_printf(&rest, " %s", x->tasks.v[i].name);
	say_state("merge one, and discard the rest");
	say_hint("garth merge %s && garth discard -D%s", x->tasks.v[best].name, buf_str(&rest));
}

static int answer(const struct comparison *x, bool checked)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->tasks.n; i++)
		json_array_append_new(list, task_json(x, i, checked));
	return json_print(json_pack("{s:o}", "tasks", list));
}

int cmd_compare(int argc, char **argv)
{
	__attribute__((cleanup(comparison_release))) struct comparison x = { 0 };
	const char *command = NULL, *timeout = NULL;
	bool json = false;
	const struct opt opts[] = {
		{ 0, "check", OPT_STR, &command, "CMD", "run this in each task, by a shell inside",
			WORD_TEXT },
		{ 0, "timeout", OPT_STR, &timeout, "TIME", "for the check in each task (default: 10m)",
			WORD_TEXT },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "compare", opts, 2, 64, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	uint64_t seconds = CHECK_SECONDS;
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (timeout && (!duration_parse(timeout, &seconds) || !seconds))
		return err_set(&e, ERR_USAGE,
			       "--timeout must be a time above 0, such as 90s or 15m, not '%s'", timeout),
		       say_error(&e);
	if ((command ? context_open : context_open_to_look)(&c, &e) < 0 ||
		load(&c, argv, (size_t)l.words, &x, &e) < 0)
		return say_error(&e);
	for (size_t i = 0; command && i < x.tasks.n; i++) {
		progress_begin("checking");
		check_one(&c, &x.tasks.v[i], command, seconds, &x.checks[i]);
		progress_end();
	}
	if (json)
		return answer(&x, command != NULL);
	print(&x, command != NULL);
	tell_next(&x, command != NULL);
	return 0;
}
