/*
 * Gives an agent in its task what it needs from the user: copies of its log-in files in the task home, and
 * its environment variables. Only for the agent that is run; which files and variables is data (config.h).
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

/* The user's variables, and those that are given for one run ("NAME=VALUE"); each may be NULL. */
struct agent_env {
	char *const *users;
	const struct strvec *extra;
};
struct outside;

/* Where the task's files are inside, and the repository that they come from (its top directory). */
struct agent_place {
	const char *project, *workspace;
	struct agent_env env;
	bool mcp;                      /* the agent is given the task's file tools */
	const struct outside *outside; /* the secrets that stay outside (outside.h); NULL: none */
};

/* Where the user has the agent's file that is `path` below the home: there, or, if a variable names another directory
 * (agents.NAME.dirs, such as CLAUDE_CONFIG_DIR), in that one. Relative to the home, or absolute; on the heap. */
char *agent_users_path(const struct config_agent *a, const struct agent_env *env, const char *path);
/* Adds the variables that a resumed agent needs and that hold no secret: addresses of its model, and directories. */
void agent_kept_variables(const struct config_agent *a, char *const *environ_now, struct strvec *ret);
/* Adds names of what the agent is logged in with: "file PATH" for each of its log-in files, whether it is there or not, and
 * "variable NAME" for each variable of its env that is set and whose name says that it has a secret. Two agents with a name
 * in common share a log-in. */
void agent_login_names(const struct config_agent *a, const struct agent_env *env, struct strvec *ret);
/* Adds the paths of programs that hooks in the agent's settings run. `home` is the path of user_home. */
void agent_scripts(const struct config_agent *a, const struct agent_env *env, int user_home, const char *home,
	struct strvec *ret);

/* When an access token in the task expires. */
struct login_end {
	char *name; /* which log-in of several, such as "anthropic"; else "" */
	int64_t at; /* seconds since 1970 */
};

/* The result of copying a log-in, for messages. */
struct login_report {
	size_t copied;
	struct strvec left_out; /* files that could not be parsed, and so may hold a refresh token */
	struct login_end *ends;
	size_t nends;
};

void login_report_release(struct login_report *r);
#define auto_login_report __attribute__((cleanup(login_report_release))) struct login_report

/*
 * Copies the agent's log-in files from the user's home to the task home (both descriptors). The copies have
 * the same relative paths, mode 0600 (directories 0700), belong to the inside's user, and have no refresh
 * tokens (tokens.h). Secrets that stay outside are replaced by dummies (outside.h). Of ~/.claude.json only the task's project is copied (claude.h).
 *
 * A file that the task already has is kept, since the agent may have logged in by itself. It is replaced if
 * it holds one of the user's refresh tokens, or tokens that expire before the user's, or a secret that stays
 * outside by now. Files that the user
 * does not have are skipped. Symbolic links are followed in the user's home, never in the task's. At most 10
 * MiB and 1,000 files.
 */
int agent_copy_login(const struct config_agent *a, const struct agent_place *p, int user_home, int task_home,
	struct login_report *ret, struct err *e);

/* Builds the environment inside: first what the agent's `set` has; then, by an allow-list, variables of `environ_now` that config->env or the
 * agent's env (a may be NULL) names, then `extra` ("NAME=VALUE", or "NAME" to pass it on), then `fixed`:
 * pairs that are always set (HOME, USER, LOGNAME, PATH, SHELL, …). A later pair replaces an earlier one.
 * ERR_USAGE if an entry of extra is malformed. */
int agent_environment(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, const struct strvec *fixed, struct strvec *ret, struct err *e);

/* Adds the hosts of the agent's model that the user's settings name: from variables of its env that end in
 * _BASE_URL, _HOST or _ENDPOINT, from such names and base_url or baseURL in its log-in files (tool servers in
 * them do not count), and Bedrock's hosts if it is switched on. Values that are no host are skipped. */
void agent_endpoints(const struct config *c, const struct config_agent *a, char *const *environ_now,
	const struct strvec *extra, int user_home, struct strvec *ret);

/* Whether the agent would set up its own sandbox. That fails inside a jail, and with it every command of the
 * agent (Codex, if its arguments ask for it). */
bool agent_brings_sandbox(const struct config_agent *a, char *const *argv);

#endif
