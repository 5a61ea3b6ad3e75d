/*
 * Configuration: built-in values, then the user's one file over them ($GARTH_CONFIG, else
 * $XDG_CONFIG_HOME/garth/config.yaml, else ~/.config/garth/config.yaml). Lists add to the built-in ones.
 * An unknown key, a wrong type or an unreadable file is ERR_CONFIG with file, line and column; a file that
 * is not there is fine, unless $GARTH_CONFIG names it.
 *
 * The keys are rows of tables (rows.c): name, type, place. The built-in values are data (defaults.c). Paths
 * are checked as text (check.h): what would show the user's keys and log-ins to a task is refused.
 *
 * Example with every key:
 *
 *	workspace:
 *	  backend: overlay            # overlay | worktree; where unset: overlay where the kernel allows
 *	jail:
 *	  tools: [.cargo/bin, .nvm]   # directories under the home, shown read-only, beside the built-in ones
 *	  allow_read: [/srv/data]     # absolute paths, shown read-only; not in the project
 *	  env: [MY_VAR]               # names of variables that are passed in
 *	network:
 *	  mode: allow                 # none | allow | host
 *	  allow: [github.com, "*.crates.io", "localhost:8080"] # hosts.h; for every task
 *	limits:
 *	  log_size: 10MB              # kept of a task's output
 *	  max_worktree_size: 1GB      # what a task may publish: bytes in all,
 *	  max_file_size: 100MB        # of one file,
 *	  max_files: 10000            # files added,
 *	  max_commits: 100            # commits
 *	  max_disk: 20GB              # what it may hold on disk in all; 0: a share of the disk (task/disk.h)
 *	  max_inodes: 1000000         # files and directories of every kind, wherever a task can write
 *	  max_open_files: 4096        # descriptors of one process
 *	  check_every: 10             # seconds between two looks at what a running task has added
 *	  max_processes: 4096         # threads count too
 *	  max_memory: 4GB             # of all its processes where there is a control group, else of each; 0:
 * none max_cpu: 150                # percent of one processor, where there is a control group; 0: none policy:
 *	  protected: [deploy]         # more paths (globs, publish/policy.h) that need the user's word
 *	  allow: [.vscode/settings.json] # built-in ones that do not
 *	  rewrite: keep               # keep | refuse
 *	  identity: agent             # agent | forced
 *	  author: "Bot <bot@example.com>"
 *	git:
 *	  operations: {rebase: local} # local | routed | gateway | blocked
 *	  fetch: false                # whether an agent's git fetch brings the target's branch of the remote
 *	task:
 *	  on_dirty: fail              # fail | commit | keep
 *	merge:
 *	  strategy: merge             # merge | squash | rebase
 *	  keep: false                 # whether a merged task stays; else it goes to the trash at once
 *	sync:
 *	  auto_rebase: false
 *	  rebase_frequency: 3600
 *	  pause_on_conflict: true
 *	snapshot:
 *	  every: 10
 *	cleanup:
 *	  stale_after: 7d             # a task that nothing happened to for so long is stale
 *	serve:
 *	  port: 7817                  # of 127.0.0.1; 0: any free one
 *	agents:
 *	  aider:                      # a new agent, or more for a built-in one
 *	    programs: [aider]
 *	    login: [.aider.conf.yml]  # copied from the home into the task's
 *	    env: [OPENAI_API_KEY]
 *	    hosts: [api.openai.com]   # its model's endpoints, for network allow
 *	    resume: [aider, "{options}", --restore-chat-history, --message, "{answer}"]
 *	    options: [--yes-always, --model=] # what stays of the first command's; with = those that have a
 * value
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"

struct config_agent {
	char *name;
	struct strvec programs; /* base names by which it is known */
	struct strvec login;    /* relative to the home */
	struct strvec env;
	struct strvec hosts;  /* base/hosts.h */
	struct strvec resume; /* how it goes on; {answer}, {session} and {options} stand for those */
	/* What {options} keeps of the command that it was run with: "--flag", "--with-value=",
	 * "--with-many=+". */
	struct strvec options;
};

/* What may be published, and how it is counted. */
struct config_policy {
	struct strvec protect; /* globs: the built-in ones and the user's */
	struct strvec allow;   /* globs that are not protected after all: the user's word */
	char *rewrite;         /* "keep" (allowed, the old tip is kept) or "refuse" */
	char *identity;        /* "agent" or "forced" */
	char *author;          /* "Name <mail>" where it is forced; NULL: the user's own */
	uint64_t max_size;     /* limits.max_worktree_size: bytes that the task may publish */
	uint64_t max_file_size;
	uint64_t max_files;
	uint64_t max_commits;
};

/* What the shim does with a git command: rows over the built-in table of the shim. */
struct config_operation {
	char *name; /* "rebase" */
	char *rule; /* "local", "routed", "gateway", "blocked" */
};

struct config {
	char *home;              /* for the checks of allow_read; NULL where it is not known */
	char *file;              /* the user's file, NULL where there is none */
	char *backend;           /* "overlay", "worktree", or NULL */
	char *net;               /* "none", "allow" or "host" */
	struct strvec net_allow; /* hosts.h */
	uint64_t log_size;
	uint64_t max_processes, max_memory, max_cpu; /* limits; 0: none */
	uint64_t max_disk;           /* bytes that a task may hold on disk in all; 0: task/disk.h */
	uint64_t max_open_files;     /* descriptors of a process inside */
	uint64_t max_inodes;         /* of everything that a task has; 0: no limit */
	uint64_t check_every;        /* seconds */
	struct strvec tools;         /* relative to the home */
	struct strvec allow_read;    /* absolute */
	struct strvec allow_read_at; /* "FILE:LINE" of each */
	struct strvec env;           /* names; a trailing '*' matches the rest, as in LC_* */
	struct config_agent *agents;
	size_t nagents;
	struct config_policy policy;
	struct config_operation *operations;
	size_t noperations;
	char *on_dirty;       /* task.on_dirty: "fail", "commit", "keep" */
	char *merge_strategy; /* merge.strategy: "merge", "squash", "rebase" */
	bool merge_keep;      /* merge.keep: a merged task stays until somebody cleans up */
	bool auto_rebase;     /* sync.auto_rebase */
	uint64_t rebase_frequency;
	bool pause_on_conflict;
	bool fetch;              /* git.fetch: an agent may */
	uint64_t push_retries;   /* after a push that somebody else's overtook */
	uint64_t snapshot_every; /* published commits between two snapshots */
	uint64_t stale_after;    /* cleanup.stale_after: seconds */
	uint64_t serve_port;     /* serve.port; 0: any free one */
};

void config_release(struct config *c);
#define auto_config __attribute__((cleanup(config_release))) struct config

/* home, xdg_config and explicit_file are the environment's HOME, XDG_CONFIG_HOME and GARTH_CONFIG; each may
 * be NULL or empty. */
int config_load(const char *home, const char *xdg_config, const char *explicit_file, struct config *ret,
	struct err *e);
/* The built-in values alone. */
void config_defaults(struct config *ret);
/* Lays a file's text over c; for config_load and for tests. After a failure c is good for config_release
 * only. */
int config_apply(struct config *c, const char *text, size_t len, const char *file, struct err *e);

const struct config_agent *config_agent_by_name(const struct config *c, const char *name);
/* By the base name of a program's path, or NULL. Where two agents name it, the one that was added last. */
const struct config_agent *config_agent_by_program(const struct config *c, const char *program);
/* Whether a variable's name is in a list such as struct config's env. */
bool config_env_matches(const struct strvec *names, const char *name, size_t len);

#endif
