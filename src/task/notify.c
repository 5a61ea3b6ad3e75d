#include "task/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/deadline.h"
#include "sys/descendants.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/proc.h"
#include "task/life.h"
#include "task/question.h"
#include "task/verdict.h"
#include "workspace/workspace.h"

/* In the task's directory: the lock of the one who notifies. Its time is that of the last notification; it is
 * empty before the first. */
#define NOTIFIED_NAME "notified"
#define WAIT_MS       20

static bool can_run(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *notify_program(const struct config *c, const char **ret_missing)
{
	static const char *const dirs[] = { "/usr/local/bin", "/usr/bin", "/bin" };
	const char *name = c->notify.command.n ? c->notify.command.v[0] : NULL;
	auto_str path = NULL;

	*ret_missing = NULL;
	if (!name)
		return NULL;
	if (strchr(name, '/')) {
		path = *name == '~' ? xasprintf("%s%s", c->home ? c->home : "", name + 1) : xstrdup(name);
		if (can_run(path))
			return steal_ptr(path);
	}
	for (size_t i = 0; !strchr(name, '/') && i < ARRAY_SIZE(dirs); i++) {
		free(path);
		path = xasprintf("%s/%s", dirs[i], name);
		if (can_run(path))
			return steal_ptr(path);
	}
	*ret_missing = name;
	return NULL;
}

/* What there is to say about the task now. */
struct facts {
	struct task task;
	struct question question;
	struct buf note;
	const char *state; /* NULL: nothing */
};

static void facts_release(struct facts *f)
{
	task_release(&f->task);
	question_release(&f->question);
	buf_release(&f->note);
}
#define auto_facts __attribute__((cleanup(facts_release))) struct facts

/* A cancelled task was cancelled by the user; a merged one is done, and was pushed. */
static const char *state_after(const struct task *t)
{
	static const char *const told[][2] = { { STATE_BLOCKED, "blocked" }, { STATE_FAILED, "failed" },
		{ STATE_DONE, "done" }, { STATE_MERGED, "done" } };

	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		if (!strcmp(t->state, told[i][0]))
			return told[i][1];
	return NULL;
}

static void find_facts(const struct notify_job *j, enum notify_event event, const char *why, struct facts *f)
{
	bool runs = life_is_running(&f->task);
	struct err ignored = ERR_INIT;

	if (event == NOTIFY_LIMIT && runs) {
		f->state = "limit";
		buf_addstr(&f->note, why);
	} else if (event == NOTIFY_LOST || (event == NOTIFY_ENDED && runs)) {
		f->state = "failed";
		buf_printf(&f->note, "it was interrupted: garth resume %s", f->task.name);
	} else if (event == NOTIFY_ENDED) {
		f->state = state_after(&f->task);
		task_say(&f->task, &f->note);
	}
	if (f->state && !strcmp(f->state, "blocked"))
		question_load(j->task_dir, &f->question, &ignored);
	if (f->question.for_tickets)
		f->state = NULL;
	if (f->state && !strvec_has(&j->notify->on, f->state))
		f->state = NULL;
}

/* Reads the store. f->state is NULL if there is nothing to tell, or if the task has begun another run. */
static void look(const struct notify_job *j, enum notify_event event, const char *why, struct facts *f)
{
	struct err ignored = ERR_INIT;
	auto_store s = NULL;
	int64_t last;

	*f = (struct facts){ .note = BUF_INIT(8000) };
	if (store_open(j->home, &s, &ignored) < 0 || store_run_last(s, j->task, &last, &ignored) < 0 ||
		last != j->run || store_task_by_id(s, j->task, &f->task, &ignored) < 0)
		return;
	find_facts(j, event, why, f);
}

static void record(const struct notify_job *j, const struct facts *f, int exit_code)
{
	auto_fd home = open(j->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;
	auto_audit audit = NULL;
	auto_store s = NULL;

	if (home >= 0 && !store_open(j->home, &s, &ignored) && !audit_open(home, s, &audit, &ignored))
		audit_add(audit, "notify", &f->task,
			json_pack("{s:s, s:i}", "state", f->state, "exit_code", exit_code), &ignored);
}

/* Reaps all children. Returns false when none is left. */
static bool reap(pid_t pid, int *exit_code)
{
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, WNOHANG)) > 0)
		if (got == pid)
			*exit_code = proc_exit_code(status);
	return got >= 0 || errno != ECHILD;
}

/* What the program leaves in the background may run until its time is up, too. */
static int run(const struct notify_job *j, struct strvec *argv, const struct strvec *env)
{
	struct proc_spec p = { .argv = argv->v, .env = env->v, .cwd = "/", .own_group = true };
	struct deadline d = deadline_in(1000 * NOTIFY_SECONDS);
	struct err ignored = ERR_INIT;
	int exit_code = 128 + SIGKILL;
	pid_t pid;

	free(argv->v[0]);
	argv->v[0] = xstrdup(j->program);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (proc_start(&p, NULL, &pid, &ignored) < 0)
		return 127;
	while (reap(pid, &exit_code))
		if (!deadline_sleep(&d, WAIT_MS)) {
			descendants_end(NULL, 0);
			break;
		}
	return exit_code;
}

static void notify(const struct notify_job *j, const struct facts *f)
{
	bool has_git = backend_of(&f->task)->has_git;
	const struct notice n = { .task = f->task.name,
		.project = has_git ? f->task.project : "",
		.path = has_git ? f->task.repository : "",
		.state = f->state,
		.question = f->question.text ? f->question.text : "",
		.note = f->note.len ? f->note.data : "" };
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;

	notice_words(&n, &j->notify->command, &argv);
	notice_env(&n, environ, &env);
	record(j, f, run(j, &argv, &env));
}

/* Waits until the task's last notification is old enough. If the clock was set back, the wait is not longer. */
static void wait_for_turn(int lock)
{
	struct stat st;
	int64_t left;

	if (fstat(lock, &st) < 0 || !st.st_size)
		return;
	left = (int64_t)st.st_mtime + NOTIFY_SPACING - (int64_t)time(NULL);
	if (left > 0) {
		struct deadline d = deadline_in(1000 * (left < NOTIFY_SPACING ? left : NOTIFY_SPACING));

		while (deadline_sleep(&d, 1000))
			;
	}
}

void notify_send(const struct notify_job *j, enum notify_event event, const char *why)
{
	struct err ignored = ERR_INIT;
	auto_facts now = { 0 }, then = { 0 };
	auto_lock lock = -1;

	look(j, event, why, &now);
	/* a process before us in the queue waits at most as long as we do */
	if (!now.state || lock_take(j->task_dir, NOTIFIED_NAME, true, &lock, &ignored) < 0)
		return;
	wait_for_turn(lock);
	look(j, event, why, &then);
	if (!then.state)
		return;
	(void)!pwrite(lock, "\n", 1, 0);
	notify(j, &then);
}
