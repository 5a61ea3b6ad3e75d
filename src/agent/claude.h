/* Claude Code's ~/.claude.json: settings, and beside them what it knows of every project of the user's. */
#ifndef AGENT_CLAUDE_H
#define AGENT_CLAUDE_H

#include "agent/agent.h"
#include "base/buf.h"

#define CLAUDE_FILE ".claude.json"

/* Leaves the task's own project in it, under the workspace's path, without what was said there. A text that
 * is none of its own stays as it is. */
void claude_own_part(struct buf *text, const struct agent_place *p);

#endif
