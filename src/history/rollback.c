#include "history/rollback.h"

#include <string.h>

#include "base/alloc.h"
#include "history/rollback_submodules.h"
#include "history/snapshot.h"
#include "inside/inside.h"
#include "sys/fault.h"
#include "workspace/aside.h"
#include "workspace/review.h"

/* The list of a tree's paths, in bytes. */
#define PATHS_MAX (256u << 20)

int rollback_move_branch(struct inside *in, const char *commit, const char *by, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	char now[OID_SIZE];

	if (ref_read(&in->at.repo, in->task.branch, now, e) < 0)
		return -1;
	if (!strcmp(now, commit))
		return 0;
	if (audit_add(in->audit, "move", &in->task,
		    json_pack("{s:s, s:s, s:s}", "old", now, "tip", commit, "by", by), e) < 0)
		return -1;
	ref_move(&txn, in->task.branch, commit, now);
	if (ref_commit(&in->at.repo, &txn, e) < 0)
		return -1;
	fault("history-moved");
	if (store_task_published(
		    in->context.store, in->task.id, commit, in->task.commits, in->task.bytes, e) < 0 ||
		inside_refresh(in, e) < 0)
		return -1;
	return workspace_published(&in->at.ws, commit, e);
}

/* An ignore pattern that matches this path and no other. */
static void add_pattern(struct strvec *args, const char *path)
{
	auto_buf pattern = BUF_INIT(1 << 17);

	buf_addch(&pattern, '/');
	for (; *path; path++) {
		if (strchr("*?[]\\!# ", *path))
			buf_addch(&pattern, '\\');
		buf_addch(&pattern, *path);
	}
	strvec_pushl(args, "-e", buf_str(&pattern), NULL);
}

/* git clean fails in directories without permissions; the agent may have made some. chmod fails for what is not the
 * agent's (the root of a worktree, its read-only .git) and changes all the rest; the next git clean tells whether
 * that is enough. */
static void open_all(struct inside *in)
{
	struct err ignored = ERR_INIT;

	inside_program(in, &ignored, "chmod", "-R", "u+rwX", ".", NULL);
}

/* Whether a rule covers the path, or names something below it. */
static bool is_covered(const struct rules *rules, const char *path)
{
	const struct rule *r = rules_write(rules, path);
	size_t n = strlen(path);

	for (size_t i = 0; i < rules->n && !(r && rule_denies(r)); i++)
		if (!strncmp(rules->v[i].glob, path, n) && rules->v[i].glob[n] == '/' &&
			rule_denies(&rules->v[i]))
			r = &rules->v[i];
	return r && rule_denies(r);
}

/* Whether git could not remove only what rules of 'jail' cover, which is not the agent's file. */
static bool only_covered(const struct inside *in, const struct buf *errtext)
{
	static const char begin[] = "warning: failed to remove ";

	for (const char *l = buf_str(errtext); *l; l += strcspn(l, "\n"), l += *l == '\n') {
		auto_str line = xstrndup(l, strcspn(l, "\n"));
		char *colon = strrchr(line, ':');

		if (strncmp(line, begin, sizeof(begin) - 1) != 0 || !colon)
			return false;
		*colon = '\0';
		if (!is_covered(&in->context.config.policy.rules, line + sizeof(begin) - 1))
			return false;
	}
	return errtext->len > 0;
}

static int clean(struct inside *in, const struct review_left *left, const struct strvec *also, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf errtext = BUF_SMALL;
	int code;

	/* the list is cut, so git clean cannot be told about all of them */
	if (left && left->many)
		return 0;
	strvec_pushl(&args, "clean", "-ffdxq", NULL);
	for (size_t i = 0; left && i < left->stays.n; i++)
		add_pattern(&args, left->stays.v[i]);
	for (size_t i = 0; left && i < left->bars.n; i++)
		add_pattern(&args, left->bars.v[i]);
	for (size_t i = 0; i < also->n; i++)
		add_pattern(&args, also->v[i]);
	for (int again = 0; again < 2; again++) {
		buf_reset(&errtext);
		if (inside_git(in, &args, NULL, NULL, &errtext, INSIDE_LONG, &code, e) < 0)
			return -1;
		if (!code || only_covered(in, &errtext))
			return 0;
		if (!again)
			open_all(in);
	}
	return err_set(e, ERR_FAILED, "git clean inside: %.*s", (int)strcspn(buf_str(&errtext), "\n"),
		buf_str(&errtext));
}

/* The workspace and the index become the commit's; then the workspace becomes the snapshot's state. */
static int restore_inside(struct inside *in, const struct snapshot *s, bool with_state,
	const struct review_left *left, struct err *e)
{
	auto_strvec unchanged = STRVEC_INIT, kept = STRVEC_INIT;

	if (rollback_find_layers(in, &unchanged, e) < 0 ||
		(with_state && aside_kept(&in->at.ws, s->number, &kept, e) < 0))
		return -1;
	if (inside_do(in, NULL, NULL, e, "symbolic-ref", "HEAD", in->task.branch, NULL) < 0 ||
		inside_do(in, NULL, NULL, e, "reset", "-q", "--hard", s->commit, NULL) < 0 ||
		clean(in, left, &unchanged, e) < 0 || rollback_restore_layers(in, &unchanged, &kept, e) < 0)
		return -1;
	if (!with_state || !*s->state)
		return 0;
	if (snapshot_send_state(in, s->number, e) < 0 ||
		inside_do(in, NULL, NULL, e, "read-tree", "--reset", "-u", s->state, NULL) < 0)
		return -1;
	return inside_do(in, NULL, NULL, e, "reset", "-q", NULL);
}

int rollback_restore(struct inside *in, int64_t snapshot, const struct review_left *left, struct err *e)
{
	auto_snapshot s = { 0 };

	if (store_snapshot(in->context.store, in->task.id, snapshot, &s, e) < 0)
		return -1;
	return restore_inside(in, &s, true, left, e);
}

bool rollback_paths_meet(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), min = n < m ? n : m;

	return !strncmp(a, b, min) && (n == m || (n < m ? b : a)[min] == '/');
}

/* A path that stays must not be one that git writes or removes: its content would be lost. */
static void bar_paths(struct review_left *left, const struct buf *paths)
{
	for (const char *p = buf_str(paths); p < buf_str(paths) + paths->len; p += strlen(p) + 1)
		for (size_t i = 0; i < left->stays.n; i++)
			if (rollback_paths_meet(p, left->stays.v[i]) &&
				!strvec_has(&left->bars, left->stays.v[i])) {
				auto_str line = xasprintf(
					"%s (git has something else in its place)", left->stays.v[i]);

				review_left_bar(left, left->stays.v[i], REVIEW_IN_THE_WAY, line);
			}
}

/* Checks the paths of the index, of the commit, and of the snapshot's state. The state's objects are sent in
 * for that. */
static int check_paths(struct inside *in, const struct snapshot *to, bool with_state,
	struct review_left *left, struct err *e)
{
	const char *trees[] = { to->commit, with_state && *to->state ? to->state : NULL };
	auto_buf out = BUF_INIT(PATHS_MAX);

	if (!left->stays.n)
		return 0;
	if (trees[1] && snapshot_send_state(in, to->number, e) < 0)
		return -1;
	if (inside_do(in, &out, NULL, e, "ls-files", "-z", NULL) < 0)
		return -1;
	bar_paths(left, &out);
	for (size_t i = 0; i < ARRAY_SIZE(trees) && trees[i]; i++) {
		buf_reset(&out);
		if (inside_do(in, &out, NULL, e, "ls-tree", "-r", "-z", "--name-only", trees[i], NULL) < 0)
			return -1;
		bar_paths(left, &out);
	}
	return 0;
}

/* Called before anything is changed. */
static int check_left(const struct inside *in, const struct review_left *left, struct err *e)
{
	if (!left->bars.n)
		return 0;
	err_set(e, ERR_REFUSED, "no snapshot can hold all of task '%s'; -f removes the rest for good",
		in->task.name);
	err_paths(e, &left->why);
	return left->first == REVIEW_TOO_LARGE
		       ? err_hint(e, "garth export %s DIR", in->task.name)
		       : err_hint(e, "garth exec %s -- chmod -R u+rwX .", in->task.name);
}

/* Directories that the snapshot set aside come back after all processes inside have ended. Their places are
 * made now, by the overlay, which knows what has to be hidden to make room for a directory. */
static int return_kept(struct inside *in, int64_t snapshot, bool undo, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;

	if (aside_kept(&in->at.ws, snapshot, &paths, e) < 0)
		return -1;
	if (!paths.n)
		return 0;
	if (inside_mkdirs(in, &paths, e) < 0 || aside_return(&in->at.ws, snapshot, !undo, e) < 0)
		return -1;
	fault("aside-wanted");
	return 0;
}

static int roll_back_submodules(struct inside *in, const struct rollback_spec *s, const struct snapshot *to,
	int64_t before, struct strvec *stashed, struct err *e)
{
	struct submodules_rollback r = {
		.to = to, .before = before, .full = s->full, .undo = s->undo, .stashed = *stashed
	};
	int rc = rollback_submodules(in, &r, e);

	*stashed = r.stashed;
	return rc;
}

int rollback(struct inside *in, const struct rollback_spec *s, int64_t *ret_before, struct review_left *left,
	struct strvec *stashed, struct err *e)
{
	auto_snapshot to = { 0 };
	auto_str data = NULL;
	int64_t deed;

	if (!s->full && !s->snapshot && !s->file)
		return err_set(e, ERR_USAGE, "nothing says what to roll back to");
	if (s->snapshot || s->full) {
		if (store_snapshot(in->context.store, in->task.id, s->full ? 1 : s->snapshot, &to, e) < 0)
			return err_wrap(e, "task '%s'", in->task.name),
			       err_hint(e, "garth show %s", in->task.name);
	}
	/* fails early if git inside does not work, before anything is recorded */
	if (inside_refuse_blocking(in, e) < 0 ||
		inside_ask(in, NULL, NULL, e, "rev-parse", "--git-dir", NULL) < 0)
		return -1;
	if (s->file)
		return rollback_file(in, s, &to, ret_before, left, e);
	if (snapshot_take(in, "rollback", "", ret_before, left, e) < 0 ||
		(!s->force && (check_paths(in, &to, !s->full, left, e) < 0 || check_left(in, left, e) < 0)))
		return -1;
	fault("rollback-snapshot");
	data = xasprintf("{\"snapshot\":%lld}", (long long)*ret_before);
	if (aside_number(&in->at.ws, *ret_before, e) < 0)
		return -1;
	fault("aside-numbered");
	/* from here on the rollback can be undone, even if it fails */
	if (audit_add(in->audit, "rollback", &in->task,
		    json_pack("{s:s, s:I}", "to", to.commit, "number", (json_int_t)to.number), e) < 0 ||
		(!s->undo && store_deed_add(in->context.store, in->task.id, "rollback", data, &deed, e) < 0))
		return -1;
	fault("rollback-recorded");
	/* an undo that a crash cuts short starts again, so its own files are set aside only at the end */
	if ((!s->undo && aside_keep(&in->at.ws, *ret_before, e) < 0) ||
		restore_inside(in, &to, !s->full, s->force ? NULL : left, e) < 0)
		return -1;
	fault("rollback-inside");
	if (rollback_move_branch(in, to.commit, "rollback", e) < 0 ||
		(s->undo && aside_keep(&in->at.ws, *ret_before, e) < 0))
		return -1;
	fault("aside-kept");
	if (roll_back_submodules(in, s, &to, *ret_before, stashed, e) < 0)
		return -1;
	return s->full ? 0 : return_kept(in, to.number, s->undo, e);
}
