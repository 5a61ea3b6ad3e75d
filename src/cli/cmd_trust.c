#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/approve.h"
#include "cli/checkout_changes.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/say.h"
#include "task/approval.h"
#include "task/here.h"
#include "task/repository_config.h"

struct trust {
	struct context c;
	struct repo repo;
	struct project project;
	struct config config;
	const char *rev;
	bool there; /* the commit has a file */
	bool list, revoke, yes, json;
};

static void trust_release(struct trust *t)
{
	config_release(&t->config);
	project_release(&t->project);
	repo_release(&t->repo);
	context_close(&t->c);
}

static int open_all(struct trust *t, struct err *e)
{
	auto_str cwd = get_current_dir_name();
	auto_buf text = BUF_INIT(REPO_SETTINGS_MAX + 1);

	if (context_open(&t->c, e) < 0 ||
		here_open(&t->c, cwd ? cwd : ".", t->rev ? t->rev : "HEAD", &t->repo, e) < 0 ||
		context_store(&t->c, e) < 0 ||
		store_project(t->c.store, t->repo.main_top, t->repo.git_dir, &t->project, e) < 0)
		return -1;
	/* these work with a file that cannot be read, too */
	if (t->list || t->revoke)
		return 0;
	if (repository_config_load(&t->c, &t->repo, &t->config, &t->there, &text, e) < 0)
		return -1;
	if (!t->rev)
		checkout_settings_tell(t->repo.top, &text);
	return 0;
}

static json_t *approved_json(const struct approved *a)
{
	json_t *what = json_loads(a->what, 0, NULL);

	return json_pack("{s:o, s:o, s:o}", "digest", json_text(a->digest), "asks",
		what ? what : json_array(), "approved_at", json_time(a->created));
}

static int print_list(struct trust *t)
{
	auto_approved_list all = { 0 };
	struct err e = ERR_INIT;
	json_t *list;

	if (store_approved_list(t->c.store, t->project.id, &all, &e) < 0)
		return say_error(&e);
	if (!t->json && !all.n)
		say_state("nothing is approved for '%s'", t->project.path);
	list = json_array();
	for (size_t i = 0; i < all.n; i++)
		json_array_append_new(list, approved_json(&all.v[i]));
	if (t->json)
		return json_print(json_pack("{s:o}", "approvals", list));
	for (size_t i = 0; i < all.n; i++) {
		const json_t *asks = json_object_get(json_array_get(list, i), "asks"), *one;
		char age[32];
		size_t k;

		say_age(all.v[i].created, age, sizeof(age));
		printf("%.12s  approved %s%s\n", all.v[i].digest, age, strcmp(age, "now") ? " ago" : "");
		json_array_foreach(asks, k, one)
		{
			auto_buf clean = BUF_INIT(1 << 20);

			printf("  %s\n", say_one_line(&clean, json_string_value(one)));
		}
	}
	json_decref(list);
	return 0;
}

static int take_back(struct trust *t)
{
	struct err e = ERR_INIT;

	if (approval_revoke(&t->c, t->project.id, &e) < 0)
		return say_error(&e);
	if (t->json)
		return json_print(json_pack("{s:b}", "approved", 0));
	say_done("nothing is approved for '%s' any more", t->project.path);
	return 0;
}

static int print_json(const struct trust *t, bool approved)
{
	char digest[APPROVAL_DIGEST_SIZE];
	json_t *asks = json_array();

	approval_digest(&t->config, digest);
	for (size_t i = 0; i < t->config.nasks; i++)
		json_array_append_new(asks, json_pack("{s:s, s:o}", "key", t->config.asks[i].key, "value",
						    json_text(t->config.asks[i].text)));
	return json_print(json_pack("{s:o, s:b, s:o}", "asks", asks, "approved", approved, "digest",
		t->config.nasks ? json_string(digest) : json_null()));
}

/* Without a terminal and --yes it only shows what there is to approve. */
static int approve(struct trust *t, struct err *e)
{
	if (!t->yes && isatty(0) && say_is_heard() && !t->json)
		return approve_on_terminal(&t->c, t->project.id, &t->config, e);
	if (!t->json)
		approve_show(stdout, &t->config);
	if (t->yes)
		return approval_give(&t->c, t->project.id, &t->config, e);
	err_set(e, ERR_REFUSED, "it is not approved: there is no terminal to ask on");
	return t->rev ? err_hint(e, "garth trust --yes --base %s", t->rev) : err_hint(e, "garth trust --yes");
}

static int look_and_approve(struct trust *t)
{
	struct err e = ERR_INIT;

	say_warnings(&t->config.notes);
	if (!t->config.nasks) {
		if (t->json)
			return print_json(t, true);
		say_state(t->there ? "the repository's .garth.yaml asks for nothing that needs approval"
				   : "the commit has no .garth.yaml: there is nothing to approve");
		return 0;
	}
	if (!approval_check(&t->c, t->project.id, &t->config, t->rev, &e)) {
		if (t->json)
			return print_json(t, true);
		approve_show(stdout, &t->config);
		say_state("all of it is approved");
		return 0;
	}
	if (e.kind != ERR_REFUSED)
		return say_error(&e);
	e = (struct err)ERR_INIT;
	if (approve(t, &e) < 0)
		return say_error(&e);
	if (t->json)
		return print_json(t, true);
	say_done("approved for '%s'", t->project.path);
	return 0;
}

int cmd_trust(int argc, char **argv)
{
	__attribute__((cleanup(trust_release))) struct trust t = { .c.home.fd = -1 };
	const struct opt opts[] = {
		{ 'b', "base", OPT_STR, &t.rev, "REV", "read the file of this commit, not of HEAD",
			WORD_REVISION },
		{ 0, "list", OPT_FLAG, &t.list, NULL, "list what is approved for this repository" },
		{ 0, "revoke", OPT_FLAG, &t.revoke, NULL, "take back all approvals for this repository" },
		{ 'y', "yes", OPT_FLAG, &t.yes, NULL, "approve without asking" },
		{ 0, "json", OPT_FLAG, &t.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "trust", opts, 0, 0, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (t.list + t.revoke + t.yes > 1)
		return err_set(&e, ERR_USAGE, "--list, --revoke and --yes do not go together"), say_error(&e);
	if (open_all(&t, &e) < 0)
		return say_error(&e);
	return t.list ? print_list(&t) : t.revoke ? take_back(&t) : look_and_approve(&t);
}
