/*
 * Common parts of the two kinds of jails: walls.c (namespaces) and walls_landlock_only.c. The lists are in
 * walls_shown.c.
 */
#ifndef TASK_WALLS_PARTS_H
#define TASK_WALLS_PARTS_H

#include "base/buf.h"
#include "task/walls.h"

/* If the workspace is not at the project's path: the file there that says where it is. */
#define WALLS_ELSEWHERE "READ-ME-workspace-is-elsewhere.txt"

/* Lists of paths, each ending in NULL. Those of /etc are names in it; a final '*' stands for any rest. */
extern const char *const walls_system_paths[], *const walls_sys_paths[], *const walls_etc_names[];

/* Calls show(path, arg) for everything in /etc that is in walls_etc_names and that everybody may read. A link is
 * passed on only if it leads to such a place too. */
void walls_etc(void (*show)(const char *path, bool is_dir, void *arg), void *arg);
/* Whether the path is one of walls_etc_names, or below one. */
bool walls_etc_has(const char *path);

/* The task's own /etc/machine-id, in its directory. */
#define WALLS_MACHINE_ID "machine-id"

struct hidden {
	const char *paths[8];
	size_t n;
	const struct rules *rules; /* what jail.deny_read names is hidden too; may be NULL */
};

/* is_hidden: whether the path is hidden or below something hidden. hidden_beneath: whether the path is hidden
 * or something below it is. */
bool is_hidden(const struct hidden *h, const char *path);
bool hidden_beneath(const struct hidden *h, const char *path);

/* Shows a path of the host read-only. If something below it is hidden, its other children are shown one by one
 * instead: a mount that covers the hidden path would disappear as soon as the host replaces that path. The
 * first caller's depth is 0. */
void walls_show(struct jail *j, const struct hidden *h, const char *path, unsigned depth);

/* Shows what the configuration names: tools and jail.allow_read read-only, caches with a layer of the task's on
 * top (walls_home.c). */
void walls_home(struct context *c, const struct task_at *at, const struct walls_opts *o,
	const struct hidden *h, struct jail *j);
/* Whether a directory below the home can be shown. A link that leads to keys or log-ins, or to a directory that
 * contains the home, is not. `real` is where it leads, NULL if it does not exist. */
bool walls_home_is_fine(const struct context *c, const char *real);

/* Whether a path of jail.allow_read or allow_write can be shown. If not, adds a line to o->not_shown. */
bool walls_can_allow(const struct context *c, const struct task_at *at, const struct walls_opts *o,
	enum rule_kind kind, size_t i);

/* Adds the rules about paths in the workspace to the description (walls_rules.c). */
void walls_rules(
	const struct context *c, const struct task_at *at, const struct walls_opts *o, struct jail *j);
/* Adds denials for what denied links lead to in the workspace (walls_links.c). After workspace_describe. */
void walls_links(const struct task_at *at, struct jail *j);
/* Makes what jail.deny_write names below a writable path read-only. */
void walls_deny_write(const struct context *c, const char *below, struct jail *j);

/* What the shim and the guard need to know about the task (shim/facts.h). */
void walls_facts(struct context *c, const struct task_at *at, const struct network *net, struct buf *facts,
	struct buf *rules);

/* PATH for commands inside: the shim's directory, then the user's PATH. */
char *walls_path(const struct context *c, const struct task *t);

/* Makes login shells inside keep that PATH, whatever the host's profiles do (walls_login.c). walls_login adds
 * /etc/profile, /etc/profile.d and files for zsh and fish; login_script is their content; login_quote quotes
 * one word for a shell, or for fish. */
void walls_login(struct jail *j, const char *path);
void login_quote(struct buf *out, const char *text, bool fish);
void login_script(const char *path, bool fish, struct buf *out);
#define LOGIN_SCRIPT_MAX (1u << 20)

/* Describes the jail of a task that uses Landlock only, after jail_init and the common rows. `outside` is
 * hidden everywhere; `tools` is hidden in the directories that the configuration names. */
int walls_describe_landlock_only(struct context *c, struct task_at *at, const struct hidden *outside,
	const struct hidden *tools, const struct walls_opts *o, struct jail *j, struct err *e);

#endif
