/* Reads a value of the repository's own file, which can only make a rule stricter. */
#ifndef CONFIG_REPOSITORY_H
#define CONFIG_REPOSITORY_H

#include "config/values.h"

/* Like value_read. A value that is not stricter is not taken, and noted in the configuration. Returns 1 if the
 * value was taken, 0 if not. */
int repository_read(const struct source *s, const struct yaml *y, const struct value_row *row,
	const char *what, void *to, struct err *e);

/* Forgets what an earlier reading of the file asked for, and its notes. */
void asks_release(struct config *c);

#endif
