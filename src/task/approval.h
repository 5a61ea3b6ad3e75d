/*
 * The user's approval of what a repository's file (.garth.yaml) asks for: set-up commands, hosts for them, ignored
 * files to take along. Whoever wrote the file is not trusted, so nothing of it is done before the user approved
 * it (`garth trust`).
 *
 * An approval is for a project and for exactly these values, by their SHA-256. If one of them changes, it must be
 * approved again. Any other change of the file needs no approval. Earlier approvals stay, since older commits have
 * the older values.
 *
 *	config_apply_repository(&config, …)                    fills config.asks
 *	approval_check(c, project, &config, NULL, e)           before anything of config.asks is done
 */
#ifndef TASK_APPROVAL_H
#define TASK_APPROVAL_H

#include "base/err.h"
#include "config/config.h"
#include "task/context.h"

#define APPROVAL_DIGEST_SIZE 65

/* ERR_REFUSED, with the command that approves, unless nothing is asked for or all of it is approved. rev is the
 * revision that the user named; NULL: none. */
int approval_check(
	struct context *c, int64_t project, const struct config *config, const char *rev, struct err *e);
/* Approves what config asks for. Writes to the audit log first. */
int approval_give(struct context *c, int64_t project, const struct config *config, struct err *e);
/* Takes back all approvals of the project. */
int approval_revoke(struct context *c, int64_t project, struct err *e);

/* The digest of what config asks for, in hex. The order of the file's keys does not matter. */
void approval_digest(const struct config *config, char out[APPROVAL_DIGEST_SIZE]);

#endif
