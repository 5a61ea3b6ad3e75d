/* Long answers on a terminal go through `less`; what an agent wrote is cleaned on its way, and Garth's own
 * colours are put on after that. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* From here on, what is written to stdout goes to the pager, if stdout is a terminal. */
void pager_start(void);
/* Waits for the user to leave it. */
void pager_end(void);

/* Writes text to stdout as a diff: clean and, with colours, coloured by line. `state` is the caller's, 0
 * first: text comes in pieces of any size. */
struct pager_diff {
	char line[512];
	size_t len;
	bool colours, raw, middle, header;
};
void pager_diff(struct pager_diff *d, const char *text, size_t len);
void pager_diff_end(struct pager_diff *d);

#endif
