#include "gateway/end.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "gateway/publish.h"
#include "git/private.h"
#include "sys/fd.h"
#include "task/end.h"

#define INSIDE_SECONDS 60

/* Whether there can be anything to publish: told by names alone, without git. */
static bool has_drafts(struct gate *g)
{
	auto_fd git = open_beneath(g->at.ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	struct err ignored = ERR_INIT;
	size_t n = 1;

	if (git >= 0)
		private_count_objects(git, &g->at.repo, workspace_own_packs(&g->at.ws), &n, &ignored);
	return n > 0;
}

static int inside(struct gate *g, struct buf *out, int *ret_code, struct err *e, const char *first, ...)
	__attribute__((sentinel));

static int inside(struct gate *g, struct buf *out, int *ret_code, struct err *e, const char *first, ...)
{
	auto_strvec args = STRVEC_INIT;
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s; s = va_arg(ap, const char *))
		strvec_push(&args, s);
	va_end(ap);
	return gate_git(g, &args, NULL, out, NULL, INSIDE_SECONDS, ret_code, e);
}

/* --on-dirty commit: what lies around becomes a commit, by git inside, under the agent's own ignore rules. */
static int commit_rest(struct gate *g, struct err *e)
{
	auto_str message = xasprintf("Work that task '%s' had not committed", g->task.name);
	int code;

	if (inside(g, NULL, &code, e, "add", "-A", NULL) < 0 || code ||
		inside(g, NULL, &code, e, "diff", "--cached", "--quiet", NULL) < 0)
		return -1;
	return code ? inside(g, NULL, &code, e, "commit", "-q", "--no-verify", "-m", message, NULL) : 0;
}

/* Branches inside that are neither the task's nor as they were shown: "feature, HEAD". A claim, for people. */
static void name_others(struct gate *g, struct buf *note)
{
	auto_str prefix = xasprintf("refs/garth/shown/%s/", g->task.shown);
	auto_buf refs = BUF_INIT(1 << 20), shown = BUF_INIT(16 << 20), name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	int code;

	if (inside(g, &refs, &code, &ignored, "for-each-ref", "--format=%(objectname) %(refname:short)",
		    "refs/heads", NULL) < 0 ||
		code || ref_list(&g->at.repo, prefix, &shown, &ignored) < 0)
		return;
	for (char *l = refs.data; l && *l; l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL) {
		size_t n = strcspn(l, " "), len = strcspn(l, "\n");
		auto_str oid = xstrndup(l, n);

		if (n >= len || n != strlen(g->task.base) || !strcmp(oid, g->task.base) ||
			strstr(buf_str(&shown), oid) || !strcmp(oid, g->task.published))
			continue;
		buf_cut(&name, 0);
		clean_text(&name, l + n + 1, len - n - 1, false);
		buf_printf(note, "%s'%.100s'", note->len ? ", " : "commits on ", buf_str(&name));
	}
	if (note->len)
		buf_addstr(note, " are not on the task's branch");
}

static void leave_note(struct gate *g, const char *text, bool failed)
{
	struct err ignored = ERR_INIT;

	store_task_note(g->context.store, g->task.id, text, &ignored);
	if (failed)
		write_file(g->at.ws.dir, TASK_UNPUBLISHED, text, strlen(text), 0600, &ignored);
}

int gate_end(struct gate *g, struct err *e)
{
	struct publish_result r = { 0 };
	auto_buf note = BUF_INIT(4000);
	struct refusal no = { 0 };
	char tip[65];

	unlinkat(g->at.ws.dir, TASK_UNPUBLISHED, 0);
	if (!strcmp(g->task.on_dirty, "commit") && commit_rest(g, e) < 0)
		return leave_note(g, "git inside could not commit what was left", false), -1;
	if (!has_drafts(g))
		return 0;
	if (publish_find_tip(g, tip, e) < 0 || !*tip) {
		leave_note(g, "the task's branch inside is gone; what was published is safe", false);
		return *e->msg ? -1 : 0;
	}
	if (publish(g, tip, "end", &r, &no, e) < 0) {
		auto_str text = xasprintf("its last commits are not published: %s", e->msg);

		leave_note(g, text, true);
		return -1;
	}
	if (gate_refresh(g, e) < 0)
		return -1;
	name_others(g, &note);
	leave_note(g, buf_str(&note), false);
	return 0;
}
