/*
 * Whether a value from a configuration file may stand. Each function returns NULL, or what is wrong, to be
 * put behind the value: "'.ssh' holds keys and log-ins". Paths are text here: symbolic links are the business
 * of those who open them.
 */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

/* A tool's directory: relative to the home, not above or in a place of secrets. */
const char *check_tool(const char *path);
/* What is copied in for an agent: relative to the home; a file in a place of secrets can be named, not the
 * place. */
const char *check_login(const char *path);
/* A path to show read-only: absolute; no place of secrets in the home (may be NULL), no sockets, no kernel.
 */
const char *check_allow_read(const char *path, const char *home);
/* A variable's name, or the beginning of one with '*' behind it. */
const char *check_variable(const char *name);
const char *check_program(const char *name);
/* A glob over paths in the repository. */
const char *check_glob(const char *glob);
/* A host of a network's list. */
const char *check_host(const char *entry);
/* "Name <mail>", as git writes it in a commit. */
const char *check_person(const char *person);
/* The name of a git command. */
const char *check_verb(const char *name);

#endif
