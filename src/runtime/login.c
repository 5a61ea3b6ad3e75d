#include "runtime/login.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"
#include "task/credentials.h"
#include "task/network.h"
#include "workspace/workspace.h"

/* Warn about a log-in that expires within so many seconds. */
#define SOON 600
/* In the task's directory. */
#define KEY_FILE "dummies.key"

static void tell_end(const struct run_opts *o, const struct login_end *end)
{
	const struct config_agent *a = o->agent;
	const char *program = a->programs.n ? a->programs.v[0] : a->name;
	long long left = (long long)end->at - (long long)time(NULL);
	auto_buf which = BUF_SMALL, clean = BUF_SMALL;

	if (left > SOON)
		return;
	if (*end->name) {
		clean_text(&clean, end->name, strlen(end->name), false);
		buf_printf(&which, " (%s)", buf_str(&clean));
	}
	if (left <= 0)
		runtime_warn(o,
			"the log-in of %s%s has ended, and a task cannot renew it: run %s once outside, then this again",
			a->name, buf_str(&which), program);
	else
		runtime_warn(o,
			"the log-in of %s%s ends in %lld minutes, and a task cannot renew it: run %s once outside, then this again",
			a->name, buf_str(&which), (left + 59) / 60, program);
}

/* The key of the task's dummies, made when it is needed first. */
static int load_key(int task_dir, unsigned char key[DUMMY_KEY_LEN], struct err *e)
{
	auto_buf old = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (!read_file(task_dir, KEY_FILE, &old, &ignored) && old.len == DUMMY_KEY_LEN) {
		memcpy(key, old.data, DUMMY_KEY_LEN);
		return 0;
	}
	if (getrandom(key, DUMMY_KEY_LEN, 0) != DUMMY_KEY_LEN)
		return err_sys(e, "cannot get random bytes");
	return write_file(task_dir, KEY_FILE, key, DUMMY_KEY_LEN, 0600, e);
}

int login_open(struct context *c, const struct task *t, const struct run_opts *o, bool joins,
	struct outside *ret, struct err *e)
{
	unsigned char key[DUMMY_KEY_LEN];
	auto_fd home = -1, dir = -1;
	bool trusts = false;
	struct outside_where w = { .config = &c->config,
		.agent = o->agent,
		.environ_now = environ,
		.extra = o->env,
		.user_home = c->user_home,
		.key = key };

	*ret = (struct outside){ 0 };
	if (!o->agent)
		return 0;
	home = w.home_fd = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return err_sys(e, "cannot open the home directory");
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || load_key(dir, key, e) < 0)
		return -1;
	/* the proxy listens in a network of the task's own */
	w.possible = !backend_of(t)->landlock_only && !strcmp(o->net.mode, NETWORK_ALLOW);
	w.fixed = joins && !credentials_are_of(dir, o->agent->name, &trusts);
	w.tls = !joins || trusts;
	return outside_open(&w, ret, e);
}

void login_note(int task_dir, const struct run_opts *o, const struct outside *out)
{
	struct credentials_note n = {
		.agent = o->agent ? o->agent->name : "", .kept = out->kept, .tls = out->hosts.n > 0
	};

	if (!o->agent)
		return;
	n.how = out->mode != OUTSIDE_COPY && out->table.nsecrets ? CREDENTIALS_PROXY
		: out->mode == OUTSIDE_ALL                       ? CREDENTIALS_NONE
								 : CREDENTIALS_COPY;
	if (out->mode != OUTSIDE_ALL)
		n.entered = out->entered;
	credentials_save(task_dir, &n);
	for (size_t i = 0; !o->quiet && o->agent->credentials &&
			   !strcmp(o->agent->credentials, CREDENTIALS_PROXY) && i < out->entered.n;
		i++)
		runtime_warn(o,
			"%s is not given to the task: the proxy cannot add it, and agents.%s.credentials is 'proxy'",
			out->entered.v[i], o->agent->name);
}

/* Whether the name is of a variable with a key that some service takes, not of a file. */
static bool is_key(const struct config_agent *a, const char *name)
{
	const struct default_login *l = config_login(a->name);
	size_t n = strlen(name);

	for (size_t i = 0; l && l->secrets[i]; i++)
		if (!strncmp(l->secrets[i], name, n) && l->secrets[i][n] == '=' &&
			strcmp(l->secrets[i] + n, "=-") != 0)
			return true;
	return false;
}

/* The first such name of a list; NULL if a file is in it, or none. */
static const char *only_keys(const struct config_agent *a, const struct strvec *names, const char *first)
{
	for (size_t i = 0; i < names->n; i++) {
		if (*names->v[i] == '~' && !strchr(names->v[i], '('))
			return NULL;
		if (!first && is_key(a, names->v[i]))
			first = names->v[i];
	}
	return first;
}

int login_still_there(
	struct context *c, const struct task *t, int task_dir, const struct run_opts *o, struct err *e)
{
	struct credentials_note n;
	auto_outside out = { 0 };
	const char *key = NULL;

	if (!o->agent || !credentials_load(task_dir, &n))
		return 0;
	if (!strcmp(n.agent, o->agent->name)) {
		key = only_keys(o->agent, &n.kept, NULL);
		key = !n.kept.n || key ? only_keys(o->agent, &n.entered, key) : NULL;
	}
	if (key && login_open(c, t, o, false, &out, e) < 0) {
		credentials_release(&n);
		return -1;
	}
	if (key && !out.kept.n && !out.entered.n) {
		err_set(e, ERR_REFUSED,
			"task '%s' was started with %s, and now %s has no log-in: set it here too", t->name,
			key, o->agent->name);
		credentials_release(&n);
		return -1;
	}
	credentials_release(&n);
	return 0;
}

int login_table(const struct outside *out)
{
	auto_buf packed = BUF_INIT(VAULT_MAX);
	int fd;

	if (!out->table.nsecrets)
		return -1;
	vault_pack(&out->table, &packed);
	fd = packed.overflow ? -1 : fd_of_bytes("credentials", packed.data, packed.len);
	if (packed.data)
		explicit_bzero(packed.data, packed.len);
	return fd;
}

int login_copy(struct context *c, struct task_at *at, const struct run_opts *o, const struct outside *out,
	struct err *e)
{
	auto_fd user_home = open(c->user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd task_home = open_beneath(at->ws.dir, "home", O_RDONLY | O_DIRECTORY, 0);
	const struct agent_place place = { at->repo.top ? at->repo.top : "", at->task->workspace,
		{ environ, o->env }, c->config.mcp, out };
	auto_login_report r = { 0 };

	if (!o->agent)
		return 0;
	if (user_home < 0 || task_home < 0)
		return err_sys(e, "cannot open the home directories");
	if (agent_copy_login(o->agent, &place, user_home, task_home, &r, e) < 0)
		return -1;
	for (size_t i = 0; !o->quiet && i < r.left_out.n; i++)
		runtime_warn(o,
			"~/%s is not copied into the task: it cannot be read, and may hold a refresh token",
			r.left_out.v[i]);
	for (size_t i = 0; !o->quiet && i < r.nends; i++)
		tell_end(o, &r.ends[i]);
	return 0;
}
