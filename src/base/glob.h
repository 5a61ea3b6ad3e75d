/*
 * Globs over paths, pure: '*' within a name, '**' over directories, '?', "[...]", '\' before a character that
 * is meant as it stands; a glob without a slash matches the name at any depth, a slash at its beginning holds
 * it to the root; a match of a directory covers all beneath it; upper and lower case are the same (checkouts
 * on other systems are).
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Takes time in proportion to the product of both lengths, at worst. */
bool glob_matches(const char *glob, const char *path);
/* Whether what the glob matches could lie beneath path: ".claude" is above ".claude/settings.json". */
bool glob_is_above(const char *glob, const char *path);

#endif
