#include "plan/run_stages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "plan/check_task.h"
#include "plan/check_walls.h"
#include "plan/land.h"
#include "plan/make.h"
#include "plan/resolution.h"
#include "plan/start.h"
#include "plan/step.h"
#include "plan/ticket_runner.h"
#include "runtime/watch.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/stage_ask.h"
#include "task/task.h"
#include "task/tickets.h"

/* How often stages are looked at without any event: for quota times, removed tasks, a lost notification. */
#define LOOK_MS 30000
/* How long to wait before work is tried again that failed because somebody else was busy with it: longer each time. */
#define AGAIN_MS     200
#define AGAIN_MAX_MS 6400
/* A merge may wait for something that only a person can change. */
#define MERGE_AGAIN_MS     1000
#define MERGE_AGAIN_MAX_MS 30000
/* A stage has failed if its worker was killed this often in a row. */
#define DEATHS_MAX 5
/* How many steps of a stage follow each other before the others are looked at: more than a stage has states on its way. */
#define STEPS_MAX 16
/* How long a stopped runner waits for short work. */
#define STOP_MS 20000

/* Stands for a stage's id: what is done so far is merged into the user's branch. */
#define LANDING (-1)

/* A process that works on one stage, or on the user's branch (LANDING). */
struct worker {
	pid_t pid;
	int pidfd;
	int64_t stage; /* its id, or LANDING */
	enum stage_work work;
};

/* Work that failed and is to be tried again. */
struct again {
	int64_t at; /* it is tried again then; 0: at once */
	unsigned tries, deaths;
};

struct runner {
	struct context *c;
	struct plan plan;
	struct plan_row *row;
	const struct plan_run_opts *o;
	struct stage_row_list stages;
	struct worker *workers;
	size_t nworkers;
	struct again *again; /* for each stage */
	struct watch watch;
	int64_t *watched; /* for each stage: which task of it is watched; 0: none */
	char *walls;
	struct repo repo;
	struct strvec unmerged; /* for tickets_settle (task/tickets.h) */
	size_t landed;          /* with merge: each, how many stages were done at the last merge */
};

static volatile sig_atomic_t stop_signal;

static void on_stop(int sig)
{
	stop_signal = sig;
}

/* Without SA_RESTART, so that a wait ends. */
static void listen_to_signals(struct sigaction old[3])
{
	static const int signals[3] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction on = { .sa_handler = on_stop };

	stop_signal = 0;
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &on, &old[i]);
}

static void restore_signals(const struct sigaction old[3])
{
	static const int signals[3] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &old[i], NULL);
}

static struct stage_job job_of(struct runner *r, size_t i)
{
	return (struct stage_job){ .c = r->c,
		.plan = &r->plan,
		.stage = &r->plan.stages[i],
		.row = r->row,
		.at = &r->stages.v[i],
		.all = &r->stages,
		.repo = &r->repo,
		.walls = r->walls };
}

static struct worker *worker_of(struct runner *r, int64_t stage)
{
	for (size_t i = 0; i < r->nworkers; i++)
		if (r->workers[i].stage == stage)
			return &r->workers[i];
	return NULL;
}

/* Runs in the new process, which dies with the runner and shares its lock. */
static int run_worker(struct runner *r, size_t i, enum stage_work work, pid_t parent)
{
	struct stage_job j = job_of(r, i);
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	struct err e = ERR_INIT;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	/* the user's Ctrl-C is meant for the runner */
	setpgid(0, 0);
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGTERM, &dfl, NULL);
	sigaction(SIGHUP, &dfl, NULL);
	fault("plan-work");
	return step_do(&j, work, &e) < 0 ? err_exit_code(e.kind) : 0;
}

/* The walls of checks. They are looked up when the first check comes, so that no agent waits for it. Those of tickets depend on
 * their task, too. */
static void know_walls(struct runner *r)
{
	auto_str walls = r->walls ? NULL : check_walls_now(r->c, r->row);

	if (walls)
		r->walls = r->row->tickets ? xasprintf("%s of %lld", walls, (long long)r->row->task_id)
					   : steal_ptr(walls);
}

static bool has_checks(const struct plan_stage *s, enum stage_work work)
{
	bool before = false;

	for (size_t i = 0; i < s->nchecks; i++)
		before |= s->checks[i].kind == PLAN_CHECK_BEFORE;
	return work != WORK_START || before;
}

static int begin(struct runner *r, size_t i, enum stage_work work, struct err *e)
{
	pid_t pid, parent = getpid();
	struct worker *w;

	if (has_checks(&r->plan.stages[i], work))
		know_walls(r);
	context_close_store(r->c);
	pid = fork();
	if (pid < 0)
		return err_sys(e, "cannot start a process");
	if (!pid)
		_exit(run_worker(r, i, work, parent));
	r->workers = xrealloc(r->workers, r->nworkers + 1, sizeof(*r->workers));
	w = &r->workers[r->nworkers++];
	*w = (struct worker){ pid, (int)syscall(SYS_pidfd_open, pid, 0),
		work == WORK_LAND ? LANDING : r->stages.v[i].id, work };
	return 0;
}

static size_t number_of(const struct runner *r, int64_t stage)
{
	for (size_t i = 0; i < r->stages.n; i++)
		if (r->stages.v[i].id == stage)
			return i;
	return 0;
}

static void note_end(struct again *a, enum stage_work work, int status)
{
	int64_t first = work == WORK_MERGE ? MERGE_AGAIN_MS : AGAIN_MS;
	int64_t max = work == WORK_MERGE ? MERGE_AGAIN_MAX_MS : AGAIN_MAX_MS;
	int64_t ms = first << (a->tries < 5 ? a->tries : 5);

	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		*a = (struct again){ 0 };
		return;
	}
	a->tries++;
	a->deaths += WIFSIGNALED(status);
	a->at = clock_ms() + (ms < max ? ms : max);
}

static void reap(struct runner *r)
{
	int status;

	for (size_t i = 0; i < r->nworkers;) {
		struct worker *w = &r->workers[i];

		if (waitpid(w->pid, &status, WNOHANG) == 0) {
			i++;
			continue;
		}
		if (w->stage != LANDING)
			note_end(&r->again[number_of(r, w->stage)], w->work, status);
		fd_closep(&w->pidfd);
		*w = r->workers[--r->nworkers];
	}
}

/* For what is kept of each stage; `had`: for how many there is room. */
static void make_room(struct runner *r, size_t had)
{
	r->again = xrealloc(r->again, r->plan.nstages + 1, sizeof(*r->again));
	r->watched = xrealloc(r->watched, r->plan.nstages + 1, sizeof(*r->watched));
	for (size_t i = had; i <= r->plan.nstages; i++) {
		r->again[i] = (struct again){ 0 };
		r->watched[i] = 0;
	}
}

/* The task has new tickets. */
static int read_plan_again(struct runner *r, struct err *e)
{
	size_t had = r->plan.nstages;

	if (!r->row->tickets || had == r->stages.n)
		return 0;
	plan_release(&r->plan);
	r->plan = (struct plan){ 0 };
	if (plan_open(r->c, r->row, &r->plan, e) < 0)
		return -1;
	make_room(r, had);
	return 0;
}

static int load(struct runner *r, struct err *e)
{
	auto_plan_row now = { 0 };

	if (r->row->tickets && tickets_look(r->c, r->row, &r->repo, &r->unmerged, e) < 0)
		return -1;

	if (context_store(r->c, e) < 0 || store_plan_by_id(r->c->store, r->row->id, &now, e) < 0)
		return -1;
	plan_row_release(r->row);
	*r->row = now;
	now = (struct plan_row){ 0 };
	stage_row_list_release(&r->stages);
	if (store_stage_list(r->c->store, r->row->id, &r->stages, e) < 0 || read_plan_again(r, e) < 0)
		return -1;
	return r->stages.n == r->plan.nstages
		       ? 0
		       : err_set(e, ERR_FAILED, "the stages of the plan '%s' are not those of its text",
				 r->row->name);
}

/* Also watches the task of the tickets: it may end, or merge a ticket for which others wait. */
static void watch_parent(struct runner *r)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (!r->row->tickets || home_task_dir(&r->c->home, r->row->task_id, &dir, &ignored) < 0)
		return;
	watch_file(&r->watch, dir, TICKETS_FILE);
	watch_end(&r->watch, r->c, r->row->task_id);
}

/* Called before the stages are looked at, so that no end is missed. Tasks that cannot be watched are looked at every LOOK_MS. */
static void watch(struct runner *r)
{
	/* notifications that failed once may work by now */
	if (r->watch.begun && r->watch.notify < 0) {
		watch_close(&r->watch);
		memset(r->watched, 0, (r->plan.nstages + 1) * sizeof(*r->watched));
	}
	watch_file(&r->watch, r->o->dir, PLAN_WAKE_FILE);
	watch_parent(r);
	for (size_t i = 0; i < r->stages.n; i++) {
		const struct stage_row *s = &r->stages.v[i];

		if (s->task_id && s->task_id != r->watched[i] && !stage_is_over(s) &&
			!stage_is(s, STAGE_WAITING) && watch_end(&r->watch, r->c, s->task_id))
			r->watched[i] = s->task_id;
	}
}

static struct step_room room_of(struct runner *r)
{
	struct step_room room = { .plan_max = r->plan.max_parallel ? r->plan.max_parallel
								   : r->c->config.plan_max_parallel,
		.fail_fast = r->o->fail_fast };

	for (size_t i = 0; i < r->stages.n; i++) {
		const struct stage_row *s = &r->stages.v[i];

		room.plan += s->slot;
		room.merging += stage_is(s, STAGE_MERGING);
		room.failed |= stage_is(s, STAGE_FAILED);
	}
	return room;
}

static void show(struct runner *r)
{
	if (r->o->show)
		r->o->show(&r->plan, r->row, &r->stages, r->o->arg);
}

/* Takes one step of a stage, and starts the work that it calls for. */
static int step_once(struct runner *r, size_t i, struct step_room *room, enum step_result *ret, struct err *e)
{
	struct stage_job j = job_of(r, i);
	enum stage_work work = WORK_NONE;

	if (stage_is(j.at, STAGE_CHECKING))
		know_walls(r), j.walls = r->walls;
	if (step_stage(&j, room, &work, ret, e) < 0 || (work != WORK_NONE && begin(r, i, work, e) < 0))
		return -1;
	fault("plan-step");
	if (*ret == STEP_MOVED)
		show(r);
	return 0;
}

/* As many steps as the stage takes without any wait. *ret_moved: at least one. */
static int steps(struct runner *r, size_t i, struct step_room *room, bool *ret_moved, struct err *e)
{
	struct stage_job j = job_of(r, i);
	enum step_result result = STEP_MOVED;

	if (r->again[i].deaths >= DEATHS_MAX) {
		r->again[i] = (struct again){ 0 };
		step_fail(&j, "a process of Garth that worked on it was killed again and again");
		*ret_moved = true;
		return 0;
	}
	for (unsigned n = 0; n < STEPS_MAX && result == STEP_MOVED && !stage_is_over(j.at); n++) {
		if (step_once(r, i, room, &result, e) < 0)
			return -1;
		*ret_moved |= result != STEP_NONE;
	}
	return 0;
}

/* Looks at each stage. *ret_moved: at least one of them is in another state now. */
static int round_of_steps(struct runner *r, bool *ret_moved, struct err *e)
{
	struct step_room room = room_of(r);

	*ret_moved = false;
	for (size_t i = 0; i < r->stages.n; i++) {
		const struct stage_row *s = &r->stages.v[i];

		if (stage_is_over(s) || worker_of(r, s->id) || clock_ms() < r->again[i].at)
			continue;
		r->again[i].at = 0;
		if (steps(r, i, &room, ret_moved, e) < 0)
			return -1;
	}
	return 0;
}

static size_t count_done(const struct runner *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->stages.n; i++)
		n += stage_is(&r->stages.v[i], STAGE_DONE);
	return n;
}

/* With merge: each. The merge at the end does the rest, and puts the tasks away. */
static int land_each(struct runner *r, struct err *e)
{
	size_t done = count_done(r);

	if (r->plan.merge != PLAN_MERGE_EACH || done == r->landed || done == r->stages.n ||
		worker_of(r, LANDING))
		return 0;
	r->landed = done;
	return begin(r, 0, WORK_LAND, e);
}

static bool goes_on(struct runner *r)
{
	struct step_room room;

	if (r->nworkers)
		return true;
	if (r->row->tickets)
		return tickets_runner_stays(r->c, r->row, &r->stages, &r->plan);
	room = room_of(r);
	for (size_t i = 0; i < r->stages.n; i++) {
		struct stage_job j = job_of(r, i);

		/* after a failure nothing new is begun */
		if (step_goes_on(&j) &&
			!(room.fail_fast && room.failed &&
				(stage_is(j.at, STAGE_READY) || stage_is(j.at, STAGE_REWORK) ||
					stage_is(j.at, STAGE_WAITING))))
			return true;
	}
	return false;
}

static bool wants_person(struct runner *r)
{
	for (size_t i = 0; i < r->stages.n; i++)
		if (step_wants_person(&r->stages.v[i]))
			return true;
	return false;
}

static bool all_done(const struct runner *r)
{
	return count_done(r) == r->stages.n;
}

/* How long the runner can sleep. */
static int wait_ms(struct runner *r)
{
	int64_t ms = LOOK_MS, now = time(NULL), clock = clock_ms();

	for (size_t i = 0; i < r->stages.n; i++) {
		const struct stage_row *s = &r->stages.v[i];
		int64_t left = (s->until - now) * 1000;

		if (stage_is(s, STAGE_QUOTA) && left < ms)
			ms = left < 0 ? 0 : left;
		/* its time may have come since the stages were looked at */
		left = r->again[i].at - clock;
		if (r->again[i].at && !stage_is_over(s) && left < ms)
			ms = left < 0 ? 0 : left;
	}
	if (r->o->tick_ms && r->o->tick_ms < ms)
		ms = r->o->tick_ms;
	return (int)ms;
}

static void wait_for_news(struct runner *r)
{
	struct pollfd *p = xcalloc(r->nworkers + 1, sizeof(*p));
	int ms = wait_ms(r);
	char events[4096];

	p[0] = (struct pollfd){ .fd = r->watch.notify, .events = POLLIN };
	for (size_t i = 0; i < r->nworkers; i++)
		p[i + 1] = (struct pollfd){ .fd = r->workers[i].pidfd, .events = POLLIN };
	/* if there are no notifications, or a process cannot be watched */
	if (r->watch.notify < 0 && ms > AGAIN_MS)
		ms = AGAIN_MS;
	for (size_t i = 0; i < r->nworkers; i++)
		if (r->workers[i].pidfd < 0 && ms > AGAIN_MS)
			ms = AGAIN_MS;
	poll(p, r->nworkers + 1, ms);
	while (r->watch.notify >= 0 && read(r->watch.notify, events, sizeof(events)) > 0)
		;
	free(p);
}

/* Ends the workers: waits for those that start an agent, kills the others. Agents go on. */
static void stop(struct runner *r)
{
	struct deadline d = deadline_in(STOP_MS);

	for (size_t i = 0; i < r->nworkers; i++)
		if (r->workers[i].work != WORK_START)
			kill(r->workers[i].pid, SIGKILL);
	while (r->nworkers && deadline_left(&d)) {
		struct pollfd p = { .fd = r->workers[0].pidfd, .events = POLLIN };

		poll(&p, 1, 200);
		reap(r);
	}
	for (size_t i = 0; i < r->nworkers; i++)
		kill(r->workers[i].pid, SIGKILL);
	while (r->nworkers && waitpid(r->workers[0].pid, NULL, 0) > 0)
		r->workers[0] = r->workers[--r->nworkers];
}

/* Works until nothing goes on any more. */
static int run_stages(struct runner *r, enum plan_run_end *ret, struct err *e)
{
	while (!stop_signal) {
		bool moved = true;

		/* what an ended worker has written is read, and what it started is watched before it is looked at */
		reap(r);
		if (load(r, e) < 0)
			return -1;
		if (strcmp(r->row->state, PLAN_RUNNING) != 0)
			break;
		watch(r);
		if (round_of_steps(r, &moved, e) < 0 || land_each(r, e) < 0)
			return -1;
		show(r);
		if (moved)
			continue;
		if (!goes_on(r) && !(wants_person(r) && r->o->stays))
			break;
		wait_for_news(r);
	}
	*ret = stop_signal       ? PLAN_RUN_STOPPED
	       : all_done(r)     ? PLAN_RUN_DONE
	       : wants_person(r) ? PLAN_RUN_WAITS
				 : PLAN_RUN_FAILED;
	return 0;
}

static int end_plan(struct runner *r, const char *state, const char *note, struct err *e)
{
	auto_str was = xstrdup(r->row->state);

	stage_set(&r->row->state, state);
	stage_set(&r->row->note, note);
	r->row->ended = time(NULL);
	return context_store(r->c, e) < 0 ? -1 : store_plan_write(r->c->store, r->row, was, e);
}

/* All stages are done: merges the plan's work into the user's branch, if the plan says so. */
static int finish(struct runner *r, struct err *e)
{
	struct stage_job j;
	struct err why = ERR_INIT;

	know_walls(r);
	j = job_of(r, r->stages.n - 1);
	if (r->plan.merge == PLAN_MERGE_ASK || r->plan.merge == PLAN_MERGE_NEVER || !*r->row->target)
		return end_plan(r, PLAN_DONE, "", e);
	if (plan_land(&j, &why) < 0)
		return end_plan(r, PLAN_DONE, why.msg, e);
	return end_plan(r, PLAN_DONE, "", e);
}

static int run(struct runner *r, enum plan_run_end *ret, struct err *e)
{
	if (plan_open(r->c, r->row, &r->plan, e) < 0 || job_open_repo(r->c, r->row, &r->repo, e) < 0)
		return -1;
	make_room(r, 0);
	/* left by a runner that was killed */
	if (load(r, e) < 0 || check_task_clear_all(r->c, r->row, &r->stages, e) < 0)
		return -1;
	for (size_t i = 0; i < r->stages.n; i++)
		resolution_clear(&(struct stage_job){ .c = r->c, .row = r->row, .at = &r->stages.v[i] });
	if (run_stages(r, ret, e) < 0)
		return -1;
	if (strcmp(r->row->state, PLAN_RUNNING) != 0)
		return 0;
	if (*ret == PLAN_RUN_DONE && !r->row->tickets)
		return finish(r, e);
	return 0;
}

int plan_run(struct context *c, struct plan_row *row, const struct plan_run_opts *o, enum plan_run_end *ret,
	struct err *e)
{
	struct runner r = { .c = c, .row = row, .o = o, .watch = WATCH_INIT };
	struct err ignored = ERR_INIT;
	struct sigaction old[3];
	int rc;

	stage_agent_default(c);
	plan_wake(c, row->id);
	listen_to_signals(old);
	rc = run(&r, ret, e);
	stop(&r);
	/* how the plan ended; another command may have ended it */
	if (!rc && !load(&r, &ignored))
		show(&r);
	check_task_clear_all(c, row, &r.stages, &ignored);
	restore_signals(old);
	plan_release(&r.plan);
	stage_row_list_release(&r.stages);
	free(r.workers);
	free(r.again);
	free(r.watched);
	watch_close(&r.watch);
	free(r.walls);
	strvec_release(&r.unmerged);
	repo_release(&r.repo);
	return rc;
}
