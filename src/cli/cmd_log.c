#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "keeper/log_reader.h"
#include "runtime/watch.h"
#include "sys/fd.h"
#include "task/seen.h"
#include "workspace/home.h"

struct out {
	bool raw, colours, json, follow, paged, printed;
	bool newline;     /* the last one is held back: the pager takes what follows it for one more line */
	const char *last; /* -n */
	uint64_t lines;
	struct buf text; /* collected for --json */
	struct buf rest; /* the beginning of something that the next piece completes */
};

static void print_clean(struct out *o, const char *data, size_t len)
{
	auto_buf clean = BUF_INIT(8 << 20);

	clean_text(&clean, data, len, o->colours);
	if (!clean.len)
		return;
	o->printed = true;
	if (o->newline)
		putchar('\n');
	o->newline = o->paged && clean.data[clean.len - 1] == '\n';
	fwrite(clean.data, 1, clean.len - o->newline, stdout);
}

static int print(const char *data, size_t len, void *arg, struct err *e)
{
	auto_buf all = BUF_INIT(1 << 20);
	struct out *o = arg;
	size_t whole;

	if (o->json) {
		buf_add(&o->text, data, len);
		return o->text.overflow ? err_set(e, ERR_FAILED, "the log is too long for one answer") : 0;
	}
	if (o->raw)
		return fwrite(data, 1, len, stdout) == len ? 0 : err_sys(e, "cannot write");
	buf_add(&all, buf_str(&o->rest), o->rest.len);
	buf_add(&all, data, len);
	whole = clean_whole(buf_str(&all), all.len);
	print_clean(o, buf_str(&all), whole);
	buf_reset(&o->rest);
	buf_add(&o->rest, buf_str(&all) + whole, all.len - whole);
	return 0;
}

#define PLAIN "\x1b[0m"

/* The colours that the agent set last are not those of what the user does next. */
static void end_colours(int sig)
{
	(void)!write(1, PLAIN, strlen(PLAIN));
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_ends(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (signal(ends[i], end_colours) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

/* NUL bytes, and bytes that are not UTF-8, become U+FFFD. */
static int print_json(const struct task *t, struct out *o)
{
	for (size_t i = 0; i < o->text.len; i++)
		if (!o->text.data[i])
			o->text.data[i] = (char)0xff;
	return json_print(
		json_pack("{s:o, s:o}", "task", json_text(t->name), "text", json_text(buf_str(&o->text))));
}

static int check(struct out *o, struct err *e)
{
	char *end = NULL;

	if (o->follow && o->json)
		return err_set(e, ERR_USAGE, "--json prints one answer, and --follow goes on: leave one out");
	if (!o->last)
		return 0;
	errno = 0;
	o->lines = strtoull(o->last, &end, 10);
	if (errno || *end || *o->last < '0' || *o->last > '9')
		return err_set(e, ERR_USAGE, "--lines must be a number of lines, not '%s'", o->last);
	return 0;
}

/* Prints what the task writes until its run has ended, or nobody reads stdout any more. */
static int follow(struct log_reader *r, struct watch *w, struct out *o, struct err *e)
{
	for (;;) {
		/* in this order: when a run has ended, its log is complete */
		bool running = watch_is_running(w, 0);

		if (log_reader_follow(r, print, o, e) < 0)
			return -1;
		if (fflush(stdout))
			return err_sys(e, "cannot write");
		if (!running || !watch_wait(w, 1, NULL))
			return 0;
	}
}

static int show(struct context *c, const struct task *t, struct out *o, struct err *e)
{
	auto_log_reader r = LOG_READER_INIT;
	auto_watch w = WATCH_INIT;
	auto_fd dir = -1;
	size_t first;
	int rc;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	/* before the log is opened, so that nothing is missed */
	if (o->follow && watch_task(&w, c, t, true, &first, e) < 0)
		return -1;
	if (log_reader_open(&r, dir, e) < 0 || (o->last && log_reader_tail(&r, o->lines, e) < 0))
		return -1;
	rc = o->follow ? follow(&r, &w, o, e) : log_reader_read(&r, print, o, e);
	if (!rc && o->rest.len)
		print_clean(o, o->rest.data, o->rest.len);
	if (o->printed && o->colours)
		fputs(PLAIN, stdout);
	if (o->newline)
		putchar('\n');
	return rc;
}

int cmd_log(int argc, char **argv)
{
	struct out o = { .text = BUF_INIT(64 << 20), .rest = BUF_INIT(1024) };
	const struct opt opts[] = {
		{ 'f', "follow", OPT_FLAG, &o.follow, NULL, "go on until the task's command has ended" },
		{ 'n', "lines", OPT_STR, &o.last, "N", "only the last N lines", WORD_TEXT },
		{ 0, "raw", OPT_FLAG, &o.raw, NULL, "print the bytes as they are, control codes included" },
		{ 0, "json", OPT_FLAG, &o.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "log", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (check(&o, &e) < 0 || cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0)
		return say_error(&e);
	if (!o.json)
		seen_mark(&c, &t);
	context_close_store(&c);
	/* a file or a pipe gets the bytes unchanged */
	o.raw = o.raw || !isatty(1);
	o.colours = say_colours(1);
	if (o.colours && !o.raw && !o.json)
		catch_ends();
	o.paged = !o.raw && !o.json && !o.follow;
	if (o.paged)
		pager_start();
	rc = show(&c, &t, &o, &e);
	pager_end();
	if (!rc && o.paged && !o.printed && say_is_heard())
		say_state("task '%s' has printed nothing", t.name);
	if (!rc && o.json)
		print_json(&t, &o);
	buf_release(&o.text);
	buf_release(&o.rest);
	return rc < 0 ? say_error(&e) : 0;
}
