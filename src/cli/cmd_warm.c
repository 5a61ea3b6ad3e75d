#include <jansson.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/size.h"
#include "cli/added_layers.h"
#include "cli/approve.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "runtime/setup.h"
#include "task/approval.h"
#include "task/here.h"
#include "task/repository_config.h"

/* Puts the repository's file in force, after the user has approved what it runs. */
static int add_settings(
	struct context *c, const struct repo *r, const struct project *p, const char *rev, struct err *e)
{
	auto_buf text = BUF_INIT(REPO_SETTINGS_MAX + 1);
	auto_config config = { 0 };
	struct config user = c->config;
	bool there = false;

	if (!r->has_settings)
		return 0;
	if (repository_config_load(c, r, &config, &there, &text, e) < 0)
		return -1;
	if (!there)
		return 0;
	say_warnings(&config.notes);
	if (approval_check(c, p->id, &config, rev, e) < 0 &&
		(e->kind != ERR_REFUSED || approve_on_terminal(c, p->id, &config, e) < 0))
		return -1;
	c->config = config;
	config = user;
	return 0;
}

/* Fills in what the set-up needs to know of the tasks that will use its layer. */
static int find_project(struct context *c, const char *rev, struct repo *r, struct project *p,
	struct task *like, struct err *e)
{
	auto_str cwd = get_current_dir_name();

	if (here_open(c, cwd ? cwd : ".", rev ? rev : "HEAD", r, e) < 0 || context_store(c, e) < 0 ||
		store_project(c->store, r->main_top, r->git_dir, p, e) < 0 ||
		add_settings(c, r, p, rev, e) < 0)
		return -1;
	like->project_id = p->id;
	like->backend = xstrdup(c->config.backend ? c->config.backend : backend_by_default());
	return 0;
}

static int no_setup(struct err *e)
{
	err_set(e, ERR_NOTFOUND, "the configuration has no set-up: workspace.setup names the commands");
	return err_hint(e, "garth help config");
}

static void report(const struct setup_result *s)
{
	char files[COUNT_TEXT_MAX], size[SIZE_TEXT_MAX];

	if (s->made)
		say_done("the set-up is done: %s file%s, %s, for every new task", count_text(s->files, files),
			s->files == 1 ? "" : "s", size_text(s->bytes, size));
	else
		say_state("the set-up was done before, and its inputs have not changed");
}

int cmd_warm(int argc, char **argv)
{
	bool json = false, again = false, verbose = false;
	const char *rev = NULL;
	const struct opt opts[] = {
		{ 'b', "base", OPT_STR, &rev, "REV", "for this commit, not for HEAD", WORD_REVISION },
		{ 0, "again", OPT_FLAG, &again, NULL, "run the set-up even if its layer exists" },
		{ 'v', "verbose", OPT_FLAG, &verbose, NULL, "show what the commands print" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "warm", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	auto_setup_result s = { .lock = -1 };
	auto_add_layers b = { 0 };
	auto_project p = { 0 };
	auto_repo r = { 0 };
	auto_task like = { 0 };
	struct err e = ERR_INIT;
	int rc;

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || find_project(&c, rev, &r, &p, &like, &e) < 0 ||
		(!c.config.setup.n && no_setup(&e) < 0))
		return say_error(&e);
	progress_begin("looking for the set-up");
	rc = runtime_setup(&c, &r, &like, again ? SETUP_AGAIN : 0,
		verbose && !json ? added_layers_show_all : added_layers_show, NULL, &s, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	add_layers_warn_setup(&b, &s);
	say_warnings(&b.warnings);
	if (json)
		return json_print(
			json_pack("{s:s, s:b, s:s}", "layer", s.name, "made", s.made, "base", r.commit));
	report(&s);
	return 0;
}
