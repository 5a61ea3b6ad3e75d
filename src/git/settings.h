/*
 * What of the user's own git settings goes along into a task: settings that are about the work and cannot
 * name a program, aliases of plain git commands, and the ignore file.
 */
#ifndef GIT_SETTINGS_H
#define GIT_SETTINGS_H

#include "base/buf.h"
#include "git/repo.h"

/* One setting in git's configuration syntax: "section.name", or "section.subsection.name". */
void settings_put(struct buf *out, const char *key, const char *value);
/* The user's settings that are carried, in the same form. What would make out longer than SETTINGS_MAX is
 * left out. */
#define SETTINGS_MAX (256u << 10)
void settings_carry(const struct repo *r, struct buf *out);
/* Whether a setting is one of these. Pure. */
bool settings_is_carried(const char *key, const char *value);

/* The user's ignore file: core.excludesFile of the user's or the system's configuration, or git's default
 * place; its path, on the heap. NULL where there is none, it is empty, or larger than a megabyte. What a
 * repository's own configuration names does not count: it may have come with the repository, and name any
 * file of the user's. */
#define SETTINGS_IGNORES_MAX (1u << 20)
char *settings_ignore_file(const struct repo *r);

#endif
