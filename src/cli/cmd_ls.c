#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/size.h"
#include "cli/ask.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/ports.h"
#include "cli/say.h"
#include "cli/standing.h"
#include "task/cleanup.h"
#include "task/disk.h"
#include "task/life.h"

static const char *colour_of(const char *state)
{
	static const struct {
		const char *state, *colour;
	} colours[] = {
		{ STATE_RUNNING, "\033[32m" },
		{ STATE_PAUSED, "\033[33m" },
		{ STATE_BLOCKED, "\033[35m" },
		{ STATE_DONE, "\033[36m" },
		{ STATE_FAILED, "\033[31m" },
		{ STATE_INTERRUPTED, "\033[33m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		if (!strcmp(state, colours[i].state))
			return colours[i].colour;
	return "\033[2m";
}

static int width_of(const struct task_list *l, size_t offset, int min)
{
	int width = min;

	for (size_t i = 0; i < l->n; i++) {
		int n = (int)strlen(*(char **)((char *)&l->v[i] + offset));

		if (n > width)
			width = n;
	}
	return width;
}

#define WIDTH(l, field, min) width_of(l, offsetof(struct task, field), min)

/* The last columns: where it was pushed to, whether it is stale, its open ports, its command. */
static void print_rest(struct context *c, const struct task *t)
{
	auto_buf ports = BUF_SMALL, command = BUF_SMALL;

	if (life_is_running(t))
		ports_text(c, t, &ports);
	if (*t->pushed_tip && !strcmp(t->pushed_tip, t->published))
		printf("pushed %s/%s  ", t->pushed_remote, t->pushed_branch);
	printf("%s%s%s%.60s\n", cleanup_is_stale(c, t) ? "stale  " : "", buf_str(&ports),
		ports.len ? "  " : "", say_one_line(&command, t->command));
}

static void print_table(struct context *c, const struct task_list *l, const struct standing *standings)
{
	bool colours = say_colours(1);
	int name = WIDTH(l, name, 4), project = WIDTH(l, project, 7);

	printf("%-*s  %-11s  %-7s  %-*s  %-8s  %-5s  %s\n", name, "TASK", "STATE", "TARGET", project,
		"PROJECT", "BACKEND", "AGE", "COMMAND");
	for (size_t i = 0; i < l->n; i++) {
		const struct task *t = &l->v[i];
		char age[32], sign[48];

		printf("%-*s  %s%-11s%s  %-7s  %-*s  %-8s  %-5s  ", name, t->name,
			colours ? colour_of(t->state) : "", t->state, colours ? "\033[0m" : "",
			standing_sign(&standings[i], sign, sizeof(sign)), project, t->project, t->backend,
			say_age(t->created, age, sizeof(age)));
		print_rest(c, t);
	}
}

/* What needs the user's attention: a question, a pause, a disk limit that is near. */
static void print_news(struct context *c, const struct task *t)
{
	char held[SIZE_TEXT_MAX], max[SIZE_TEXT_MAX];
	auto_buf line = BUF_SMALL;

	ask_tell(c, t, true);
	if (!strcmp(t->state, STATE_PAUSED) && *t->note)
		say_warning("task '%s' is paused: %s", t->name, say_one_line(&line, t->note));
	else if (disk_is_near((uint64_t)t->disk, (uint64_t)t->disk_max) && !t->removed)
		say_warning("task '%s' holds %s on disk, and is paused beyond %s (limits.max_disk)", t->name,
			size_text((uint64_t)t->disk, held), size_text((uint64_t)t->disk_max, max));
}

/* Whether the conflict was printed with an earlier task in the list. */
static bool is_told(const struct task_list *l, size_t before, const struct conflict *c)
{
	for (size_t k = 0; c->task && k < before; k++)
		if (!strcmp(l->v[k].name, c->task))
			return true;
	return false;
}

/* Prints each pair once, with the task that comes first in the list. Conflicts about the same paths share a
 * line. */
static void print_conflicts(const struct task_list *l, const struct standing *standings)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct conflict_list *c = &standings[i].conflicts;
		bool *told = xcalloc(c->n + 1, sizeof(*told));
		auto_strvec lines = STRVEC_INIT;

		for (size_t j = 0; j < c->n; j++)
			told[j] = is_told(l, i, &c->v[j]);
		standing_conflict_lines(&l->v[i], &standings[i], told, &lines);
		for (size_t j = 0; j < lines.n; j++) {
			auto_buf line = BUF_INIT(1 << 16);

			say_warning("%s conflicts with %s", l->v[i].name, say_one_line(&line, lines.v[j]));
		}
		free(told);
	}
}

/* Conflicts are mutual: adds them to the later tasks in the list. */
static void tell_others(const struct task_list *l, struct standing *s, size_t i)
{
	for (size_t j = 0; j < s[i].conflicts.n; j++)
		for (size_t k = i + 1; k < l->n; k++)
			if (s[i].conflicts.v[j].task && !strcmp(s[i].conflicts.v[j].task, l->v[k].name))
				conflict_add(&s[k].conflicts, l->v[i].name, s[i].conflicts.v[j].path);
}

static struct standing *find_standings(struct context *c, const struct task_list *l)
{
	struct standing *s = xcalloc(l->n + 1, sizeof(*s));

	for (size_t i = 0; i < l->n; i++) {
		const struct task *t = &l->v[i], *before = i ? &l->v[i - 1] : NULL;

		/* tasks without commits, on the same base, have the same standing */
		if (before && !*t->published && !*before->published && !t->removed && !before->removed &&
			t->project_id == before->project_id && !strcmp(t->base, before->base) &&
			!strcmp(t->target, before->target) && !strcmp(t->backend, before->backend))
			s[i].known = s[i - 1].known, s[i].divergence = s[i - 1].divergence;
		else
			standing_find(c, t, &(struct task_list){ l->v + i + 1, l->n - i - 1 }, &s[i]);
		tell_others(l, s, i);
	}
	return s;
}

/* Cleans up after processes that died; tasks that turn out to be gone are removed from the list. */
static int settle_all(struct context *c, struct task_list *l, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct task t = l->v[i];
		bool gone = false;

		if (!t.removed && task_settle(c, &t, &gone, e) < 0) {
			say_warning("task '%s': %s", t.name, e->msg);
			gone = false;
		}
		if (gone)
			task_release(&t);
		else
			l->v[kept++] = t;
	}
	l->n = kept;
	return 0;
}

int cmd_ls(int argc, char **argv)
{
	bool all = false, json = false;
	const struct opt opts[] = {
		{ 'a', "all", OPT_FLAG, &all, NULL, "list discarded tasks too" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "ls", opts, 0, 0, false, 0, 0 };
	auto_task_list tasks = { 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	struct standing *standings;

	CMD_PARSE(&l, argc, argv);
	if (context_open_to_look(&c, &e) < 0 || context_store(&c, &e) < 0 ||
		store_task_list(c.store, all, &tasks, &e) < 0 || settle_all(&c, &tasks, &e) < 0)
		return say_error(&e);
	standings = find_standings(&c, &tasks);
	if (json) {
		json_t *o = json_object(), *list = json_array();

		for (size_t i = 0; i < tasks.n; i++) {
			json_t *one = json_task(&tasks.v[i]);

			json_object_set_new(one, "stale", json_boolean(cleanup_is_stale(&c, &tasks.v[i])));
			standing_json(&standings[i], one);
			json_object_set_new(one, "question", ask_json(&c, &tasks.v[i]));
			json_object_set_new(one, "ports",
				life_is_running(&tasks.v[i]) ? ports_json(&c, &tasks.v[i]) : json_array());
			json_array_append_new(list, one);
		}
		json_object_set_new(o, "tasks", list);
		json_print(o);
	} else if (tasks.n) {
		print_table(&c, &tasks, standings);
		print_conflicts(&tasks, standings);
		for (size_t i = 0; i < tasks.n; i++)
			print_news(&c, &tasks.v[i]);
	} else if (say_is_heard()) {
		say_state("there are no tasks");
		say_hint("garth run -- bash");
	}
	for (size_t i = 0; i < tasks.n; i++)
		standing_release(&standings[i]);
	free(standings);
	return 0;
}
