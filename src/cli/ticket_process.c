/* Commands that only processes of Garth start: one answers a request about tickets, one is the runner of a task's tickets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/say.h"
#include "plan/ticket_request.h"
#include "plan/ticket_runner.h"
#include "sys/fd.h"

#define BODY_MAX (2u << 20)

/* TASK METHOD PATH, and the body on stdin. */
static int answer(char **argv)
{
	auto_buf body = BUF_INIT(BODY_MAX);
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_str text = NULL;
	json_t *out;

	if (read_rest(0, &body, "the request", &e) < 0 || context_open(&c, &e) < 0)
		return say_error(&e);
	out = ticket_request(&c, &(struct ticket_ask){ .task = strtoll(argv[0], NULL, 10),
					 .method = argv[1],
					 .path = argv[2],
					 .body = buf_str(&body),
					 .len = body.len });
	text = json_dumps(out, JSON_COMPACT);
	json_decref(out);
	return text && puts(text) >= 0 && !fflush(stdout) ? 0 : 1;
}

static int run(char **argv)
{
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;

	if (context_open(&c, &e) < 0 || tickets_run(&c, strtoll(argv[0], NULL, 10), &e) < 0)
		return say_error(&e);
	return 0;
}

int cmd_ticket_internal(const char *name, int argc, char **argv)
{
	if (!strcmp(name, "ticket-request") && argc == 3)
		return answer(argv);
	return !strcmp(name, "ticket-runner") && argc == 1 ? run(argv) : -1;
}
