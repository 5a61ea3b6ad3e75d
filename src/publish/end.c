#include "publish/end.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/size.h"
#include "inside/inside.h"
#include "publish/publish.h"
#include "publish/submodules.h"
#include "git/drafts.h"
#include "sys/fd.h"
#include "task/verdict.h"
#include "task/question.h"
#include "task/shown.h"
#include "workspace/submodules.h"

#define NAMED_MAX 10

/* Whether there may be something to publish, found out without running git. */
static bool has_drafts(struct publisher *pub)
{
	auto_fd git = open_beneath(pub->in->at.ws.dir, "git", O_RDONLY | O_DIRECTORY, 0);
	struct err ignored = ERR_INIT;
	auto_str pack = workspace_own_pack(&pub->in->at.ws);
	auto_buf alternates = BUF_INIT(1 << 20);
	size_t n = 1;

	workspace_alternates(&pub->in->at.ws, &alternates);
	if (git >= 0 && publish_is_unmoved(pub->in))
		drafts_count_all(git, &pub->in->at.repo, &(struct drafts_start){ pack, buf_str(&alternates) },
			&n, &ignored);
	return n > 0;
}

/* --on-dirty commit: git inside commits what is uncommitted, with the agent's ignore rules. `dir` is the workspace, or
 * a submodule in it. */
static int commit_rest(struct publisher *pub, const char *dir, struct err *e)
{
	auto_str message = xasprintf("Work that task '%s' had not committed", pub->in->task.name);
	int code;

	if (inside_do(pub->in, NULL, NULL, e, "-C", dir, "add", "-A", "--", ":/", NULL) < 0 ||
		inside_do(pub->in, NULL, &code, e, "-C", dir, "diff", "--cached", "--quiet", NULL) < 0)
		return -1;
	return code ? inside_do(pub->in, NULL, NULL, e, "-C", dir, "commit", "-q", "--no-verify", "-m",
			      message, NULL)
		    : 0;
}

/* Submodules come first, nested ones before what they are in, so that each commit can name what is in it. */
static int commit_all(struct publisher *pub, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(pub->in->at.ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = s.n; i-- > 0;)
		if (submodule_is_here(&s.v[i]) && commit_rest(pub, s.v[i].path, e) < 0)
			return -1;
	return commit_rest(pub, ".", e);
}

/* Commits inside that are not on the task's branch. All of this is claims, and only shown to people. */
struct others {
	char *elsewhere; /* the branch that HEAD is on, "HEAD" if detached; NULL: the task's branch */
	struct buf text;
};

/* Adds a branch's name, unless its commit is the base, is published, or was shown to the task. */
static void name_other(struct publisher *pub, const struct buf *shown, const char *line, size_t len,
	const struct others *o, struct buf *names)
{
	size_t n = 2 * (size_t)pub->in->at.repo.hash_len;
	auto_str oid = xstrndup(line, n < len ? n : len);
	auto_str named = len > n ? xstrndup(line + n + 1, len - n - 1) : xstrdup("");
	auto_buf name = BUF_SMALL;

	if (len < n + 2 || line[n] != ' ' || strlen(oid) != n || !strcmp(oid, pub->in->task.base) ||
		!strcmp(oid, pub->in->task.published) || strstr(buf_str(shown), oid) ||
		(o->elsewhere && !strcmp(named, o->elsewhere)))
		return;
	clean_text(&name, named, strlen(named), false);
	buf_printf(names, "%s'%.100s'", names->len ? ", " : "", buf_str(&name));
}

/* HEAD's branch ("refs/heads/x"), "HEAD" if detached, "" if git inside does not answer. */
static void find_head(struct publisher *pub, struct buf *ret)
{
	struct err ignored = ERR_INIT;
	int code;

	if (inside_ask(pub->in, ret, &code, &ignored, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		buf_reset(ret);
	else if (code)
		buf_reset(ret), buf_addstr(ret, "HEAD");
	else
		buf_cut(ret, strcspn(buf_str(ret), "\n"));
}

/* Adds the files that are not committed on HEAD's branch. */
static void name_files(struct publisher *pub, const char *branch, struct buf *text)
{
	auto_buf lines = BUF_INIT(1 << 20), name = BUF_SMALL, names = BUF_SMALL;
	char count[COUNT_TEXT_MAX];
	struct err ignored = ERR_INIT;
	int code;
	size_t n = 0;

	inside_do(pub->in, &lines, &code, &ignored, "status", "--porcelain", NULL);
	for (const char *l = buf_str(&lines); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL), n++) {
		size_t len = strcspn(l, "\n");

		if (len <= 3 || n >= NAMED_MAX)
			continue;
		buf_reset(&name);
		clean_text(&name, l + 3, len - 3, false);
		buf_printf(&names, "%s%.200s", n ? ", " : "", buf_str(&name));
	}
	if (!n)
		return;
	buf_printf(text, "; %s uncommitted file%s on '%.100s': %s", count_text(n, count), n == 1 ? "" : "s",
		branch, buf_str(&names));
	if (n > NAMED_MAX)
		buf_printf(text, " and %s more", count_text(n - NAMED_MAX, count));
}

/* Finds commits on HEAD's branch, if that is not the task's, which the task's branch lacks and the task was
 * not shown. */
static void look_at_head(struct publisher *pub, struct others *o)
{
	auto_str own = xasprintf("^%s", pub->in->task.branch), base = xasprintf("^%s", pub->in->task.base),
		 target = NULL;
	auto_buf head = BUF_SMALL, count = BUF_SMALL, name = BUF_SMALL;
	struct err ignored = ERR_INIT;
	char tip[OID_SIZE] = "";
	long commits;
	int code;

	find_head(pub, &head);
	if (!head.len || !strcmp(buf_str(&head), pub->in->task.branch))
		return;
	if (*pub->in->task.target)
		ref_read(&pub->in->at.repo, pub->in->task.target, tip, &ignored);
	target = xasprintf("^%s", *tip ? tip : pub->in->task.base);
	if (inside_do(pub->in, &count, &code, &ignored, "rev-list", "--count", "--ignore-missing", "HEAD",
		    own, base, target, NULL) < 0 ||
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
	buf_printf(&o->text, ", not on %s", pub->in->task.branch + strlen("refs/heads/"));
	name_files(pub, buf_str(&name), &o->text);
}

/* Names branches inside with commits that are not on the task's branch, HEAD's branch first. */
static void name_others(struct publisher *pub, struct others *o)
{
	auto_str not_on = xasprintf("--no-merged=%s", pub->in->task.branch);
	auto_buf lines = BUF_INIT(1 << 20), shown = BUF_INIT(SHOWN_MAX), names = BUF_INIT(2000);
	struct err ignored = ERR_INIT;
	int code;

	look_at_head(pub, o);
	if (shown_read(&pub->in->context, pub->in->task.id, &shown, &ignored) < 0)
		return;
	inside_do(pub->in, &lines, &code, &ignored, "for-each-ref", "--format=%(objectname) %(refname:short)",
		not_on, "refs/heads", NULL);
	for (const char *l = buf_str(&lines); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL))
		name_other(pub, &shown, l, strcspn(l, "\n"), o, &names);
	if (names.len)
		buf_printf(&o->text, "%scommits on %s are not on %s", o->text.len ? "; " : "",
			buf_str(&names), pub->in->task.branch + strlen("refs/heads/"));
}

static void add(struct buf *note, const char *text)
{
	if (*text)
		buf_printf(note, "%s%s", note->len ? "; " : "", text);
}

/* Publishes the tip of the task's branch inside. *ret_told: whether git inside answers. */
static int publish_drafts(
	struct publisher *pub, struct buf *note, bool *ret_failed, bool *ret_told, struct err *e)
{
	struct publish_result r = { 0 };
	struct refusal no = { 0 };
	char tip[OID_SIZE];
	int rc;

	*ret_told = !publish_find_tip(pub->in, tip, e);
	if (*ret_told && !*tip) {
		add(note, "the task's branch inside is gone; what was published is safe");
		return 0;
	}
	rc = *ret_told ? publish(pub, tip, "end", &r, &no, e) : -1;
	if (!rc)
		return inside_refresh(pub->in, e);
	auto_str text = xasprintf("its last commits are not published: %s", e->msg);
	add(note, text);
	*ret_failed = true;
	return -1;
}

/* What submodules have comes first: a commit of the superproject may name it. */
static int publish_subs(struct publisher *pub, struct buf *note, bool *ret_failed, struct err *e)
{
	struct refusal no = { 0 };
	auto_str path = NULL, text = NULL;

	if (!publish_submodules(pub, "end", &path, &no, e))
		return 0;
	text = xasprintf("the last commits in submodule '%s' are not published: %s", path, e->msg);
	add(note, text);
	*ret_failed = true;
	return -1;
}

int publish_end(struct publisher *pub, struct err *e)
{
	auto_buf drafts = BUF_INIT(4000);
	struct others others = { .text = BUF_INIT(4000) };
	struct err ignored = ERR_INIT;
	bool failed = false, told = true;
	int rc = 0;

	/* uncommitted files of a blocked task are not committed: its work has not ended */
	if (!strcmp(pub->in->task.on_dirty, "commit") && !question_is_there(&pub->in->at) &&
		(rc = commit_all(pub, e)) < 0)
		err_wrap(e, "git inside could not commit what was left"), add(&drafts, e->msg);
	if (publish_subs(pub, &drafts, &failed, e) < 0)
		rc = -1;
	if (has_drafts(pub)) {
		if (publish_drafts(pub, &drafts, &failed, &told, e) < 0)
			rc = -1;
		if (told)
			name_others(pub, &others);
		add(&drafts, buf_str(&others.text));
	}
	if (drafts.len)
		store_run_drafts(pub->in->context.store, pub->in->task.id,
			others.elsewhere ? others.elsewhere : "", buf_str(&drafts), &ignored);
	free(others.elsewhere);
	buf_release(&others.text);
	if (!failed)
		unlinkat(pub->in->at.ws.dir, TASK_UNPUBLISHED, 0);
	return rc;
}
