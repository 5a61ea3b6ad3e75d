/*
 * Tells git inside which tracked files the jail's rules hide (jail/cover.c): their entries in the index get the flag
 * skip-worktree. Otherwise git would take what covers them for a change, `git add -A` would fail or stage it, and
 * `git reset --hard` would try to write it.
 *
 * It runs at each start, inside the jail and before any command: the index belongs to the agent. What was flagged is
 * noted in the git directory, in the file garth-covered, so that the flags go with the rules and no flag of somebody
 * else is touched. The agent can change all of that, which changes what its own git tells it and nothing else.
 */
#ifndef LAUNCH_SKIP_COVERED_H
#define LAUNCH_SKIP_COVERED_H

#include "jail/jail.h"

/* Waits until it is done, for a few seconds at most. An index that cannot be read stays as it is. */
void skip_covered(const struct jail *j);

#endif
