#include "keeper/state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jail/start.h"
#include "sys/descendants.h"
#include "sys/sync_later.h"

#define ENTER_SECONDS  60
#define CANCEL_SECONDS 10
#define LEAVE_SECONDS  5
#define CLOSE_SECONDS  180
#define GATE_SECONDS   10

#define CODE_KILLED     (128 + SIGKILL)
#define CODE_TERMINATED (128 + SIGTERM)

void phase_start(struct keeper *k)
{
	struct err e = ERR_INIT;
	int orders;

	if (k->phase != PHASE_ENTERING)
		return;
	keeper_deadline(k, ENTER_SECONDS);
	if (k->spec.jail->landlock_only)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (jail_start(k->spec.jail, &orders, &k->launch, &e) < 0)
		phase_fail(k, &e);
	else
		orders_open(k, orders);
}

static void begin_waiting(struct keeper *k)
{
	for (size_t i = 0; i < COMMANDS_MAX && k->phase <= PHASE_OPEN; i++)
		if (k->commands[i] && k->commands[i]->state == COMMAND_WAITING)
			command_begin(k->commands[i]);
}

void phase_born(struct keeper *k)
{
	proxies_order(k);
	credentials_child_order(k);
	begin_waiting(k);
	gateway_child_open(k);
}

void phase_ready(struct keeper *k)
{
	if (k->phase != PHASE_ENTERING)
		return;
	k->phase = PHASE_OPEN;
	keeper_deadline(k, 0);
	begin_waiting(k);
	gateway_child_begin(k);
}

void phase_fail(struct keeper *k, const struct err *why)
{
	if (k->phase != PHASE_ENTERING)
		return;
	k->failure = *why;
	k->failure.kind = ERR_START;
	k->failure.msg[sizeof(k->failure.msg) - 1] = '\0';
	k->failure.hint[sizeof(k->failure.hint) - 1] = '\0';
	phase_end(k, err_exit_code(ERR_START));
}

void phase_close(struct keeper *k, int exit_code)
{
	if (k->phase != PHASE_OPEN || k->cancelled) {
		phase_end(k, exit_code);
		return;
	}
	k->phase = PHASE_CLOSING;
	k->exit_code = exit_code;
	keeper_deadline(k, CLOSE_SECONDS);
	gateway_child_finish(k);
}

void phase_end(struct keeper *k, int exit_code)
{
	if (k->phase >= PHASE_DYING)
		return;
	if (k->phase != PHASE_CLOSING)
		k->exit_code = exit_code;
	k->phase = PHASE_DYING;
	keeper_deadline(k, GATE_SECONDS);
	/* kill first: the inside dies while the sockets are removed */
	if (k->first > 0)
		kill(k->first, k->spec.jail->landlock_only ? SIGTERM : SIGKILL);
	if (k->launch > 0)
		kill(k->launch, SIGKILL);
	keeper_stop_listening(k);
	gateway_child_stop(k);
	meter_stop(k);
	proxies_stop(k);
	credentials_child_stop(k);
	ports_stop(k);
	/* if the first process' pid is not known yet, closing this socket ends it */
	orders_close(k);
	/* the rest is done by the loop: the caller may use a client that would be freed here */
	event_active(k->chld_ev, EV_SIGNAL, 1);
}

void phase_cancel(struct keeper *k)
{
	bool any = false;

	if (k->phase == PHASE_LEAVING)
		event_base_loopbreak(k->base);
	if (k->phase == PHASE_ENDING)
		ending_cancel(k);
	if (k->cancelled || k->phase >= PHASE_DYING)
		return;
	if (k->phase == PHASE_CLOSING) {
		phase_end(k, k->exit_code);
		return;
	}
	k->cancelled = true;
	/* paused processes do not handle signals */
	pause_lift(k);
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		struct command *cmd = k->commands[i];

		if (!cmd || cmd->state >= COMMAND_OVER || (k->main && cmd != k->main))
			continue;
		command_signal(cmd, SIGTERM);
		any = true;
	}
	if (k->phase == PHASE_ENTERING || !any)
		phase_end(k, CODE_TERMINATED);
	else
		keeper_deadline(k, CANCEL_SECONDS);
}

void phase_check(struct keeper *k, int last_code)
{
	bool clients = false;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		clients |= k->clients[i] != NULL;
	if (k->phase == PHASE_LEAVING && !clients)
		event_base_loopbreak(k->base);
	if (k->phase >= PHASE_DYING || k->main || k->spec.main_cmd)
		return;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (k->commands[i] && k->commands[i]->state != COMMAND_OVER)
			return;
	if (k->gateway.pid) {
		gateway_child_leave(k);
		return;
	}
	if (gateway_child_is_called(k))
		return;
	/* the first client may not have sent its first frame yet */
	if (last_code < 0 && clients)
		return;
	phase_end(k, last_code < 0 ? err_exit_code(ERR_START) : last_code);
}

static void note_to(struct client *c, const char *text)
{
	if (!c->closing)
		client_send(c, WIRE_NOTE, text, strnlen(text, WIRE_NOTE_MAX));
}

void phase_note(const struct keeper *k, const char *text)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i] && k->clients[i]->cmd)
			note_to(k->clients[i], text);
}

void phase_note_main(const struct keeper *k, const char *text)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = k->clients[i];

		if (c && c->cmd && (c->cmd == k->main || !k->main))
			note_to(c, text);
	}
}

void phase_tell(struct keeper *k, struct client *c)
{
	auto_str text =
		k->paused ? xasprintf("the task is paused%s%s", *k->paused ? ": " : "", k->paused) : NULL;

	if (text && c)
		note_to(c, text);
	else if (text)
		phase_note_main(k, text);
}

static void report_client(struct keeper *k, struct client *c)
{
	if (c->closing)
		return;
	if (k->failure.kind != ERR_NONE)
		client_fail(c, &k->failure);
	else if (c->cancels || (c->cmd && c->cmd->state == COMMAND_OVER))
		client_exit(c, c->cancels ? k->exit_code : c->cmd->exit_code);
	else if (c->cmd && c->cmd->state != COMMAND_WAITING)
		client_exit(c, CODE_KILLED);
	else if (c->cmd && k->cancelled)
		client_exit(c, k->exit_code);
	else
		client_free(c); /* no frame was sent: the client tries again */
}

static void over(struct keeper *k)
{
	keeper_stop_listening(k);
	cgroup_remove(&k->group);
	if (k->main && k->main->state == COMMAND_OVER)
		k->main->exit_code = k->exit_code;
	close(k->spec.lock_fd);
	/* A run has its files written out; a mere exec leaves that to the kernel. Not before the lock is free:
	 * who holds it is taken for another run, and the mark stays. */
	if (k->spec.run) {
		sync_later(k->spec.task_dir, "boot", "lock");
		notifier_tell(k->notifier, NOTIFY_ENDED, "");
	}
	k->phase = PHASE_LEAVING;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (k->clients[i])
			report_client(k, k->clients[i]);
	keeper_deadline(k, LEAVE_SECONDS);
	phase_check(k, -1);
}

/* Everything inside is dead, and nothing is mounted any more. */
static void end_run(struct keeper *k)
{
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (k->commands[i])
			stream_drain(k->commands[i]);
	log_close(&k->log);
	keeper_deadline(k, 0);
	k->phase = PHASE_ENDING;
	if (!k->spec.run || !ending_start(k)) {
		over(k);
		return;
	}
	/* lets the user cancel the push */
	keeper_listen(k, KEEPER_ENDING_SOCKET, &ignored);
}

/* A client that owns a command's pipes gets every byte, however slowly it reads; the task itself is free
 * already. The time of all others is over. */
static void leave(struct keeper *k)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = k->clients[i];

		if (c && !c->whole)
			client_free(c);
	}
}

void phase_late(struct keeper *k)
{
	struct err e = ERR_INIT;

	if (k->phase == PHASE_ENTERING) {
		err_set(&e, ERR_START, "the jail was not ready after %d seconds", ENTER_SECONDS);
		phase_fail(k, &e);
	} else if (k->phase == PHASE_OPEN || k->phase == PHASE_CLOSING) {
		phase_end(k, CODE_KILLED);
	} else if (k->phase == PHASE_DYING) {
		gateway_child_kill(k);
	} else if (k->phase == PHASE_LEAVING) {
		leave(k);
	}
}

static void fail_by_death(struct keeper *k, int status)
{
	struct err e = ERR_INIT;

	if (WIFSIGNALED(status))
		err_set(&e, ERR_START,
			"cannot enter the jail: the process that enters was killed by signal %d",
			WTERMSIG(status));
	else
		err_set(&e, ERR_START, "cannot enter the jail: the process that enters ended with status %d",
			WEXITSTATUS(status));
	phase_fail(k, &e);
}

/* Without namespaces, the supervisor ends all processes before it ends. If it was killed, the keeper does
 * it. */
static void end_what_is_left(struct keeper *k)
{
	/* without namespaces there is no proxy process */
	const pid_t but[] = { k->gateway.pid, k->meter.pid };

	descendants_end(but, ARRAY_SIZE(but));
}

void phase_reap(struct keeper *k)
{
	bool first_died = false, ended = false, none;
	int status = 0, st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		status = st;
		if (pid == k->launch)
			k->launch = 0;
		if (pid == k->first) {
			k->first = 0;
			first_died = true;
			if (k->spec.jail->landlock_only)
				end_what_is_left(k);
		}
		if (pid == k->gateway.pid)
			gateway_child_ended(k);
		if (pid == k->ending.pid && (ending_done(k) || !ending_start(k)))
			ended = true;
		proxies_ended(k, pid);
		credentials_child_ended(k, pid);
		ports_ended(k, pid);
		meter_ended(k, pid);
	}
	none = pid < 0 && errno == ECHILD;
	if (k->phase < PHASE_DYING && (none || first_died)) {
		orders_take(k); /* its last messages */
		if (k->phase == PHASE_ENTERING)
			fail_by_death(k, status);
		else
			phase_end(k, CODE_KILLED);
	}
	if (k->phase == PHASE_ENDING && ended)
		over(k);
	else if (k->phase == PHASE_DYING && none)
		end_run(k);
}
