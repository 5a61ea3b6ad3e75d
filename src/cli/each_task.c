#include "cli/each_task.h"

#include <string.h>

#include "base/buf.h"
#include "base/strvec.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"

/* What became of several tasks. */
struct result {
	json_t *tasks, *errors;
	struct strvec done, failed, skipped;
	int code; /* of the first failure */
};

static int one_task(const struct each_task *m, const char *name)
{
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	json_t *answer = NULL;
	auto_task t = { 0 };

	if (context_open(&c, &e) < 0 || (m->batch && context_store(&c, &e) < 0))
		return say_error(&e);
	/* with a task, its tickets go */
	if (m->batch)
		store_batch_begin(c.store);
	if (cmd_find_task(&c, name, &t, &e) < 0 || m->one(&c, &t, m->data, &answer, &e) < 0)
		return say_error_members(&e, answer);
	if (m->json)
		return json_print(answer);
	json_decref(answer);
	return 0;
}

static void add_error(struct result *r, const char *name, const struct err *e, json_t *members)
{
	json_t *o = json_error(e);
	int code = say_error_text(e);

	json_object_set_new(o, "task", json_text(name));
	if (members)
		json_object_update(o, members);
	json_array_append_new(r->errors, o);
	strvec_push(&r->failed, name);
	if (!r->code)
		r->code = code;
}

static void do_one(const struct each_task *m, struct context *c, const char *name, struct result *r)
{
	struct err e = ERR_INIT;
	json_t *answer = NULL;
	auto_task t = { 0 };

	if (cmd_find_task(c, name, &t, &e) < 0 || m->one(c, &t, m->data, &answer, &e) < 0) {
		add_error(r, name, &e, answer);
	} else {
		strvec_push(&r->done, name);
		if (answer)
			json_array_append(r->tasks, answer);
	}
	json_decref(answer);
}

/* Each task has its own context, because its task file may change the configuration. In a batch they share one,
 * because the store knows the batch. */
static int do_in_turn(const struct each_task *m, const char *name, struct result *r)
{
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;

	if (context_open(&c, &e) < 0)
		return say_error(&e);
	do_one(m, &c, name, r);
	return 0;
}

static void join(struct buf *out, const struct strvec *names)
{
	for (size_t i = 0; i < names->n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", names->v[i]);
}

/* What was done before a failure, and what was not. */
static void tell_rest(const struct each_task *m, const struct result *r)
{
	auto_buf done = BUF_SMALL, not_done = BUF_SMALL;

	if (!r->code || !m->in_order)
		return;
	join(&done, &r->done);
	join(&not_done, &r->failed);
	if (r->skipped.n)
		buf_addstr(&not_done, ", ");
	join(&not_done, &r->skipped);
	say_warning(
		"%s: %s; not %s: %s", m->done, done.len ? done.data : "none", m->done, buf_str(&not_done));
}

static int several(const struct each_task *m, char **names, int n, struct result *r)
{
	auto_context c = { .home.fd = -1 };
	auto_strvec seen = STRVEC_INIT;
	struct err e = ERR_INIT;
	int rc = 0;

	if (m->batch) {
		if (context_open(&c, &e) < 0 || context_store(&c, &e) < 0)
			return say_error(&e);
		store_batch_begin(c.store);
	}
	for (int i = 0; i < n && !rc; i++) {
		if (strvec_has(&seen, names[i]))
			continue;
		strvec_push(&seen, names[i]);
		if (r->code && m->in_order)
			strvec_push(&r->skipped, names[i]);
		else if (m->batch)
			do_one(m, &c, names[i], r);
		else
			rc = do_in_turn(m, names[i], r);
	}
	tell_rest(m, r);
	return rc;
}

int each_task_run(const struct each_task *m, char **names, int n)
{
	struct result r = { .tasks = json_array(), .errors = json_array() };
	int rc;

	if (n == 1) {
		rc = one_task(m, names[0]);
	} else {
		rc = several(m, names, n, &r);
		if (m->json && !rc)
			json_print(json_pack("{s:O, s:O, s:o}", "tasks", r.tasks, "errors", r.errors,
				"skipped", json_list(&r.skipped)));
		rc = rc ? rc : r.code;
	}
	json_decref(r.tasks);
	json_decref(r.errors);
	strvec_release(&r.done);
	strvec_release(&r.failed);
	strvec_release(&r.skipped);
	return rc;
}
