#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "keeper/state.h"
#include "limits/measure.h"
#include "sys/clock.h"
#include "sys/fd.h"

/* How much the disk has to fill before a new measurement; after how many periods one is made anyway;
 * measuring takes at most 1/SHARE of the time; the limit for one measurement. */
#define GROWN_BYTES (1u << 20)
#define GROWN_FILES 200
#define TURNS_MAX   12
#define SHARE       20
#define SECONDS_MAX 120

static bool look_at_disk(const struct keeper *k, struct disk_room *ret)
{
	struct statvfs v;

	if (fstatvfs(k->spec.task_dir, &v) < 0)
		return false;
	ret->bytes = (uint64_t)v.f_bfree * v.f_frsize;
	ret->files = v.f_ffree;
	return true;
}

static void be_meter(struct keeper *k, int told, struct measure_job *job)
{
	struct measure_result result;
	struct err e = ERR_INIT;

	job->task = k->spec.task;
	job->first = k->first;
	/* the keeper has the gateway's listening socket, with connections that nobody has accepted */
	job->receivers[0] = getppid();
	job->receivers[1] = k->gateway.pid;
	keeper_become("garth-meter", &told, 1);
	if (!measure(job, &result, &e))
		write_full(told, &result, sizeof(result));
	_exit(0);
}

static uint64_t lost(uint64_t before, uint64_t now)
{
	return before > now ? before - now : 0;
}

static void start(struct keeper *k, const struct disk_room *now)
{
	struct meter *m = &k->meter;
	struct measure_job job = { .late = m->late,
		.settles = k->paused && !m->settled,
		.free_bytes = m->began.bytes,
		.free_files = m->began.files,
		.held_bytes = m->held.bytes,
		.held_files = m->held.files,
		.lost_bytes = k->paused ? lost(m->paused.bytes, now->bytes) : 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	m->pid = fork();
	if (!m->pid)
		be_meter(k, ends[1], &job);
	close(ends[1]);
	if (m->pid < 0) {
		m->pid = 0;
		close(ends[0]);
		return;
	}
	m->fd = ends[0];
	m->late = m->outdated = false;
	m->room = *now;
	m->at = clock_ms();
}

/* Scanning a workspace takes time. If the disk has not lost free space, the task has probably not grown. But
 * somebody else may have freed space meanwhile, so it is measured now and then in any case. */
static bool is_due(const struct keeper *k, const struct disk_room *now)
{
	const struct meter *m = &k->meter;
	int64_t clock = clock_ms();

	if (!m->at || m->late)
		return true;
	/* it may have exceeded its limit */
	if (m->max && lost(m->room.bytes, now->bytes) > lost(m->max, m->held.bytes))
		return true;
	if (clock < m->not_before)
		return false;
	return clock - m->at >= TURNS_MAX * 1000 * (int64_t)k->spec.measure_seconds ||
	       now->bytes + GROWN_BYTES <= m->room.bytes || now->files + GROWN_FILES <= m->room.files;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;
	struct meter *m = &k->meter;
	struct disk_room now;

	(void)fd;
	(void)what;
	if (k->phase != PHASE_OPEN)
		return;
	if (m->pid && clock_ms() - m->at > SECONDS_MAX * 1000) {
		m->late = true;
		kill(m->pid, SIGKILL);
	}
	if (!m->pid && look_at_disk(k, &now) && is_due(k, &now))
		start(k, &now);
}

static void obey(struct keeper *k, struct measure_result *r)
{
	struct meter *m = &k->meter;

	r->why[sizeof(r->why) - 1] = '\0';
	/* not later while it is paused, nor after the user's own commands: keep what it used before */
	if (k->paused ? !m->settled : k->spec.main_cmd || !m->held.bytes) {
		m->held.bytes = r->bytes;
		m->held.files = r->files;
	}
	m->settled = k->paused;
	m->max = r->max_bytes;
	if (r->verdict == MEASURE_WARN || r->verdict == MEASURE_PAUSE)
		notifier_tell(k->notifier, NOTIFY_LIMIT, r->why);
	if (r->verdict == MEASURE_WARN)
		phase_note(k, r->why);
	if (r->verdict == MEASURE_PAUSE) {
		pause_all(k, r->why);
		gateway_child_end_commands(k, r->why);
	}
	if (r->verdict == MEASURE_END) {
		phase_note(k, r->why);
		phase_end(k, 128 + SIGKILL);
	}
}

void meter_ended(struct keeper *k, pid_t pid)
{
	struct meter *m = &k->meter;
	struct measure_result r;

	if (!m->pid || pid != m->pid)
		return;
	m->pid = 0;
	m->not_before = clock_ms() + SHARE * (clock_ms() - m->at);
	if (read_full(m->fd, &r, sizeof(r)) == (ssize_t)sizeof(r) && k->phase == PHASE_OPEN && !m->outdated)
		obey(k, &r);
	fd_closep(&m->fd);
	/* then the next turn measures again */
	if (m->outdated)
		m->at = 0;
	if (m->late)
		on_turn(-1, 0, k);
}

void meter_start(struct keeper *k)
{
	struct timeval turn = { .tv_sec = k->spec.measure_seconds };
	struct meter *m = &k->meter;

	if (!turn.tv_sec || !k->spec.task)
		return;
	look_at_disk(k, &m->began);
	m->timer = event_new(k->base, -1, EV_PERSIST, on_turn, k);
	if (m->timer)
		event_add(m->timer, &turn);
}

void meter_pause(struct keeper *k)
{
	look_at_disk(k, &k->meter.paused);
	k->meter.settled = false;
	k->meter.outdated = k->meter.pid != 0;
}

void meter_resume(struct keeper *k)
{
	k->meter.outdated = k->meter.pid != 0;
}

void meter_stop(struct keeper *k)
{
	if (k->meter.timer)
		event_del(k->meter.timer);
	if (k->meter.pid)
		kill(k->meter.pid, SIGKILL);
}
