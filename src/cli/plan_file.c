#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/shell_word.h"
#include "base/yaml.h"
#include "cli/plan_cmd.h"
#include "cli/say.h"
#include "git/entry.h"
#include "git/ref.h"
#include "plan/finish.h"
#include "plan/make.h"
#include "plan/start.h"
#include "plan/stage_words.h"
#include "sys/fd.h"
#include "task/program.h"

void plan_file_release(struct plan_file *f)
{
	plan_release(&f->plan);
	repo_release(&f->repo);
	free(f->commit);
}

/* What plan_decide asks. */
struct host {
	struct context *c;
	struct plan_file *file;
};

static int have_paths(void *ctx, const struct strvec *paths, bool *ret, struct err *e)
{
	struct host *h = ctx;

	return entry_are_there(&h->file->repo, h->file->commit, paths, ret, e);
}

/* Every task has git and garth. */
static bool has_program(void *ctx, const char *name)
{
	struct host *h = ctx;

	return !strcmp(name, "git") || !strcmp(name, "garth") || program_is_shown(h->c, name);
}

static int read_text(const char *path, struct buf *text, struct err *e)
{
	if (!strcmp(path, "-"))
		return read_rest(0, text, "the standard input", e);
	if (access(path, F_OK) < 0)
		return err_set(e, ERR_NOTFOUND, "there is no plan file '%s'", path);
	return read_file(AT_FDCWD, path, text, e);
}

/* Finds the commit that the plan starts from: its target, or HEAD. Without a repository or a commit it is not known. */
static int find_commit(struct plan_file *f, struct err *e)
{
	const char *target = f->plan.target;
	struct err why = ERR_INIT;
	char oid[OID_SIZE];
	auto_str ref = NULL;

	if (repo_open(".", "HEAD", &f->repo, &why) < 0)
		return why.kind == ERR_NOTFOUND ? 0 : (*e = why, -1);
	if (!target)
		return f->commit = xstrdup(f->repo.commit), 0;
	ref = strncmp(target, "refs/heads/", 11) ? xasprintf("refs/heads/%s", target) : xstrdup(target);
	if (ref_read(&f->repo, ref, oid, e) < 0)
		return -1;
	if (!*oid)
		return plan_error(&f->plan, f->plan.target_at, e, "there is no branch '%s'", target);
	f->commit = xstrdup(oid);
	return 0;
}

int plan_file_load(struct context *c, const char *path, struct plan_file *ret, struct err *e)
{
	auto_str word = shell_word(path);

	if (!plan_file_load_all(c, path, NULL, ret, e))
		return 0;
	/* which names all mistakes, not the first one only */
	return e->kind == ERR_CONFIG && !e->hint[0] && strcmp(path, "-") != 0
		       ? err_hint(e, "garth plan check %s", word)
		       : -1;
}

int plan_file_load_all(
	struct context *c, const char *path, struct strvec *mistakes, struct plan_file *ret, struct err *e)
{
	auto_plan_file f = { 0 };
	auto_buf text = BUF_INIT(YAML_MAX_BYTES + 1);
	struct host at = { c, &f };
	struct plan_host host = { &at, have_paths, has_program };

	if (read_text(path, &text, e) < 0 ||
		plan_read_all(buf_str(&text), text.len, path, mistakes, &f.plan, e) < 0 ||
		find_commit(&f, e) < 0)
		return -1;
	if (!f.commit)
		host.have_paths = NULL;
	if (plan_decide(&f.plan, &host, e) < 0)
		return -1;
	*ret = f;
	f = (struct plan_file){ 0 };
	return 0;
}

/* Warns of settings of the plan for which the agent has no option. */
static void warn_of_options(struct plan *p, const struct plan_stage *s, const struct config_agent *a)
{
	if (s->model && !a->model.n)
		plan_warn(p, s->at, "'model' has no effect: agents.%s.model does not say how it is given",
			a->name);
	if (s->effort && !a->effort.n)
		plan_warn(p, s->at,
			"'reasoning_effort' has no effect: agents.%s.effort does not say how it is given",
			a->name);
}

/* Names each program once. */
static void warn_of_program(
	struct context *c, struct plan *p, const struct plan_stage *s, struct strvec *known)
{
	const struct config_agent *a;
	const struct strvec *words;
	struct err ignored = ERR_INIT;
	const char *name;

	if (stage_agent(&c->config, p, s, &name, &ignored) < 0 ||
		config_agent_find(&c->config, name, &a, &ignored) < 0)
		return;
	warn_of_options(p, s, a);
	if (stage_words_template(a, &words, &ignored) < 0 || strchr(words->v[0], '/') ||
		strvec_has(known, words->v[0]))
		return;
	strvec_push(known, words->v[0]);
	if (!program_is_shown(c, words->v[0]))
		plan_warn(p, s->at, "a stage would have no program '%s', which agent '%s' runs", words->v[0],
			name);
}

void plan_file_refusals(struct context *c, struct plan_file *f)
{
	auto_strvec known = STRVEC_INIT;
	struct err why = ERR_INIT;

	if (plan_check_agents(c, &f->plan, &why) < 0)
		strvec_push(&f->plan.warnings, why.msg);
	if (f->commit && plan_check_commit(&f->repo, f->commit, &why) < 0)
		strvec_push(&f->plan.warnings, why.msg);
	for (size_t i = 0; i < f->plan.nstages; i++)
		warn_of_program(c, &f->plan, &f->plan.stages[i], &known);
}

void plan_file_say(const struct plan_file *f)
{
	auto_buf clean = BUF_INIT(1 << 20);

	for (size_t i = 0; i < f->plan.no_effect.n; i++) {
		say_state("%s", say_one_line(&clean, f->plan.no_effect.v[i]));
		buf_reset(&clean);
	}
	say_warnings(&f->plan.warnings);
	if (!f->commit)
		say_warning("there is no repository here: how 'files' is read is left open");
}

int plan_file_walls(const struct plan_file *f, bool keep_walls, struct err *e)
{
	auto_str path = shell_word(f->plan.file);
	struct err why = ERR_INIT;

	if (!plan_check_walls(&f->plan, &why))
		return 0;
	if (keep_walls)
		return say_warning("%s", why.msg), 0;
	*e = why;
	return err_hint(e, "garth plan run --keep-walls %s", path);
}
