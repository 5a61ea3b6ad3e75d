#include "cli/complete.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/alias.h"
#include "cli/cmd.h"
#include "cli/ls.h"
#include "config/taskfile.h"
#include "config/values.h"
#include "git/ref.h"
#include "plan/make.h"
#include "task/here.h"
#include "task/lookup.h"

/* The command line that is being completed. */
struct line {
	char **words; /* after the command's name */
	int n;
	const char *prefix; /* the typed part of the last word, or of the value in it */
	const char *front;  /* the part of that word before the prefix, such as "--net=" */
	size_t front_len;
	const char *task;                    /* the first argument that names a task; NULL: none */
	const struct cmd_part *parts, *part; /* the command's subcommands, and the one that was given; NULL */
	const char *first;                   /* the subcommand's first argument; NULL */
	int nth;                             /* which one of its arguments is offered */
	struct completion *ret;
};

void completion_release(struct completion *c)
{
	strvec_release(&c->words);
	strvec_release(&c->notes);
}

static void offer(struct line *l, const char *word, const char *note)
{
	auto_str whole = xasprintf("%.*s%s", (int)l->front_len, l->front, word);

	if (strncmp(word, l->prefix, strlen(l->prefix)) != 0)
		return;
	strvec_push(&l->ret->words, whole);
	strvec_push(&l->ret->notes, note ? note : "");
}

static void offer_commands(struct line *l)
{
	for (const struct cmd *c = commands; c->name; c++)
		offer(l, c->name, c->brief);
	for (const struct alias *a = aliases; a->name; a++)
		if (!a[1].name || strcmp(a[1].name, a->name) != 0)
			offer(l, a->name, cmd_find(a->command)->brief);
}

/* Without a Garth home there are no tasks, and completion must not make one. */
static bool has_home(void)
{
	const char *set = getenv("GARTH_HOME"), *home = getenv("HOME");
	auto_str path = set && *set ? xstrdup(set) : xasprintf("%s/.garth", home ? home : "");

	return !access(path, F_OK);
}

static int open_store(struct context *c, struct err *e)
{
	return has_home() && context_open_to_look(c, e) == 0 && context_store(c, e) == 0 ? 0 : -1;
}

/* How to name a task: NAME in its own project, or outside of all projects if no other one has a task of that
 * name; else PROJECT/NAME, with a path if two projects have the same name. */
static char *task_word(const struct task_list *all, size_t i, int64_t here)
{
	const struct task *t = &all->v[i];
	bool namesake = false, same_project = false;

	if (t->project_id == here)
		return xstrdup(t->name);
	for (size_t j = 0; j < all->n; j++) {
		const struct task *o = &all->v[j];

		if (o->project_id == t->project_id)
			continue;
		namesake |= !strcmp(o->name, t->name);
		same_project |= !strcmp(o->project, t->project);
	}
	if (here <= 0 && !namesake)
		return xstrdup(t->name);
	return same_project ? lookup_address(t) : xasprintf("%s/%s", t->project, t->name);
}

static void offer_tasks(struct line *l, bool discarded)
{
	int64_t here = 0;
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task_list tasks = { 0 };

	if (open_store(&c, &e) < 0 || store_task_list(c.store, discarded, &tasks, &e) < 0 ||
		here_project(&c, ".", &here, &e) < 0)
		return;
	for (size_t i = 0; i < tasks.n; i++) {
		auto_str word = task_word(&tasks, i, here);

		offer(l, word, tasks.v[i].state);
	}
}

static void offer_snapshots(struct line *l)
{
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_snapshot_list list = { 0 };
	auto_task t = { 0 };

	if (!l->task || open_store(&c, &e) < 0 || task_find(&c, l->task, &t, &e) < 0 ||
		store_snapshot_list(c.store, t.id, &list, &e) < 0)
		return;
	for (size_t i = 0; i < list.n; i++) {
		auto_str number = xasprintf("%lld", (long long)list.v[i].number);

		offer(l, number, list.v[i].message);
	}
}

static void offer_agents(struct line *l)
{
	const struct config_places places = config_places(getenv("HOME"));
	struct err e = ERR_INIT;
	auto_config c = { 0 };

	if (config_load(&places, &c, &e) < 0)
		return;
	for (size_t i = 0; i < c.nagents; i++)
		offer(l, c.agents[i].name, NULL);
}

/* The allowed values of a configuration key. */
static void offer_choices(struct line *l, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(taskfile_rows); i++)
		for (const struct value_row *row = taskfile_rows[i]; row->key; row++)
			for (const char *const *c = row->choices; !strcmp(row->key, key) && c && *c; c++)
				offer(l, *c, NULL);
}

static void offer_limits(struct line *l)
{
	static const char section[] = "limits.";

	for (size_t i = 0; i < ARRAY_SIZE(taskfile_rows); i++)
		for (const struct value_row *row = taskfile_rows[i]; row->key; row++) {
			auto_str name = NULL;

			if (strncmp(row->key, section, strlen(section)) != 0)
				continue;
			name = xasprintf("%s=", row->key + strlen(section));
			offer(l, name, NULL);
		}
}

static void offer_keys(struct line *l)
{
	for (const struct value_row *row = config_value_rows; row->key; row++)
		offer(l, row->key, NULL);
}

static void offer_variables(struct line *l)
{
	for (char **v = environ; *v; v++) {
		auto_str name = xstrndup(*v, strcspn(*v, "="));

		offer(l, name, NULL);
	}
}

static void offer_refs(struct line *l, const struct repo *r, const char *prefix)
{
	auto_buf refs = BUF_INIT(64 << 20);
	struct err e = ERR_INIT;

	if (ref_list(r, prefix, &refs, &e) < 0)
		return;
	for (const char *at = buf_str(&refs); *at; at += strcspn(at, "\n"), at += *at == '\n') {
		auto_str line = xstrndup(at, strcspn(at, "\n"));
		const char *ref = strchr(line, ' ');

		if (ref && !strncmp(ref + 1, prefix, strlen(prefix)))
			offer(l, ref + 1 + strlen(prefix), NULL);
	}
}

/* The configuration has a line "remote.NAME.url" for each remote. */
static void offer_remotes(struct line *l, const struct repo *r)
{
	static const char begin[] = "remote.", end[] = ".url";

	for (size_t i = 0; i < r->config.n; i++) {
		auto_str key = xstrndup(r->config.v[i], strcspn(r->config.v[i], "\n"));
		size_t len = strlen(key);

		if (strncmp(key, begin, strlen(begin)) != 0 || len < strlen(begin) + strlen(end) ||
			strcmp(key + len - strlen(end), end) != 0)
			continue;
		key[len - strlen(end)] = '\0';
		offer(l, key + strlen(begin), NULL);
	}
}

/* git must not run in a repository inside the Garth home: an agent made it. */
static int open_repository(struct repo *ret)
{
	auto_context c = { .home.fd = -1 };
	auto_str cwd = get_current_dir_name();
	struct err e = ERR_INIT;

	if (!cwd)
		return -1;
	if (!has_home())
		return repo_open(cwd, "HEAD", ret, &e);
	return context_open_to_look(&c, &e) < 0 ? -1 : here_open(&c, cwd, "HEAD", ret, &e);
}

static void offer_git(struct line *l, enum word word)
{
	auto_repo r = { 0 };

	if (open_repository(&r) < 0)
		return;
	if (word == WORD_REMOTE) {
		offer_remotes(l, &r);
		return;
	}
	if (word == WORD_REVISION)
		offer(l, "HEAD", NULL);
	offer_refs(l, &r, "refs/heads/");
	if (word == WORD_REVISION)
		offer_refs(l, &r, "refs/tags/");
}

static void offer_parts(struct line *l)
{
	for (const struct cmd_part *p = l->parts; p && p->name; p++)
		offer(l, p->name, p->brief);
}

/* Those of this project that are not over. */
static void offer_plans(struct line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_row_list list = { 0 };
	struct err e = ERR_INIT;
	int64_t here = 0;

	if (open_store(&c, &e) < 0 || here_project(&c, ".", &here, &e) < 0 ||
		store_plan_list(c.store, here < 0 ? 0 : here, false, &list, &e) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		offer(l, list.v[i].name, list.v[i].state);
}

static void offer_stages(struct line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_stage_row_list list = { 0 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;

	if (!l->first || open_store(&c, &e) < 0 || plan_find(&c, l->first, &row, &e) < 0 ||
		store_stage_list(c.store, row.id, &list, &e) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		offer(l, list.v[i].name, list.v[i].state);
}

/* Further arguments are of the last kind that its row names: stages. */
static void offer_of_part(struct line *l)
{
	if (!l->part)
		return;
	if (l->nth == 0 && strstr(l->part->words, "PLAN"))
		offer_plans(l);
	if (l->nth == 0 && strstr(l->part->words, "FILE"))
		l->ret->shell = "files";
	if (l->nth > 0 && strstr(l->part->words, "STAGE"))
		offer_stages(l);
}

static void offer_word(struct line *l, enum word word)
{
	switch (word) {
	case WORD_NONE:
	case WORD_TEXT:
		return;
	case WORD_TASK:
	case WORD_ANY_TASK:
		return offer_tasks(l, word == WORD_ANY_TASK);
	case WORD_AGENT:
		return offer_agents(l);
	case WORD_STATE:
		for (size_t i = 0; ls_states[i]; i++)
			offer(l, ls_states[i], NULL);
		return;
	case WORD_BACKEND:
		return offer_choices(l, "workspace.backend");
	case WORD_NETWORK:
		return offer_choices(l, "network.mode");
	case WORD_ON_DIRTY:
		return offer_choices(l, "task.on_dirty");
	case WORD_LIMIT:
		return offer_limits(l);
	case WORD_KEY:
		return offer_keys(l);
	case WORD_VARIABLE:
		return offer_variables(l);
	case WORD_BRANCH:
	case WORD_REVISION:
	case WORD_REMOTE:
		return offer_git(l, word);
	case WORD_SNAPSHOT:
		return offer_snapshots(l);
	case WORD_COMMAND:
		return offer_commands(l);
	case WORD_PART:
		return offer_parts(l);
	case WORD_OF_PART:
		return offer_of_part(l);
	case WORD_SHELL:
		offer(l, "bash", NULL);
		offer(l, "zsh", NULL);
		offer(l, "fish", NULL);
		return;
	case WORD_PROGRAM:
		l->ret->shell = "programs";
		return;
	case WORD_FILE:
		l->ret->shell = "files";
		return;
	case WORD_DIRECTORY:
		l->ret->shell = "directories";
		return;
	}
}

static bool is_used(const struct line *l, const struct opt *o)
{
	auto_str name = xasprintf("--%s", o->name);
	auto_str letter = xasprintf("-%c", o->letter);

	for (int i = 0; i < l->n - 1; i++)
		if (!strcmp(l->words[i], name) || (o->letter && !strcmp(l->words[i], letter)))
			return o->type != OPT_LIST;
	return false;
}

static bool part_has(const struct line *l, const char *option)
{
	auto_str word = xasprintf(" %s ", option);

	return !l->part || !strcmp(option, "quiet") || strstr(l->part->options, word);
}

static void offer_options(struct line *l, const struct opt *opts)
{
	struct opt *all = cmd_options(opts);

	for (const struct opt *o = all; o->name; o++) {
		auto_str name = xasprintf("--%s", o->name);

		if (!is_used(l, o) && part_has(l, o->name))
			offer(l, name, o->help);
	}
	free(all);
	offer(l, "--help", "explain the command");
}

static const struct opt *long_with_value(const struct opt *opts, const char *name)
{
	for (const struct opt *o = opts; o->name; o++) {
		size_t len = strlen(o->name);

		if (o->type != OPT_FLAG && !strncmp(name, o->name, len) && (!name[len] || name[len] == '='))
			return o;
	}
	return NULL;
}

/* For letters such as "qb": the last one, unless an earlier one has a value, which is then the rest. */
static const struct opt *short_with_value(const struct opt *opts, const char *letters)
{
	for (; *letters; letters++)
		for (const struct opt *o = opts; o->name; o++)
			if (o->letter == *letters && o->type != OPT_FLAG)
				return letters[1] ? NULL : o;
	return NULL;
}

/* The option with a value in a word such as "--net", "--net=host" or "-qb"; NULL if there is none. */
static const struct opt *option_with_value(const struct opt *opts, const char *word)
{
	if (word[0] != '-')
		return NULL;
	return word[1] == '-' ? long_with_value(opts, word + 2) : short_with_value(opts, word + 1);
}

static enum word argument_word(const struct cmd *c, int i)
{
	const int max = (int)ARRAY_SIZE(c->words);

	for (i = i < max ? i : max - 1; i && c->words[i] == WORD_NONE;)
		i--;
	return c->words[i];
}

static void take_part(struct line *l, enum word kind, const char *word)
{
	for (const struct cmd_part *p = l->parts; kind == WORD_PART && p && p->name; p++)
		if (!strcmp(p->name, word))
			l->part = p;
	if (kind == WORD_OF_PART && !l->nth++)
		l->first = word;
}

/* Parses the words before the last one as opt_parse would, and offers what the last one can be. */
static void offer_last(const struct cmd *c, const struct cmd_line *line, void *data)
{
	const struct opt *waiting = NULL, *o;
	bool options_over = false;
	struct line *l = data;
	int arguments = 0;

	l->parts = c->parts;
	for (int i = 0; i < l->n - 1; i++) {
		char *word = l->words[i];

		if (waiting) {
			waiting = NULL;
		} else if (!options_over && !strcmp(word, "--")) {
			options_over = true;
		} else if (!options_over && word[0] == '-') {
			o = option_with_value(line->opts, word);
			waiting = o && !strchr(word, '=') ? o : NULL;
		} else {
			enum word kind = argument_word(c, arguments++);

			if (kind == WORD_TASK && !l->task)
				l->task = word;
			take_part(l, kind, word);
			if (kind == WORD_PROGRAM) {
				l->ret->shell = "files";
				return;
			}
		}
	}
	o = option_with_value(line->opts, l->prefix);
	if (waiting) {
		offer_word(l, waiting->word);
	} else if (!options_over && o && strchr(l->prefix, '=')) {
		l->front = l->prefix;
		l->prefix = strchr(l->prefix, '=') + 1;
		l->front_len = (size_t)(l->prefix - l->front);
		offer_word(l, o->word);
	} else if (!options_over && l->prefix[0] == '-') {
		offer_options(l, line->opts);
	} else if (line->max_words < 0 || arguments < line->max_words) {
		offer_word(l, argument_word(c, arguments));
	}
}

void complete(char **words, int n, struct completion *ret)
{
	struct line l = { .words = words + 1, .n = n - 1, .prefix = n ? words[n - 1] : "", .ret = ret };
	const struct cmd *c;

	if (n > 1) {
		c = cmd_find(words[0]);
		if (!c)
			c = alias_find(words[0], n - 1, words + 1);
		if (c)
			cmd_look(c, offer_last, &l);
		return;
	}
	offer_commands(&l);
	if (l.prefix[0] == '-') {
		offer(&l, "--help", "list the commands");
		offer(&l, "--version", "print the version");
	}
}
