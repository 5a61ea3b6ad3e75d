#include "gateway/end.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "gateway/inside.h"
#include "gateway/publish.h"
#include "git/drafts.h"
#include "sys/fd.h"
#include "task/end.h"
#include "task/question.h"

/* Whether the branch inside is a file with the published tip in it. Whatever else it is, git shall tell. */
static bool is_unmoved(struct gate *g, int git)
{
	const char *tip = *g->task.published ? g->task.published : g->task.base;
	auto_fd file = open_regular_beneath(git, g->task.branch);
	char text[80];
	ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text), 0);

	return n == (ssize_t)strlen(tip) + 1 && !memcmp(text, tip, strlen(tip)) && text[n - 1] == '\n';
}

/* Whether there can be anything to publish: told without git. */
static bool has_drafts(struct gate *g)
{
	auto_fd git = open_beneath(g->at.ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	struct err ignored = ERR_INIT;
	auto_str pack = workspace_own_pack(&g->at.ws);
	auto_buf alternates = BUF_INIT(1 << 20);
	size_t n = 1;

	workspace_alternates(&g->at.ws, &alternates);
	if (git >= 0 && is_unmoved(g, git))
		drafts_count_all(
			git, &g->at.repo, &(struct drafts_start){ pack, buf_str(&alternates) }, &n, &ignored);
	return n > 0;
}

/* --on-dirty commit: what lies around becomes a commit, by git inside, under the agent's own ignore rules. */
static int commit_rest(struct gate *g, struct err *e)
{
	auto_str message = xasprintf("Work that task '%s' had not committed", g->task.name);
	int code;

	if (inside_do(g, NULL, NULL, e, "add", "-A", NULL) < 0 ||
		inside_do(g, NULL, &code, e, "diff", "--cached", "--quiet", NULL) < 0)
		return -1;
	return code ? inside_do(g, NULL, NULL, e, "commit", "-q", "--no-verify", "-m", message, NULL) : 0;
}

/* Adds a name, unless what it points to is on the branch or was shown. All of it are claims, for people. */
static void name_other(
	struct gate *g, const struct buf *shown, const char *line, size_t len, struct buf *note)
{
	size_t n = 2 * (size_t)g->at.repo.hash_len;
	auto_str oid = xstrndup(line, n < len ? n : len);
	auto_buf name = BUF_SMALL;

	if (len < n + 2 || line[n] != ' ' || strlen(oid) != n || !strcmp(oid, g->task.base) ||
		!strcmp(oid, g->task.published) || strstr(buf_str(shown), oid))
		return;
	clean_text(&name, line + n + 1, len - n - 1, false);
	buf_printf(note, "%s'%.100s'", note->len ? ", " : "commits on ", buf_str(&name));
}

/* Branches inside, and a HEAD on none, with commits that are not on the task's branch. */
static void name_others(struct gate *g, struct buf *note)
{
	auto_str prefix = xasprintf("refs/garth/shown/%s/", g->task.shown);
	auto_str not_on = xasprintf("--no-merged=%s", g->task.branch),
		 range = xasprintf("^%s", g->task.branch);
	auto_buf lines = BUF_INIT(1 << 20), shown = BUF_INIT(16 << 20);
	struct err ignored = ERR_INIT;
	int code;

	if (ref_list(&g->at.repo, prefix, &shown, &ignored) < 0)
		return;
	if (!inside_ask(g, NULL, &code, &ignored, "symbolic-ref", "-q", "HEAD", NULL) && code)
		inside_do(g, &lines, &code, &ignored, "rev-list", "-1", "--no-commit-header",
			"--format=%H HEAD", "HEAD", range, NULL);
	inside_do(g, &lines, &code, &ignored, "for-each-ref", "--format=%(objectname) %(refname:short)",
		not_on, "refs/heads", NULL);
	for (const char *l = buf_str(&lines); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL))
		name_other(g, &shown, l, strcspn(l, "\n"), note);
	if (note->len)
		buf_addstr(note, " are not on the task's branch");
}

static void add(struct buf *note, const char *text)
{
	if (*text)
		buf_printf(note, "%s%s", note->len ? "; " : "", text);
}

/* Publishes what the task's branch inside points to. *ret_told: git inside answers. */
static int publish_drafts(struct gate *g, struct buf *note, bool *ret_failed, bool *ret_told, struct err *e)
{
	struct publish_result r = { 0 };
	struct refusal no = { 0 };
	char tip[65];
	int rc;

	*ret_told = !publish_find_tip(g, tip, e);
	if (*ret_told && !*tip) {
		add(note, "the task's branch inside is gone; what was published is safe");
		return 0;
	}
	rc = *ret_told ? publish(g, tip, "end", &r, &no, e) : -1;
	if (!rc)
		return gate_refresh(g, e);
	auto_str text = xasprintf("its last commits are not published: %s", e->msg);
	add(note, text);
	*ret_failed = true;
	return -1;
}

int gate_end(struct gate *g, struct err *e)
{
	auto_buf note = BUF_INIT(4000), others = BUF_INIT(2000);
	struct err ignored = ERR_INIT;
	bool failed = false, told = true;
	int rc = 0;

	/* what lies around while it asks is not the end of its work */
	if (!strcmp(g->task.on_dirty, "commit") && !question_is_there(&g->at) && (rc = commit_rest(g, e)) < 0)
		err_wrap(e, "git inside could not commit what was left"), add(&note, e->msg);
	if (has_drafts(g)) {
		if (publish_drafts(g, &note, &failed, &told, e) < 0)
			rc = -1;
		if (told)
			name_others(g, &others);
		add(&note, buf_str(&others));
	}
	if (strcmp(buf_str(&note), g->task.note))
		store_task_note(g->context.store, g->task.id, buf_str(&note), &ignored);
	if (!failed)
		unlinkat(g->at.ws.dir, TASK_UNPUBLISHED, 0);
	return rc;
}
