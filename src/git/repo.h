/*
 * The user's repository: found from a directory, its kind checked, its facts read. It is trusted (the user
 * runs git in it every day), and nothing here writes to it.
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
	char *top;         /* the checkout that garth was started in */
	char *main_top;    /* the main checkout: the parent of the common git directory where that is .git */
	char *git_dir;     /* the common git directory */
	char *format;      /* "sha1" or "sha256" */
	unsigned hash_len; /* in bytes */
	char *head;        /* full name of the checked-out branch, "" when detached */
	char *commit;      /* what the asked-for revision is, when one was asked for */
	char *rev_ref;     /* full name of the ref that the revision names, "" for none */
	struct strvec config;  /* the user's effective configuration: "key\nvalue" each, keys in lower case */
	char *user_ignores;    /* the user's core.excludesFile as it is written, NULL where it is not set */
	struct strvec objects; /* object directories: its own, then those it borrows from */
};

void repo_release(struct repo *r);
#define auto_repo __attribute__((cleanup(repo_release))) struct repo

/* Finds the repository around dir and resolves rev to a commit. ERR_NOTFOUND: not a repository, no such
 * revision, no commit yet. ERR_REFUSED, with the kind's name, for kinds that are not carried. */
int repo_open(const char *dir, const char *rev, struct repo *ret, struct err *e);
/* The repository of a registered project, by its git directory. Runs no git: nothing is resolved or checked,
 * and the configuration stays unread. hash_len is the length of a commit's name in bytes. */
int repo_open_git_dir(
	const char *git_dir, const char *top, unsigned hash_len, struct repo *ret, struct err *e);
/* What is known of one that is gone: nothing but names. */
void repo_name(const char *git_dir, const char *top, unsigned hash_len, struct repo *ret);

/* The last value of a key, or NULL. */
const char *repo_config(const struct repo *r, const char *key);
/* For running git in it. */
struct git repo_git(const struct repo *r);

/* Refuses kinds of repository that are not carried yet, by name. Pure: looks only at the facts in r. */
int repo_check_kind(const struct repo *r, bool bare, bool shallow, struct err *e);

#endif
