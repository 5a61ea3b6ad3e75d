#include <stdio.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/shell_word.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/remaining.h"
#include "cli/say.h"
#include "cli/session.h"
#include "git/ref.h"
#include "push/push.h"
#include "task/life.h"
#include "runtime/run.h"

/* The most ids to print. If there are more, the hint is to push the content of all files of the branch. */
#define LFS_IDS_MAX 10

static int print_json(const struct task *t, const struct push_result *r)
{
	return json_print(json_pack("{s:o, s:o, s:o, s:s, s:s, s:I, s:b, s:i, s:o, s:o}", "task",
		json_text(t->name), "remote", json_text(r->remote), "branch", json_text(r->branch), "tip",
		r->tip, "pushed_tip", r->new_oid, "pushed_commits", (json_int_t)r->commits, "up_to_date",
		r->nothing, "tries", (int)r->tries, "state", json_text(t->state), "lfs_objects",
		json_list(&r->lfs)));
}

static void tell_where(const struct task *t, const struct push_result *r)
{
	char count[COUNT_TEXT_MAX];

	say_state("pushing %s commit%s of task '%s' to %s of %s", count_text(r->commits, count),
		r->commits == 1 ? "" : "s", t->name, r->branch, r->remote);
	progress_begin("pushing");
}

/* `git lfs push REMOTE BRANCH` would upload nothing: it leaves out what the remote's branch has. */
static void warn_lfs(const struct task *t, const struct push_result *r)
{
	auto_str remote = shell_word(r->remote), branch = shell_word(ref_short(t->branch));
	auto_buf ids = BUF_SMALL;
	char count[COUNT_TEXT_MAX];

	if (!r->lfs.n)
		return;
	say_warning("the content of %s file%s of Git LFS is not pushed", count_text(r->lfs.n, count),
		r->lfs.n == 1 ? "" : "s");
	for (size_t i = 0; i < r->lfs.n && r->lfs.n <= LFS_IDS_MAX; i++)
		buf_printf(&ids, " %s", r->lfs.v[i]);
	if (ids.len)
		say_hint("git lfs push --object-id %s%s", remote, buf_str(&ids));
	else
		say_hint("git lfs push --all %s %s", remote, branch);
}

static void tell(const struct task *t, const struct push_result *r)
{
	const char *target = strncmp(t->target, "refs/heads/", 11) ? NULL : ref_short(t->target);
	auto_str remote = NULL, to = NULL;

	if (r->nothing)
		say_state("%s of %s has all of task '%s' already", r->branch, r->remote, t->name);
	else
		say_done("task '%s' is pushed to %s of %s (%.12s%s)", t->name, r->branch, r->remote,
			r->new_oid, strcmp(r->new_oid, r->tip) ? ", rebased" : "");
	if (!say_is_heard() || !target || !strcmp(t->state, STATE_MERGED))
		return;
	remote = shell_word(r->remote);
	to = shell_word(target);
	if (!strcmp(r->branch, target)) {
		say_state("the local branch %s does not have it yet", target);
		say_hint("git pull %s %s", remote, to);
	} else {
		say_state("it is there for review; to push it to %s of %s as well:", target, r->remote);
		say_hint("garth push %s %s", t->name, to);
	}
}

int cmd_push(int argc, char **argv)
{
	struct push_spec s = { 0 };
	bool json = false;
	const struct opt opts[] = {
		{ 0, "remote", OPT_STR, &s.remote, "NAME", "name of the remote (default: local, else origin)",
			WORD_REMOTE },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "push", opts, 1, 2, false, 0, 0 };
	auto_push_result r = { 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };
	int rc;

	CMD_PARSE(&l, argc, argv);
	s.branch = l.words > 1 ? argv[1] : NULL;
	if (cmd_open_task(CMD_NEEDS_GIT, argv[0], &c, &t, &e) < 0 ||
		(runtime_configure(&c, &t, &e) < 0 && e.kind != ERR_NOTFOUND))
		return say_error(&e);
	s.retries = (unsigned)c.config.push_retries;
	s.before = say_is_heard() ? tell_where : NULL;
	rc = push_task(&c, &t, &s, &r, &e);
	progress_end();
	if (rc < 0)
		return say_error_members(&e,
			r.conflicts.n ? json_pack("{s:o}", "conflicts", json_conflicts(&r.conflicts)) : NULL);
	if (json)
		print_json(&t, &r);
	else
		tell(&t, &r);
	if (!r.nothing)
		warn_lfs(&t, &r);
	remaining_warn(&c, &t, "pushed");
	return 0;
}
