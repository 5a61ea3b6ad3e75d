/*
 * Finds the YAML of a plan in a Markdown file:
 *
 *	<!-- loom METADATA -->
 *	```yaml
 *	loom: …
 *	```
 *	<!-- END loom METADATA -->
 *
 * Only the first such pair is read. The fence may have more than three backquotes. The block ends at the next line with a
 * fence that is at least as long, and indented no further than Markdown allows.
 */
#ifndef PLAN_MARKDOWN_H
#define PLAN_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Whether a file is Markdown, by its name or, if that says nothing, by its text. */
bool markdown_is(const char *file, const char *text, size_t len);

/* Where the YAML is; *ret_line is its first line, from 1. ERR_CONFIG. */
int markdown_find(const char *file, const char *text, size_t len, size_t *ret_at, size_t *ret_len,
	unsigned *ret_line, struct err *e);

#endif
