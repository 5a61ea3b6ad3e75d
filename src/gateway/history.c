#include "gateway/history.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "gateway/inside.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/refs.h"
#include "workspace/aside.h"
#include "workspace/review.h"

/* Paths of a tree. */
#define PATHS_MAX (256u << 20)

/* Where the branch is: the user may have moved it, and the store learn of it later. */
static int find_tip(const struct gate *g, char tip[65], struct err *e)
{
	if (ref_read(&g->at.repo, g->task.branch, tip, e) < 0)
		return -1;
	return *tip ? 0 : err_set(e, ERR_NOTFOUND, "the branch %s is not there any more", g->task.branch);
}

/* The files beyond the commit, as a pack beside the snapshot's number. */
static int keep_state(struct gate *g, char commit[65], int *ret_pack, struct review_left *left, struct err *e)
{
	if (mkdirat(g->at.ws.dir, "snapshots", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make 'snapshots' of the task");
	*ret_pack = openat(g->at.ws.dir, "snapshots", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_pack < 0)
		return err_sys(e, "cannot make a file in 'snapshots' of the task");
	return review_keep(&g->at.ws, *ret_pack, commit, left, e);
}

static int name_pack(struct gate *g, int pack, int64_t number, struct err *e)
{
	auto_str from = xasprintf("/proc/self/fd/%d", pack),
		 to = xasprintf("snapshots/%lld.pack", (long long)number);

	unlinkat(g->at.ws.dir, to, 0);
	if (linkat(AT_FDCWD, from, g->at.ws.dir, to, AT_SYMLINK_FOLLOW) < 0)
		return err_sys(e, "cannot keep '%s' of the task", to);
	return 0;
}

static int record(
	struct gate *g, const char *event, const char *key, const char *value, int64_t n, struct err *e)
{
	return audit_add(
		g->audit, event, &g->task, json_pack("{s:s, s:I}", key, value, "number", (json_int_t)n), e);
}

int snapshot_take(struct gate *g, const char *reason, const char *message, int64_t *ret_number,
	struct review_left *left, struct err *e)
{
	char tip[65], state[65] = "";
	struct snapshot s = { .task_id = g->task.id,
		.commit = tip,
		.reason = (char *)reason,
		.message = (char *)message,
		.commits = g->task.commits };
	auto_ref_txn txn = REF_TXN_INIT;
	auto_fd pack = -1;

	if (find_tip(g, tip, e) < 0 || keep_state(g, state, &pack, left, e) < 0)
		return err_wrap(e, "cannot take a snapshot");
	s.state = state;
	if (store_begin(g->context.store, e) < 0)
		return -1;
	if (store_snapshot_add(g->context.store, &s, e) < 0 || name_pack(g, pack, s.number, e) < 0) {
		store_rollback(g->context.store);
		return -1;
	}
	fault("snapshot-kept");
	if (refs_keep(&g->context, &g->at.repo, &g->task, &txn, e) < 0 ||
		ref_commit(&g->at.repo, &txn, e) < 0 || store_commit(g->context.store, e) < 0) {
		store_rollback(g->context.store);
		return -1;
	}
	*ret_number = s.number;
	return record(g, "snapshot", "reason", reason, s.number, e);
}

int history_move(struct gate *g, const char *commit, const char *by, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	char now[65];

	if (ref_read(&g->at.repo, g->task.branch, now, e) < 0)
		return -1;
	if (!strcmp(now, commit))
		return 0;
	if (audit_add(g->audit, "move", &g->task,
		    json_pack("{s:s, s:s, s:s}", "old", now, "tip", commit, "by", by), e) < 0)
		return -1;
	ref_move(&txn, g->task.branch, commit, now);
	if (ref_commit(&g->at.repo, &txn, e) < 0)
		return -1;
	fault("history-moved");
	if (store_task_published(g->context.store, g->task.id, commit, g->task.commits, g->task.bytes, e) <
			0 ||
		gate_refresh(g, e) < 0)
		return -1;
	return workspace_published(&g->at.ws, commit, e);
}

int history_send_state(struct gate *g, int64_t number, struct err *e)
{
	auto_str name = xasprintf("snapshots/%lld.pack", (long long)number);
	auto_fd pack = open_regular_beneath(g->at.ws.dir, name);

	return pack < 0 ? err_sys(e, "cannot open '%s' of the task", name) : inside_unpack(g, pack, e);
}

/* A path as a pattern that is nothing but that path. */
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

/* git clean stumbles over directories that the agent closed to itself. */
static int open_all(struct gate *g, struct err *e)
{
	return inside_do(g, NULL, NULL, e, "-c", "alias.open-all=!chmod -R u+rwX .", "open-all", NULL);
}

static int clean(struct gate *g, const struct review_left *left, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf errtext = BUF_SMALL;
	int code;

	/* what cannot be named cannot be left out */
	if (left && left->many)
		return 0;
	strvec_pushl(&args, "clean", "-ffdxq", NULL);
	for (size_t i = 0; left && i < left->stays.n; i++)
		add_pattern(&args, left->stays.v[i]);
	for (size_t i = 0; left && i < left->bars.n; i++)
		add_pattern(&args, left->bars.v[i]);
	if (inside_git(g, &args, NULL, NULL, NULL, INSIDE_LONG, &code, e) < 0)
		return -1;
	if (!code)
		return 0;
	if (open_all(g, e) < 0 || inside_git(g, &args, NULL, NULL, &errtext, INSIDE_LONG, &code, e) < 0)
		return -1;
	return code ? err_set(e, ERR_FAILED, "git clean inside: %.*s", (int)strcspn(buf_str(&errtext), "\n"),
			      buf_str(&errtext))
		    : 0;
}

/* The workspace becomes that of the commit, and then of the state; the index that of the commit. */
static int restore_inside(struct gate *g, const struct snapshot *s, bool with_state,
	const struct review_left *left, struct err *e)
{
	if (inside_do(g, NULL, NULL, e, "symbolic-ref", "HEAD", g->task.branch, NULL) < 0 ||
		inside_do(g, NULL, NULL, e, "reset", "-q", "--hard", s->commit, NULL) < 0 ||
		clean(g, left, e) < 0)
		return -1;
	if (!with_state || !*s->state)
		return 0;
	if (history_send_state(g, s->number, e) < 0 ||
		inside_do(g, NULL, NULL, e, "read-tree", "--reset", "-u", s->state, NULL) < 0)
		return -1;
	return inside_do(g, NULL, NULL, e, "reset", "-q", NULL);
}

int history_restore(struct gate *g, int64_t snapshot, const struct review_left *left, struct err *e)
{
	auto_snapshot s = { 0 };

	if (store_snapshot(g->context.store, g->task.id, snapshot, &s, e) < 0)
		return -1;
	return restore_inside(g, &s, true, left, e);
}

bool history_paths_meet(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), min = n < m ? n : m;

	return !strncmp(a, b, min) && (n == m || (n < m ? b : a)[min] == '/');
}

/* What stays must not be what git puts there, or takes away: that would be lost. */
static void bar_paths(struct review_left *left, const struct buf *paths)
{
	for (const char *p = buf_str(paths); p < buf_str(paths) + paths->len; p += strlen(p) + 1)
		for (size_t i = 0; i < left->stays.n; i++)
			if (history_paths_meet(p, left->stays.v[i]) &&
				!strvec_has(&left->bars, left->stays.v[i])) {
				strvec_push(&left->bars, left->stays.v[i]);
				strvec_pushf(&left->why, "%s (git has something else in its place)",
					left->stays.v[i]);
			}
}

/* The paths of what is there now, of the commit, and of the state, whose objects are sent in for it. */
static int check_paths(
	struct gate *g, const struct snapshot *to, bool with_state, struct review_left *left, struct err *e)
{
	const char *trees[] = { to->commit, with_state && *to->state ? to->state : NULL };
	auto_buf out = BUF_INIT(PATHS_MAX);

	if (!left->stays.n)
		return 0;
	if (trees[1] && history_send_state(g, to->number, e) < 0)
		return -1;
	if (inside_do(g, &out, NULL, e, "ls-files", "-z", NULL) < 0)
		return -1;
	bar_paths(left, &out);
	for (size_t i = 0; i < ARRAY_SIZE(trees) && trees[i]; i++) {
		buf_reset(&out);
		if (inside_do(g, &out, NULL, e, "ls-tree", "-r", "-z", "--name-only", trees[i], NULL) < 0)
			return -1;
		bar_paths(left, &out);
	}
	return 0;
}

/* Before anything is touched. */
static int check_left(const struct gate *g, const struct review_left *left, struct err *e)
{
	if (!left->bars.n)
		return 0;
	err_set(e, ERR_REFUSED, "no snapshot can hold all of task '%s'; -f gives this up", g->task.name);
	err_paths(e, &left->why);
	return strstr(left->why.v[0], "large")
		       ? err_hint(e, "garth export %s DIR", g->task.name)
		       : err_hint(e, "garth exec %s -- chmod -R u+rwX .", g->task.name);
}

/* What the snapshot set aside comes back when nobody is inside any more. The places are made here, where the
 * overlay knows what has to be hidden for a directory to be there. */
static int return_kept(struct gate *g, int64_t snapshot, bool undo, struct err *e)
{
	auto_strvec paths = STRVEC_INIT;

	if (aside_kept(&g->at.ws, snapshot, &paths, e) < 0)
		return -1;
	if (!paths.n)
		return 0;
	if (inside_mkdirs(g, &paths, e) < 0 || aside_return(&g->at.ws, snapshot, !undo, e) < 0)
		return -1;
	fault("aside-wanted");
	return 0;
}

int rollback(struct gate *g, const struct rollback_spec *s, int64_t *ret_before, struct review_left *left,
	struct err *e)
{
	auto_snapshot to = { 0 };
	auto_str data = NULL;
	int64_t deed;

	if (!s->full && !s->snapshot && !s->file)
		return err_set(e, ERR_USAGE, "back to what?");
	if (s->snapshot || s->full) {
		if (store_snapshot(g->context.store, g->task.id, s->full ? 1 : s->snapshot, &to, e) < 0)
			return -1;
	}
	/* before anything is recorded */
	if (inside_ask(g, NULL, NULL, e, "rev-parse", "--git-dir", NULL) < 0)
		return -1;
	if (s->file)
		return rollback_file(g, s, &to, ret_before, left, e);
	if (snapshot_take(g, "rollback", "", ret_before, left, e) < 0 ||
		(!s->force && (check_paths(g, &to, !s->full, left, e) < 0 || check_left(g, left, e) < 0)))
		return -1;
	fault("rollback-snapshot");
	data = xasprintf("{\"snapshot\":%lld}", (long long)*ret_before);
	if (aside_number(&g->at.ws, *ret_before, e) < 0)
		return -1;
	fault("aside-numbered");
	/* from here on it can be taken back, whatever comes of it */
	if (record(g, "rollback", "to", to.commit, to.number, e) < 0 ||
		(!s->undo && store_deed_add(g->context.store, g->task.id, "rollback", data, &deed, e) < 0))
		return -1;
	fault("rollback-recorded");
	/* an undo that is cut short is begun again, with all that it set aside in its place */
	if ((!s->undo && aside_keep(&g->at.ws, *ret_before, e) < 0) ||
		restore_inside(g, &to, !s->full, s->force ? NULL : left, e) < 0)
		return -1;
	fault("rollback-inside");
	if (history_move(g, to.commit, "rollback", e) < 0 ||
		(s->undo && aside_keep(&g->at.ws, *ret_before, e) < 0))
		return -1;
	fault("aside-kept");
	return s->full ? 0 : return_kept(g, to.number, s->undo, e);
}
