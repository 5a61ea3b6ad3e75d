#include "gateway/commit_staged.h"

#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "base/path.h"
#include "base/strvec.h"
#include "inside/inside.h"

static bool is_one_name(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") && strcmp(s, "..");
}

static int check_names(
	struct publisher *pub, const struct commit_request *q, struct refusal *no, struct err *e)
{
	const char *names[] = { q->repo, q->worktree };
	const char *own[] = { pub->in->task.project, pub->in->task.name };

	for (int i = 0; i < 2; i++) {
		if (!names[i] || !strcmp(names[i], own[i]))
			continue;
		refuse(no, e, is_one_name(names[i]) ? "not_yours" : "outside_workspace", names[i],
			i ? "worktree '%s' is not this task's" : "repository '%s' is not this task's",
			names[i]);
		snprintf(no->boundary, sizeof(no->boundary), "%s", own[i]);
		return refusal_say(no, "commit for another task or repository",
			"leave \"repo\" and \"worktree\" out: the socket says whose they are");
	}
	return 0;
}

static int check_text(const struct commit_request *q, struct refusal *no, struct err *e)
{
	auto_str name = NULL, mail = NULL;

	if (!q->message || !q->message[strspn(q->message, " \t\r\n")])
		refuse(no, e, "bad_request", "", "\"message\" is missing or empty");
	else if (strlen(q->message) > COMMIT_MESSAGE_MAX)
		refuse(no, e, "bad_request", "", "\"message\" is longer than %u bytes", COMMIT_MESSAGE_MAX);
	else if (q->author && !name_split_person(q->author, &name, &mail))
		refuse(no, e, "bad_request", "", "\"author\" is not of the form \"Name <mail>\"");
	else
		return 0;
	e->kind = ERR_USAGE;
	return -1;
}

/* One line that git inside prints; a claim. */
static int ask_git(struct publisher *pub, const struct strvec *args, const struct buf *input, struct buf *out,
	int *ret_code, struct err *e)
{
	buf_cut(out, 0);
	if (inside_git(pub->in, args, input, out, NULL, INSIDE_SECONDS, ret_code, e) < 0)
		return -1;
	if (out->len && out->data[out->len - 1] == '\n')
		buf_cut(out, out->len - 1);
	return 0;
}

static bool is_oid(const struct publisher *pub, const struct buf *b)
{
	return strlen(buf_str(b)) == b->len && oid_is(buf_str(b), pub->in->at.repo.hash_len);
}

/* An unfinished merge has a second parent; only git inside can conclude it. */
static int no_merge(struct publisher *pub, struct refusal *no, struct err *e)
{
	auto_buf head = BUF_INIT(4096);
	auto_strvec args = STRVEC_INIT;
	int code;

	strvec_pushl(&args, "rev-parse", "-q", "--verify", "MERGE_HEAD", NULL);
	if (ask_git(pub, &args, NULL, &head, &code, e) < 0)
		return -1;
	if (code)
		return 0;
	refuse(no, e, "merge_in_progress", "", "a merge is under way");
	return refusal_say(no, "commit in the middle of a merge", "conclude it with: git commit");
}

static int on_branch(struct publisher *pub, struct refusal *no, struct err *e)
{
	auto_buf head = BUF_INIT(4096);
	auto_strvec args = STRVEC_INIT;
	int code;

	strvec_pushl(&args, "symbolic-ref", "-q", "HEAD", NULL);
	if (ask_git(pub, &args, NULL, &head, &code, e) < 0)
		return -1;
	if (!code && !strcmp(buf_str(&head), pub->in->task.branch))
		return 0;
	refuse(no, e, "other_branch", "", "HEAD is not on the task's branch");
	return refusal_say(no, "commit on another branch", "git checkout the task's own branch first");
}

/* The tree of what is staged, and the parent commit. */
static int read_staged(
	struct publisher *pub, struct buf *tree, struct buf *parent, struct refusal *no, struct err *e)
{
	auto_buf before = BUF_INIT(4096);
	auto_strvec write = STRVEC_INIT, head = STRVEC_INIT;
	int code[2];

	strvec_push(&write, "write-tree");
	strvec_pushl(&head, "rev-parse", "-q", "--verify", "HEAD^{commit}", NULL);
	if (ask_git(pub, &write, NULL, tree, &code[0], e) < 0 ||
		ask_git(pub, &head, NULL, parent, &code[1], e) < 0)
		return -1;
	if (code[0] || code[1] || !is_oid(pub, tree) || !is_oid(pub, parent))
		return refuse(no, e, "not_committable", "", "what is staged cannot be made into a commit");
	auto_strvec old = STRVEC_INIT;
	strvec_pushl(&old, "rev-parse", "-q", "--verify", "HEAD^{tree}", NULL);
	if (ask_git(pub, &old, NULL, &before, code, e) < 0)
		return -1;
	if (strcmp(buf_str(&before), buf_str(tree)))
		return 0;
	refuse(no, e, "nothing_staged", "", "nothing is staged");
	return refusal_say(no, "commit without changes", "git add the files first");
}

/* Makes git use this name: `role` is "author" or "committer". */
static void add_person(struct strvec *args, const char *role, const char *person)
{
	auto_str name = NULL, mail = NULL;

	if (!name_split_person(person, &name, &mail))
		return;
	strvec_push(args, "-c");
	strvec_pushf(args, "%s.name=%s", role, name);
	strvec_push(args, "-c");
	strvec_pushf(args, "%s.email=%s", role, mail);
}

static int make(struct publisher *pub, const struct commit_request *q, const char *tree, const char *parent,
	struct buf *ret, struct err *e)
{
	const struct config_policy *policy = &pub->in->context.config.policy;
	bool forced = !strcmp(policy->identity, "forced");
	auto_strvec args = STRVEC_INIT;
	auto_buf text = BUF_INIT(COMMIT_MESSAGE_MAX + 512);
	int code;

	if (forced && policy->author) {
		add_person(&args, "author", policy->author);
		add_person(&args, "committer", policy->author);
	}
	if (q->author)
		add_person(&args, "author", q->author);
	strvec_pushl(&args, "commit-tree", "-p", parent, "-F", "-", tree, NULL);
	buf_addstr(&text, q->message);
	if (text.data[text.len - 1] != '\n')
		buf_addch(&text, '\n');
	if (forced)
		buf_printf(&text, "\nGarth-Task: %s\n", pub->in->task.name);
	if (ask_git(pub, &args, &text, ret, &code, e) < 0)
		return -1;
	return code || !is_oid(pub, ret) ? err_set(e, ERR_FAILED, "git inside could not make the commit") : 0;
}

int commit_staged(struct publisher *pub, const struct commit_request *q, struct publish_result *ret,
	struct refusal *no, struct err *e)
{
	auto_buf tree = BUF_INIT(4096), parent = BUF_INIT(4096), commit = BUF_INIT(4096),
		 none = BUF_INIT(4096);
	auto_strvec args = STRVEC_INIT;
	int code;

	if (check_names(pub, q, no, e) < 0 || check_text(q, no, e) < 0 || on_branch(pub, no, e) < 0 ||
		no_merge(pub, no, e) < 0 || read_staged(pub, &tree, &parent, no, e) < 0 ||
		make(pub, q, buf_str(&tree), buf_str(&parent), &commit, e) < 0 ||
		publish(pub, buf_str(&commit), "commit", ret, no, e) < 0)
		return -1;
	strvec_pushl(&args, "update-ref", "-m", "commit", pub->in->task.branch, buf_str(&commit),
		buf_str(&parent), NULL);
	if (ask_git(pub, &args, NULL, &none, &code, e) < 0)
		return -1;
	return code ? err_set(e, ERR_FAILED,
			      "the commit is published, but the branch inside has moved meanwhile")
		    : 0;
}
