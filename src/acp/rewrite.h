/* Changes an editor's messages so that they are true inside: paths of the checkout become paths of the workspace. */
#ifndef ACP_REWRITE_H
#define ACP_REWRITE_H

#include <jansson.h>
#include <stdbool.h>

#include "acp/paths.h"
#include "base/err.h"
#include "base/strvec.h"

/* Whether a task sees this path of the host at the same place. */
typedef bool rewrite_shown_fn(const char *path, void *arg);

struct rewrite {
	const struct paths *paths;
	const struct strvec
		*mcp_secrets; /* servers whose variables and headers the agent may have; "*": all */
	rewrite_shown_fn *is_shown;
	void *arg;
	struct strvec *notes; /* gets a sentence for each thing that was left out */
};

/* The params of session/new, load or resume: cwd (to this path inside), additionalDirectories, mcpServers. ERR_REFUSED
 * for a directory that is neither in the project nor shown to the task. */
int rewrite_open(const struct rewrite *r, const char *cwd, json_t *params, struct err *e);
/* The blocks of a prompt. ERR_REFUSED for a link to a file that is not in the project. */
int rewrite_prompt(const struct rewrite *r, json_t *blocks, struct err *e);

#endif
