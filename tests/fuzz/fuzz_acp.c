/*
 * Any bytes as what an agent says to the editor, and then as what the editor says to the agent, a message a line. What
 * reaches the editor is JSON of the kinds that an agent may send, names only its own session, and nothing outside the
 * workspace; what reaches the agent names no file of the checkout. After each, the next message works.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acp/parts.h"
#include "base/alloc.h"
#include "base/path.h"
#include "mcp/message.h"
#include "sys/fd.h"
#include "sys/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORKSPACE "/g/worktrees/t"
#define SESSION   "11111111-2222-4333-8444-555555555555"

static char home[64];
static int64_t task;

static void check(bool ok, const char *what, const char *line)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %.2000s\n", what, line);
	abort();
}

static void clean_up(void)
{
	auto_fd root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;

	tree_remove(root, home + 1, &ignored);
}

/* A store with one task. */
static void begin(void)
{
	struct task t = { .name = "t",
		.branch = "b",
		.base = "c",
		.layer = "",
		.target = "main",
		.backend = "worktree",
		.workspace = WORKSPACE,
		.shown = "s",
		.on_dirty = "fail",
		.place = "t" };
	struct err e = ERR_INIT;
	auto_project p = { 0 };
	auto_store s = NULL;

	snprintf(home, sizeof(home), "%s/garth-fuzz.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	check(mkdtemp(home), "no scratch directory", "");
	atexit(clean_up);
	check(!store_open(home, &s, &e) && !store_project(s, "/p", "/p/.git", &p, &e), "no store", e.msg);
	t.project_id = p.id;
	check(!store_task_insert(s, &t, &e), "no task", e.msg);
	task = t.id;
}

/* A task is named, so that a session that is opened shares the agent, and nothing is started. */
static const struct acp_opts opts = { .task = "t",
	.env = &(const struct strvec){ 0 },
	.mcp_secrets = &(const struct strvec){ 0 },
	.argv = (char *const[]){ "no-such-agent", NULL } };

static void ask_of(struct agent *g, int id, enum pending_what what, struct session *s)
{
	json_t *number = json_integer(id);

	send_request(g, number, "asked", NULL, what, s);
	json_decref(number);
}

static void set_up(struct acp *a)
{
	struct agent *g;
	struct session *s = xcalloc(1, sizeof(*s));
	int pair[2];

	*a = (struct acp){ .o = &opts, .in = LINES_INIT, .probe = STARTING_INIT, .version = 1 };
	a->context = (struct context){ .home = { .fd = -1, .path = xstrdup(home) } };
	a->program = xstrdup("fuzz");
	a->hello = json_object();
	a->methods = json_array();
	a->out = (struct output_queue){ .fd = -1, .q = BUF_INIT(OUT_MAX) };
	a->err = (struct output_queue){ .fd = -1, .q = BUF_INIT(OUT_MAX) };
	g = agent_new(a);
	check(!pipe(pair), "no pipe", "");
	close(pair[0]);
	link_open(&g->link, pair[1]);
	g->state = AGENT_READY;
	g->task = task;
	g->name = xstrdup("t");
	g->branch = xstrdup("garth/t");
	g->cwd = xstrdup(WORKSPACE);
	g->paths = (struct paths){ xstrdup("/home/u/app"), xstrdup("/home/u/app"), xstrdup(WORKSPACE) };
	memcpy(s->id, SESSION, sizeof(s->id));
	s->theirs = xstrdup("s");
	s->method = xstrdup("session/new");
	s->cwd = xstrdup("/home/u/app");
	s->agent = g;
	a->sessions[0] = s;
	ask_of(g, 1, PENDING_PROMPT, s);
	ask_of(g, 2, PENDING_PASSED, s);
	/* what was sent to it so far does not count */
	buf_reset(&g->link.in);
	buf_reset(&g->link.tx);
	g->link.in_at = 0;
	g->link.credit = 0;
}

static void tear_down(struct acp *a)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->agents[i])
			agent_free(a->agents[i]);
	buf_release(&a->out.q);
	buf_release(&a->err.q);
	lines_release(&a->in);
	pending_release(&a->asked);
	json_decref(a->hello);
	json_decref(a->methods);
	json_decref(a->log_in);
	json_decref(a->ask);
	free(a->program);
	context_close_store(&a->context);
	free(a->context.home.path);
}

static void check_locations(const json_t *call, const char *line)
{
	const json_t *list = json_object_get(call, "locations");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *path = json_string_value(json_object_get(json_array_get(list, i), "path"));

		check(path && path_within(path, WORKSPACE), "a place elsewhere", line);
	}
}

static void check_from_agent(const json_t *m, const char *line)
{
	static const char *const allowed[] = { "session/update", "session/request_permission",
		"elicitation/create", "$/cancel_request" };
	const char *method = json_string_value(json_object_get(m, "method")), *id;
	const json_t *params = json_object_get(m, "params");
	bool ok = !method;

	for (size_t i = 0; method && i < ARRAY_SIZE(allowed); i++)
		ok |= !strcmp(method, allowed[i]);
	check(ok, "a method that no agent has", line);
	if (!method)
		return;
	id = json_string_value(json_object_get(params, "sessionId"));
	check(!id || !strcmp(id, SESSION), "another session", line);
	check(id || json_object_get(params, "requestId"), "no session", line);
	check_locations(json_object_get(params, "update"), line);
	check_locations(json_object_get(params, "toolCall"), line);
}

/* Each line is JSON; `agents` says whether an agent said it. */
static void check_lines(const char *text, size_t len, bool agents)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		json_t *m;

		check(end, "half a line", text);
		m = json_loadb(text, (size_t)(end - text), JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
		check(json_is_object(m), "no JSON", text);
		if (agents)
			check_from_agent(m, text);
		json_decref(m);
		len -= (size_t)(end - text) + 1;
		text = end + 1;
	}
}

static void feed(const char *data, size_t size, lines_fn *fn, void *arg)
{
	struct line_splitter l = LINES_INIT;

	lines_feed(&l, data, size, fn, arg);
	lines_release(&l);
}

static bool is_asked(const struct agent *g, int id)
{
	json_t *number = json_integer(id);
	bool is = pending_find(&g->asked, number);

	json_decref(number);
	return is;
}

static void as_agent(const char *data, size_t size)
{
	static const char next[] = "{\"id\":1,\"result\":{\"stopReason\":\"end_turn\"}}\n";
	struct acp a;

	set_up(&a);
	feed(data, size, from_agent, a.agents[0]);
	check_lines(buf_str(&a.out.q), a.out.q.len, true);
	check_lines(buf_str(&a.agents[0]->link.in), a.agents[0]->link.in.len, false);
	if (is_asked(a.agents[0], 1)) {
		buf_reset(&a.out.q);
		feed(next, sizeof(next) - 1, from_agent, a.agents[0]);
		check(strstr(buf_str(&a.out.q), "end_turn"), "the next one does not work", buf_str(&a.out.q));
	}
	tear_down(&a);
}

static void as_editor(const char *data, size_t size)
{
	static const char next[] = "{\"id\":\"next\",\"method\":\"session/list\"}\n";
	struct acp a;
	const char *said;

	set_up(&a);
	feed(data, size, from_client, &a);
	check_lines(buf_str(&a.agents[0]->link.in), a.agents[0]->link.in.len, false);
	said = buf_str(&a.agents[0]->link.in);
	check(!strstr(said, "\"resource_link\",\"uri\":\"file:///home/u"), "a link to the checkout", said);
	check_lines(buf_str(&a.out.q), a.out.q.len, false);
	buf_reset(&a.out.q);
	feed(next, sizeof(next) - 1, from_client, &a);
	said = buf_str(&a.out.q);
	check(strstr(said, "\"sessions\"") || strstr(said, "another request"), "the next one does not work",
		said);
	tear_down(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*home)
		begin();
	as_agent((const char *)data, size);
	as_editor((const char *)data, size);
	return 0;
}
