/*
 * garth-mcp: tools for agents over MCP (mcp/mcp.h), for files and for the task itself. It runs inside a task's walls, so
 * a bug in it reaches nothing that the agent could not reach by itself.
 *
 *	garth-mcp [DIR]          messages on stdin and stdout; DIR is $GARTH_WORKSPACE unless it is given
 *	garth-mcp --http [DIR]   one HTTP request from the gateway: a line of JSON (method, headers, session), then
 *	                         the body; the answer is a line of JSON (status, session), then its body
 *
 * All files are opened beneath a handle of the workspace (openat2, RESOLVE_BENEATH): "..", links and swapped
 * directories cannot lead outside. A refusal has the attempted path and the boundary:
 *
 *	{"error":{"code":"outside_workspace","message":"…","path":"/etc/passwd","boundary":"/home/u/app"}}
 *
 * Tools are rows of `file_tools` (table.c); each group of tools has a file. The first 14 have the names, schemas and texts
 * of @modelcontextprotocol/server-filesystem.
 */
#ifndef MCP_FILES_FILES_H
#define MCP_FILES_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/deadline.h"
#include "base/err.h"
#include "base/strvec.h"
#include "mcp/mcp.h"

/* The largest text that is read, written or found. */
#define FILES_TEXT_MAX (8u << 20)
#define FILES_TOOL_MS  30000
#define FILES_DEPTH    128
#define FILES_ENTRIES  100000u

struct files {
	int root;           /* the workspace */
	char *path;         /* its absolute path, as the agent knows it */
	const char *socket; /* the gateway's; NULL: none */
};

extern const struct mcp_tool file_tools[];
/* All tools; and all but those about tickets, which come last. */
extern const size_t file_tools_count, file_tools_plain_count;

/* refuse.c */
/* The call fails. path is what was attempted, or NULL. Returns -1. */
int tool_refuse(struct mcp_call *c, const char *code, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same with the message for errno; a path that leads outside the workspace is reported as that. */
int tool_refuse_errno(struct mcp_call *c, const char *path, const char *doing);

/* args.c: arguments. Their types were checked before. */
const char *arg_text(const struct mcp_call *c, const char *name); /* NULL: not given */
bool arg_flag(const struct mcp_call *c, const char *name);
bool arg_number(const struct mcp_call *c, const char *name, int64_t *ret); /* false: not given */
/* The content of a string argument, with its length. */
const char *arg_bytes(const struct mcp_call *c, const char *name, size_t *len);
/* Turns a path from the agent into a clean path beneath the workspace ("" is the workspace itself); on the heap. NULL:
 * refused. */
char *arg_path(struct mcp_call *c, const char *name);
char *path_beneath(struct mcp_call *c, const char *given);
/* The absolute path, on the heap. */
char *path_shown(const struct files *f, const char *beneath);

/* target.c: opening. */
/* openat2 beneath the workspace; links that stay beneath it are followed. -1 and errno. */
int beneath(const struct files *f, const char *path, int flags, mode_t mode);
/* A directory and a name in it that is not a link: a place that can be written, moved or removed. */
struct target {
	int dir;
	char *path; /* beneath the workspace, with links followed */
	const char *name;
};
#define TARGET_INIT                                                                                          \
	{                                                                                                    \
		.dir = -1                                                                                    \
	}
void target_release(struct target *p);
#define auto_target __attribute__((cleanup(target_release))) struct target
/* Finds the place of a path. follow: if the last name is a link, the place that it leads to. -1: refused; the workspace
 * itself always is. */
int target_find(struct mcp_call *c, const char *path, bool follow, struct target *ret);
/* Opens a regular file for reading; -1: refused. */
int open_file(struct mcp_call *c, const char *path, struct stat *st);
int open_directory(struct mcp_call *c, const char *path);
/* Reads a whole file of at most FILES_TEXT_MAX. -1: refused. */
int read_whole(struct mcp_call *c, const char *path, struct buf *out, struct stat *st);
/* Refuses text that is not UTF-8. */
int check_utf8(struct mcp_call *c, const char *path, const char *text, size_t len);
/* Replaces a file so that others see either the old or the new content. mode 0: that of a new file. -1: refused. */
int replace_file(struct mcp_call *c, const struct target *p, const char *data, size_t len, mode_t mode);
/* If expected_hash is given, the file must have that content. -1: refused. */
int check_hash(struct mcp_call *c, const char *path, const char *data, size_t len);
void hash_text(const char *data, size_t len, char out[65]);

/* walk.c: visits everything beneath a directory, sorted by name, a directory before its entries. */
struct entry {
	const char *path; /* beneath the directory that is walked */
	const char *name;
	bool is_dir;
	unsigned depth;
};
/* Returns false to leave a directory out. */
typedef bool walk_fn(const struct entry *e, void *arg);
/* 0; 1: not everything was visited (depth, number, time); -1 and errno. */
int walk_files(int dir, walk_fn *fn, void *arg);
/* The names in a directory, sorted; -1 and errno. Takes no descriptor. */
struct names {
	struct strvec names;
	bool *is_dir;
};
void names_release(struct names *n);
#define auto_names __attribute__((cleanup(names_release))) struct names
int names_read(int dir, struct names *ret);
/* A name as text for JSON: bytes that are not UTF-8 become U+FFFD. */
void add_name(struct buf *out, const char *name);

/* match.c: globs as minimatch has them, with dot: true. */
bool match_path(const char *glob, const char *path);

/* diff.c: appends the difference as a unified diff. */
void diff_text(
	struct buf *out, const char *path, const char *old, size_t old_len, const char *new, size_t new_len);

/* git.c: runs git in the workspace and passes each piece of its output, ended by `end`, to fn, until fn returns
 * false. *ret_code is its exit code, or -1 if it was ended. Fails with an error if it cannot run. */
typedef bool git_fn(const char *piece, size_t len, void *arg);
int git_each(const struct strvec *args, char end, git_fn *fn, void *arg, int *ret_code, struct err *e);

/* The tools. */
typedef void tool_fn(struct mcp_call *c);
tool_fn tool_read_text, tool_read_media, tool_read_many; /* read.c */
tool_fn tool_write, tool_edit;                           /* write.c, edit.c */
tool_fn tool_list, tool_list_sizes, tool_tree, tool_search, tool_info,
	tool_roots;                                        /* list.c, tree.c, info.c */
tool_fn tool_mkdir, tool_move, tool_copy, tool_delete;     /* change.c */
tool_fn tool_grep, tool_glob;                              /* find.c */
tool_fn tool_status, tool_ask, tool_snapshot, tool_commit; /* task.c */

/* task.c: the tool's result is the gateway's answer or refusal. `in` is consumed; NULL: a GET request. */
void tool_ask_gateway(struct mcp_call *c, const char *path, json_t *in);
/* Copies these of the call's arguments; the list ends with NULL. */
json_t *tool_copy_args(const struct mcp_call *c, const char *const *names);

/* tickets.c */
void tool_ticket_new(struct mcp_call *c);
void tool_ticket_list(struct mcp_call *c);
void tool_ticket_wait(struct mcp_call *c);
void tool_ticket_show(struct mcp_call *c);
void tool_ticket_diff(struct mcp_call *c);
void tool_ticket_log(struct mcp_call *c);
void tool_ticket_answer(struct mcp_call *c);
void tool_ticket_retry(struct mcp_call *c);
void tool_ticket_cancel(struct mcp_call *c);
void tool_ticket_merge(struct mcp_call *c);
void tool_ticket_discard(struct mcp_call *c);

#endif
