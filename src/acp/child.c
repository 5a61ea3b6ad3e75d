/* The child process that makes or finds a session's task and starts the agent in it: start.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acp/start.h"
#include "agent/agent.h"
#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "base/size.h"
#include "jail/userns.h"
#include "runtime/add_layers.h"
#include "runtime/choose_network.h"
#include "runtime/left_behind.h"
#include "runtime/run.h"
#include "runtime/try.h"
#include "runtime/unstarted.h"
#include "runtime/with_changes.h"
#include "sys/linux.h"
#include "sys/sock.h"
#include "task/directory.h"
#include "task/here.h"
#include "task/program.h"
#include "task/task.h"
#include "workspace/workspace.h"

/* Editors open files by their path, so the default backend has the files at the path that the agent names. */
#define BACKEND_FOR_EDITORS "worktree"
#define PROBE_SECONDS       120
#define ANSWER_MAX          (1u << 20)
#define LAST_WORDS_MAX      200

struct child {
	const struct start_spec *spec;
	const struct acp_opts *o;
	int sock;
	struct context c;
	struct task task;
	struct run_opts run;
	struct strvec notes;
	char *place; /* where the agent starts, relative to the workspace */
	char *top, *main_top;
	bool made; /* the task is new */
	int conn;
	/* of a probe */
	struct buf heard;
	char last[LAST_WORDS_MAX + 1]; /* of its standard error */
	size_t heard_all;              /* bytes of its standard output */
	bool answered;
};

static void say(const struct child *k, const char *name, const char *value)
{
	auto_buf out = BUF_INIT(ANSWER_MAX + 4096);

	buf_printf(&out, "%s=", name);
	buf_add(&out, value, strlen(value) + 1);
	if (!out.overflow)
		sock_send(k->sock, out.data, out.len, NULL, 0);
}

static int choose_agent(struct child *k, struct err *e)
{
	const struct acp_opts *o = k->o;

	if (o->agent)
		return config_agent_find(&k->c.config, o->agent, &k->run.agent, e);
	k->run.agent = config_agent_by_program(&k->c.config, o->argv[0]);
	return 0;
}

static int choose_network(struct child *k, struct err *e)
{
	network_release(&k->run.net);
	if (runtime_choose_network(&k->c, k->o->net, k->o->allow, &k->run, e) < 0)
		return -1;
	return !k->o->weaker || userns_works() ? 0 : runtime_network_landlock_only(&k->run, e);
}

/* Before the task is made: where the agent starts, and whether there is such a program. */
static int on_base(const struct repo *r, void *arg, struct err *e)
{
	struct child *k = arg;
	const struct directory_choice d = { .here = k->spec->cwd, .uncommitted = k->o->with_changes };
	struct program_place p = {
		.repo = r, .uncommitted = k->o->with_changes, .is_agent = k->run.agent != NULL
	};
	auto_str missing = NULL;

	if (directory_choose(r, &d, &k->place, &missing, e) < 0)
		return -1;
	if (missing)
		strvec_pushf(&k->notes, "commit %.12s has no directory '%s': the agent starts at the top",
			r->commit, missing);
	k->top = xstrdup(r->top);
	k->main_top = xstrdup(r->main_top);
	p.cwd = k->place;
	return program_check(&k->c, &p, k->o->argv[0], e);
}

static void note_left_behind(struct child *k, struct left_behind *left, const struct include_report *included)
{
	auto_strvec paths = STRVEC_INIT;
	char count[COUNT_TEXT_MAX];

	left_behind_read(left, &k->task, &included->not_ignored, &paths);
	if (paths.n)
		strvec_pushf(&k->notes,
			"%s uncommitted change%s of the checkout %s not in the task; --with-changes takes %s along",
			count_text(paths.n, count), paths.n == 1 ? "" : "s", paths.n == 1 ? "is" : "are",
			paths.n == 1 ? "it" : "them");
}

static int make_task(struct child *k, struct err *e)
{
	const struct acp_opts *o = k->o;
	auto_left_behind left = LEFT_BEHIND_INIT;
	auto_add_layers layers = { .with_changes = o->with_changes };
	struct task_spec s = { .dir = k->spec->cwd,
		.name = o->task,
		.program = k->run.agent ? k->run.agent->name : o->argv[0],
		.rev = o->base,
		.backend = o->backend            ? o->backend
			   : k->c.config.backend ? k->c.config.backend
						 : BACKEND_FOR_EDITORS,
		.on_dirty = o->on_dirty,
		.strict = o->strict,
		.weaker = o->weaker,
		.on_base = on_base,
		.on_base_arg = k,
		.add_layers = runtime_add_layers,
		.add_layers_arg = &layers,
		.notes = &k->notes };

	if (o->weaker && !o->backend && !userns_works())
		s.backend = NULL;
	if (!o->with_changes)
		left_behind_watch(&left, &s);
	if (task_create(&k->c, &s, &k->task, e) < 0)
		return -1;
	k->made = true;
	for (size_t i = 0; i < layers.warnings.n; i++)
		strvec_push(&k->notes, layers.warnings.v[i]);
	if (!o->with_changes)
		return note_left_behind(k, &left, &layers.included), 0;
	if (!with_changes_copy(&k->c, &k->task, k->spec->cwd, e))
		return 0;
	with_changes_drop(&k->c, &k->task);
	k->made = false;
	return -1;
}

/* The repository's file may make some of the chosen settings stricter. */
static int choose_again(struct child *k, struct err *e)
{
	bool changed = false;

	if (runtime_reconfigure(&k->c, &k->task, &changed, e) < 0)
		return -1;
	if (!changed)
		return 0;
	return choose_agent(k, e) < 0 ? -1 : choose_network(k, e);
}

static int run(struct child *k, struct err *e)
{
	k->run.env = k->o->env;
	k->run.piped = k->run.person = k->run.tied = true;
	k->run.warnings = &k->notes;
	k->run.walls.allow_weaker = k->o->weaker;
	k->run.cwd = k->place;
	return runtime_run(&k->c, &k->task, &k->run, k->o->argv, &k->conn, e);
}

static int in_new_task(struct child *k, struct err *e)
{
	auto_strvec env = STRVEC_INIT;

	if (k->o->strict && k->o->weaker)
		return err_set(
			e, ERR_USAGE, "--strict-isolation never runs weaker: leave --allow-weaker out");
	if (choose_agent(k, e) < 0 || choose_network(k, e) < 0 ||
		agent_environment(&k->c.config, NULL, NULL, k->o->env, NULL, &env, e) < 0 ||
		make_task(k, e) < 0)
		return -1;
	if (!choose_again(k, e) && !run(k, e))
		return 0;
	unstarted_drop(&k->c, &k->task, e);
	unstarted_explain(e, k->o->weaker);
	return -1;
}

/* The editor's directory must be in the task's project. */
static int find_project(struct child *k, struct err *e)
{
	auto_project p = { 0 };
	auto_repo r = { 0 };

	if (here_open(&k->c, k->spec->cwd, "HEAD", &r, e) < 0 || context_store(&k->c, e) < 0 ||
		store_project_by_id(k->c.store, k->task.project_id, &p, e) < 0)
		return -1;
	if (strcmp(p.git_dir, r.git_dir) != 0)
		return err_set(e, ERR_REFUSED, "task '%s' belongs to the project '%s', and '%s' is not in it",
			k->task.name, p.path, k->spec->cwd);
	k->top = xstrdup(r.top);
	k->main_top = xstrdup(r.main_top);
	return 0;
}

static int in_old_task(struct child *k, struct err *e)
{
	if (k->task.strict && k->o->weaker)
		return err_set(e, ERR_USAGE,
			"task '%s' was made with --strict-isolation and never runs weaker", k->task.name);
	if (find_project(k, e) < 0 || runtime_configure(&k->c, &k->task, e) < 0 || choose_agent(k, e) < 0 ||
		runtime_network(&k->c, &k->task, k->o->net, k->o->allow, &k->run, e) < 0)
		return -1;
	k->place = directory_of_task(&k->c, &k->task);
	return run(k, e);
}

static int start_agent(struct child *k, struct err *e)
{
	if (chdir(k->spec->cwd) < 0)
		return err_sys(e, "cannot open '%s'", k->spec->cwd);
	if (k->spec->what == START_AGAIN)
		return task_find_id(&k->c, k->spec->task, &k->task, e) < 0 ? -1 : in_old_task(k, e);
	if (!k->o->task)
		return in_new_task(k, e);
	if (!task_find(&k->c, k->o->task, &k->task, e))
		return in_old_task(k, e);
	if (e->kind != ERR_NOTFOUND)
		return -1;
	*e = (struct err)ERR_INIT;
	return in_new_task(k, e);
}

static void tell_started(struct child *k)
{
	const struct task *t = &k->task;
	auto_str cwd = k->place && *k->place ? path_join(t->workspace, k->place) : xstrdup(t->workspace);
	char id[32];

	snprintf(id, sizeof(id), "%lld", (long long)t->id);
	say(k, "task", id);
	say(k, "name", t->name);
	say(k, "branch", strncmp(t->branch, "refs/heads/", 11) ? t->branch : t->branch + 11);
	say(k, "workspace", t->workspace);
	say(k, "cwd", cwd);
	say(k, "top", k->top);
	say(k, "main_top", k->main_top);
	if (k->made)
		say(k, "made", "");
}

/* The first line that looks like an answer; programs print other things too. */
static bool take_answer(struct child *k)
{
	char *at = k->heard.data, *end;

	while ((end = memchr(at, '\n', k->heard.len - (size_t)(at - k->heard.data)))) {
		*end = '\0';
		if (*at == '{' && strlen(at) == (size_t)(end - at)) {
			say(k, "answer", at);
			return k->answered = true;
		}
		at = end + 1;
	}
	memmove(k->heard.data, at, k->heard.len - (size_t)(at - k->heard.data));
	buf_cut(&k->heard, k->heard.len - (size_t)(at - k->heard.data));
	return false;
}

static void keep_last_words(struct child *k, const char *data, size_t len)
{
	while (len && strchr("\r\n\t ", data[len - 1]))
		len--;
	if (len)
		snprintf(k->last, sizeof(k->last), "%.*s", (int)(len > LAST_WORDS_MAX ? LAST_WORDS_MAX : len),
			data + (len > LAST_WORDS_MAX ? len - LAST_WORDS_MAX : 0));
}

static bool hear(int which, const char *data, size_t len, void *arg)
{
	struct child *k = arg;

	if (which == 2)
		return keep_last_words(k, data, len), false;
	/* an answer that is too long becomes an error */
	k->heard_all += len;
	return k->heard_all > ANSWER_MAX || !buf_add(&k->heard, data, len) || take_answer(k);
}

static int probe(struct child *k, struct err *e)
{
	struct program_place p = { .cwd = "" };
	struct try_spec s = { .argv = k->o->argv,
		.seconds = PROBE_SECONDS,
		.arg = k,
		.net = &k->run.net,
		.env = k->o->env,
		.weaker = k->o->weaker,
		.stop = k->sock };
	auto_buf clean = BUF_SMALL;
	int code = -1;

	if (choose_agent(k, e) < 0 || choose_network(k, e) < 0)
		return -1;
	p.is_agent = k->run.agent != NULL;
	s.agent = k->run.agent;
	if (program_check(&k->c, &p, k->o->argv[0], e) < 0)
		return -1;
	if (runtime_try_talk(&k->c, &s, k->spec->line, hear, &code, e) < 0) {
		unstarted_explain(e, k->o->weaker);
		return err_wrap(e, "cannot ask %s", path_base(k->o->argv[0]));
	}
	if (k->answered)
		return 0;
	clean_line(&clean, k->last);
	if (code < 0)
		return err_set(e, ERR_FAILED, "%s does not answer in the Agent Client Protocol",
			path_base(k->o->argv[0]));
	return err_set(e, ERR_FAILED, "%s ended with exit code %d and did not answer: %s",
		path_base(k->o->argv[0]), code, buf_str(&clean));
}

/* Closes all that belongs to the caller: otherwise other agents' connections would stay open here. */
static void leave_caller(int sock)
{
	sigset_t none;
	int null;

	if (sock > 3)
		close_range(3, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0u, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, 0), dup2(null, 1);
	/* the agent inherits what is ignored */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void say_all(struct child *k, int rc, const struct err *e)
{
	char kind[16];

	/* the connection comes with the first byte */
	sock_send(k->sock, "\0", 1, &k->conn, k->conn >= 0);
	for (size_t i = 0; i < k->notes.n; i++)
		say(k, "note", k->notes.v[i]);
	if (rc < 0) {
		snprintf(kind, sizeof(kind), "%d", (int)e->kind);
		say(k, "kind", kind);
		say(k, "error", e->msg);
		say(k, "hint", e->hint);
		return;
	}
	if (k->spec->what != START_PROBE)
		tell_started(k);
	say(k, "done", "");
}

void start_child(const struct start_spec *spec, int sock)
{
	struct child k = {
		.spec = spec, .o = spec->o, .sock = sock, .conn = -1, .heard = BUF_INIT(ANSWER_MAX)
	};
	struct err e = ERR_INIT;
	int rc;

	leave_caller(sock);
	k.c = (struct context){ .home.fd = -1 };
	rc = context_open(&k.c, &e);
	if (!rc)
		rc = spec->what == START_PROBE ? probe(&k, &e) : start_agent(&k, &e);
	say_all(&k, rc, &e);
	_exit(0);
}
