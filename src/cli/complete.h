/*
 * What can stand in place of the last word of a command line: commands, options, and words of the kind that the
 * rows name (opt.h). The scripts of `garth completion` ask for it, so every shell offers the same.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/strvec.h"

struct completion {
	struct strvec words, notes; /* what is offered, and a short text on each, "" for none */
	/* what the shell should offer besides, as it knows best: "files", "directories", "programs", or NULL */
	const char *shell;
};
void completion_release(struct completion *c);
#define auto_completion __attribute__((cleanup(completion_release))) struct completion

/* words: what follows "garth", n of them; the last one may be empty or half typed. Never fails: what cannot be
 * read is not offered. Changes nothing. */
void complete(char **words, int n, struct completion *ret);

#endif
