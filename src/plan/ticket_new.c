#include "plan/ticket_new.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/clean.h"
#include "base/duration.h"
#include "base/name.h"
#include "base/nearest.h"
#include "plan/scope.h"
#include "plan/stage_life.h"
#include "plan/start.h"
#include "plan/within.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/agent_name.h"
#include "task/remove.h"
#include "task/task_command.h"
#include "task/tickets.h"
#include "workspace/review.h"
#include "workspace/submodules.h"

#define ASKED_MAX (512u << 10)

struct asking {
	const struct ticket_limits *limits;
	json_t *stage;
};

static int bad(struct err *e, const char *key, const char *what)
{
	return err_set(e, ERR_USAGE, "\"%s\" %s", key, what);
}

/* A text without control characters. */
static const char *take_line(const json_t *v, const char *key, size_t max, struct err *e)
{
	const char *text = json_string_value(v);

	if (!text || !*text || strlen(text) > max)
		return err_set(e, ERR_USAGE, "\"%s\" must be a text of 1 to %zu bytes", key, max), NULL;
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return bad(e, key, "has a control character"), NULL;
	return text;
}

static int take_title(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	auto_buf clean = BUF_INIT(8 * TICKET_TITLE_MAX);
	const char *text = json_string_value(v);

	if (!text || !*text || strlen(text) > TICKET_TITLE_MAX)
		return bad(e, key, "must be a text of 1 to 200 bytes");
	clean_line(&clean, text);
	return json_object_set_new(a->stage, "name", json_string(buf_str(&clean)));
}

static int take_prompt(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	auto_buf clean = BUF_INIT(8 * TICKET_PROMPT_MAX);
	const char *text = json_string_value(v);

	if (!text || !*text || strlen(text) > TICKET_PROMPT_MAX)
		return bad(e, key, "must be a text of at most 64 KiB");
	clean_text(&clean, text, strlen(text), false);
	return json_object_set_new(a->stage, "description", json_string(buf_str(&clean)));
}

static int take_agent(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	const char *name = take_line(v, key, NAME_MAX_LEN, e);
	const struct ticket_limits *l = a->limits;
	const struct config_agent *known;

	if (!name)
		return -1;
	if ((!l->agent || strcmp(name, l->agent) != 0) && !strvec_has(&l->config->tickets_agents, name))
		return err_set(
			e, ERR_REFUSED, "the agent '%s' is not among those that tickets may name", name);
	if (config_agent_find(l->config, name, &known, e) < 0)
		return -1;
	return json_object_set_new(a->stage, "agent", json_string(name));
}

typedef int item_fn(struct asking *a, const char *text, json_t *list, struct err *e);

static int take_list(
	struct asking *a, const json_t *v, const char *key, const char *to, item_fn *fn, struct err *e)
{
	json_t *list = json_array();
	size_t i;
	json_t *item;

	json_object_set_new(a->stage, to, list);
	if (!json_is_array(v) || json_array_size(v) > TICKET_LIST_MAX)
		return bad(e, key, "must be a list of at most 64 texts");
	json_array_foreach(v, i, item)
	{
		const char *text = take_line(item, key, TICKET_LINE_MAX, e);

		if (!text || fn(a, text, list, e) < 0)
			return -1;
	}
	return 0;
}

static int add_file(struct asking *a, const char *text, json_t *list, struct err *e)
{
	const struct config_policy *p = &a->limits->config->policy;
	auto_str glob = scope_read(".", text);

	if (!glob)
		return err_set(e, ERR_REFUSED, "'%.200s' leads out of the repository", text);
	if (!glob_within_any(glob, &p->scope) || !glob_within_any(glob, &p->within))
		return err_set(e, ERR_REFUSED, "'%.200s' is more than this task may change", text);
	return json_array_append_new(list, json_string(glob));
}

static int take_files(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	if (json_is_array(v) && !json_array_size(v))
		return bad(e, key, "is empty: leave it out to allow all that this task may change");
	return take_list(a, v, key, "files", add_file, e);
}

static int add_text(struct asking *a, const char *text, json_t *list, struct err *e)
{
	(void)a;
	(void)e;
	return json_array_append_new(list, json_string(text));
}

static int take_acceptance(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	return take_list(a, v, key, "acceptance", add_text, e);
}

static int take_depends(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	return take_list(a, v, key, "dependencies", add_text, e);
}

static int add_submodule(struct asking *a, const char *text, json_t *list, struct err *e)
{
	if (!strvec_has(&a->limits->submodules, text))
		return err_set(e, ERR_REFUSED, "this task has no submodule '%.200s'", text);
	return json_array_append_new(list, json_string(text));
}

static int take_submodules(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	return take_list(a, v, key, "submodules", add_submodule, e);
}

static int take_timeout(struct asking *a, const json_t *v, const char *key, struct err *e)
{
	const char *text = json_string_value(v);
	uint64_t seconds = 0;

	if (json_is_integer(v) && json_integer_value(v) > 0)
		seconds = (uint64_t)json_integer_value(v);
	else if (!text || strlen(text) > 20 || !duration_parse(text, &seconds) || !seconds)
		return bad(e, key, "must be a time above 0, such as " DURATION_EXAMPLES);
	if (a->limits->timeout && seconds > a->limits->timeout)
		return err_set(e, ERR_REFUSED, "this task itself has only %llu seconds",
			(unsigned long long)a->limits->timeout);
	return json_object_set_new(a->stage, "timeout", json_integer((json_int_t)seconds));
}

static const struct {
	const char *key;
	int (*take)(struct asking *a, const json_t *v, const char *key, struct err *e);
} keys[] = {
	{ "title", take_title },
	{ "prompt", take_prompt },
	{ "agent", take_agent },
	{ "files", take_files },
	{ "acceptance", take_acceptance },
	{ "depends", take_depends },
	{ "submodules", take_submodules },
	{ "timeout", take_timeout },
};

static int unknown(const char *key, struct err *e)
{
	struct nearest near = { .typed = key };
	char meant[NEAREST_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		nearest_try(&near, keys[i].key, strlen(keys[i].key));
	return err_set(e, ERR_USAGE, "a ticket has no \"%.60s\"%s", key, nearest_text(&near, meant));
}

static int take(struct asking *a, const char *key, const json_t *v, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].key, key))
			return json_is_null(v) ? 0 : keys[i].take(a, v, key, e);
	return unknown(key, e);
}

static int take_all(struct asking *a, const json_t *in, struct err *e)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)in, key, v) if (take(a, key, v, e) < 0) return -1;
	if (!json_object_get(a->stage, "name"))
		return err_set(e, ERR_USAGE, "a ticket needs a \"title\"");
	if (json_object_get(a->stage, "agent"))
		return 0;
	if (!a->limits->agent)
		return err_set(e, ERR_USAGE, "the ticket names no \"agent\", and this task has none");
	return json_object_set_new(a->stage, "agent", json_string(a->limits->agent));
}

int ticket_check(const json_t *in, const struct ticket_limits *l, json_t **ret, struct err *e)
{
	struct asking a = { l, json_object() };

	if (!json_is_object(in)) {
		json_decref(a.stage);
		return err_set(e, ERR_USAGE, "a ticket must be a JSON object");
	}
	if (take_all(&a, in, e) < 0) {
		json_decref(a.stage);
		return -1;
	}
	*ret = a.stage;
	return 0;
}

static void limits_release(struct ticket_limits *l)
{
	strvec_release(&l->submodules);
}

/* Collects what the task itself has. *ret_agent is on the heap. */
static int find_limits(struct tickets *t, struct ticket_limits *ret, char **ret_agent, struct err *e)
{
	auto_submodules subs = { 0 };
	auto_task_command cmd = { 0 };
	struct err ignored = ERR_INIT;

	stage_agent_default(t->c);
	*ret_agent = agent_name_load(t->at.ws.dir);
	if (!*ret_agent && t->c->config.default_agent)
		*ret_agent = xstrdup(t->c->config.default_agent);
	*ret = (struct ticket_limits){ .config = &t->c->config, .agent = *ret_agent };
	if (!task_command_load(t->at.ws.dir, &cmd, &ignored))
		ret->timeout = cmd.timeout;
	if (submodules_load(t->at.ws.dir, &subs, e) < 0)
		return -1;
	for (size_t i = 0; i < subs.n; i++)
		if (submodule_is_here(&subs.v[i]))
			strvec_push(&ret->submodules, subs.v[i].path);
	return 0;
}

/* Whether the task may have tickets at all. */
static int check_task(struct tickets *t, struct err *e)
{
	int64_t parent;

	if (context_store(t->c, e) < 0 || store_ticket_parent(t->c->store, t->task.id, &parent, e) < 0)
		return -1;
	if (parent)
		return err_set(e, ERR_REFUSED, "this task is a ticket itself, and tickets have no tickets");
	if (!t->c->config.tickets_max)
		return err_set(
			e, ERR_REFUSED, "this task may have no tickets: the user starts it with --tickets N");
	if (!backend_of(&t->task)->has_git)
		return err_set(e, ERR_REFUSED, "this task has no repository");
	/* each ticket's commit may have a set-up of its own, which would ask for more */
	if (!faccessat(t->at.ws.dir, SETUP_MARK, F_OK, AT_SYMLINK_NOFOLLOW))
		return err_set(e, ERR_REFUSED, "this task is a set-up, and set-ups have no tickets");
	return 0;
}

/* A ticket begins with what the task has published. */
static int check_clean(struct tickets *t, struct strvec *ret_files, struct err *e)
{
	const char *tip = *t->task.published ? t->task.published : t->task.base;
	size_t ignored;

	if (review_uncommitted(&t->at.ws, tip, ret_files, &ignored, e) < 0)
		return -1;
	if (!ret_files->n)
		return 0;
	return err_set(e, ERR_CONFLICT,
		"a ticket begins with what is published, and %zu file%s of this task %s not: commit first",
		ret_files->n, ret_files->n == 1 ? "" : "s", ret_files->n == 1 ? "is" : "are");
}

/* The seconds that tickets have already taken of the time for all of them. */
static uint64_t time_taken(const struct tickets *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->asked.n; i++) {
		json_t *o = json_loads(t->asked.v[i], 0, NULL);

		sum += (uint64_t)json_integer_value(json_object_get(o, "timeout"));
		json_decref(o);
	}
	return sum;
}

/* The time for all tickets is divided: a ticket that names no time gets an equal share of what is left. */
static int divide_time(const struct tickets *t, const struct ticket_limits *l, json_t *stage, struct err *e)
{
	uint64_t all = l->config->tickets_timeout, taken = time_taken(t),
		 left = all > taken ? all - taken : 0;
	uint64_t share = (uint64_t)json_integer_value(json_object_get(stage, "timeout"));

	if (!share)
		share = left / (l->config->tickets_max - t->all.n);
	if (!share || share > left)
		return err_set(e, ERR_REFUSED,
			"the tickets of this task have %llu seconds together, of which %llu are left",
			(unsigned long long)all, (unsigned long long)left);
	if (l->timeout && share > l->timeout)
		share = l->timeout;
	return json_object_set_new(stage, "timeout", json_integer((json_int_t)share));
}

static int check_depends(const struct tickets *t, const json_t *stage, struct err *e)
{
	const json_t *ids = json_object_get(stage, "dependencies"), *id;
	size_t i;

	json_array_foreach(ids, i, id)
	{
		const char *name = json_string_value(id);
		bool there = false;

		for (size_t k = 0; k < t->all.n; k++)
			there |= !strcmp(t->all.v[k].name, name);
		if (!there)
			return err_set(e, ERR_USAGE, "this task has no ticket '%.100s'", name);
	}
	return 0;
}

static int check_count(const struct tickets *t, struct err *e)
{
	uint64_t max = t->c->config.tickets_max;

	return t->all.n < max
		       ? 0
		       : err_set(e, ERR_REFUSED, "this task may have %llu ticket%s in all, and has had %zu",
				 (unsigned long long)max, max == 1 ? "" : "s", t->all.n);
}

/* The reader of plans gives all of them the same positions. */
static int check_plan(struct tickets *t, const char *text, struct err *e)
{
	auto_plan p = { 0 };
	const char *said = e->msg;

	if (!tickets_plan(t->c, &t->row, text, &p, e))
		return 0;
	for (int i = 0; i < 3 && strchr(said, ':'); i++)
		said = strchr(said, ':') + 1;
	auto_str why = xstrdup(said + strspn(said, " "));
	return err_set(e, ERR_USAGE, "%s", why);
}

/* A name that no task of the project has, not even one in the trash. */
static int choose_name(struct tickets *t, struct stage_row *row, struct err *e)
{
	for (size_t n = t->all.n + 1; n < t->all.n + 1000; n++) {
		auto_str id = xasprintf("t%zu", n), name = xasprintf("%s.%s", t->task.name, id);
		auto_task there = { 0 };

		if (name_check_task(name, e) < 0)
			return err_set(e, ERR_REFUSED, "this task's name is too long for tickets");
		if (tickets_index(t, id) < 0 &&
			store_task_by_name(t->c->store, t->task.project_id, name, &there, e) < 0) {
			if (e->kind != ERR_NOTFOUND)
				return -1;
			*e = (struct err)ERR_INIT;
			row->name = xstrdup(id);
			row->task = xstrdup(name);
			return 0;
		}
	}
	return err_set(e, ERR_EXISTS, "there are too many tasks of such a name");
}

/* Within the transaction. */
static int add(struct tickets *t, const struct ticket_limits *l, json_t *stage, size_t *ret, struct err *e)
{
	bool waits = json_array_size(json_object_get(stage, "dependencies"));
	auto_stage_row row = { .state = xstrdup(waits ? STAGE_WAITING : STAGE_READY) };
	auto_str text = NULL;

	plan_row_release(&t->row);
	stage_row_list_release(&t->all);
	strvec_release(&t->asked);
	if (store_tickets_make(t->c->store, &t->task, &t->row, e) < 0 ||
		store_stage_list(t->c->store, t->row.id, &t->all, e) < 0 ||
		store_tickets_asked(t->c->store, t->row.id, &t->asked, e) < 0)
		return -1;
	row.number = (int64_t)t->all.n;
	*ret = t->all.n;
	if (check_count(t, e) < 0 || check_depends(t, stage, e) < 0 || divide_time(t, l, stage, e) < 0 ||
		choose_name(t, &row, e) < 0)
		return -1;
	json_object_set_new(stage, "id", json_string(row.name));
	text = json_dumps(stage, JSON_COMPACT);
	if (!text || strlen(text) > ASKED_MAX)
		return err_set(e, ERR_USAGE, "the ticket's texts are too long");
	if (check_plan(t, text, e) < 0)
		return -1;
	fault("ticket-adding");
	return store_ticket_add(t->c->store, &t->row, &row, text, e);
}

static int record(struct tickets *t, const json_t *stage, struct err *e)
{
	auto_audit log = NULL;

	if (context_store(t->c, e) < 0 || audit_open(t->c->home.fd, t->c->store, &log, e) < 0)
		return -1;
	return audit_add(log, "ticket", &t->task,
		json_pack("{s:o, s:o}", "title",
			audit_text(json_string_value(json_object_get(stage, "name"))), "agent",
			audit_text(json_string_value(json_object_get(stage, "agent")))),
		e);
}

static int mark(const struct tickets *t, struct err *e)
{
	return tickets_are_there(t->at.ws.dir) ? 0 : write_file(t->at.ws.dir, TICKETS_FILE, "", 0, 0600, e);
}

static int add_in_transaction(
	struct tickets *t, const struct ticket_limits *l, json_t *stage, size_t *ret, struct err *e)
{
	if (context_store(t->c, e) < 0 || store_begin(t->c->store, e) < 0)
		return -1;
	if (!add(t, l, stage, ret, e) && !store_commit(t->c->store, e)) {
		fault("ticket-added");
		return 0;
	}
	store_rollback(t->c->store);
	return -1;
}

static int make(struct tickets *t, const json_t *in, const struct ticket_limits *l, struct strvec *files,
	size_t *ret, struct err *e)
{
	json_t *stage = NULL;
	int rc;

	if (ticket_check(in, l, &stage, e) < 0)
		return -1;
	rc = check_count(t, e) < 0 || check_clean(t, files, e) < 0 || mark(t, e) < 0 ||
			     record(t, stage, e) < 0
		     ? -1
		     : add_in_transaction(t, l, stage, ret, e);
	json_decref(stage);
	return rc;
}

int ticket_new(struct tickets *t, const json_t *in, struct strvec *ret_files, size_t *ret, struct err *e)
{
	struct ticket_limits l = { 0 };
	auto_str agent = NULL;
	int rc = check_task(t, e) < 0 || find_limits(t, &l, &agent, e) < 0
			 ? -1
			 : make(t, in, &l, ret_files, ret, e);

	limits_release(&l);
	return rc < 0 ? -1 : tickets_load(t, e);
}
