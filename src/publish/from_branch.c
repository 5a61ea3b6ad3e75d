#include "publish/from_branch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "inside/inside.h"

/* The commit's id, "" if git inside does not know it. It is a claim, which publish() checks. */
static int find_one(struct publisher *pub, const char *name, char out[OID_SIZE], struct err *e)
{
	auto_str commit = xasprintf("%s^{commit}", name);
	auto_buf text = BUF_SMALL;
	int code;

	out[0] = '\0';
	if (inside_ask(pub->in, &text, &code, e, "rev-parse", "-q", "--verify", "--end-of-options", commit,
		    NULL) < 0)
		return -1;
	if (!code)
		oid_take(buf_str(&text), pub->in->at.repo.hash_len, out);
	return 0;
}

static int find_tip(struct publisher *pub, const char *name, char out[OID_SIZE], struct err *e)
{
	auto_str branch = xasprintf("refs/heads/%s", name);
	size_t n = strlen(name);

	out[0] = '\0';
	/* only a branch name, not a revision expression */
	if (strcmp(name, "HEAD") != 0 && name_is_branch(name) && find_one(pub, branch, out, e) < 0)
		return -1;
	if (!*out && (!strcmp(name, "HEAD") || (n >= 7 && n < OID_SIZE && hex_is(name, n))) &&
		find_one(pub, name, out, e) < 0)
		return -1;
	if (*out)
		return 0;
	err_set(e, ERR_NOTFOUND, "there is no branch '%s' inside, and no such commit", name);
	return err_hint(e, "garth exec %s -- git branch", pub->in->task.name);
}

/* Whether the task's branch is checked out inside. */
static int is_on_own(struct publisher *pub, bool *ret, struct err *e)
{
	auto_buf head = BUF_SMALL;
	int code;

	if (inside_ask(pub->in, &head, &code, e, "symbolic-ref", "-q", "HEAD", NULL) < 0)
		return -1;
	buf_cut(&head, strcspn(buf_str(&head), "\n"));
	*ret = !code && !strcmp(buf_str(&head), pub->in->task.branch);
	return 0;
}

/* Moves the task's branch inside to what was published. If HEAD is at that commit, checks the branch out: no
 * file changes. */
static int follow(struct publisher *pub, const char *tip, struct err *e)
{
	char head[OID_SIZE];

	if (inside_do(pub->in, NULL, NULL, e, "update-ref", "-m", "garth publish", pub->in->task.branch, tip,
		    NULL) < 0 ||
		find_one(pub, "HEAD", head, e) < 0)
		return -1;
	return strcmp(head, tip) != 0 ? 0
				      : inside_do(pub->in, NULL, NULL, e, "symbolic-ref", "HEAD",
						pub->in->task.branch, NULL);
}

/* --keep: git refuses if that would overwrite a file with uncommitted changes. */
static int move_files(struct publisher *pub, const char *tip, struct err *e)
{
	return inside_do(pub->in, NULL, NULL, e, "reset", "-q", "--keep", tip, NULL);
}

int publish_from(struct publisher *pub, const char *name, struct publish_result *ret, struct refusal *no,
	struct err *e)
{
	char tip[OID_SIZE], old[OID_SIZE];
	struct err ignored = ERR_INIT;
	bool own;

	if (find_tip(pub, name, tip, e) < 0 || publish_find_tip(pub->in, old, e) < 0 ||
		is_on_own(pub, &own, e) < 0)
		return -1;
	if (own && strcmp(old, tip) && move_files(pub, tip, e) < 0)
		return -1;
	if (publish(pub, tip, "user", ret, no, e) < 0) {
		if (own && *old && strcmp(old, tip))
			move_files(pub, old, &ignored);
		return -1;
	}
	return own ? 0 : follow(pub, tip, e);
}
