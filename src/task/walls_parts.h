/*
 * What the two kinds of walls have in common: walls.c (namespaces), walls_landlock_only.c (Landlock alone). The lists
 * are in walls_shown.c.
 */
#ifndef TASK_WALLS_PARTS_H
#define TASK_WALLS_PARTS_H

#include "base/buf.h"
#include "task/walls.h"

/* The file that says where the workspace is, where it is not at the project's path. */
#define WALLS_ELSEWHERE "READ-ME-workspace-is-elsewhere.txt"

/* Paths, each list ended by NULL; those of /etc are beneath it. */
extern const char *const walls_system_paths[], *const walls_etc_dirs[], *const walls_etc_files[];

struct hidden {
	const char *paths[8];
	size_t n;
};

/* Whether the path is, or is in, something hidden; whether something hidden is, or is in, it. */
bool is_hidden(const struct hidden *h, const char *path);
bool hidden_beneath(const struct hidden *h, const char *path);

/* Tells o->not_shown of the i-th path of jail.allow_read, if it is not shown: false then. */
bool walls_can_allow(const struct context *c, const struct task_at *at, const struct walls_opts *o, size_t i);

/* What the shim knows of the task. */
void walls_facts(struct context *c, const struct task *t, struct buf *facts, struct buf *rules);

/* What commands inside get as PATH: the shim's directory, and what the user's has. */
char *walls_path(const struct context *c, const struct task *t);

/* walls_login.c: login shells inside keep that PATH, whatever the host's profiles make of it. The rows are
 * /etc/profile, /etc/profile.d and files for zsh and fish. login_script is what stands in them, login_quote
 * one word for the shell or for fish. */
void walls_login(struct jail *j, const char *path);
void login_quote(struct buf *out, const char *text, bool fish);
void login_script(const char *path, bool fish, struct buf *out);
#define LOGIN_SCRIPT_MAX (1u << 20)

/* The jail of a task whose workspace is made for Landlock alone; jail_init and what is the same for all were
 * done. outside: hidden everywhere; tools: in the directories that the configuration names. */
int walls_describe_landlock_only(struct context *c, struct task_at *at, const struct hidden *outside,
	const struct hidden *tools, const struct walls_opts *o, struct jail *j, struct err *e);

#endif
