#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/answer.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "sys/fd.h"
#include "task/here.h"
#include "task/lookup.h"

#define VALUE_MAX 80

struct view {
	const char *task;       /* what the user typed; NULL: all tasks */
	struct task_list tasks; /* those that it means; none: the store has none of that name */
	char *here;             /* the name of the current project; NULL: none */
	bool json, follow, verify, print;
	uint64_t skip; /* events to skip before the first one to print */
	uint64_t seen; /* events of the task so far */
	uint64_t printed;
	uint64_t damaged; /* lines that cannot be read */
};

/* Keys that have their own column, or are not interesting for people. */
static bool is_column(const char *key)
{
	static const char *const columns[] = { "v", "seq", "time", "event", "task", "task_id", "project",
		"prev", "hash" };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(key, columns[i]))
			return true;
	return false;
}

/* Simple values are printed as they are, all others as JSON, so that no value can look like another. */
static void add_value(struct buf *out, const json_t *value)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/:@+-";
	const char *s = json_string_value(value);
	size_t len = s ? json_string_length(value) : 0;
	auto_str text = len && strspn(s, plain) == len ? xstrdup(s)
						       : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t cut = text ? strlen(text) : 0;

	if (cut > VALUE_MAX)
		for (cut = VALUE_MAX; cut && (text[cut] & 0xc0) == 0x80; cut--)
			;
	buf_printf(out, "%.*s%s", (int)cut, text ? text : "", text && text[cut] ? "..." : "");
}

static const char *text_of(const json_t *event, const char *key, const char *otherwise, struct buf *clean)
{
	const char *s = json_string_value(json_object_get(event, key));

	return say_one_line(clean, s ? s : otherwise);
}

/* "fix", or "lib/fix" if it is not a task of the current project. Old lines do not name the project. */
static const char *task_of(const struct view *v, const json_t *event, struct buf *out)
{
	const char *project = json_string_value(json_object_get(event, "project"));
	auto_buf name = BUF_SMALL, clean = BUF_SMALL;

	if (project && (!v->here || strcmp(project, v->here) != 0))
		buf_printf(out, "%s/", say_one_line(&clean, project));
	buf_addstr(out, text_of(event, "task", "-", &name));
	return buf_str(out);
}

static void print_event(const struct view *v, json_t *event)
{
	auto_buf when = BUF_SMALL, task = BUF_SMALL, what = BUF_SMALL, rest = BUF_SMALL, clean = BUF_SMALL;
	const char *key, *time = text_of(event, "time", "", &when);
	json_t *value;

	json_object_foreach(event, key, value)
	{
		if (is_column(key))
			continue;
		buf_printf(&rest, " %s=", key);
		add_value(&rest, value);
	}
	printf("%.10s %.8s  %-16s  %-12s %s\n", time, strlen(time) > 11 ? time + 11 : "",
		task_of(v, event, &task), text_of(event, "event", "?", &what),
		say_one_line(&clean, buf_str(&rest)));
}

static void print_line(struct view *v, json_t *event, const char *line, size_t len)
{
	if (!v->json)
		print_event(v, event);
	else if (v->follow)
		printf("%.*s\n", (int)len, line);
	else
		printf("%s%.*s", v->printed ? ",\n" : "", (int)len, line);
	v->printed++;
}

/* A task that the store does not know any more is found by its name. */
static bool is_wanted(const struct view *v, const json_t *event)
{
	const char *task = json_string_value(json_object_get(event, "task"));
	json_int_t id = json_integer_value(json_object_get(event, "task_id"));

	for (size_t i = 0; i < v->tasks.n; i++)
		if (v->tasks.v[i].id == id)
			return true;
	return !v->task || (!v->tasks.n && task && !strcmp(v->task, task));
}

static int take(const char *line, size_t len, void *arg, struct err *e)
{
	json_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
	struct view *v = arg;

	(void)e;
	if (!json_is_object(event))
		v->damaged++;
	else if (is_wanted(v, event) && ++v->seen > v->skip && v->print)
		print_line(v, event, line, len);
	json_decref(event);
	/* stdout is closed */
	return ferror(stdout) ? 1 : 0;
}

static void warn_of_damage(struct view *v)
{
	if (!v->damaged)
		return;
	say_warning(
		"%" PRIu64 " line%s of the audit log cannot be read", v->damaged, v->damaged == 1 ? "" : "s");
	say_hint("garth audit --verify");
	v->damaged = 0;
}

/* Waits until the log is written to, for a second at most. False if stdout is closed. */
static bool wait_for_more(struct context *c, int notify)
{
	struct pollfd p[] = { { .fd = notify, .events = POLLIN }, { .fd = 1 } };
	auto_str path = home_path(&c->home, "audit.jsonl");
	char events[4096];

	fflush(stdout);
	/* every time, because the log may be a new file; watching a file twice does no harm */
	inotify_add_watch(notify, path, IN_MODIFY);
	if (poll(p, ARRAY_SIZE(p), 1000) < 0 && errno != EINTR)
		return false;
	while (read(notify, events, sizeof(events)) > 0)
		;
	return !(p[1].revents & (POLLERR | POLLHUP)) && !ferror(stdout);
}

static int follow(struct context *c, struct view *v, uint64_t *offset, struct err *e)
{
	auto_fd notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	while (wait_for_more(c, notify)) {
		if (audit_read(c->home.fd, offset, take, v, e) < 0)
			return -1;
		warn_of_damage(v);
	}
	return 0;
}

/* Counts the events, and checks that the named task exists or existed. */
static int look_ahead(struct context *c, struct view *v, uint64_t *ret_events, struct err *e)
{
	uint64_t offset = 0;

	if (audit_read(c->home.fd, &offset, take, v, e) < 0)
		return -1;
	*ret_events = v->seen;
	v->seen = v->damaged = 0;
	if (!v->task || *ret_events || v->tasks.n)
		return 0;
	return err_set(e, ERR_NOTFOUND, "there is no task '%s' and there was none", v->task);
}

/* Finds out which tasks are meant, and which project needs no name. The log can be read without a store. */
static int look_up(struct context *c, struct view *v, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_project p = { 0 };
	int64_t here = 0;

	if (v->task && lookup_all(c, v->task, &v->tasks, e) < 0)
		return -1;
	if (!here_project(c, ".", &here, &ignored) && here > 0 &&
		!store_project_by_id(c->store, here, &p, &ignored))
		v->here = steal_ptr(p.name);
	return 0;
}

static void view_release(struct view *v)
{
	task_list_release(&v->tasks);
	free(v->here);
}

static int show(struct context *c, struct view *v, const char *last, struct err *e)
{
	uint64_t events = 0, max = UINT64_MAX, offset = 0;
	bool array = v->json && !v->follow;
	char *end = NULL;

	if (last) {
		errno = 0;
		max = strtoull(last, &end, 10);
		if (last[0] < '0' || last[0] > '9' || *end || errno)
			return err_set(e, ERR_USAGE, "'%s' is not a number of events", last);
	}
	if ((last || v->task) && look_ahead(c, v, &events, e) < 0)
		return -1;
	v->skip = events > max ? events - max : 0;
	v->print = true;
	if (!v->json && !v->follow)
		pager_start();
	if (array)
		printf("{\"version\":%d,\"events\":[", ANSWER_VERSION);
	if (audit_read(c->home.fd, &offset, take, v, e) < 0)
		return -1;
	if (array)
		printf("]}\n");
	pager_end();
	warn_of_damage(v);
	return v->follow ? follow(c, v, &offset, e) : 0;
}

static int verify(struct context *c, bool json, struct err *e)
{
	uint64_t lines;
	int rc;

	progress_begin("checking");
	rc = context_store(c, e) < 0 ? -1 : audit_verify(c->home.fd, c->store, &lines, e);
	progress_end();
	if (rc < 0)
		return -1;
	if (json)
		return json_print(json_pack("{s:I, s:b}", "line_count", (json_int_t)lines, "whole", 1));
	printf("%s%" PRIu64 " line%s, whole\n", say_utf8() ? "✓ " : "", lines, lines == 1 ? "" : "s");
	return 0;
}

int cmd_audit(int argc, char **argv)
{
	__attribute__((cleanup(view_release))) struct view v = { 0 };
	const char *last = NULL;
	const struct opt opts[] = {
		{ 0, "verify", OPT_FLAG, &v.verify, NULL,
			"check that no line was changed, moved or removed" },
		{ 'f', "follow", OPT_FLAG, &v.follow, NULL, "keep printing new events" },
		{ 'n', "lines", OPT_STR, &last, "N", "print the last N events only", WORD_TEXT },
		{ 0, "json", OPT_FLAG, &v.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "audit", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	int rc;

	CMD_PARSE(&l, argc, argv);
	v.task = l.words ? argv[0] : NULL;
	if (v.verify && (v.task || v.follow || last))
		return err_set(&e, ERR_USAGE,
			       "--verify checks the whole audit log: no task and no other option goes with it"),
		       err_hint(&e, "garth audit --verify"), say_error(&e);
	if (context_open_to_look(&c, &e) < 0)
		return say_error(&e);
	rc = v.verify ? verify(&c, v.json, &e) : look_up(&c, &v, &e) < 0 ? -1 : show(&c, &v, last, &e);
	return rc < 0 ? say_error(&e) : 0;
}
