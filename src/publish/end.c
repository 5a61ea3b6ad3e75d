#include "publish/end.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "publish/inside.h"
#include "publish/publish.h"
#include "git/drafts.h"
#include "sys/fd.h"
#include "task/end.h"
#include "task/question.h"
#include "task/shown.h"

#define NAMED_MAX 10

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

/* Commits inside that are not on the task's branch. All of it are claims, for people. */
struct others {
	char *elsewhere; /* the branch that HEAD is on, or "HEAD" where it is on none; NULL on the task's own
			  */
	struct buf text;
};

/* Adds a name, unless what it points to is on the branch or was shown. */
static void name_other(struct gate *g, const struct buf *shown, const char *line, size_t len,
	const struct others *o, struct buf *names)
{
	size_t n = 2 * (size_t)g->at.repo.hash_len;
	auto_str oid = xstrndup(line, n < len ? n : len);
	auto_str named = len > n ? xstrndup(line + n + 1, len - n - 1) : xstrdup("");
	auto_buf name = BUF_SMALL;

	if (len < n + 2 || line[n] != ' ' || strlen(oid) != n || !strcmp(oid, g->task.base) ||
		!strcmp(oid, g->task.published) || strstr(buf_str(shown), oid) ||
		(o->elsewhere && !strcmp(named, o->elsewhere)))
		return;
	clean_text(&name, named, strlen(named), false);
	buf_printf(names, "%s'%.100s'", names->len ? ", " : "", buf_str(&name));
}

/* "refs/heads/x" of HEAD, "HEAD" where it is on no branch; "" where git inside does not answer. */
static void find_head(struct gate *g, struct buf *ret)
{
	struct err ignored = ERR_INIT;
	int code;

	if (inside_ask(g, ret, &code, &ignored, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		buf_reset(ret);
	else if (code)
		buf_reset(ret), buf_addstr(ret, "HEAD");
	else
		buf_cut(ret, strcspn(buf_str(ret), "\n"));
}

/* What of the files is not committed on the branch that HEAD is on. */
static void name_files(struct gate *g, const char *branch, struct buf *text)
{
	auto_buf lines = BUF_INIT(1 << 20), name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	int code;
	size_t n = 0;

	inside_do(g, &lines, &code, &ignored, "status", "--porcelain", NULL);
	for (const char *l = buf_str(&lines); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL), n++) {
		size_t len = strcspn(l, "\n");

		if (len <= 3 || n >= NAMED_MAX)
			continue;
		buf_reset(&name);
		clean_text(&name, l + 3, len - 3, false);
		if (n)
			buf_printf(text, ", %.200s", buf_str(&name));
		else
			buf_printf(text, "; uncommitted on '%.100s': %.200s", branch, buf_str(&name));
	}
	if (n > NAMED_MAX)
		buf_printf(text, " and %zu more", n - NAMED_MAX);
}

/* HEAD on another branch, with commits that neither the task's branch nor what it was shown has. */
static void look_at_head(struct gate *g, struct others *o)
{
	auto_str own = xasprintf("^%s", g->task.branch), base = xasprintf("^%s", g->task.base), target = NULL;
	auto_buf head = BUF_SMALL, count = BUF_SMALL, name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char tip[OID_SIZE] = "";
	long commits;
	int code;

	find_head(g, &head);
	if (!head.len || !strcmp(buf_str(&head), g->task.branch))
		return;
	if (*g->task.target)
		ref_read(&g->at.repo, g->task.target, tip, &ignored);
	target = xasprintf("^%s", *tip ? tip : g->task.base);
	if (inside_do(g, &count, &code, &ignored, "rev-list", "--count", "--ignore-missing", "HEAD", own,
		    base, target, NULL) < 0 ||
		code || (commits = strtol(buf_str(&count), NULL, 10)) <= 0)
		return;
	o->elsewhere = xstrdup(strncmp(buf_str(&head), "refs/heads/", 11) ? "HEAD" : buf_str(&head) + 11);
	clean_text(&name, o->elsewhere, strlen(o->elsewhere), false);
	if (!strcmp(o->elsewhere, "HEAD"))
		buf_printf(&o->text, "%ld commit%s on no branch (a detached HEAD)", commits,
			commits == 1 ? " is" : "s are");
	else
		buf_printf(&o->text, "%ld commit%s on branch '%.100s'", commits,
			commits == 1 ? " is" : "s are", buf_str(&name));
	buf_printf(&o->text, ", not on %s", g->task.branch + strlen("refs/heads/"));
	name_files(g, buf_str(&name), &o->text);
}

/* Branches inside with commits that are not on the task's branch, HEAD's first. */
static void name_others(struct gate *g, struct others *o)
{
	auto_str not_on = xasprintf("--no-merged=%s", g->task.branch);
	auto_buf lines = BUF_INIT(1 << 20), shown = BUF_INIT(SHOWN_MAX), names = BUF_INIT(2000);
	struct err ignored = ERR_INIT;
	int code;

	look_at_head(g, o);
	if (shown_read(&g->context, g->task.id, &shown, &ignored) < 0)
		return;
	inside_do(g, &lines, &code, &ignored, "for-each-ref", "--format=%(objectname) %(refname:short)",
		not_on, "refs/heads", NULL);
	for (const char *l = buf_str(&lines); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL))
		name_other(g, &shown, l, strcspn(l, "\n"), o, &names);
	if (names.len)
		buf_printf(&o->text, "%scommits on %s are not on %s", o->text.len ? "; " : "",
			buf_str(&names), g->task.branch + strlen("refs/heads/"));
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
	char tip[OID_SIZE];
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
	auto_buf drafts = BUF_INIT(4000);
	struct others others = { .text = BUF_INIT(4000) };
	struct err ignored = ERR_INIT;
	bool failed = false, told = true;
	int rc = 0;

	/* what lies around while it asks is not the end of its work */
	if (!strcmp(g->task.on_dirty, "commit") && !question_is_there(&g->at) && (rc = commit_rest(g, e)) < 0)
		err_wrap(e, "git inside could not commit what was left"), add(&drafts, e->msg);
	if (has_drafts(g)) {
		if (publish_drafts(g, &drafts, &failed, &told, e) < 0)
			rc = -1;
		if (told)
			name_others(g, &others);
		add(&drafts, buf_str(&others.text));
	}
	if (drafts.len)
		store_run_drafts(g->context.store, g->task.id, others.elsewhere ? others.elsewhere : "",
			buf_str(&drafts), &ignored);
	free(others.elsewhere);
	buf_release(&others.text);
	if (!failed)
		unlinkat(g->at.ws.dir, TASK_UNPUBLISHED, 0);
	return rc;
}
