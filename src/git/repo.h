/*
 * The user's repository: finds it from a directory, checks that its kind is supported, and reads its facts.
 * It is trusted, because the user runs git in it every day. Nothing here writes to it.
 */
#ifndef GIT_REPO_H
#define GIT_REPO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "git/run.h"

struct repo {
	char *top;         /* the checkout in which garth was started; of a bare repository its directory */
	char *main_top;    /* the main checkout: the parent of the common git directory if that is .git */
	char *git_dir;     /* the common git directory */
	char *format;      /* "sha1" or "sha256" */
	unsigned hash_len; /* in bytes */
	bool bare;         /* it has no checkout of its own */
	bool submodule;    /* its configuration names a work tree, which may be gone: repo_git ignores that */
	char *head;        /* full name of the checked-out branch, "" if HEAD is detached */
	char *commit;      /* the commit of the requested revision, if one was requested */
	bool has_settings; /* whether that commit has REPO_SETTINGS */
	char *rev_ref;     /* full name of the ref that the revision names, "" for none */
	struct strvec config;  /* the user's effective configuration: "key\nvalue", keys in lower case */
	char *user_ignores;    /* core.excludesFile as the user wrote it, NULL if it is not set */
	struct strvec objects; /* object directories: its own, then its alternates */
};

void repo_release(struct repo *r);
#define auto_repo __attribute__((cleanup(repo_release))) struct repo

/* Finds the repository around dir and resolves rev to a commit. ERR_NOTFOUND: not a repository, no such
 * revision, no commit yet. ERR_REFUSED, with its name, for a kind of repository that is not supported. */
int repo_open(const char *dir, const char *rev, struct repo *ret, struct err *e);
/* The same for a repository that nobody has used with Garth before: all of its files are looked at (blocking_files.h). */
int repo_open_first(const char *dir, const char *rev, struct repo *ret, struct err *e);
/* Opens a registered project's repository by its git directory, without running git. Nothing is resolved or
 * checked, and the configuration is not read. hash_len is the hash length in bytes. */
int repo_open_git_dir(
	const char *git_dir, const char *top, unsigned hash_len, struct repo *ret, struct err *e);
/* Fills in only the names, for a repository that no longer exists. */
void repo_name(const char *git_dir, const char *top, unsigned hash_len, struct repo *ret);

/* The file with Garth's settings for this repository, at the top of a commit. */
#define REPO_SETTINGS     ".garth.yaml"
#define REPO_SETTINGS_MAX (1u << 20)
/* Reads it from a commit. *ret_there: whether the commit has it. ERR_REFUSED if it is a symbolic link or a
 * directory, or too large. */
int repo_settings(const struct repo *r, const char *commit, bool *ret_there, struct buf *out, struct err *e);
/* Whether it is a partial clone: objects may be missing. git outside never fetches them. */
bool repo_is_partial(const struct repo *r);
/* Whether its refs are in a reftable: then no file tells what HEAD or another ref is. */
bool repo_has_reftable(const struct repo *r);
/* ERR_REFUSED, with the command that fetches what is missing: of a commit, or everything if it is NULL. */
int repo_refuse_missing(const struct repo *r, const char *commit, const char *what, struct err *e);

/* For questions about commits alone: a submodule's own setting of its work tree, which may be gone, does not
 * count. */
struct git repo_git_commits(const struct repo *r);

/* Reads the user's effective configuration, for a repository that was opened without it. */
int repo_read_config(const struct repo *r, struct strvec *ret, struct err *e);
/* The last value of a key, or NULL. */
const char *repo_config(const struct repo *r, const char *key);
/* Reads a file of the git directory that tasks get a copy of; nothing if there is none. ERR_REFUSED for a link: a
 * downloaded repository could name any of the user's files with it. */
int repo_part(const struct repo *r, const char *name, struct buf *ret, struct err *e);
/* Reads the list of a shallow clone's commits whose parents are missing; empty for other repositories. */
#define REPO_SHALLOW_MAX (1u << 20)
int repo_shallow(const struct repo *r, struct buf *ret, struct err *e);
/* Reads the repository's info/attributes; empty if there are none. */
#define REPO_ATTRIBUTES_MAX (1u << 20)
int repo_attributes(const struct repo *r, struct buf *ret, struct err *e);
/* The settings for running git in this repository. */
struct git repo_git(const struct repo *r);

#endif
