#include "task/run.h"

#include <fcntl.h>
#include <sys/random.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/verdict.h"

/* How many bytes of a command's words are kept, in the store and in the audit log. */
#define WORDS_MAX  (64u << 10)
#define LOGGED_MAX 2000

void task_session_id(char out[37])
{
	unsigned char b[16] = { 0 };

	(void)!getrandom(b, sizeof(b), 0);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static void one_line(char *const *argv, struct buf *out)
{
	for (; *argv; argv++)
		buf_printf(out, "%s%.200s", out->len ? " " : "", *argv);
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < 0x20)
			out->data[i] = ' ';
}

/* All words of the command; beyond `max` bytes they are replaced by "...". */
static json_t *words_of(char *const *argv, size_t max)
{
	json_t *list = json_array();
	size_t n = 0;

	for (; *argv && (n += strlen(*argv)) <= max; argv++)
		json_array_append_new(list, audit_text(*argv));
	if (*argv)
		json_array_append_new(list, json_string("..."));
	return list;
}

/* The store has it already: if the audit line cannot be written (disk full), the run continues. */
static void log_run(int home, struct store *s, const struct task *t, const char *event, json_t *details)
{
	struct err ignored = ERR_INIT;
	auto_audit log = NULL;

	if (audit_open(home, s, &log, &ignored) < 0)
		json_decref(details);
	else
		audit_add(log, event, t, details, &ignored);
}

int task_run_begin(struct context *c, struct task *t, const char *session, char *const *argv,
	struct task_run *ret, struct err *e)
{
	json_t *words = words_of(argv, WORDS_MAX);
	auto_str text = json_dumps(words, JSON_COMPACT);
	auto_buf line = BUF_INIT(2000);

	*ret = (struct task_run){ .task = t->id };
	json_decref(words);
	one_line(argv, &line);
	if (context_store(c, e) < 0 || store_begin(c->store, e) < 0)
		return -1;
	/* notes are about the last run: clear them */
	if (life_move(c->store, t, STATE_RUNNING, e) < 0 || store_task_note(c->store, t->id, "", e) < 0 ||
		store_run_begin(c->store, t->id, session, buf_str(&line), text ? text : "", &ret->run, e) <
			0 ||
		store_commit(c->store, e) < 0) {
		store_rollback(c->store);
		return -1;
	}
	log_run(c->home.fd, c->store, t, "start",
		json_pack("{s:s, s:o}", "session", session, "command", words_of(argv, LOGGED_MAX)));
	ret->home = xstrdup(c->home.path);
	snprintf(ret->session, sizeof(ret->session), "%s", session);
	return 0;
}

static const char *state_after(const struct run_outcome *o)
{
	switch (o->how) {
	case RUN_CANCELLED:
		return STATE_CANCELLED;
	case RUN_ASKS:
		return STATE_BLOCKED;
	case RUN_TIMED_OUT:
		return STATE_FAILED;
	default:
		return *o->verdict && strcmp(o->verdict, VERDICT_KEPT) ? STATE_FAILED : STATE_DONE;
	}
}

int task_run_end(const struct task_run *r, const struct run_outcome *o, struct err *e)
{
	const char *state = state_after(o);
	auto_fd home = open(r->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_store s = NULL;
	auto_task t = { 0 };

	if (store_open(r->home, &s, e) < 0 || store_begin(s, e) < 0)
		return -1;
	if (store_run_end(s, r->run, o->exit_code, state, o->verdict, o->leftover, e) < 0 ||
		store_task_by_id(s, r->task, &t, e) < 0 || life_move(s, &t, state, e) < 0 ||
		store_commit(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	log_run(home, s, &t, "end",
		json_pack(
			"{s:s, s:i, s:s}", "state", state, "exit_code", o->exit_code, "verdict", o->verdict));
	return 0;
}

void task_run_release(struct task_run *r)
{
	free(r->home);
	r->home = NULL;
}
