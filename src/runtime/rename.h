/* Renames a task, outside (task/rename.h) and inside. */
#ifndef RUNTIME_RENAME_H
#define RUNTIME_RENAME_H

#include "base/err.h"
#include "base/strvec.h"
#include "store/store.h"
#include "task/context.h"

/* Updates *t. If its jail cannot be started now, that is a warning: the branch inside gets its new name when the
 * task next runs. */
int runtime_rename(
	struct context *c, struct task *t, const char *name, struct strvec *warnings, struct err *e);
/* If a rename was interrupted: gives the branch inside its new name, before a command runs there. */
int rename_inside(struct context *c, struct task *t, struct err *e);
/* Takes a rename back. */
int rename_undo(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e);

#endif
