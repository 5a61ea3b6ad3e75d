/*
 * Loads the configuration, in layers. Each one goes over those before it:
 *
 *	built-in values             defaults.c
 *	the system's file           $GARTH_SYSTEM_CONFIG, else /etc/garth/config.yaml
 *	the user's file             $GARTH_CONFIG, else $XDG_CONFIG_HOME/garth/config.yaml, else
 *	                            ~/.config/garth/config.yaml
 *	the repository's file       .garth.yaml of the task's base commit (task/repository_config.h)
 *	the task's own              options, the task file, `--limit` (task/own_config.h)
 *
 * Lists are added to the earlier ones. An unknown key, a wrong type or an unreadable file is ERR_CONFIG with
 * file, line and column. A missing file is no error, unless a variable names it.
 *
 *	struct config_places p = config_places(getenv("HOME"));
 *	auto_config c = { 0 };
 *	config_load(&p, &c, e)
 *	config_apply_repository(&c, text, len, ".garth.yaml@1a2b3c4", e)
 *
 * Whoever wrote the repository's file is not trusted. Each row says what that file may do with the value
 * (values.h): for most nothing, for limits only lower them, for rules only make them stricter. A key that it may
 * not have is an error. A value that is not stricter than the user's is not taken, and a note says so: the file
 * may be right for another user. What it asks for that only an approval gives (set-up commands and the like) is
 * in the list `asks` (task/approval.h).
 *
 * config_origin says of each value where it comes from.
 *
 * The keys are rows of tables (rows.c): name, type, place. The built-in values are data (defaults.c). Paths
 * are checked as text (check.h): a path that would show the user's keys or log-ins to a task is refused.
 *
 * Example with every key:
 *
 *	workspace:
 *	  backend: overlay            # overlay | worktree; unset: overlay if the kernel allows it
 *	  include: [.env, certs/]     # untracked files of the checkout that a workspace gets; git's ignore syntax
 *	  setup: [npm ci, [make, deps]] # commands run once inside; what they leave is shared by all tasks
 *	  setup_inputs: [package-lock.json] # globs of files that decide whether set-up must run again
 *	  setup_network: [registry.npmjs.org] # hosts that set-up may reach; none: no network
 *	  submodules: [libs/a]        # those that tasks may use; [all], [none]; unset: those that are checked out
 *	jail:
 *	  tools: [.cargo/bin, .nvm]   # directories under the home, shown read-only, beside the built-in ones
 *	  caches: {~/.npm/_cacache: off} # task | project | read-only | off, for a directory under the home
 *	  allow_read: [/srv/data]     # paths of the host, shown read-only; not in the project
 *	  allow_write: [~/shared]     # the same, writable; not in task files
 *	  deny_read: [secrets]        # globs: in the workspace, "~/" or absolute (base/rules.h)
 *	  deny_write: [deploy, "*.lock"]
 *	  env: [MY_VAR]               # names of variables to pass in
 *	network:
 *	  mode: allow                 # none | allow | host
 *	  allow: [github.com, "*.crates.io", "localhost:8080"] # base/hosts.h; for every task
 *	limits:
 *	  log_size: 10MB              # kept of a task's output
 *	  max_worktree_size: 1GB      # what a task may publish: bytes in all,
 *	  max_file_size: 100MB        # bytes of one file,
 *	  max_files: 10000            # files added,
 *	  max_commits: 100            # commits
 *	  max_disk: 20GB              # what it may hold on disk; 0: a share of the disk (task/disk_limit.h)
 *	  max_inodes: 1000000         # files and directories, wherever a task can write
 *	  max_open_files: 4096        # descriptors of one process
 *	  check_every: 10             # seconds between two measurements of a running task
 *	  max_processes: 4096         # threads count too
 *	  max_memory: 4GB             # of all processes if there is a control group, else of each; 0: no limit
 *	  max_core: 0                 # bytes of a core file; 0: no core files
 *	  max_cpu: 150                # percent of one processor, if there is a control group; 0: no limit
 *	policy:
 *	  protected: [deploy]         # more paths (globs, publish/policy.h) that need the user's consent
 *	  allow: [.vscode/settings.json] # built-in protected paths that need none
 *	  scope: [src]                # if there are any: only paths that match one of these may be published
 *	  within: [src/a]             # the same again: a path must match one of both
 *	  rewrite: keep               # keep | refuse
 *	  identity: agent             # agent | forced
 *	  author: "Bot <bot@example.com>"
 *	git:
 *	  operations: {rebase: local} # local | routed | gateway | blocked
 *	  fetch: false                # whether an agent's git fetch gets the target's branch from the remote
 *	  push_retries: 5             # after a push that lost against somebody else's
 *	task:
 *	  on_dirty: fail              # fail | commit | keep
 *	merge:
 *	  strategy: merge             # merge | squash | rebase
 *	  keep: false                 # true: a merged task stays; false: it goes to the trash at once
 *	sync:
 *	  auto_rebase: false
 *	  rebase_frequency: 3600
 *	  pause_on_conflict: true
 *	snapshot:
 *	  every: 10
 *	cleanup:
 *	  stale_after: 7d             # a task without any change for so long is stale
 *	serve:
 *	  port: 7817                  # of 127.0.0.1; 0: any free one
 *	terminal:                     # not in task files
 *	  detach_keys: "ctrl-y,d"     # base/keys.h
 *	notify:                       # not in task files (task/notify.h)
 *	  command: [notify-send, "{message}"]
 *	  on: [blocked, failed, done, limit]
 *	agents:
 *	  default: claude             # what `garth run "fix the login"` runs; not the name of an agent
 *	  guard: block                # block | warn | off: calls of tools that lead out of the workspace
 *	  mcp: false                  # whether agents have the task's file tools (garth mcp) without being told of them
 *	  aider:                      # a new agent, or additions to a built-in one
 *	    programs: [aider]
 *	    login: [.aider.conf.yml]  # copied from the user's home to the task home
 *	    env: [OPENAI_API_KEY]
 *	    hosts: [api.openai.com]   # its model's endpoints, for network allow
 *	    resume: [aider, "{options}", --restore-chat-history, --message, "{answer}"]
 *	    prompt: [aider, --message, "{prompt}"]               # on a terminal
 *	    headless: [aider, --yes-always, --message, "{prompt}"] # in the background, or without a terminal
 *	    credentials: proxy        # proxy | copy | none; unset: proxy where it works, else copy
 *	    options: [--yes-always, --model=] # kept from the first command; "=": the option has a value
 *	    resume_terminal: [aider, "{options}", --restore-chat-history] # on a terminal, if it ran on one
 *	    settings: [.aider/themes, .aider/tools/]     # shown read-only, from the user's home
 *	    dirs: [AIDER_HOME=.aider]                    # the variable names another place for this directory
 *	    set: [AIDER_CHECK_UPDATE=false]              # variables that it gets
 *	    files: ["~/.aider/brief.md={brief}"]         # files that tell it about its task
 *	    mcp: ["~/.aider/mcp.json={}"]                # as files, if agents.mcp is true
 *	    quiet_hosts: [telemetry.example.com]         # the user is not told that they are refused
 *	    run: [aider, --yes-always, --message-file, "{prompt_file}"] # as a stage of a plan; unset: headless
 *	    model: [--model, "{model}"]                  # the options for a stage's model
 *	    effort: [--reasoning-effort, "{effort}"]     # … and for its reasoning_effort
 *	    quota: ["limit reached"]                     # what it prints when its model takes no more requests
 *	    max_parallel: 2                              # stages of plans that it runs at once; 0: no limit
 *	tickets:                      # tasks that an agent in a task may ask for
 *	  max: 8                      # in all; 0: none
 *	  at_once: 3
 *	  agents: [claude, codex]     # that they may name, beside the task's own
 *	  timeout: 7d                 # for all of a task's tickets together
 *	plan:                         # not in task files
 *	  max_parallel: 4             # stages of one plan at once, unless the plan says how many
 *	  max_running: 8              # stages of all plans at once
 *	  quota_wait: 15m             # how long stages wait if a model does not say for how long
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rules.h"
#include "base/strvec.h"

struct config_agent {
	char *name;
	struct strvec programs; /* base names of its programs */
	struct strvec login;    /* relative to the home */
	struct strvec env;
	struct strvec hosts;  /* base/hosts.h */
	struct strvec resume; /* command that resumes it, with {answer}, {session}, {options} */
	/* Which options of the first command {options} keeps: "--flag", "--with-value=", "--with-many=+". */
	struct strvec options;
	/* Commands that give it a prompt, with {prompt}: on a terminal, and without anybody who watches. */
	struct strvec prompt, headless;
	struct strvec set; /* "NAME=VALUE": variables that it gets, unless the user has them */
	/* "/etc/DIR/NAME=TEXT" or "~/NAME=TEXT": files that tasks have, which tell it about its task: {brief} is
	 * what task/brief.h writes, {brief_json} the same as a JSON string, {brief_file} the path of a file with
	 * it, {workspace} where the task's files are, {workspace_json} that as a JSON string. */
	struct strvec files;
	/* What it reads of the user's set-up, shown read-only: relative to the home. A final slash stands for each
	 * entry of the directory, so that others can be beside them. */
	struct strvec settings;
	/* "VARIABLE=PATH" or "VARIABLE/SUB=PATH": if the user has the variable, what it names stands for this path
	 * of the home. */
	struct strvec dirs;
	struct strvec
		resume_terminal; /* as resume, on a terminal; words with {answer} are left out without one */
	struct strvec mcp; /* as files, if the task's file tools are given: added to those of the same path */
	struct strvec quiet_hosts; /* if these are refused, the user is not told */
	struct strvec
		run; /* the command of a plan's stage, with {prompt} or {prompt_file}; empty: headless */
	struct strvec model,
		effort; /* options that choose a stage's model, with {model}, and how hard it thinks, with {effort} */
	struct strvec
		quota; /* texts by which the end of its output tells that its model takes no more requests */
	uint64_t max_parallel; /* stages that it runs at once; 0: no limit of its own */
	char *credentials; /* config/credentials.h; NULL: what the proxy can add stays outside, the rest is copied */
};

/* What may be published, and its limits. */
struct config_policy {
	struct rules rules;    /* of jail.allow_read, allow_write, deny_read, deny_write; "~" is expanded */
	struct strvec protect; /* globs: the built-in ones and the user's */
	struct strvec allow;   /* globs of paths that the user takes out of the protected ones */
	struct strvec scope;   /* globs; if there are any, other paths need the user's consent too */
	struct strvec within;  /* the same for a ticket: paths must match one of both lists */
	char *rewrite;         /* "keep" (allowed, the old tip is kept) or "refuse" */
	char *identity;        /* "agent" or "forced" */
	char *author;          /* "Name <mail>" if identity is "forced"; NULL: the user's own */
	uint64_t max_size;     /* limits.max_worktree_size: bytes that the task may publish */
	uint64_t max_file_size;
	uint64_t max_files;
	uint64_t max_commits;
};

/* How the shim treats a git command; overrides the shim's built-in table. */
struct config_operation {
	char *name; /* "rebase" */
	char *rule; /* "local", "routed", "gateway", "blocked" */
};

/* A directory under the home in which tools keep what they downloaded or built. */
struct config_cache {
	char *path; /* relative to the home */
	char *mode; /* one of cache_modes */
};
/* The task has a writable layer over it; it is read-only; it is not shown. */
#define CACHE_TASK      "task"
#define CACHE_PROJECT   "project" /* what set-ups write is kept for the project: workspace/cache_layer.h */
#define CACHE_READ_ONLY "read-only"
#define CACHE_OFF       "off"

/* The user's program that is run when a task needs attention (task/notify.h). */
struct config_notify {
	struct strvec command; /* empty: none */
	struct strvec on;      /* "blocked", "failed", "done", "limit" */
};

/* Where a value, or one item of a list, comes from. */
struct config_origin {
	char *key, *item; /* item: NULL for the value as a whole */
	char *at;         /* "FILE:LINE:COLUMN" */
};

/* Something of the repository's file that needs the user's approval: one command, host or pattern. */
struct config_ask {
	const char *key;
	char *exact; /* the same for the same value, however it was written: what the approval is for */
	char *text;  /* for people; not cleaned */
};

struct config {
	char *home;                  /* for checking allow_read; NULL if unknown */
	char *file;                  /* the user's file; NULL if there is none */
	char *path;                  /* where it is, or would be; NULL if unknown */
	char *system_file;           /* the system's file; NULL if there is none */
	char *backend;               /* "overlay", "worktree", or NULL */
	struct strvec submodules;    /* paths, or "all", or "none"; empty: those that are checked out */
	struct strvec include;       /* workspace.include: lines in git's ignore syntax */
	struct strvec setup;         /* workspace.setup: lines for a shell inside, one for each command */
	struct strvec setup_inputs;  /* workspace.setup_inputs: globs; empty: the built-in ones */
	struct strvec setup_network; /* workspace.setup_network: hosts */
	char *net;                   /* "none", "allow" or "host" */
	struct strvec net_allow;     /* hosts.h */
	uint64_t log_size;
	uint64_t max_processes, max_memory, max_cpu; /* 0: no limit */
	uint64_t max_core;                           /* 0: no core files */
	uint64_t max_disk;                           /* bytes on disk; 0: see task/disk_limit.h */
	uint64_t max_disk_cap;                       /* the repository's, if max_disk is 0; 0: none */
	uint64_t max_open_files;                     /* of one process inside */
	uint64_t max_inodes;                         /* of everything that a task can write to; 0: no limit */
	uint64_t check_every;                        /* seconds */
	struct strvec tools;                         /* relative to the home */
	struct config_cache *caches;
	size_t ncaches;
	struct strvec allow_read, allow_write;       /* the absolute ones */
	struct strvec allow_read_at, allow_write_at; /* "FILE:LINE" of each entry */
	struct strvec env;                           /* names; a final '*' matches any rest, as in LC_* */
	char *default_agent;                         /* agents.default; NULL if there is none */
	bool mcp;                                    /* agents.mcp */
	char *guard;                                 /* agents.guard: "block", "warn", "off" */
	struct config_agent *agents;
	size_t nagents;
	struct config_policy policy;
	struct config_operation *operations;
	size_t noperations;
	char *on_dirty;       /* task.on_dirty: "fail", "commit", "keep" */
	char *merge_strategy; /* merge.strategy: "merge", "squash", "rebase" */
	bool merge_keep;      /* merge.keep: a merged task is not removed by the merge */
	bool auto_rebase;     /* sync.auto_rebase */
	uint64_t rebase_frequency;
	bool pause_on_conflict;
	bool fetch;              /* git.fetch: whether an agent may fetch */
	uint64_t push_retries;   /* after a push that lost against somebody else's */
	uint64_t snapshot_every; /* published commits between two snapshots */
	uint64_t stale_after;    /* cleanup.stale_after: seconds */
	uint64_t serve_port;     /* serve.port; 0: any free one */
	char *detach_keys;       /* terminal.detach_keys; NULL: the built-in ones */
	struct config_notify notify;
	uint64_t plan_max_parallel; /* plan.max_parallel */
	uint64_t plan_max_running;  /* plan.max_running: on this machine */
	uint64_t plan_quota_wait;   /* seconds */
	/* Tickets (plan/tickets.h) that a task may make in all, 0: none, and how many run at once; the agents that they may
	 * name beside the task's own; seconds for all of a task's tickets together. */
	uint64_t tickets_max, tickets_at_once;
	struct strvec tickets_agents;
	uint64_t tickets_timeout;
	struct config_origin *origins;
	size_t norigins;
	struct config_ask *asks;
	size_t nasks;
	struct strvec notes; /* values of the repository's file that were not taken, and why */
};

void config_release(struct config *c);
#define auto_config __attribute__((cleanup(config_release))) struct config

/* The values of HOME, XDG_CONFIG_HOME, GARTH_CONFIG and GARTH_SYSTEM_CONFIG; each may be NULL or empty. */
struct config_places {
	const char *home, *xdg_config, *user_file, *system_file;
};
#define CONFIG_SYSTEM_FILE "/etc/garth/config.yaml"
/* From the environment, except for the home. */
struct config_places config_places(const char *home);
int config_load(const struct config_places *p, struct config *ret, struct err *e);
/* The built-in values only. */
void config_defaults(struct config *ret);
/* Applies a file's text to c; for config_load and for tests. After a failure c can only be released. */
int config_apply(struct config *c, const char *text, size_t len, const char *file, struct err *e);
/* The same for the repository's file, which can only make the rules stricter. */
int config_apply_repository(struct config *c, const char *text, size_t len, const char *file, struct err *e);

/* "FILE:LINE:COLUMN" of a value ("limits.max_files"), or of an item of a list; "built-in" if no file has it. */
const char *config_origin(const struct config *c, const char *key, const char *item);

const struct config_agent *config_agent_by_name(const struct config *c, const char *name);
/* The same; ERR_NOTFOUND if there is none, with the name that was probably meant. */
int config_agent_find(
	const struct config *c, const char *name, const struct config_agent **ret, struct err *e);
/* Finds an agent by a program's path (its base name), or NULL. If two agents name the program, the one that
 * was added last. */
const struct config_agent *config_agent_by_program(const struct config *c, const char *program);
/* Sets how a cache directory is shown. `path` is relative to the home; it is added if it is new. */
void config_cache_set(struct config *c, const char *path, const char *mode);
/* Whether a list of names such as config's env matches a variable. */
bool config_env_matches(const struct strvec *names, const char *name, size_t len);

#endif
