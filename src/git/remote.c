#include "git/remote.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/ref.h"
#include "git/trust.h"

#define SECONDS   300
#define WORDS_MAX 300

/* Words of a repository that somebody else was writing to at the same moment. */
static const char *const races[] = { "(fetch first)", "(non-fast-forward)", "(stale info)", "cannot lock ref",
	"failed to update ref", "failed to lock", "incorrect old value", "reference already exists" };

/* For questions about remotes, none of which is spoken to. */
static struct git git_for_names(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir, .user_config = true, .seconds = SECONDS };
}

/* For speaking to one. A remote's path may be relative to the checkout. */
static int git_for(const struct repo *r, struct git *ret, struct err *e)
{
	*ret = (struct git){ .dir = r->git_dir, .cwd = r->main_top, .remote = true, .seconds = SECONDS };
	return trust_check(r, e);
}

static bool has_line(const struct buf *list, const char *line)
{
	size_t n = strlen(line);

	for (const char *l = buf_str(list); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL))
		if (strcspn(l, "\n") == n && !strncmp(l, line, n))
			return true;
	return false;
}

int remote_choose(const struct repo *r, const char *name, char **ret, struct err *e)
{
	static const char *const usual[] = { "local", "origin" };
	struct git g = git_for_names(r);
	auto_buf list = BUF_INIT(1 << 20);

	*ret = NULL;
	if (git_do(&g, &list, e, "remote", NULL) < 0)
		return -1;
	if (name && !has_line(&list, name))
		return err_set(e, ERR_NOTFOUND, "there is no remote '%s'", name),
		       err_hint(e, "git remote -v");
	for (size_t i = 0; !name && i < ARRAY_SIZE(usual); i++)
		if (has_line(&list, usual[i]))
			name = usual[i];
	if (name)
		*ret = xstrdup(name);
	return 0;
}

int remote_require(const struct repo *r, const char *name, char **ret, struct err *e)
{
	if (remote_choose(r, name, ret, e) < 0)
		return -1;
	if (*ret)
		return trust_check(r, e);
	return err_set(e, ERR_NOTFOUND, "the repository has no remote 'local' or 'origin'"),
	       err_hint(e, "git remote add origin URL");
}

/* What hooks on the other side had to say, as git passes it on. Not to be printed uncleaned. */
static void remotes_words(const struct buf *errtext, struct buf *out)
{
	static const char prefix[] = "remote: ";
	const size_t n = strlen(prefix);

	for (const char *l = buf_str(errtext); *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL)) {
		size_t len = strcspn(l, "\n");

		while (len > n && strchr(" \t\r", l[len - 1]))
			len--;
		if (len > n && !strncmp(l, prefix, n) && out->len + len < WORDS_MAX)
			buf_printf(out, "%s%.*s", out->len ? " / " : "; it says: ", (int)(len - n), l + n);
	}
}

/* git's words that say why, in one line. */
static int refused(const char *remote, const struct buf *out, const struct buf *errtext, struct err *e)
{
	const char *why = strstr(buf_str(out), "[remote rejected]");
	const char *text = why ? why + strlen("[remote rejected] ") : buf_str(errtext);
	auto_buf words = BUF_INIT(2 * WORDS_MAX);

	remotes_words(errtext, &words);

	for (const char *l = why ? "" : text; *l; l += strcspn(l, "\n") + (strchr(l, '\n') != NULL))
		if (!strncmp(l, "fatal: ", 7) || !strncmp(l, "error: ", 7)) {
			text = l + 7;
			break;
		}
	return err_set(e, ERR_FAILED, "'%s' does not take it: %.*s%s", remote,
		*text ? (int)strcspn(text, "\n") : 26, *text ? text : "git push failed, no reason",
		buf_str(&words));
}

/* The path, where the remote is one on this machine: there git starts the other side itself. NULL for others.
 */
static char *path_of(const struct repo *r, const char *remote, bool push)
{
	struct git g = git_for_names(r);
	struct err ignored = ERR_INIT;
	auto_buf url = BUF_SMALL;
	const char *colon, *slash;

	if (git_do(&g, &url, &ignored, "remote", "get-url", push ? "--push" : "--no-push", "--", remote,
		    NULL) < 0)
		return NULL;
	buf_cut(&url, strcspn(buf_str(&url), "\n"));
	if (!strncmp(buf_str(&url), "file://", 7))
		return xstrdup(url.data + 7);
	colon = strchr(buf_str(&url), ':');
	slash = strchr(buf_str(&url), '/');
	if (colon && (!slash || slash > colon))
		return NULL;
	return url.data[0] == '/' ? buf_steal(&url) : path_join(r->main_top, buf_str(&url));
}

/* The hooks of a repository that is pushed to are run, by the user where it is on this machine. One in the
 * checkout came with it, and nobody has set it up. */
static int check_hooks(const struct repo *r, const char *remote, struct err *e)
{
	auto_str path = path_of(r, remote, true), real = path ? canonicalize_file_name(path) : NULL;

	if (!real || (!path_within(real, r->main_top) && !path_within(real, r->git_dir)))
		return 0;
	return err_set(
		e, ERR_REFUSED, "the remote '%s' is in the checkout itself, and its hooks would run", remote);
}

int remote_push(const struct repo *r, const char *remote, const char *oid, const char *branch,
	enum remote_answer *ret, struct err *why, struct err *e)
{
	struct git g;
	auto_str spec = xasprintf("%s:refs/heads/%s", oid, branch);
	auto_buf out = BUF_INIT(1 << 20), errtext = BUF_INIT(1 << 20);
	auto_strvec args = STRVEC_INIT;
	int code;

	if (git_for(r, &g, e) < 0 || check_hooks(r, remote, e) < 0)
		return -1;
	strvec_pushl(&args, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no",
		"--no-verify", "--", remote, spec, NULL);
	if (git_try(&g, &args, NULL, &out, &errtext, &code, e) < 0)
		return -1;
	*ret = strstr(buf_str(&out), "\n=\t") ? REMOTE_HAS_IT : REMOTE_TAKEN;
	if (!code)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(races); i++)
		if (strstr(buf_str(&out), races[i]) || strstr(buf_str(&errtext), races[i])) {
			*ret = REMOTE_OVERTAKEN;
			refused(remote, &out, &errtext, why);
			return 0;
		}
	return refused(remote, &out, &errtext, e);
}

int remote_fetch(const struct repo *r, const char *remote, const char *branch, const char *to, char oid[65],
	struct err *e)
{
	struct git g;
	auto_str spec = xasprintf("+refs/heads/%s:%s", branch, to), path = path_of(r, remote, false);
	auto_buf out = BUF_INIT(1 << 20), errtext = BUF_INIT(1 << 20);
	auto_strvec args = STRVEC_INIT;
	int code;

	*oid = '\0';
	if (git_for(r, &g, e) < 0)
		return -1;
	strvec_pushl(&args, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-prune", "--no-prune-tags", "--refmap=", NULL);
	/* git does not serve what is another user's unless it is told to; what is missing there is not
	 * fetched from yet another place, by a program that its configuration names */
	if (path)
		strvec_push(&args,
			"--upload-pack=GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' upload-pack");
	strvec_pushl(&args, "--", remote, spec, NULL);
	if (git_try(&g, &args, NULL, &out, &errtext, &code, e) < 0)
		return -1;
	if (code && strstr(buf_str(&errtext), "couldn't find remote ref"))
		return 0;
	if (code)
		return refused(remote, &out, &errtext, e), err_wrap(e, "cannot fetch '%s'", branch);
	return ref_read(r, to, oid, e);
}
