/*
 * What an agent brings of the user's into its task: its log-in files, copied into the task's home, and its
 * variables. Only those of the agent that is being run; the lists are data (config.h).
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

/* Where the task's files stand, and whose they are: its repository's top. */
struct agent_place {
	const char *project, *workspace;
};

/* An access token that a task has, and that ends. */
struct login_end {
	char *name; /* of one of several, "anthropic"; else "" */
	int64_t at; /* seconds since 1970 */
};

/* What is worth telling about a copied log-in. */
struct login_report {
	size_t copied;
	struct strvec left_out; /* files that cannot be read, and so may hold a refresh token */
	struct login_end *ends;
	size_t nends;
};

void login_report_release(struct login_report *r);
#define auto_login_report __attribute__((cleanup(login_report_release))) struct login_report

/* Copies the agent's log-in files from the user's home (a descriptor) into the task's (one too), keeping
 * their relative paths, mode 0600 (directories 0700), owned by the inside, and without refresh tokens
 * (tokens.h). A file that the task has already is left alone, the agent may have logged in by itself; but
 * one with a refresh token of the user's in it, or with tokens that end before the user's, is replaced. What
 * the user does not have is passed over; symbolic links in the user's home are followed (the user's own), in
 * the task's never. At most 10 MiB and 1,000 files. Of what Claude Code knows of all projects the task gets
 * its own (claude.h). */
int agent_copy_login(const struct config_agent *a, const struct agent_place *p, int user_home, int task_home,
	struct login_report *ret, struct err *e);

/* The environment inside, built from an allow-list: pairs NAME=VALUE out of `environ_now` whose names are in
 * config->env or the agent's env (a may be NULL), then `extra` ("NAME=VALUE", or "NAME" to pass it on), then
 * what the inside always has (HOME, USER, LOGNAME, PATH, SHELL, …, given as fixed pairs). Later ones replace
 * earlier ones. A malformed extra is ERR_USAGE. */
int agent_environment(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, const struct strvec *fixed, struct strvec *ret, struct err *e);

/* Adds the hosts that the user's own settings name as where the agent's model is: variables of its env that
 * end in _BASE_URL, _HOST or _ENDPOINT, the same and base_url, baseURL in its files of the home that are
 * copied (but not what they say of tool servers), and Bedrock's where it is to be used. What is no host is
 * passed over. */
void agent_endpoints(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, int user_home, struct strvec *ret);

/* Whether it would put up walls of its own, which fails inside these and takes all its commands along (Codex,
 * unless its words or its configuration in the user's home say otherwise). */
bool agent_brings_sandbox(const struct config_agent *a, char *const *argv, int user_home);

#endif
