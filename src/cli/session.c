#include "cli/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "cli/ports.h"
#include "cli/say.h"
#include "plan/ticket_runner.h"
#include "plan/tickets.h"
#include "runtime/control.h"
#include "sys/fd.h"

/* The command gets a terminal if stdin and stdout are terminals, unless it speaks a protocol. */
static void fill_in(struct run_opts *o, struct strvec *warnings)
{
	struct wire_size size = { 24, 80 };

	terminal_size(&size);
	o->tty = !o->piped && (o->detach || (isatty(0) && isatty(1)));
	o->rows = size.rows;
	o->cols = size.cols;
	o->warnings = warnings;
}

int session_keys(const struct context *c, const char *asked, struct keys *ret, struct err *e)
{
	if (!asked)
		return keys_set(ret, c->config.detach_keys, e);
	return keys_set(ret, asked, e) < 0 ? err_wrap(e, "--detach-keys") : 0;
}

static void announce(const struct task *t, const struct run_opts *o, const struct keys *keys)
{
	auto_buf text = BUF_SMALL;

	if (o->quiet || !say_is_heard())
		return;
	if (o->tty && !o->detach) {
		buf_addstr(&text, "; detach with ");
		keys_text(keys, &text);
	}
	say_state("task '%s' (%s, network %s)%s", t->name, t->backend, o->net.mode, buf_str(&text));
}

static void announce_ports(struct context *c, const struct task *t, const struct run_opts *o)
{
	struct deadline d = deadline_in(500);
	auto_buf text = BUF_SMALL;

	if (!o->ports || o->quiet)
		return;
	/* the keeper writes them right after its start */
	do
		ports_text(c, t, &text);
	while (!text.len && deadline_sleep(&d, 5));
	if (text.len)
		say_state("ports %s", text.data);
}

/* Shows the output of a started main command until it ends or the user detaches. */
static int follow(struct context *c, struct task *t, const struct run_opts *o, int conn,
	struct terminal_result *ret, struct err *e)
{
	struct terminal_opts term = { .detach_at_once = o->detach, .quiet = o->quiet };
	struct keys keys;

	if (session_keys(c, o->detach_keys, &keys, e) < 0)
		return -1;
	term.detach = &keys;
	announce(t, o, &keys);
	announce_ports(c, t, o);
	return terminal_session(conn, &term, ret, e);
}

int session_run(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e)
{
	auto_strvec warnings = STRVEC_INIT;
	struct run_opts opts = *o;
	auto_fd conn = -1;
	int rc;

	fill_in(&opts, &warnings);
	rc = runtime_run(c, t, &opts, argv, &conn, e);
	say_warnings(&warnings);
	return rc < 0 ? -1 : follow(c, t, &opts, conn, ret, e);
}

int session_resume(struct context *c, struct task *t, const struct run_opts *o, const char *answer,
	struct terminal_result *ret, struct err *e)
{
	auto_strvec warnings = STRVEC_INIT;
	struct err why = ERR_INIT;
	struct run_opts opts = *o;
	auto_fd conn = -1;
	int rc;

	fill_in(&opts, &warnings);
	rc = runtime_resume(c, t, &opts, answer, &conn, e);
	say_warnings(&warnings);
	if (rc < 0)
		return -1;
	if (ticket_resumed(c, t->id, &why) < 0 || tickets_wake(c, t->id, false, &why) < 0)
		say_warning("its tickets do not go on: %s", why.msg);
	rc = follow(c, t, &opts, conn, ret, e);
	network_release(&opts.net);
	free((void *)opts.ports);
	return rc < 0 ? err_wrap(e, "task '%s'", t->name) : 0;
}

/* TERMINAL_GONE: a keeper was leaving or starting; try again. */
static int exec_once(struct context *c, struct task *t, struct run_opts *o, const struct buf *packed,
	struct terminal_result *ret, struct err *e)
{
	const struct terminal_opts term = { 0 };
	auto_fd conn = -1;
	int rc = runtime_exec(c, t, o, packed, &conn, e);

	say_warnings(o->warnings);
	strvec_release(o->warnings);
	*o->warnings = (struct strvec)STRVEC_INIT;
	if (rc > 0)
		return *ret = (struct terminal_result){ .end = TERMINAL_GONE }, 0;
	return rc < 0 ? -1 : terminal_session(conn, &term, ret, e);
}

int session_exec(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e)
{
	auto_buf packed = BUF_INIT(ORDER_CMD_MAX);
	auto_strvec warnings = STRVEC_INIT;
	struct deadline d = deadline_in(RUNTIME_KEEPER_MS);
	struct run_opts opts = *o;
	unsigned tries = 0;

	fill_in(&opts, &warnings);
	opts.argv = argv;
	if (runtime_pack(c, t, &opts, argv, &packed, e) < 0)
		return -1;
	do {
		if (exec_once(c, t, &opts, &packed, ret, e) < 0)
			return -1;
		if (ret->end != TERMINAL_GONE)
			return 0;
	} while (deadline_sleep(&d, tries++ < 20 ? 1 : 10));
	return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
}

int session_attach(struct context *c, struct task *t, const struct keys *keys, struct terminal_result *ret,
	struct err *e)
{
	const struct terminal_opts term = { .detach = keys };
	struct wire_size size = { 24, 80 };
	auto_buf text = BUF_SMALL;
	auto_fd conn = -1;

	terminal_size(&size);
	if (control_attach(c, t, &size, &conn, e) < 0)
		return -1;
	keys_text(keys, &text);
	if (say_is_heard())
		say_state("task '%s'; detach with %s", t->name, buf_str(&text));
	return terminal_session(conn, &term, ret, e);
}
