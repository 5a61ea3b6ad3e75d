#include "limits/measure.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "base/size.h"
#include "jail/userns.h"
#include "limits/change_state.h"
#include "limits/usage.h"
#include "sys/unlinked_files.h"
#include "task/disk_limit.h"
#include "task/life.h"
#include "task/own_config.h"

/* By how much of its limit a paused task may still grow: writes that were under way, and blocks that the file
 * system allocates late. */
#define SLACK_PART  8
#define SLACK_BYTES (1u << 20)
#define SLACK_FILES 100

struct meter {
	const struct measure_job *job;
	struct context context;
	struct task task;
	struct task_at at;
	struct tree_use use;
	uint64_t max_bytes, max_files;
};

static void meter_close(struct meter *m)
{
	task_at_close(&m->at);
	task_release(&m->task);
	context_close(&m->context);
}

static int meter_open(struct meter *m, struct err *e)
{
	struct context *c = &m->context;

	if (context_open(c, e) < 0 || context_store(c, e) < 0 ||
		store_task_by_id(c->store, m->job->task, &m->task, e) < 0 ||
		task_open_files(c, &m->task, &m->at, NULL, e) < 0)
		return -1;
	return own_config_apply(&c->config, m->at.ws.dir, e);
}

/* Files of unknown size cannot be larger than the free space that was lost since the keeper started and is
 * not explained by anything else. */
static void add_unexplained(struct meter *m)
{
	const struct measure_job *j = m->job;
	struct statvfs v;
	uint64_t bytes, files;

	if (!j->free_bytes || fstatvfs(m->at.ws.dir, &v) < 0)
		return;
	bytes = (uint64_t)v.f_bfree * v.f_frsize;
	files = v.f_ffree;
	if (bytes < j->free_bytes && j->free_bytes - bytes > m->use.bytes)
		m->use.bytes = j->free_bytes - bytes;
	if (files < j->free_files && j->free_files - files > m->use.inodes)
		m->use.inodes = j->free_files - files;
}

/* The task's files, and removed files that its processes still hold open. */
static int count(struct meter *m, struct err *e)
{
	bool stood_in = backend_of(&m->task)->landlock_only && !userns_works();
	struct unlinked_files ghosts;
	struct stat st;

	if (m->job->late)
		return err_set(e, ERR_FAILED, "that takes too long");
	if (usage_of_task(&m->at, &m->use, e) < 0)
		return -1;
	if (m->use.closed)
		return err_set(e, ERR_FAILED, "it has directories that cannot be looked into");
	if (unlinked_files_count(&(struct unlinked_search){ .of = m->job->first,
					 .has_supervisor = stood_in,
					 .home = fstat(m->at.ws.dir, &st) < 0 ? 0 : st.st_dev,
					 .receivers = m->job->receivers,
					 .nreceivers = ARRAY_SIZE(m->job->receivers) },
		    &ghosts) < 0)
		return err_set(e, ERR_FAILED, "what its processes have open is more than can be looked at");
	m->use.bytes += ghosts.bytes;
	m->use.inodes += ghosts.inodes;
	if (ghosts.unsure)
		add_unexplained(m);
	return 0;
}

/* Says which limit is exceeded, and by how much; an empty text if none is. */
static void describe(const struct meter *m, struct measure_result *r)
{
	const struct tree_use *u = &m->use;
	const char *name = m->task.name;
	char held[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX], more[SIZE_TEXT_MAX];

	if (m->max_bytes && u->bytes > m->max_bytes)
		snprintf(r->why, sizeof(r->why),
			"it holds %s on disk, more than limits.max_disk (%s): garth resume --limit max_disk=%s %s "
			"raises that, or make room with garth exec, then garth resume %s",
			size_text(u->bytes, held), size_text(m->max_bytes, max),
			size_option(u->bytes * 2, more), name, name);
	else if (m->max_files && u->inodes > m->max_files)
		snprintf(r->why, sizeof(r->why),
			"it holds %llu files of all kinds, ignored ones and those of its home too, more than "
			"limits.max_inodes (%llu): garth resume --limit max_inodes=%llu %s raises that, or make room "
			"with garth exec, then garth resume %s",
			(unsigned long long)u->inodes, (unsigned long long)m->max_files,
			(unsigned long long)u->inodes * 2, name, name);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* part: what part of the limit it may grow by. */
static bool has_grown(uint64_t now, uint64_t before, uint64_t max, uint64_t part, uint64_t slack)
{
	return max && now > larger(max, before) + larger(max / part, slack);
}

/* The task is paused, or runs only the user's commands, and still grows. */
static bool grows_unasked(const struct meter *m)
{
	const struct measure_job *j = m->job;
	uint64_t held = j->held_bytes ? j->held_bytes : (uint64_t)m->task.disk;
	/* between the measurement that led to the pause and the pause itself it may have written much */
	uint64_t part = j->settles ? 1 : SLACK_PART;

	return (held && has_grown(m->use.bytes, held, m->max_bytes, part, SLACK_BYTES)) ||
	       (j->held_files && has_grown(m->use.inodes, j->held_files, m->max_files, part, SLACK_FILES));
}

static int move(struct meter *m, const char *event, const char *to, const char *why, struct err *e)
{
	auto_audit audit = NULL;

	if (audit_open(m->context.home.fd, m->context.store, &audit, e) < 0)
		return -1;
	return limits_change_state(&m->context, &m->task, audit, event, to, why, e);
}

static int end(struct meter *m, struct measure_result *r, struct err *e)
{
	char held[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX];

	snprintf(r->why, sizeof(r->why),
		"ended: it went on writing %s, and holds %s in %llu files (limits.max_disk %s, limits.max_inodes "
		"%llu)",
		strcmp(m->task.state, STATE_PAUSED) ? "beyond its limit" : "while it was paused",
		size_text(m->use.bytes, held), (unsigned long long)m->use.inodes,
		size_text(m->max_bytes, max), (unsigned long long)m->max_files);
	r->verdict = MEASURE_END;
	return move(m, "end", NULL, r->why, e);
}

static int pause_for(struct meter *m, struct measure_result *r, struct err *e)
{
	r->verdict = MEASURE_PAUSE;
	return move(m, "pause", STATE_PAUSED, r->why, e);
}

static int judge(struct meter *m, struct measure_result *r, struct err *e)
{
	bool running = !strcmp(m->task.state, STATE_RUNNING);
	bool was_near = disk_is_near((uint64_t)m->task.disk, (uint64_t)m->task.disk_max);
	char held[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX];

	if (!running && grows_unasked(m))
		return end(m, r, e);
	if ((running || !m->task.disk || m->use.bytes < (uint64_t)m->task.disk) &&
		store_task_measured(
			m->context.store, m->task.id, (int64_t)m->use.bytes, (int64_t)m->max_bytes, e) < 0)
		return -1;
	if (!running)
		return 0;
	describe(m, r);
	if (*r->why)
		return pause_for(m, r, e);
	if (disk_is_near(m->use.bytes, m->max_bytes) && !was_near) {
		r->verdict = MEASURE_WARN;
		snprintf(r->why, sizeof(r->why),
			"it holds %s on disk, and is paused beyond %s (limits.max_disk)",
			size_text(m->use.bytes, held), size_text(m->max_bytes, max));
	}
	return 0;
}

/* The task cannot be measured, so it may be of any size. */
static int judge_uncounted(
	struct meter *m, const struct err *uncounted, struct measure_result *r, struct err *e)
{
	m->max_bytes = disk_max(&m->context.config, m->at.ws.dir, (uint64_t)m->task.disk);
	m->use.bytes = m->job->held_bytes + m->job->lost_bytes;
	if (!strcmp(m->task.state, STATE_PAUSED) && m->job->lost_bytes > m->max_bytes)
		return end(m, r, e);
	if (strcmp(m->task.state, STATE_RUNNING) != 0)
		return 0;
	snprintf(r->why, sizeof(r->why),
		"what it holds on disk cannot be counted (%.200s); garth resume %s resumes it",
		uncounted->msg, m->task.name);
	return pause_for(m, r, e);
}

int measure(const struct measure_job *j, struct measure_result *ret, struct err *e)
{
	__attribute__((
		cleanup(meter_close))) struct meter m = { .job = j, .context.home.fd = -1, .at.ws.dir = -1 };
	struct measure_result r = { 0 };

	if (meter_open(&m, e) < 0)
		return -1;
	m.max_files = m.context.config.max_inodes;
	if (count(&m, e) < 0) {
		struct err why = *e;

		if (judge_uncounted(&m, &why, &r, e) < 0)
			return -1;
		*ret = r;
		return 0;
	}
	m.max_bytes = disk_max(&m.context.config, m.at.ws.dir, m.use.bytes);
	r = (struct measure_result){ .bytes = m.use.bytes, .files = m.use.inodes, .max_bytes = m.max_bytes };
	if (judge(&m, &r, e) < 0)
		return -1;
	*ret = r;
	return 0;
}
