#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/list_text.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "serve/server.h"
#include "serve/timers.h"

/* The lines of a round, collected for --json. */
struct round {
	bool json;
	struct strvec done, warnings, ran;
};

static void tell(void *arg, bool warning, const char *line)
{
	struct round *r = arg;
	auto_buf flat = BUF_SMALL, clean = BUF_SMALL;

	/* a line of a log for each message */
	list_on_one_line(&flat, line);
	if (r->json)
		strvec_push(warning ? &r->warnings : &r->done, line);
	else if (warning)
		say_warning("%s", say_one_line(&clean, buf_str(&flat)));
	else
		say_done("%s", say_one_line(&clean, line));
}

static int once(struct context *c, bool look, bool json, struct err *e)
{
	struct round r = { .json = json };
	int rc = timers_run(c, look, tell, &r, &r.ran, e);
	bool busy = rc == TIMERS_BUSY;

	if (json && rc >= 0)
		json_print(json_pack("{s:o, s:o, s:o, s:b}", "ran", json_list(&r.ran), "actions",
			json_list(&r.done), "warnings", json_list(&r.warnings), "busy", busy));
	else if (busy)
		say_state("another garth serve is running");
	strvec_release(&r.done);
	strvec_release(&r.warnings);
	strvec_release(&r.ran);
	return rc < 0 ? say_error(e) : rc == TIMERS_FAILED;
}

static void say_line(void *arg, bool warning, const char *line)
{
	(void)arg;
	if (warning)
		say_warning("%s", line);
	else
		say_state("%s", line);
}

static void say_ready(void *arg, unsigned port)
{
	const bool *json = arg;

	if (*json)
		json_print(json_pack("{s:I, s:i, s:o}", "pid", (json_int_t)getpid(), "port", (int)port, "url",
			json_sprintf("http://127.0.0.1:%u/api/v1", port)));
	else
		printf("http://127.0.0.1:%u/api/v1\n", port);
	fflush(stdout);
}

static int parse_port(const char *text, unsigned *ret, struct err *e)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 5 || text[digits] || atoi(text) > 65535)
		return err_set(e, ERR_USAGE, "a port must be a number up to 65535, not '%s'", text);
	*ret = (unsigned)atoi(text);
	return 0;
}

int cmd_serve(int argc, char **argv)
{
	bool json = false, only_once = false, look = false;
	const char *port = NULL;
	const struct opt opts[] = {
		{ 'p', "port", OPT_STR, &port, "PORT", "port of 127.0.0.1 to listen on; 0 for any free one",
			WORD_TEXT },
		{ 0, "once", OPT_FLAG, &only_once, NULL, "do what is due now, then exit" },
		{ 'n', "dry-run", OPT_FLAG, &look, NULL, "with --once: only tell what would be removed" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "serve", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	struct server_spec s = { &c, 0, say_ready, say_line, &json };

	CMD_PARSE(&l, argc, argv);
	if (port && only_once)
		return err_set(&e, ERR_USAGE, "--once opens no port"), say_error(&e);
	if (look && !only_once)
		return err_set(&e, ERR_USAGE, "--dry-run goes with --once"), say_error(&e);
	if ((port && parse_port(port, &s.port, &e) < 0) || context_open(&c, &e) < 0)
		return say_error(&e);
	if (only_once)
		return once(&c, look, json, &e);
	if (!port)
		s.port = (unsigned)c.config.serve_port;
	return server_run(&s, &e) < 0 ? say_error(&e) : 0;
}
