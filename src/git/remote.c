#include "git/remote.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/ref.h"
#include "git/trust.h"
#include "sys/fd.h"

#define SECONDS   300
#define WORDS_MAX 300

/* git's messages if somebody else wrote to the same repository at that moment. */
static const char *const races[] = { "(fetch first)", "(non-fast-forward)", "(stale info)", "cannot lock ref",
	"failed to update ref", "failed to lock", "incorrect old value", "reference already exists" };

/* For queries about remotes that connect to none. */
static struct git git_for_names(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir, .user_config = true, .seconds = SECONDS };
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

/* The output of hooks on the other side, as git passes it on. It must be cleaned before it is printed. */
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

/* git's reason, in one line. */
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

/* Decodes "%2f" and the like in place, as git does in a URL. */
static void decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++, to++) {
		unsigned byte;

		if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]) &&
			sscanf(p + 1, "%2x", &byte) == 1 && byte) {
			*to = (char)byte;
			p += 2;
		} else {
			*to = *p;
		}
	}
	*to = '\0';
}

/* The path in a URL that means this machine, on which git starts the other side itself.
 * NULL for other URLs. */
static char *path_of(const struct repo *r, const char *url)
{
	const char *colon = strchr(url, ':'), *slash = strchr(url, '/');

	if (!strncmp(url, "file://", 7)) {
		auto_str decoded = xstrdup(url + 7);

		/* git ignores a host name before the path */
		decode(decoded);
		return xstrdup(decoded + strcspn(decoded, "/"));
	}
	if (colon && (!slash || slash > colon))
		return NULL;
	return url[0] == '/' ? xstrdup(url) : path_join(r->main_top, url);
}

/* All URLs that git would push to, or the one that it would fetch from, one per line. */
static int urls_of(const struct repo *r, const char *remote, bool push, struct buf *ret, struct err *e)
{
	struct git g = git_for_names(r);

	return push ? git_do(&g, ret, e, "remote", "get-url", "--push", "--all", "--", remote, NULL)
		    : git_do(&g, ret, e, "remote", "get-url", "--", remote, NULL);
}

/* Whether git needs no other program for the URL than its own: for "tool::words", and for an unknown "tool://words", it runs
 * git-remote-tool, which may be installed. */
static bool is_gits_own(const char *url)
{
	static const char *const own[] = { "file", "ftp", "ftps", "git", "git+ssh", "http", "https", "ssh",
		"ssh+git" };
	size_t n = 0;

	while (isalnum((unsigned char)url[n]) || (n && url[n] && strchr("+-.", url[n])))
		n++;
	if (strncmp(url + n, "://", 3) != 0)
		return strncmp(url + n, "::", 2) != 0;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strlen(own[i]) == n && !strncmp(url, own[i], n))
			return true;
	return false;
}

static int check_transports(const struct repo *r, const char *remote, bool push, struct err *e)
{
	auto_buf urls = BUF_INIT(1 << 20);
	auto_str place = shell_quoted(r->main_top);
	char *save = NULL;

	if (urls_of(r, remote, push, &urls, e) < 0)
		return -1;
	for (char *url = urls.len ? strtok_r(urls.data, "\n", &save) : NULL; url;
		url = strtok_r(NULL, "\n", &save)) {
		if (is_gits_own(url))
			continue;
		err_set(e, ERR_REFUSED,
			"the remote '%s' is reached by a program, git-remote-%.*s, which runs only if the repository is trusted",
			remote, (int)strcspn(url, ":"), url);
		return err_hint(e, "git config --global --add garth.trust %s", place);
	}
	return 0;
}

/* For connecting to a remote. A remote's path may be relative to the checkout. The user may have allowed URLs that run a
 * program ("ext::"); a repository that is not trusted could make one of parts, which trust_check cannot see. */
static int git_for(const struct repo *r, const char *remote, bool push, struct git *ret, struct err *e)
{
	static char *no_programs[] = { "protocol.ext.allow=never", NULL };
	static const struct strvec restricted = { .v = no_programs, .n = 1 };
	bool trusted;

	if (trust_look(r, &trusted, e) < 0 || (!trusted && check_transports(r, remote, push, e) < 0))
		return -1;
	*ret = (struct git){ .dir = r->git_dir,
		.cwd = r->main_top,
		.settings = trusted ? NULL : &restricted,
		.remote = true,
		.seconds = SECONDS };
	return 0;
}

static bool is_here(const struct repo *r, const char *remote)
{
	auto_buf urls = BUF_INIT(1 << 20);
	struct err ignored = ERR_INIT;
	auto_str path = NULL;

	if (urls_of(r, remote, false, &urls, &ignored) < 0)
		return false;
	buf_cut(&urls, strcspn(buf_str(&urls), "\n"));
	path = path_of(r, buf_str(&urls));
	return path != NULL;
}

/* The resolved path of a directory; NULL if there is none, or if the path is different for each process
 * (/proc/self/cwd). */
static char *real_place(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	auto_fd fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	auto_str link = xasprintf("/proc/self/fd/%d", fd);

	return fd < 0 ? NULL : canonicalize_file_name(link);
}

/* If the remote is on this machine, a push runs its hooks as the user. A repository inside the checkout may
 * have come with it, so its hooks are not trusted. *trusted becomes false if it or the repository is not. */
static int check_place(
	const struct repo *r, const char *remote, const char *path, bool *trusted, struct err *e)
{
	/* git tries these endings, some before the plain name */
	static const char *const ends[] = { "", ".git" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		auto_str name = xasprintf("%s%s", path, ends[i]), real = real_place(name);
		bool this_one = true;

		if (real && (path_within(real, r->main_top) || path_within(real, r->git_dir)))
			return err_set(e, ERR_REFUSED,
				"the remote '%s' is in the checkout itself, and its hooks would run", remote);
		if (real && trust_check_pushed(r, real, &this_one, e) < 0)
			return -1;
		found |= real != NULL;
		*trusted &= this_one;
	}
	if (found)
		return 0;
	return err_set(e, ERR_FAILED, "'%s' does not take it: it is not at '%s'", remote, path);
}

/* The other side of a push, for a repository on this machine that is not trusted: nothing that its configuration names
 * is run. A checked-out branch is not moved, because its files would go through filters. */
#define PLAIN_RECEIVE                                                                                        \
	"--receive-pack=GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git -c core.hooksPath=/dev/null "            \
	"-c core.fsmonitor=false -c core.alternateRefsCommand=true -c receive.denyCurrentBranch=refuse "     \
	"-c receive.autogc=false -c maintenance.auto=false receive-pack"

static int refuse_mixed(const struct repo *r, const char *remote, struct err *e)
{
	auto_str place = shell_quoted(r->main_top);

	err_set(e, ERR_REFUSED,
		"the remote '%s' has URLs on this machine and elsewhere, which is pushed to only if the repository is trusted",
		remote);
	return err_hint(e, "git config --global --add garth.trust %s", place);
}

/* Adds the options that keep programs of repositories on this machine from running. */
static int push_safely(const struct repo *r, const char *remote, struct strvec *args, struct err *e)
{
	auto_buf urls = BUF_INIT(1 << 20);
	bool trusted = true, elsewhere = false;
	char *save = NULL;

	if (urls_of(r, remote, true, &urls, e) < 0)
		return -1;
	for (char *url = urls.len ? strtok_r(urls.data, "\n", &save) : NULL; url;
		url = strtok_r(NULL, "\n", &save)) {
		auto_str path = path_of(r, url);

		elsewhere |= !path;
		if (path && check_place(r, remote, path, &trusted, e) < 0)
			return -1;
	}
	if (trusted)
		return 0;
	/* the option would go to the other machine too */
	if (elsewhere)
		return refuse_mixed(r, remote, e);
	strvec_pushl(args, PLAIN_RECEIVE, "--no-signed", NULL);
	return 0;
}

int remote_push(const struct repo *r, const char *remote, const char *oid, const char *branch,
	enum remote_answer *ret, struct err *why, struct err *e)
{
	struct git g;
	auto_str spec = xasprintf("%s:refs/heads/%s", oid, branch);
	auto_buf out = BUF_INIT(1 << 20), errtext = BUF_INIT(1 << 20);
	auto_strvec args = STRVEC_INIT;
	int code;

	strvec_pushl(&args, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no",
		"--no-verify", NULL);
	if (git_for(r, remote, true, &g, e) < 0 || push_safely(r, remote, &args, e) < 0)
		return -1;
	strvec_pushl(&args, "--", remote, spec, NULL);
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

int remote_fetch(const struct repo *r, const char *remote, const char *branch, const char *to,
	char oid[OID_SIZE], struct err *e)
{
	struct git g;
	auto_str spec = xasprintf("+refs/heads/%s:%s", branch, to);
	auto_buf out = BUF_INIT(1 << 20), errtext = BUF_INIT(1 << 20);
	auto_strvec args = STRVEC_INIT;
	int code;

	*oid = '\0';
	if (git_for(r, remote, false, &g, e) < 0)
		return -1;
	strvec_pushl(&args, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-prune", "--no-prune-tags", "--refmap=", NULL);
	/* git refuses another user's repository unless it is told otherwise; missing objects must not be
	 * fetched from a third place by a program that the remote's configuration names */
	if (is_here(r, remote))
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
