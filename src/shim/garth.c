/* The `garth` that an agent finds inside: it has only the commands that an agent may use, under the same names as outside
 * (A8). They ask the gateway, which decides. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/deadline.h"
#include "base/path.h"
#include "shim/shim.h"

/* As outside: docs/guide/json-and-exit-codes.md. */
enum { DONE = 0, FAILED = 1, USAGE = 2, REFUSED = 4 };

#define SNAPSHOT_TEXT_MAX 2000
/* How long to wait for checks. An agent's client ends a command that takes longer. */
#define COMPLETE_SECONDS 100

typedef int command_fn(const struct shim *s, int argc, char **argv);
static command_fn do_brief, do_ask, do_note, do_stage, do_status, do_publish, do_snapshot, do_ticket,
	do_guard, do_mcp, do_help;

static const struct command {
	const char *name, *words, *what;
	command_fn *fn;
} commands[] = {
	{ "brief", "", "print the boundaries of this task", do_brief },
	{ "ask", "QUESTION [OPTION...]", "ask the user; then end, to be resumed with the answer", do_ask },
	{ "note", "TEXT", "leave a note for the stages of the plan that come after this one", do_note },
	{ "stage", "complete | output NAME=VALUE",
		"have this stage checked now; leave a value for the stages after it", do_stage },
	{ "ticket", "new TITLE | ls | wait | …",
		"ask for tasks of your own, if the user allows it: garth ticket help", do_ticket },
	{ "status", "", "show this task: branch, target, what is published", do_status },
	{ "publish", "", "publish commits that are still drafts", do_publish },
	{ "snapshot", "[TEXT]", "save the state of this task; the user can go back to it", do_snapshot },
	{ "guard", "--client NAME [--after]", "judge a call of a tool: the hook of agents' clients",
		do_guard },
	{ "mcp", "", "serve file tools and this task's own over MCP, on stdin and stdout", do_mcp },
	{ "help", "", "print this list", do_help },
};

/* Prints the gateway's reason for a refusal. */
static int tell_refusal(const struct http_answer *a, const char *tried)
{
	if (!a->status) {
		fputs("garth: the gateway does not answer\n", stderr);
		return FAILED;
	}
	print_blocked(a, tried);
	return a->status == 400 ? USAGE : REFUSED;
}

/* Prints a string member of the answer. */
static int print_member(const struct http_answer *a, const char *label, const char *member)
{
	auto_buf text = BUF_INIT(ANSWER_BODY_MAX), clean = BUF_INIT(4 * ANSWER_BODY_MAX);

	if (!answer_member(a, member, &text))
		return FAILED;
	clean_text(&clean, buf_str(&text), text.len, true);
	printf("%s%s%s", label, buf_str(&clean), *label ? "\n" : "");
	return DONE;
}

static int do_brief(const struct shim *s, int argc, char **argv)
{
	auto_http_answer a = ANSWER_INIT;

	(void)argc;
	(void)argv;
	if (ask(s->socket, "/api/v1/brief", NULL, &a) != 200)
		return tell_refusal(&a, "read the brief");
	return print_member(&a, "", "brief");
}

static int do_ask(const struct shim *s, int argc, char **argv)
{
	auto_buf json = BUF_INIT(1 << 20);
	auto_http_answer a = ANSWER_INIT;

	if (argc < 1 || !*argv[0]) {
		fputs("garth: ask what? usage: garth ask QUESTION [OPTION...]\n", stderr);
		return USAGE;
	}
	buf_addstr(&json, "{\"question\":");
	ask_quote(&json, argv[0]);
	for (int i = 1; i < argc; i++) {
		buf_addstr(&json, i == 1 ? ",\"options\":[" : ",");
		ask_quote(&json, argv[i]);
	}
	buf_addstr(&json, argc > 1 ? "]}" : "}");
	if (ask(s->socket, "/api/v1/question", buf_str(&json), &a) != 200)
		return tell_refusal(&a, "ask the user");
	puts("The user is asked. End now: the task is blocked until the answer comes, and is then resumed with it.");
	return DONE;
}

static int do_note(const struct shim *s, int argc, char **argv)
{
	auto_buf json = BUF_INIT(1 << 20);
	auto_http_answer a = ANSWER_INIT;

	if (argc != 1 || !*argv[0]) {
		fputs("garth: note what? usage: garth note TEXT\n", stderr);
		return USAGE;
	}
	buf_addstr(&json, "{\"text\":");
	ask_quote(&json, argv[0]);
	buf_addch(&json, '}');
	if (ask(s->socket, "/api/v1/note", buf_str(&json), &a) != 200)
		return tell_refusal(&a, "leave a note");
	return DONE;
}

static int leave_output(const struct shim *s, const char *pair)
{
	auto_buf json = BUF_INIT(1 << 20);
	auto_http_answer a = ANSWER_INIT;
	size_t len = strcspn(pair, "=");
	auto_str name = xstrndup(pair, len);

	buf_addstr(&json, "{\"name\":");
	ask_quote(&json, name);
	buf_addstr(&json, ",\"value\":");
	ask_quote(&json, pair + len + 1);
	buf_addch(&json, '}');
	if (ask(s->socket, "/api/v1/stage/output", buf_str(&json), &a) != 200)
		return tell_refusal(&a, "leave an output");
	return DONE;
}

/* Asks repeatedly until the checks have run, up to a limit. */
static int complete(const struct shim *s)
{
	struct deadline d = deadline_in(COMPLETE_SECONDS * 1000);

	do {
		auto_http_answer a = ANSWER_INIT;
		auto_buf state = BUF_SMALL;

		if (ask(s->socket, "/api/v1/stage/complete", "{}", &a) != 200)
			return tell_refusal(&a, "ask for the checks");
		answer_member(&a, "state", &state);
		if (!strcmp(buf_str(&state), "passed") || !strcmp(buf_str(&state), "failed")) {
			print_member(&a, "", "text");
			return strcmp(buf_str(&state), "passed") ? FAILED : DONE;
		}
		if (!strcmp(buf_str(&state), "no_runner"))
			break;
	} while (deadline_sleep(&d, 1000));
	puts("queued: the checks are not made yet. Commit all of your work, and end: they are made then, and if one fails you go on.");
	return DONE;
}

static int do_stage(const struct shim *s, int argc, char **argv)
{
	if (argc == 1 && !strcmp(argv[0], "complete"))
		return complete(s);
	if (argc == 2 && !strcmp(argv[0], "output") && strchr(argv[1], '='))
		return leave_output(s, argv[1]);
	fputs("garth: usage: garth stage complete, or: garth stage output NAME=VALUE\n", stderr);
	return USAGE;
}

static int do_ticket(const struct shim *s, int argc, char **argv)
{
	return shim_ticket(s, argc, argv);
}

static int do_status(const struct shim *s, int argc, char **argv)
{
	static const char *const members[][2] = { { "task       ", "task" }, { "state      ", "state" },
		{ "workspace  ", "workspace" }, { "branch     ", "branch" }, { "base       ", "base" },
		{ "target     ", "target" }, { "published  ", "tip" } };
	auto_http_answer a = ANSWER_INIT;

	(void)argc;
	(void)argv;
	if (ask(s->socket, "/api/v1/task", NULL, &a) != 200)
		return tell_refusal(&a, "look at the task");
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		print_member(&a, members[i][0], members[i][1]);
	return DONE;
}

static int do_publish(const struct shim *s, int argc, char **argv)
{
	auto_http_answer a = ANSWER_INIT;

	(void)argc;
	(void)argv;
	if (ask(s->socket, "/api/v1/git/publish", "{}", &a) != 200)
		return tell_refusal(&a, "publish the task's commits");
	return print_member(&a, "published  ", "tip");
}

static int do_snapshot(const struct shim *s, int argc, char **argv)
{
	auto_buf json = BUF_INIT(64 << 10);
	auto_http_answer a = ANSWER_INIT;
	auto_str text = argc > 0 ? xstrndup(argv[0], SNAPSHOT_TEXT_MAX) : NULL;

	buf_addstr(&json, text ? "{\"message\":" : "{}");
	if (text) {
		ask_quote(&json, text);
		buf_addch(&json, '}');
	}
	if (ask(s->socket, "/api/v1/snapshot", buf_str(&json), &a) != 200)
		return tell_refusal(&a, "take a snapshot");
	puts("The snapshot is taken; the user can go back to it.");
	return DONE;
}

static int do_guard(const struct shim *s, int argc, char **argv)
{
	auto_str program = path_join(s->bin, "garth-guard");

	(void)argc;
	/* argv[-1] is the word "guard" itself */
	execv(program, argv - 1);
	perror("garth: cannot run garth-guard");
	return FAILED;
}

/* The program is beside the directory `bin`. */
static int do_mcp(const struct shim *s, int argc, char **argv)
{
	auto_str path = xasprintf("%s/../mcp", s->bin);

	(void)argc;
	(void)argv;
	execl(path, "garth-mcp", (char *)NULL);
	fprintf(stderr, "garth: cannot start '%s'\n", path);
	return FAILED;
}

static int do_help(const struct shim *s, int argc, char **argv)
{
	(void)s;
	(void)argc;
	(void)argv;
	puts("In a task, garth does what an agent may do:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		auto_buf use = BUF_SMALL;

		buf_printf(&use, "garth %s %s", commands[i].name, commands[i].words);
		printf("  %-34s %s\n", buf_str(&use), commands[i].what);
	}
	puts("\nEverything else is the user's to do, outside.");
	return DONE;
}

int shim_garth(const struct shim *s, int argc, char **argv)
{
	auto_buf tried = BUF_SMALL;
	const char *name = argc > 1 ? argv[1] : "help";

	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].fn(s, argc - 2, argv + 2);
	buf_printf(&tried, "garth %.100s", name);
	print_refusal("that is the user's to do, outside the task", buf_str(&tried),
		"see what an agent may do: garth help; or ask the user: garth ask QUESTION");
	return REFUSED;
}
