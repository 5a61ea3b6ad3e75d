/*
 * Checks of single values of a configuration file. Each function returns NULL if the value is allowed; else
 * what is wrong, to be printed after the value: "'.ssh' holds keys and log-ins". Paths are checked as text;
 * symbolic links are checked by the code that opens the path.
 */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include <stdbool.h>

#include "base/strvec.h"

/* A tool's directory: relative to the home; neither inside a directory with secrets nor above one. */
const char *check_tool(const char *path);
/* A cache directory: "~/…", with the same rules. */
const char *check_cache(const char *path);
/* A file or directory to copy for an agent: relative to the home. A single file with secrets may be named,
 * but not a directory that has them. */
const char *check_login(const char *path);
/* A path to show read-only: absolute; no directory with secrets of the home (may be NULL), no sockets,
 * nothing of the kernel's. */
const char *check_allow_read(const char *path, const char *home);
/* The places with secrets in a home, as absolute paths; some of them exist. */
void check_secret_places(const char *home, struct strvec *ret);
/* Whether an absolute path is one of those with secrets, in whoever's home: "/mnt/old/ann/.ssh/id". */
bool check_names_secret(const char *path);
/* A glob for paths outside the workspace that a task must not see or change: absolute. Wildcards are in the last
 * component only, or the last one is "**": finding what matches must not mean reading whole disks. */
const char *check_deny(const char *glob);
/* A variable's name, or the beginning of one followed by '*'. */
const char *check_variable(const char *name);
/* "NAME=VALUE" */
const char *check_setting(const char *pair);
/* "/etc/DIR/NAME=TEXT", or "~/NAME=TEXT" with the rules of check_tool */
const char *check_file(const char *entry);
/* As check_tool, perhaps with a final slash. */
const char *check_shown(const char *path);
/* "VARIABLE=PATH" or "VARIABLE/SUB=PATH"; PATH and SUB are plain and relative. */
const char *check_dir(const char *entry);
const char *check_program(const char *name);
/* The program of a command that runs outside: a name, an absolute path, or "~/…". A path relative to the
 * current directory could be an agent's file. */
const char *check_command(const char *program);
/* A glob for paths in the repository. */
const char *check_glob(const char *glob);
/* A path in the repository, relative to its top. */
const char *check_input(const char *path);
/* A pattern in the syntax of .gitignore. */
const char *check_pattern(const char *pattern);
/* A host in the list of a network. */
const char *check_host(const char *entry);
/* "Name <mail>", as in a git commit. */
const char *check_person(const char *person);
/* The name of a git command. */
const char *check_verb(const char *name);

#endif
