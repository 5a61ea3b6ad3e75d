/*
 * Copies a part of the user's git settings into a task: settings about the work that cannot name a program,
 * aliases for plain git commands, and the ignore file.
 */
#ifndef GIT_USER_SETTINGS_H
#define GIT_USER_SETTINGS_H

#include "base/buf.h"
#include "git/repo.h"

/* Writes one setting in git's configuration syntax; the key
 * is "section.name" or "section.subsection.name". */
void settings_put(struct buf *out, const char *key, const char *value);
/* Writes the user's settings that are copied, in the same form. Those that would make out longer than
 * SETTINGS_MAX are left out. */
#define SETTINGS_MAX (256u << 10)
void settings_copy(const struct repo *r, struct buf *out);
/* Whether a setting is copied. */
bool settings_is_copied(const char *key, const char *value);

/* core.editor of the user's or the system's configuration, on the heap; NULL if it is not set. A repository's own
 * configuration is not asked, because it may come from a stranger. */
char *settings_editor(void);

/* The path of the user's ignore file: core.excludesFile in the user's or the system's configuration, or git's
 * default. The caller frees it. NULL if there is none, or it is empty or larger than a megabyte. The
 * repository's own configuration is ignored here: it may come from a stranger and name any of the user's
 * files. */
#define SETTINGS_IGNORES_MAX (1u << 20)
char *settings_ignore_file(const struct repo *r);

#endif
