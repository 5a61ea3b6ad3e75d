/* Filters Claude Code's ~/.claude.json: it holds settings, and data about all of the user's projects. */
#ifndef AGENT_CLAUDE_H
#define AGENT_CLAUDE_H

#include "agent/agent.h"
#include "base/buf.h"

#define CLAUDE_FILE ".claude.json"

/* Removes all projects but the task's, which gets the workspace's path, is trusted, and loses its history. A text that
 * cannot be parsed stays as it is. */
void claude_own_part(struct buf *text, const struct agent_place *p);

#endif
