/* Shows long answers on a terminal with `less`. The agent's text is cleaned first, then Garth's colours are
 * added. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* If stdout is a terminal, what is written to stdout from now on goes to the pager. */
void pager_start(void);
/* Waits until the user quits the pager. */
void pager_end(void);

/* Writes pieces of a diff to stdout, cleaned and, with colours, coloured by line. Zero the struct first. */
struct pager_diff {
	char line[512];
	size_t len;
	bool colours, raw, middle, header;
};
void pager_diff(struct pager_diff *d, const char *text, size_t len);
void pager_diff_end(struct pager_diff *d);

#endif
