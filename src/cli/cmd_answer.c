/* garth answer, garth resume: continue a task that is paused, blocked, or has ended. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_question.h"
#include "push/push.h"
#include "runtime/gateway_client.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/own_config.h"
#include "task/own_limits.h"
#include "task/push_owed.h"
#include "task/task_command.h"

#define ANSWER_MAX (64u << 10)

static int end(struct context *c, struct task *t, const struct run_opts *o, const char *text, bool json)
{
	struct terminal_result r = { .end = TERMINAL_EXIT };
	struct err e = ERR_INIT;

	if (json && !o->detach)
		json_reserve_stdout();
	if (session_resume(c, t, o, text, &r, &e) < 0)
		return say_error(&e);
	if (o->detach && !json)
		printf("%s\n", t->name);
	session_report(c, t, &r, o->quiet || json);
	if (json && json_task_now(c, t->id))
		return 1;
	return r.end == TERMINAL_DETACHED ? 0 : r.exit_code;
}

/* The words, joined by spaces; if there are none, stdin. */
static int collect(const char *task, char **words, int n, struct buf *ret, struct err *e)
{
	for (int i = 0; i < n; i++)
		buf_printf(ret, "%s%s", i ? " " : "", words[i]);
	if (!n && isatty(0))
		return err_set(e, ERR_USAGE, "no answer is given"),
		       err_hint(e, "garth answer %s \"...\"", task);
	if (!n && read_rest(0, ret, "the answer", e) < 0)
		return -1;
	while (ret->len && ret->data[ret->len - 1] == '\n')
		buf_cut(ret, ret->len - 1);
	if (ret->overflow || strlen(buf_str(ret)) != ret->len)
		return err_set(e, ERR_USAGE, "an answer is text of at most %u bytes", ANSWER_MAX);
	if (!ret->len)
		return err_set(e, ERR_USAGE, "the answer is empty");
	return 0;
}

static int record(struct context *c, const struct task *t, const char *text, struct err *e)
{
	auto_str question = question_line(c, t);
	auto_audit log = NULL;
	json_t *details = json_pack(
		"{s:o, s:o}", "question", audit_text(question ? question : ""), "answer", audit_text(text));

	if (context_store(c, e) < 0 || audit_open(c->home.fd, c->store, &log, e) < 0)
		return json_decref(details), -1;
	return audit_add(log, "answer", t, details, e);
}

int cmd_answer(int argc, char **argv)
{
	struct run_opts o = { 0 };
	bool json = false, literal = false;
	const struct opt opts[] = {
		{ 'd', "detach", OPT_FLAG, &o.detach, NULL, "continue in the background" },
		SESSION_DETACH_KEYS(&o.detach_keys),
		{ 'q', "quiet", OPT_FLAG, &o.quiet, NULL, "print errors only" },
		{ 0, "text", OPT_FLAG, &literal, NULL, "a number is the answer itself, not an option" },
		{ 0, "json", OPT_FLAG, &json, NULL,
			"print the task as JSON at the end; its output goes to stderr" },
		OPT_END,
	};
	struct cmd_line l = { "answer", opts, 1, -1, false, 0, 0 };
	auto_buf text = BUF_INIT(ANSWER_MAX);
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str answer = NULL;
	auto_task t = { 0 };
	struct keys keys;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0 ||
		session_keys(&c, o.detach_keys, &keys, &e) < 0)
		return say_error(&e);
	if (strcmp(t.state, STATE_BLOCKED)) {
		err_set(&e, ERR_REFUSED, "task '%s' asks nothing, it is %s", t.name, t.state);
		if (!life_is_running(&t))
			err_hint(&e, "garth resume %s", t.name);
		return say_error(&e);
	}
	if (collect(t.name, argv + 1, l.words - 1, &text, &e) < 0)
		return say_error(&e);
	if (literal)
		answer = buf_steal(&text);
	else if (question_choose(&c, &t, buf_str(&text), &answer, &e) < 0)
		return say_error(&e);
	if (record(&c, &t, answer, &e) < 0)
		return say_error(&e);
	return end(&c, &t, &o, answer, json);
}

/* Resumes a paused task, through its gateway. */
static int resume_paused(struct context *c, struct task *t, bool json)
{
	json_t *answer = NULL;
	struct err e = ERR_INIT;

	if (gateway_ask(c, t, "/user/v1/resume", json_object(), &answer, &e) < 0)
		return say_error(&e);
	json_decref(answer);
	if (json)
		return json_print(
			json_pack("{s:o, s:s}", "task", json_text(t->name), "state", STATE_RUNNING));
	say_done("task '%s' is resumed", t->name);
	return 0;
}

static int raise_limits(struct context *c, const struct task *t, const struct strvec *limits, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	return own_limits_set(dir, limits, e);
}

/* Its command had succeeded, so only the push is tried again. *ret: that was all to do. */
static int push_what_is_owed(struct context *c, struct task *t, bool quiet, bool *ret, struct err *e)
{
	struct push_spec s = { 0 };
	auto_push_result r = { 0 };
	auto_task_command cmd = { 0 };
	auto_fd dir = -1;

	if (strcmp(t->state, STATE_FAILED) != 0 || home_task_dir(&c->home, t->id, &dir, e) < 0 ||
		!push_owed(dir))
		return 0;
	*ret = true;
	if (task_command_load(dir, &cmd, e) < 0 || own_config_apply(&c->config, dir, e) < 0)
		return -1;
	s = (struct push_spec){ .branch = cmd.push, .retries = (unsigned)c->config.push_retries };
	if (push_task(c, t, &s, &r, e) < 0)
		return *e->hint ? -1 : err_hint(e, "garth resume %s", t->name);
	push_owed_set(dir, false);
	store_task_note(c->store, t->id, "", e);
	if (!strcmp(t->state, STATE_FAILED) && life_move(c->store, t, STATE_DONE, e) < 0)
		return -1;
	if (!quiet)
		say_done("task '%s' is pushed to %s of %s", t->name, r.branch, r.remote);
	return 0;
}

int cmd_resume(int argc, char **argv)
{
	struct run_opts o = { 0 };
	bool json = false, pushed = false;
	auto_strvec limits = STRVEC_INIT;
	const struct opt opts[] = {
		{ 'd', "detach", OPT_FLAG, &o.detach, NULL, "continue in the background" },
		SESSION_DETACH_KEYS(&o.detach_keys),
		{ 'q', "quiet", OPT_FLAG, &o.quiet, NULL, "print errors only" },
		{ 0, "limit", OPT_LIST, &limits, "NAME=VALUE",
			"change a limit of the task, such as max_disk=80GB", WORD_LIMIT },
		{ 0, "json", OPT_FLAG, &json, NULL,
			"print the task as JSON at the end; its output goes to stderr" },
		OPT_END,
	};
	struct cmd_line l = { "resume", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	struct keys keys;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_CHANGES, argv[0], &c, &t, &e) < 0 ||
		session_keys(&c, o.detach_keys, &keys, &e) < 0)
		return say_error(&e);
	if (raise_limits(&c, &t, &limits, &e) < 0)
		return say_error(&e);
	if (!strcmp(t.state, STATE_PAUSED))
		return resume_paused(&c, &t, json);
	/* new limits need no resume */
	if (limits.n && (!strcmp(t.state, STATE_RUNNING) || !strcmp(t.state, STATE_BLOCKED))) {
		if (json)
			return json_print(json_pack("{s:o, s:o}", "task", json_text(t.name), "raised_limits",
				json_list(&limits)));
		say_done(
			"task '%s' has its new limits; those on memory, processors and processes begin when it next starts",
			t.name);
		return 0;
	}
	if (!strcmp(t.state, STATE_RUNNING)) {
		err_set(&e, ERR_REFUSED, "task '%s' is running already", t.name);
		err_hint(&e, "garth attach %s", t.name);
		return say_error(&e);
	}
	if (!strcmp(t.state, STATE_BLOCKED)) {
		err_set(&e, ERR_BLOCKED, "task '%s' waits for an answer", t.name);
		err_hint(&e, "garth answer %s \"...\"", t.name);
		return say_error(&e);
	}
	if (push_what_is_owed(&c, &t, o.quiet || json, &pushed, &e) < 0)
		return say_error(&e);
	if (pushed)
		return json ? json_task_now(&c, t.id) : 0;
	return end(&c, &t, &o, NULL, json);
}
