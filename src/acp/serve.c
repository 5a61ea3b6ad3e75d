#include "acp/parts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "mcp/message.h"
#include "sys/fd.h"

#define STEP (64u << 10)
/* How much of the agents' standard error may wait; more is dropped. */
#define ERR_MAX (1u << 20)
/* How long to wait, after the editor has closed its end, for tasks that are being made. */
#define START_MS 10000
/* And until the editor has read what is left. */
#define DRAIN_MS 5000
/* About a task, for the user. */
#define NOTES_MAX 50

void acp_say(struct acp *a, json_t *message_new)
{
	auto_buf line = BUF_INIT(MCP_ANSWER_MAX);

	message_write(&line, message_new);
	buf_addch(&line, '\n');
	json_decref(message_new);
	if (line.overflow || a->out.dead)
		return;
	if (output_queue_waiting(&a->out) + line.len > OUT_MAX)
		a->given_up = true;
	else
		output_queue_add(&a->out, line.data, line.len);
}

void acp_tell(const struct acp *a, bool warning, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (a->o->tell)
		a->o->tell(warning, text, a->o->tell_arg);
}

struct session *session_find(const struct acp *a, const char *id)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->sessions[i] && !strcmp(a->sessions[i]->id, id))
			return a->sessions[i];
	return NULL;
}

struct session *session_of(const struct agent *g, const char *theirs)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = g->acp->sessions[i];

		if (s && s->agent == g && s->theirs && !strcmp(s->theirs, theirs))
			return s;
	}
	return NULL;
}

size_t agent_sessions(const struct agent *g)
{
	size_t n = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		n += g->acp->sessions[i] && g->acp->sessions[i]->agent == g;
	return n;
}

static void forget(struct pendings *l, const struct session *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].session == s)
			l->v[i].session = NULL;
}

static void release(struct session *s)
{
	free(s->theirs);
	free(s->method);
	free(s->cwd);
	json_decref(s->ask);
	json_decref(s->with);
	json_decref(s->close);
	free(s);
}

void session_free(struct acp *a, struct session *s)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (a->sessions[i] == s)
			a->sessions[i] = NULL;
		if (a->agents[i])
			forget(&a->agents[i]->asked, s);
	}
	forget(&a->asked, s);
	release(s);
}

static void on_output(const char *data, size_t len, void *arg)
{
	struct agent *g = arg;

	lines_feed(&g->lines, data, len, from_agent, g);
}

static void on_complaint(const char *data, size_t len, void *arg)
{
	struct agent *g = arg;
	auto_buf clean = BUF_INIT(ERR_MAX);

	clean_text(&clean, data, len, false);
	if (clean.len && output_queue_waiting(&g->acp->err) + clean.len <= ERR_MAX)
		output_queue_add(&g->acp->err, clean.data, clean.len);
}

/* The task is paused, or was refused a host. The user sees only the session, so it is said there. */
static void on_note(const char *text, void *arg)
{
	struct agent *g = arg;

	auto_str title = xasprintf("task '%s'", g->name);

	/* an agent can ask for any number of hosts */
	if (g->told == NOTES_MAX)
		return;
	g->told++;
	acp_tell(g->acp, g->acp->o->quiet, "%s: %s", title, text);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (g->acp->sessions[i] && g->acp->sessions[i]->agent == g && !g->acp->sessions[i]->ask)
			send_text(g->acp->sessions[i], false, title, text);
}

/* The editor has closed its end, or a signal says that it goes. */
static void leave(struct acp *a)
{
	if (a->leaving)
		return;
	a->leaving = true;
	a->patience = deadline_in(START_MS);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->agents[i])
			agent_end(a->agents[i]);
}

static void read_editor(struct acp *a)
{
	static char piece[STEP];
	ssize_t n = read(0, piece, sizeof(piece));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		leave(a);
	else
		lines_feed(&a->in, piece, (size_t)n, from_client, a);
}

static void read_signals(struct acp *a, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		a->given_up |= a->leaving && a->signals;
		a->signals++;
		leave(a);
	}
}

enum { AT_SIGNALS, AT_IN, AT_OUT, AT_ERR, AT_PROBE, AT_AGENTS, AT_N = AT_AGENTS + SESSIONS_MAX };

static void sooner(int *timeout, const struct deadline *d)
{
	int left = deadline_left(d);

	if (*timeout < 0 || left < *timeout)
		*timeout = left;
}

static struct pollfd wanted(int fd, short events)
{
	return (struct pollfd){ .fd = events ? fd : -1, .events = events };
}

/* Whether what it is at has a time limit. */
static bool has_time(const struct agent *g)
{
	return g->state == AGENT_BEGINNING || g->state == AGENT_CLOSING || g->state == AGENT_ENDING;
}

static int prepare(const struct acp *a, int signals, struct pollfd p[AT_N])
{
	size_t waiting = output_queue_waiting(&a->out);
	int timeout = -1;

	p[AT_SIGNALS] = wanted(signals, POLLIN);
	p[AT_IN] = wanted(0, a->leaving ? 0 : POLLIN);
	p[AT_OUT] = wanted(a->out.fd, waiting ? POLLOUT : 0);
	p[AT_ERR] = wanted(a->err.fd, output_queue_waiting(&a->err) ? POLLOUT : 0);
	p[AT_PROBE] = wanted(a->probe.sock, POLLIN);
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		const struct agent *g = a->agents[i];

		p[AT_AGENTS + i] = (struct pollfd){ .fd = -1 };
		if (!g)
			continue;
		if (g->state == AGENT_STARTING)
			p[AT_AGENTS + i] = wanted(g->child.sock, POLLIN);
		else
			p[AT_AGENTS + i] = wanted(g->link.fd, link_events(&g->link, waiting < OUT_PAUSE));
		if (has_time(g))
			sooner(&timeout, &g->until);
	}
	if (a->leaving)
		sooner(&timeout, &a->patience);
	return timeout;
}

static void work_agent(struct acp *a, size_t i, short revents)
{
	struct agent *g = a->agents[i];
	const struct agent_heard heard = { on_output, on_complaint, on_note, g };

	if (g->state == AGENT_STARTING) {
		if (revents)
			open_started(g);
		return;
	}
	link_work(&g->link, revents, &heard);
	if (!g->link.over && has_time(g) && !deadline_left(&g->until))
		agent_late(g);
	if (g->link.over)
		agent_over(g);
}

/* Whether something still has to be waited for after the editor has gone. */
static bool is_busy(struct acp *a)
{
	bool busy = false;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		busy |= a->agents[i] != NULL;
		if (a->agents[i] && a->agents[i]->state == AGENT_STARTING && !deadline_left(&a->patience))
			starting_stop(&a->agents[i]->child);
	}
	return busy;
}

static void loop(struct acp *a, int signals)
{
	while (!a->given_up && (!a->leaving || is_busy(a))) {
		struct pollfd p[AT_N];

		if (poll(p, AT_N, prepare(a, signals, p)) < 0 && errno != EINTR)
			break;
		if (p[AT_SIGNALS].revents)
			read_signals(a, signals);
		if (p[AT_IN].revents)
			read_editor(a);
		if (p[AT_PROBE].revents)
			handshake_probed(a);
		for (size_t i = 0; i < SESSIONS_MAX; i++)
			if (a->agents[i])
				work_agent(a, i, p[AT_AGENTS + i].revents);
		output_queue_flush(&a->out);
		output_queue_flush(&a->err);
		if (a->out.dead)
			leave(a);
	}
}

/* What the editor has not read yet. */
static void drain(struct acp *a)
{
	struct deadline d = deadline_in(DRAIN_MS);

	while (output_queue_waiting(&a->out) && deadline_left(&d)) {
		struct pollfd p = wanted(a->out.fd, POLLOUT);

		poll(&p, 1, deadline_left(&d));
		output_queue_flush(&a->out);
	}
}

static int open_signals(sigset_t *old)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, old);
	/* a pipe that nobody reads is an error of write */
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Names the agent whose sessions are listed and loaded. */
static void choose_program(struct acp *a)
{
	a->known = a->o->agent ? config_agent_by_name(&a->context.config, a->o->agent)
			       : config_agent_by_program(&a->context.config, a->o->argv[0]);
	a->program = xstrdup(a->known ? a->known->name : path_base(a->o->argv[0]));
}

static void acp_release(struct acp *a)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->agents[i])
			agent_free(a->agents[i]);
	starting_release(&a->probe);
	output_queue_release(&a->out);
	output_queue_release(&a->err);
	lines_release(&a->in);
	pending_release(&a->asked);
	json_decref(a->hello);
	json_decref(a->ask);
	json_decref(a->log_in);
	json_decref(a->methods);
	free(a->program);
	context_close(&a->context);
}

int acp_serve(const struct acp_opts *o, struct err *e)
{
	__attribute__((cleanup(acp_release))) struct acp a = {
		.o = o, .context = { .home.fd = -1 }, .in = LINES_INIT, .probe = STARTING_INIT
	};
	auto_fd signals = -1;
	sigset_t old;

	output_queue_open(&a.out, 1, OUT_MAX);
	output_queue_open(&a.err, 2, ERR_MAX);
	if (context_open(&a.context, e) < 0)
		return -1;
	choose_program(&a);
	signals = open_signals(&old);
	if (signals < 0)
		return err_sys(e, "cannot watch for signals");
	loop(&a, signals);
	drain(&a);
	return a.given_up && !a.signals ? err_set(e, ERR_FAILED, "the editor does not read what it is told")
					: 0;
}
