#include <stdio.h>
#include <unistd.h>

#include "base/clean.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "keeper/log.h"
#include "sys/fd.h"
#include "task/seen.h"
#include "workspace/home.h"

struct out {
	bool raw, colours, json;
	struct buf text; /* collected for --json */
};

static int print(const char *data, size_t len, void *arg, struct err *e)
{
	struct out *o = arg;
	auto_buf clean = BUF_INIT(8 << 20);

	if (o->json) {
		buf_add(&o->text, data, len);
		return o->text.overflow ? err_set(e, ERR_FAILED, "the log is too long for one answer") : 0;
	}
	if (o->raw) {
		if (fwrite(data, 1, len, stdout) != len)
			return err_sys(e, "cannot write");
		return 0;
	}
	clean_text(&clean, data, len, o->colours);
	fwrite(buf_str(&clean), 1, clean.len, stdout);
	return 0;
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

int cmd_log(int argc, char **argv)
{
	struct out o = { .text = BUF_INIT(64 << 20) };
	const struct opt opts[] = {
		{ 0, "raw", OPT_FLAG, &o.raw, NULL, "print the bytes as they are, control codes included" },
		{ 0, "json", OPT_FLAG, &o.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "log", opts, 1, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_fd dir = -1;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (cmd_open_task(CMD_LOOKS, argv[0], &c, &t, &e) < 0 || home_task_dir(&c.home, t.id, &dir, &e) < 0)
		return say_error(&e);
	if (!o.json)
		seen_mark(&c, &t);
	/* a file or a pipe gets the bytes unchanged */
	o.raw = o.raw || !isatty(1);
	o.colours = say_colours(1);
	if (!o.raw && !o.json)
		pager_start();
	rc = log_read(dir, print, &o, &e);
	pager_end();
	if (!rc && o.json)
		print_json(&t, &o);
	buf_release(&o.text);
	return rc < 0 ? say_error(&e) : 0;
}
