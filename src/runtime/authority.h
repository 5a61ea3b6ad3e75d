/* Gives a task a certificate authority (credentials/authority.h). It needs one if a log-in stays outside and the agent's
 * client cannot be told another address. */
#ifndef RUNTIME_AUTHORITY_H
#define RUNTIME_AUTHORITY_H

#include "agent/outside.h"
#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* The file in the task's directory that is INSIDE_CERTIFICATES inside. */
#define AUTHORITY_CERTIFICATES "certificates.pem"

/* Makes the authority, for the table and for the files inside, if out->hosts is not empty. *ret is the content of
 * INSIDE_AUTHORITY, on the heap; NULL if no authority is needed. */
int authority_give(struct task_at *at, struct outside *out, char **ret, struct err *e);

#endif
