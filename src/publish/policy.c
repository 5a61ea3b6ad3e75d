#include "publish/policy.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "config/protect.h"
#include "task/refused_path.h"

/* A submodule is a project of its own: its paths are compared as they are in it, and as they are in the task. */
static const char *find_protection(const struct policy *p, const char *path, bool link)
{
	return p->within && *p->within ? protect_path_within(p->rules, p->allowed, p->within, path, link)
				       : protect_path(p->rules, p->allowed, path, link);
}

bool policy_is_protected(const struct policy *p, const char *path)
{
	return find_protection(p, path, false) != NULL;
}

bool policy_is_protected_link(const struct policy *p, const char *path)
{
	return find_protection(p, path, true) != NULL;
}

/* The path from the top of the workspace, on the heap. */
static char *whole_path(const struct policy *p, const char *path)
{
	return p->within && *p->within ? path_join(p->within, path) : xstrdup(path);
}

/* Quotes text for a shell, because the user copies the command. */
static void add_quoted(struct buf *out, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+,:=-";

	if (*s && *s != '-' && strspn(s, plain) == strlen(s)) {
		buf_addstr(out, s);
		return;
	}
	buf_addch(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_addstr(out, "'\\''");
		else
			buf_addch(out, *s);
	}
	buf_addch(out, '\'');
}

static const char *verb(const struct policy_path *c)
{
	return !c->mode ? "remove" : c->added ? "add" : "change";
}

/* The user can allow the path for this task. */
static int say_consent(
	const struct policy *p, const struct policy_path *c, const char *path, struct refusal *no)
{
	auto_buf tried = BUF_SMALL, instead = BUF_SMALL;

	buf_printf(&tried, "%s %s", verb(c), path);
	/* rather no command than one that is cut */
	if (strlen(path) > 100) {
		buf_addstr(&instead, "leave that path as it is; the user can allow it with: garth allow");
	} else {
		buf_printf(&instead, "leave %s as it is; the user can allow it with: garth allow %s ", path,
			p->task);
		add_quoted(&instead, path);
	}
	return refusal_say(no, buf_str(&tried), buf_str(&instead));
}

static int refuse_protected(const struct policy *p, const struct policy_path *c, const char *glob,
	struct refusal *no, struct err *e)
{
	auto_str path = whole_path(p, c->path);

	refuse(no, e, REFUSED_PROTECTED, path, "'%s' is protected", path);
	snprintf(no->boundary, sizeof(no->boundary), "%s", glob);
	return say_consent(p, c, path, no);
}

static int refuse_outside(
	const struct policy *p, const struct policy_path *c, struct refusal *no, struct err *e)
{
	auto_str path = whole_path(p, c->path);
	auto_buf scope = BUF_SMALL;

	const struct strvec *globs = p->rules->within.n ? &p->rules->within : &p->rules->scope;

	for (size_t i = 0; i < globs->n; i++)
		buf_printf(&scope, "%s%s", i ? ", " : "", globs->v[i]);
	refuse(no, e, REFUSED_SCOPE, path, "'%s' is outside of what this task may change", path);
	snprintf(no->boundary, sizeof(no->boundary), "%.190s", buf_str(&scope));
	return say_consent(p, c, path, no);
}

/* A name in the target may itself be a link, and ".." after it goes up from that link's target. So ".." is
 * allowed only before the first name, where it goes up from the link's own directory. */
static const char *link_wrong(const char *path, const char *target)
{
	size_t depth = 0;
	bool named = false;

	for (const char *s = path; *s; s++)
		depth += *s == '/';
	if (!*target)
		return "has no target";
	if (*target == '/')
		return "is an absolute link";
	while (*target) {
		size_t n = strcspn(target, "/");

		if (n == 2 && !strncmp(target, "..", 2)) {
			if (named || !depth--)
				return named ? "goes up behind a name" : "leads out of the repository";
		} else if (n == 4 && !strncasecmp(target, ".git", 4)) {
			return "leads into a .git directory";
		} else if (n && !(n == 1 && *target == '.')) {
			named = true;
		}
		target += n + (target[n] == '/');
	}
	return NULL;
}

static int check_link(const struct policy_path *c, struct refusal *no, struct err *e)
{
	const char *wrong = link_wrong(c->path, c->link ? c->link : "");

	if (!wrong)
		return 0;
	refuse(no, e, "link_leaves", c->path, "the symbolic link '%s' %s", c->path, wrong);
	snprintf(no->boundary, sizeof(no->boundary), "symbolic links stay in the repository");
	return refusal_say(no, "publish a symbolic link that leaves the repository",
		"make it relative, with '..' only at its beginning and never above the repository's root");
}

int policy_size(const struct policy *p, const char *name, uint64_t size, struct refusal *no, struct err *e)
{
	if (size <= p->rules->max_file_size)
		return 0;
	refuse(no, e, "file_too_large", name, "'%s' has %llu bytes, the limit is %llu", name,
		(unsigned long long)size, (unsigned long long)p->rules->max_file_size);
	snprintf(no->boundary, sizeof(no->boundary), "limits.max_file_size %llu",
		(unsigned long long)p->rules->max_file_size);
	return refusal_say(no, "publish a large file",
		"take it out of every commit that is not published (git reset --soft, then commit without it)");
}

/* What a submodule's path may not become: a gitlink that is new, or gone, or no gitlink any more, or one that
 * names a commit that the task did not publish from the submodule. */
static int refuse_gitlink(
	const struct policy *p, const struct policy_path *c, struct refusal *no, struct err *e)
{
	auto_str path = whole_path(p, c->path);

	refuse(no, e, "gitlink", path, "'%s' is a submodule", path);
	snprintf(no->boundary, sizeof(no->boundary),
		"submodules move to commits that the task published in them");
	if (c->added)
		return refusal_say(no, "publish a new submodule",
			"take it out (git rm --cached), or commit its files instead of its .git");
	if (c->gitlink)
		return refusal_say(no,
			"move a submodule to a commit that the task did not publish in it, or that lacks what was there",
			"leave it at its commit (git restore --staged PATH), or commit in the submodule on the task's branch, then git add PATH and commit again");
	return refusal_say(no, "remove a submodule, or put something else in its place",
		"put it back (git restore --staged PATH) and commit again; the user can remove it");
}

static bool may_move(const struct policy *p, const struct policy_path *c)
{
	return c->gitlink && c->was_gitlink && !c->added && p->may_link &&
	       p->may_link(p->may_link_arg, c->path, c->gitlink, c->gitlinks);
}

int policy_path(const struct policy *p, const struct policy_path *c, struct refusal *no, struct err *e)
{
	bool link = S_ISLNK(c->mode);
	const char *glob = find_protection(p, c->path, link);

	if (glob)
		return refuse_protected(p, c, glob, no, e);
	if (!protect_in_scope(p->rules, p->allowed, p->within ? p->within : "", c->path))
		return refuse_outside(p, c, no, e);
	if (c->mode == 0160000 || c->was_gitlink)
		return may_move(p, c) ? 0 : refuse_gitlink(p, c, no, e);
	if (!c->mode)
		return 0;
	if (c->mode != 0100644 && c->mode != 0100755 && c->mode != 0120000) {
		refuse(no, e, "odd_mode", c->path, "'%s' has the mode %o", c->path, c->mode);
		return refusal_say(no, "publish a file with an unusual mode",
			"use 100644, 100755 for a program, or 120000 for a symbolic link");
	}
	if (link && check_link(c, no, e) < 0)
		return -1;
	return policy_size(p, c->path, c->size, no, e);
}

/* Whether the last paragraph of the message contains the line. */
static bool has_trailer(const char *message, const char *line)
{
	size_t len = strlen(message), n = strlen(line);
	const char *end, *at;

	while (len && strchr(" \t\r\n", message[len - 1]))
		len--;
	end = message + len;
	while (end > message) {
		const char *stop = end;

		at = memrchr(message, '\n', (size_t)(end - message));
		at = at ? at + 1 : message;
		while (stop > at && strchr(" \t\r", stop[-1]))
			stop--;
		if (stop == at)
			return false;
		if ((size_t)(stop - at) == n && !memcmp(at, line, n))
			return true;
		end = at > message ? at - 1 : message;
	}
	return false;
}

/* Whether any line of the message names another task. */
static bool names_another(const char *message, const char *trailer)
{
	size_t key = strcspn(trailer, ":") + 1, n = strlen(trailer);

	for (const char *at = message; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		size_t len = strcspn(at, "\n");

		while (len && strchr(" \t\r", at[len - 1]))
			len--;
		if (!strncasecmp(at, trailer, key) && (len != n || memcmp(at, trailer, n) != 0))
			return true;
	}
	return false;
}

static int check_person(const struct policy *p, const char *oid, const char *role, const char *is,
	struct refusal *no, struct err *e)
{
	char instead[300];

	if (!strcmp(is, p->author))
		return 0;
	refuse(no, e, "identity", NULL, "the %s of commit %.12s is '%.120s', not '%.120s'", role, oid, is,
		p->author);
	snprintf(no->boundary, sizeof(no->boundary), "author and committer are %s", p->author);
	snprintf(instead, sizeof(instead),
		"commit as %s: leave GIT_AUTHOR_*, GIT_COMMITTER_*, user.* and --author alone", p->author);
	return refusal_say(no, "publish a commit under another name", instead);
}

int policy_commit(const struct policy *p, const char *oid, const char *author, const char *committer,
	const char *message, struct refusal *no, struct err *e)
{
	char trailer[128], instead[300];

	if (!p->author)
		return 0;
	if (check_person(p, oid, "author", author, no, e) < 0 ||
		check_person(p, oid, "committer", committer, no, e) < 0)
		return -1;
	snprintf(trailer, sizeof(trailer), "Garth-Task: %s", p->task);
	if (has_trailer(message, trailer) && !names_another(message, trailer))
		return 0;
	refuse(no, e, "trailer", NULL, "the message of commit %.12s does not end with '%s'", oid, trailer);
	snprintf(no->boundary, sizeof(no->boundary), "%s", trailer);
	snprintf(instead, sizeof(instead), "add the line: git commit --amend --no-edit --trailer '%s'",
		trailer);
	return refusal_say(no, "publish a commit that does not name the task", instead);
}

static int refuse_count(struct refusal *no, struct err *e, const char *code, const char *what,
	const char *limit, uint64_t max)
{
	refuse(no, e, code, NULL, "the task adds more than %llu %s", (unsigned long long)max, what);
	snprintf(no->boundary, sizeof(no->boundary), "%s %llu", limit, (unsigned long long)max);
	return -1;
}

int policy_counts(const struct policy *p, int64_t commits, uint64_t files, uint64_t bytes, struct refusal *no,
	struct err *e)
{
	const struct config_policy *r = p->rules;

	if (commits > 0 && (uint64_t)commits > r->max_commits) {
		refuse_count(no, e, "too_many_commits", "commits", "limits.max_commits", r->max_commits);
		return refusal_say(no, "publish more commits than a task may have",
			"put the work into fewer commits (git reset --soft, then one commit), or ask the user");
	}
	if (files > r->max_files) {
		refuse_count(no, e, "too_many_files", "files", "limits.max_files", r->max_files);
		return refusal_say(no, "publish more files than a task may add",
			"leave out what is generated or installed (.gitignore), and commit the rest");
	}
	if (bytes > r->max_size) {
		refuse_count(no, e, "too_large", "bytes", "limits.max_worktree_size", r->max_size);
		return refusal_say(no, "publish more than a task may add",
			"take large files out of every commit that is not published; what is published already counts, "
			"so that the user may have to allow more");
	}
	return 0;
}
