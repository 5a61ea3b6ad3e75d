#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "guard/guard.h"
#include "sys/fd.h"

enum { PASSED = 0, REFUSED = 2 };

/* How a client is told after a tool, and if the guard only warns. */
enum form {
	FORM_JSON,  /* hookSpecificOutput with additionalContext */
	FORM_PLAIN, /* plain text */
};
static const struct client {
	const char *name;
	enum form form;
	const char *after; /* the name of the event after a tool, if the input has none */
} clients[] = {
	{ "claude", FORM_JSON, "PostToolUse" },
	{ "codex", FORM_JSON, "PostToolUse" },
	{ "gemini", FORM_JSON, "AfterTool" },
	{ "goose", FORM_PLAIN, "PostToolUse" },
	{ "opencode", FORM_PLAIN, "tool.execute.after" },
};

static const struct client *find_client(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		if (!strcmp(clients[i].name, name))
			return &clients[i];
	return NULL;
}

/* One line of untrusted text. More lines could look like ours. */
static void add_line(struct buf *out, const char *label, const char *text)
{
	auto_buf line = BUF_SMALL;

	for (const char *p = text; *p; p++)
		buf_addch(&line, *p == '\n' || *p == '\t' || *p == '\r' ? ' ' : *p);
	buf_addstr(out, label);
	clean_text(out, buf_str(&line), line.len, false);
	buf_addch(out, '\n');
}

static void write_refusal(const struct refusal *r, struct buf *out)
{
	add_line(out, "BLOCKED: ", r->reason);
	add_line(out, "You tried to: ", r->tried);
	add_line(out, "Instead, you should: ", r->instead);
}

static void tell(const struct client *c, const char *event, const char *text)
{
	auto_buf out = BUF_SMALL;

	if (c->form == FORM_PLAIN) {
		buf_printf(&out, "%s\n", text);
	} else {
		buf_addstr(&out, "{\"hookSpecificOutput\":{\"hookEventName\":");
		jread_quote(&out, event);
		buf_addstr(&out, ",\"additionalContext\":");
		jread_quote(&out, text);
		buf_addstr(&out, "}}\n");
	}
	write_full(STDOUT_FILENO, buf_str(&out), out.len);
}

/* The name of the event in the client's words. */
static void read_event(const struct buf *json, const char *otherwise, struct buf *out)
{
	struct jread_at at = jread_at(buf_str(json), json->len);

	if (jread_is_whole(buf_str(json), json->len) && jread_member(&at, "hook_event_name") &&
		jread_string(&at, out) && out->len && out->len < 64)
		return;
	buf_reset(out);
	buf_addstr(out, otherwise);
}

static bool read_input(struct buf *out)
{
	for (;;) {
		char *to = buf_reserve(out, 16384);
		ssize_t n = to ? read(STDIN_FILENO, to, 16384) : -1;

		if (n <= 0)
			return n == 0;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
}

static void read_text(const char *path, struct buf *out)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[16384];
	ssize_t n = fd < 0 ? -1 : read_full(fd, text, sizeof(text));

	if (n > 0)
		buf_add(out, text, (size_t)n);
}

static int before(const struct guard *g, const struct client *c, const struct buf *json)
{
	bool warns = !strcmp(g->facts->guard, "warn");
	auto_buf out = BUF_SMALL, event = BUF_SMALL;
	struct refusal r;

	switch (guard_decide(g, buf_str(json), json->len, &r)) {
	case DECISION_PASS:
		return PASSED;
	case DECISION_MALFORMED:
		r = (struct refusal){ "the guard cannot read the tool call",
			"call a tool with unexpected input",
			"call the tool again, with the arguments that its description names" };
		break;
	case DECISION_REFUSE:
		break;
	}
	write_refusal(&r, &out);
	if (warns) {
		read_event(json, "PreToolUse", &event);
		tell(c, buf_str(&event), buf_str(&out) + strlen("BLOCKED: "));
		return PASSED;
	}
	/* in one write, so that other programs' lines do not come in between */
	write_full(STDERR_FILENO, buf_str(&out), out.len);
	return REFUSED;
}

static int after(const struct guard *g, const struct client *c, const struct buf *json)
{
	auto_buf out = BUF_SMALL, event = BUF_SMALL;

	if (!after_explain(g, buf_str(json), json->len, &out))
		return PASSED;
	read_event(json, c->after, &event);
	tell(c, buf_str(&event), buf_str(&out));
	return PASSED;
}

static int usage(void)
{
	fputs("usage: garth-guard --client claude|codex|gemini|opencode|goose [--after]\n", stderr);
	/* not 2: clients take that as a refusal of the tool */
	return 1;
}

/* In a Landlock-only jail it is elsewhere; if an agent changes the variable, it only loses the guard. */
static const char *find_dir(void)
{
	const char *dir = getenv("GARTH_DIR");

	return dir && *dir && access(SHIM_DIR "/task", F_OK) < 0 ? dir : SHIM_DIR;
}

int main(int argc, char **argv)
{
	const char *dir = find_dir();
	const struct client *c = argc >= 3 && !strcmp(argv[1], "--client") ? find_client(argv[2]) : NULL;
	bool is_after = argc == 4 && !strcmp(argv[3], "--after");
	auto_buf json = BUF_INIT(GUARD_INPUT_MAX), operations = BUF_SMALL;
	auto_str task = path_join(dir, "task");
	auto_str rules = path_join(dir, "operations");
	struct facts facts;
	struct guard g;

	bool is_shell = argc && !strcmp(path_base(argv[0]), GUARD_SHELL);

	if (!is_shell && (!c || (argc > 3 && !is_after)))
		return usage();
	facts_read(task, &facts);
	g = (struct guard){ .facts = &facts, .dir = dir };
	if (is_shell)
		return client_shell(&g, argv);
	/* outside a task there is nothing to guard */
	if (!*facts.workspace || !strcmp(facts.guard, "off"))
		return PASSED;
	read_text(rules, &operations);
	g.operations = buf_str(&operations);
	/* input that is too long to be read passes: the kernel decides */
	if (!read_input(&json))
		return PASSED;
	return is_after ? after(&g, c, &json) : before(&g, c, &json);
}
