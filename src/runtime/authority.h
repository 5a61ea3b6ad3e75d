/* Gives a task the certificate authority that it needs if a log-in of its agent stays outside and its client cannot be told
 * another address (credentials/authority.h). */
#ifndef RUNTIME_AUTHORITY_H
#define RUNTIME_AUTHORITY_H

#include "agent/outside.h"
#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

/* In the task's directory: the certificates that INSIDE_CERTIFICATES is. */
#define AUTHORITY_CERTIFICATES "certificates.pem"

/* Makes it if out->hosts needs one: for the table, and for the files inside. *ret is what INSIDE_AUTHORITY is, on the heap;
 * NULL if none is needed. */
int authority_give(struct task_at *at, struct outside *out, char **ret, struct err *e);

#endif
