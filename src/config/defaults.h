/* The built-in values, as data. Every list ends in NULL. */
#ifndef CONFIG_DEFAULTS_H
#define CONFIG_DEFAULTS_H

#include <stdint.h>

#define DEFAULT_NET               "allow"
#define DEFAULT_LOG_SIZE          (10u << 20)
#define DEFAULT_REWRITE           "keep"
#define DEFAULT_IDENTITY          "agent"
#define DEFAULT_MAX_SIZE          (1u << 30)
#define DEFAULT_MAX_FILE_SIZE     (100u << 20)
#define DEFAULT_MAX_FILES         10000
#define DEFAULT_MAX_COMMITS       100
#define DEFAULT_MAX_PROCESSES     4096
#define DEFAULT_MAX_INODES        1000000
#define DEFAULT_MAX_OPEN_FILES    4096
#define DEFAULT_CHECK_EVERY       10
#define DEFAULT_ON_DIRTY          "fail"
#define DEFAULT_MERGE_STRATEGY    "merge"
#define DEFAULT_REBASE_FREQUENCY  3600
#define DEFAULT_PUSH_RETRIES      5
#define DEFAULT_SNAPSHOT_EVERY    10
#define DEFAULT_STALE_AFTER       (7 * 86400)
#define DEFAULT_SERVE_PORT        7817
#define DEFAULT_PLAN_MAX_PARALLEL 4
#define DEFAULT_PLAN_MAX_RUNNING  8
#define DEFAULT_PLAN_QUOTA_WAIT   900
#define DEFAULT_TICKETS_AT_ONCE   3
#define DEFAULT_TICKETS_TIMEOUT   (7 * 86400)
#define DEFAULT_GUARD             "block"

struct default_agent {
	const char *name;
	const char *const *programs, *const *login, *const *env, *const *hosts;
	const char *const *resume, *const *options, *const *prompt, *const *headless;
	const char *const *set, *const *files;
	const char *const *settings, *const *dirs, *const *resume_terminal, *const *quiet_hosts;
	const char *const *quota, *const *mcp, *const *model, *const *effort;
};

extern const char *const default_env[];
extern const char *const default_notify_on[];
extern const char *const default_tools[], *const default_caches[];
extern const char *const default_setup_inputs[]; /* if workspace.setup_inputs names none */
extern const char *const default_protected[];
extern const struct default_agent default_agents[]; /* ends in a row without a name */

#endif
