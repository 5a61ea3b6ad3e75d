#include "task/brief.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/size.h"
#include "git/ref.h"
#include "task/network.h"
#include "workspace/submodules.h"

/* More are counted, not named. */
#define NAMED_MAX 8

/* A list on one line. What the user wrote may have any bytes in it. */
static void add_names(struct buf *out, const struct strvec *v)
{
	for (size_t i = 0; i < v->n && i < NAMED_MAX; i++) {
		buf_printf(out, "%s`", i ? ", " : "");
		clean_text(out, v->v[i], strlen(v->v[i]), false);
		buf_addch(out, '`');
	}
	if (v->n > NAMED_MAX)
		buf_printf(out, " and %zu more", v->n - NAMED_MAX);
}

static void add_place(const struct task *t, struct buf *out)
{
	buf_addstr(out,
		"## Worktree Isolation\n\n"
		"You work in a task of Garth: your own copy of the repository behind walls that the kernel enforces.\n\n"
		"- Workspace: `");
	clean_text(out, t->workspace, strlen(t->workspace), false);
	buf_addstr(out, "`. All work happens there.\n");
	if (!backend_of(t)->has_git)
		return;
	buf_printf(out, "- Branch: `%s`, which starts at %.12s.", ref_short(t->branch), t->base);
	if (*t->target)
		buf_printf(out, " The user merges it into `%s`.", ref_short(t->target));
	buf_addch(out, '\n');
}

static void add_submodules(struct task_at *at, struct buf *out)
{
	auto_submodules s = { 0 };
	auto_strvec paths = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (submodules_load(at->ws.dir, &s, &ignored) < 0)
		return;
	submodules_paths(&s, "", &paths);
	if (!paths.n)
		return;
	buf_addstr(out, "- Commit in the submodules ");
	add_names(out, &paths);
	buf_addstr(out,
		", each on the same branch; then `git add` the submodule and commit in the superproject.\n");
}

static void name_hosts(const struct network *n, struct buf *allowed, struct buf *forbidden)
{
	bool none = !strcmp(n->mode, NETWORK_NONE) || !n->allow.n;

	if (!strcmp(n->mode, NETWORK_HOST)) {
		buf_addstr(allowed, "- Use the network.\n");
		return;
	}
	if (!none) {
		buf_addstr(
			allowed, "- Reach these hosts, through the proxy that is set in the environment: ");
		add_names(allowed, &n->allow);
		buf_addstr(allowed, ".\n");
	}
	buf_printf(forbidden, "- %s: `localhost` is the inside of this task.\n",
		none ? "The network" : "Any other host, and DNS");
}

static void add_network(struct context *c, struct task_at *at, const struct network *net, struct buf *allowed,
	struct buf *forbidden)
{
	auto_network n = { 0 };
	struct err ignored = ERR_INIT;

	if (!net && network_load(at->ws.dir, true, &n, &ignored) < 0 &&
		network_load(at->ws.dir, false, &n, &ignored) < 0 &&
		network_choose(&c->config, NULL, NULL, NULL, &n, &ignored) < 0)
		return;
	name_hosts(net ? net : &n, allowed, forbidden);
}

static void add_allowed(struct context *c, struct task_at *at, struct buf *out)
{
	const struct config_policy *p = &c->config.policy;
	char file[SIZE_TEXT_MAX], all[SIZE_TEXT_MAX], files[COUNT_TEXT_MAX];

	buf_addstr(out,
		"- Read, write and run everything in the workspace, in `/tmp`, and in your home, which is this task's own.\n"
		"- Run the programs of the system, and listen on any port.\n");
	if (!backend_of(at->task)->has_git)
		return;
	buf_printf(out,
		"- Commit on `%s`. Each commit is checked and published at once; a refusal begins with `BLOCKED:` and says what to do.\n",
		ref_short(at->task->branch));
	if (p->scope.n || p->within.n) {
		buf_addstr(out, "- Publish changes of these paths, and of no others: ");
		add_names(out, p->within.n ? &p->within : &p->scope);
		buf_addstr(out, ".\n");
	}
	buf_printf(out, "- Publish up to %s in all, %s a file, %s files, %llu commits.\n",
		size_text(p->max_size, all), size_text(p->max_file_size, file),
		count_text(p->max_files, files), (unsigned long long)p->max_commits);
	add_submodules(at, out);
}

/* The globs of jail.deny_read and deny_write, as the configuration has them. */
static void add_rules(const struct context *c, struct buf *out)
{
	auto_strvec globs = STRVEC_INIT;

	for (size_t i = 0; i < c->config.policy.rules.n; i++)
		if (rule_denies(&c->config.policy.rules.v[i]))
			strvec_push(&globs, c->config.policy.rules.v[i].glob);
	if (!globs.n)
		return;
	buf_addstr(out, "- These paths, by the user's rules: ");
	add_names(out, &globs);
	buf_addstr(out, ".\n");
}

static void add_forbidden(struct context *c, struct task_at *at, struct buf *out)
{
	buf_addstr(out,
		"- Everything outside: other tasks, the user's own checkout and home, and credentials are not there; system directories are read-only.\n");
	if (backend_of(at->task)->has_git) {
		buf_addstr(out,
			"- Other branches of the repository. Do not push, fetch, rebase, stash, or merge the target: the user does that (`garth sync`, `garth merge`).\n"
			"- Protected paths, unless the user allows them: ");
		add_names(out, &c->config.policy.protect);
		buf_addstr(out, ".\n");
	}
	add_rules(c, out);
	buf_addstr(out,
		"- `sudo`, containers, new namespaces, and your own sandbox: it cannot start inside this one. Run commands without it.\n");
}

static void add_advice(const struct task *t, struct buf *out)
{
	buf_addstr(out, "\n### Common mistakes\n\n");
	if (backend_of(t)->has_git)
		buf_printf(out,
			"- `git -C ../other …`, `cd ../..`, another checkout's path: work in the workspace instead.\n"
			"- `git checkout main`, `git switch -c x`: stay on `%s`; `git show main:FILE` reads another branch.\n"
			"- Ending with uncommitted files: the task then counts as failed. Commit what is to be kept.\n",
			ref_short(t->branch));
	buf_addstr(out,
		"- \"No such file or directory\" or \"Read-only file system\" outside the workspace is a boundary of the task, not an error to work around.\n"
		"\n### When something outside is needed\n\n"
		"Do not try to get around the walls. Ask, and then end your turn; the user answers, and you are resumed:\n\n"
		"    garth ask \"May I add the host crates.io?\" yes no\n\n"
		"`garth status` shows this task, `garth snapshot` saves its state, `garth help` lists what else there is.\n");
}

static void add_tickets(const struct context *c, const struct task *t, struct buf *out)
{
	const struct config *f = &c->config;
	auto_str socket = backend_of(t)->landlock_only
				  ? home_path(&c->home, "tasks/%lld/gateway", (long long)t->id)
				  : xstrdup(INSIDE_GATEWAY);

	if (!f->tickets_max || !backend_of(t)->has_git)
		return;
	buf_printf(out,
		"\n### Tickets: tasks of your own\n\n"
		"You can ask for up to %llu tasks, of which %llu run at once. Each works on a copy of what you have published, "
		"with your walls, and its result becomes the branch `%s.ID` here, which you merge. Commit before you ask. A "
		"task with tickets that are neither merged nor discarded is not done.\n\n"
		"    garth ticket new \"Title\" --prompt \"What to do\" --files \"src/**\" --accept \"make test\"\n"
		"    garth ticket wait t1          # or: wait --block, then end; you are resumed with the results\n"
		"    git merge %s.t1\n\n"
		"`garth ticket help` lists the rest; the same is at `/api/v1/tickets` on the socket `%s`.\n",
		(unsigned long long)f->tickets_max, (unsigned long long)f->tickets_at_once,
		ref_short(t->branch), ref_short(t->branch), socket);
	if (!f->tickets_agents.n)
		return;
	buf_addstr(out, "Agents that a ticket may name beside your own: ");
	add_names(out, &f->tickets_agents);
	buf_addstr(out, ".\n");
}

int brief_write(
	struct context *c, struct task_at *at, const struct network *net, struct buf *out, struct err *e)
{
	auto_buf allowed = BUF_INIT(32 << 10), forbidden = BUF_INIT(32 << 10);

	add_place(at->task, out);
	add_allowed(c, at, &allowed);
	add_forbidden(c, at, &forbidden);
	add_network(c, at, net, &allowed, &forbidden);
	buf_printf(out, "\n**ALLOWED**\n%s\n**FORBIDDEN**\n%s", buf_str(&allowed), buf_str(&forbidden));
	add_advice(at->task, out);
	add_tickets(c, at->task, out);
	return out->overflow ? err_set(e, ERR_FAILED, "the brief would be too long") : 0;
}
