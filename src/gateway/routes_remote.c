#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "gateway/routes_parts.h"
#include "git/remote.h"
#include "history/renew.h"
#include "push/fetch.h"
#include "push/push.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/task_command.h"

#define APART_MS 2000
#define ASKED_AT "pushed-at"

/* The branch that the task file lets the task push to at its end; the agent may push there earlier. NULL:
 * none. */
static char *may_push(const struct gateway *g)
{
	struct err ignored = ERR_INIT;
	auto_task_command cmd = { 0 };

	return task_command_load(g->in.at.ws.dir, &cmd, &ignored) < 0 ? NULL : steal_ptr(cmd.push);
}

/* Milliseconds until the next request is allowed. */
static int64_t wait_ms(int task_dir)
{
	struct timespec now;
	struct stat st;
	int64_t wait;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstatat(task_dir, ASKED_AT, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	wait = (st.st_mtim.tv_sec - now.tv_sec) * 1000 + (st.st_mtim.tv_nsec - now.tv_nsec) / 1000000 +
	       APART_MS;
	return wait > 0 && wait <= APART_MS ? wait : 0;
}

/* Each request uses the user's keys at the remote. An agent that asks in a loop, or several times at once, is
 * told to wait. The shim waits, not the gateway, where others would wait too. The time of the last request is
 * the mtime of a file, because the next request may reach another gateway process. */
static int check_rate(struct request *q, int *ret_lock, struct err *e)
{
	int dir = q->gateway->in.at.ws.dir;

	if (lock_take(dir, "push.lock", false, ret_lock, e) < 0 && e->kind != ERR_BUSY)
		return -1;
	if (*ret_lock >= 0 && !wait_ms(dir))
		return write_file(dir, ASKED_AT, "", 0, 0600, e);
	refuse(&q->no, e, ROUTE_TOO_SOON, "", "the remote was asked a moment ago");
	/* too many for the audit log */
	q->no.recorded = true;
	return refusal_say(&q->no, "ask the remote again", "wait for 2 seconds");
}

/* The wait begins at the end of a request, however long it took. */
static void note_end(const struct request *q)
{
	struct err ignored = ERR_INIT;

	write_file(q->gateway->in.at.ws.dir, ASKED_AT, "", 0, 0600, &ignored);
}

/* Options that do not change what is done. Each list ends with NULL. */
static const char *const of_push[] = { "-q", "--quiet", "-v", "--verbose", "-u", "--set-upstream",
	"--progress", "--no-progress", "--porcelain", NULL };
static const char *const of_fetch[] = { "-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress",
	"-p", "--prune", "-t", "--tags", "--no-tags", "--all", "--ff-only", "--no-edit", "-r", "--rebase",
	"--no-rebase", "-h", "--heads", NULL };

static bool is_among(const char *word, const char *const *list)
{
	while (*list && strcmp(word, *list) != 0)
		list++;
	return *list != NULL;
}

/* "HEAD" or the task's branch, perhaps with ":" and the branch that is allowed. */
static bool is_pushed(const char *word, const char *own, const char *branch)
{
	const char *colon = strchr(word, ':'), *to = colon ? colon + 1 : branch;
	auto_str from = xstrndup(word, colon ? (size_t)(colon - word) : strlen(word));

	if (!strncmp(to, "refs/heads/", 11))
		to += 11;
	return (!strcmp(from, "HEAD") || !strcmp(from, own)) && !strcmp(to, branch);
}

/* Only the branch that is allowed, without another destination. */
static bool is_fetched(const char *word, const char *own, const char *branch)
{
	(void)own;
	if (!strncmp(word, "refs/heads/", 11))
		word += 11;
	return !strcmp(word, branch);
}

/* Names for the remote that an agent may use. There is one remote. */
static bool is_remote(const struct request *q, const char *word)
{
	auto_str name = NULL;
	struct err ignored = ERR_INIT;

	return !remote_require(&q->gateway->in.at.repo, NULL, &name, &ignored) &&
	       (!strcmp(word, name) || !strcmp(word, "origin"));
}

/* Whether the agent's arguments ask for exactly what the user allowed. No arguments do. */
static bool asks_for_allowed(const struct request *q, const char *const *options,
	bool (*is_spec)(const char *, const char *, const char *), const char *branch)
{
	const char *own = q->gateway->in.task.branch + strlen("refs/heads/");
	json_t *args = json_object_get(q->in, "args"), *v;
	size_t i, words = 0;

	json_array_foreach(args, i, v)
	{
		const char *word = json_string_value(v);

		if (!word)
			return false;
		/* the first word is the remote */
		if (*word == '-'  ? !is_among(word, options)
			: words++ ? !is_spec(word, own, branch)
				  : !is_remote(q, word))
			return false;
	}
	return true;
}

/* The remote's messages and address are for the user only. Errors from before the remote was contacted may be
 * shown. */
static int hide_details(const struct request *q, const char *what, struct err *e)
{
	if (e->kind != ERR_CONFLICT && e->kind != ERR_REFUSED && e->kind != ERR_NOTFOUND)
		err_set(e, e->kind, "the %s did not work; the user sees why with: garth audit %s", what,
			q->gateway->in.task.name);
	return -1;
}

/* The refusal if something is allowed, but not this. */
static void refuse_other(
	struct request *q, const char *code, const char *what, const char *branch, struct err *e)
{
	auto_str remote = NULL;
	struct err ignored = ERR_INIT;

	if (remote_require(&q->gateway->in.at.repo, NULL, &remote, &ignored) < 0)
		remote = xstrdup("the remote");
	refuse(&q->no, e, code, "", "this task may %s '%s' of %s, nothing else", what, branch, remote);
}

static int push_now(struct request *q, const char *branch, struct err *e)
{
	struct gateway *g = q->gateway;
	const struct push_spec s = { .branch = branch,
		.retries = (unsigned)g->in.context.config.push_retries };
	auto_push_result r = { 0 };
	auto_lock lock = -1;
	int rc;

	if (*g->pushed && !strcmp(g->pushed, g->in.task.published)) {
		q->out = json_pack("{s:s}", "output", "garth: everything is pushed already\n");
		return 0;
	}
	if (check_rate(q, &lock, e) < 0)
		return -1;
	rc = push_task(&g->in.context, &g->in.task, &s, &r, e);
	note_end(q);
	if (rc < 0)
		return hide_details(q, "push", e);
	snprintf(g->pushed, sizeof(g->pushed), "%s", r.tip);
	auto_str output = xasprintf("garth: pushed to %s/%s\n", r.remote, r.branch);
	q->out = json_pack("{s:o, s:o, s:s, s:s, s:o}", "remote", audit_text(r.remote), "branch",
		audit_text(r.branch), "tip", r.tip, "new", r.new_oid, "output", audit_text(output));
	return 0;
}

int route_push(struct request *q, struct err *e)
{
	auto_str branch = may_push(q->gateway);
	auto_str instead = xasprintf("commit: that publishes to %s; the user merges with: garth merge %s",
		q->gateway->in.task.branch + strlen("refs/heads/"), q->gateway->in.task.name);

	if (branch && asks_for_allowed(q, of_push, is_pushed, branch))
		return push_now(q, branch, e);
	if (branch) {
		free(steal_ptr(instead));
		instead = xasprintf("git push, or git push origin HEAD:%s", branch);
		refuse_other(q, "push_not_allowed", "push to", branch, e);
	} else {
		refuse(&q->no, e, "push_not_allowed", "", "a task does not push");
	}
	return refusal_say(&q->no, "push", instead);
}

static bool is_quiet(const struct request *q)
{
	static const char *const quiet[] = { "-q", "--quiet", NULL };
	json_t *args = json_object_get(q->in, "args"), *v;
	bool ret = false;
	size_t i;

	json_array_foreach(args, i, v) ret |= json_is_string(v) && is_among(json_string_value(v), quiet);
	return ret;
}

static int fetch_now(struct request *q, struct err *e)
{
	struct gateway *g = q->gateway;
	auto_fetch_result r = { 0 };
	auto_str output = NULL, refs = NULL;
	auto_lock lock = -1;
	const char *name;
	int rc;

	if (check_rate(q, &lock, e) < 0)
		return -1;
	rc = fetch_target(&g->in.context, &g->in.task, &r, e);
	note_end(q);
	if (rc < 0)
		return hide_details(q, "fetch", e);
	if (renew_shown(&g->in, e) < 0)
		return -1;
	name = r.ref + strlen("refs/remotes/");
	output = is_quiet(q)                ? xstrdup("")
		 : strcmp(r.old, r.new_oid) ? xasprintf("garth: %s is now %.12s\n", name, r.new_oid)
					    : xasprintf("garth: %s is still %.12s\n", name, r.new_oid);
	refs = xasprintf("%s\trefs/heads/%s\n", r.new_oid, r.branch);
	q->out = json_pack("{s:o, s:o, s:s, s:o, s:o}", "remote", audit_text(r.remote), "ref",
		audit_text(name), "new", r.new_oid, "output", audit_text(output), "refs", audit_text(refs));
	return 0;
}

int route_fetch(struct request *q, struct err *e)
{
	struct gateway *g = q->gateway;
	const char *branch = strncmp(g->in.task.target, "refs/heads/", 11) ? NULL : g->in.task.target + 11;
	auto_str instead = NULL;

	if (branch && g->in.context.config.fetch && asks_for_allowed(q, of_fetch, is_fetched, branch))
		return fetch_now(q, e);
	if (branch && g->in.context.config.fetch) {
		instead = xasprintf("git fetch, or git fetch origin %s", branch);
		refuse_other(q, "fetch_not_allowed", "fetch", branch, e);
	} else {
		instead =
			xasprintf("work with what is here; the user brings the target in with: garth sync %s",
				g->in.task.name);
		refuse(&q->no, e, "fetch_not_allowed", "", "a task does not fetch");
	}
	return refusal_say(&q->no, "fetch", instead);
}
