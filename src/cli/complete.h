/*
 * Completion: finds the words that can replace the last word of a command line, namely commands, options, and
 * words of the kinds that the rows name (opt.h). The scripts of `garth completion` call it, so every shell
 * offers the same.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/strvec.h"

struct completion {
	struct strvec words, notes; /* words to offer, and a short note for each, "" for none */
	/* what the shell should complete itself: "files", "directories", "programs", or NULL */
	const char *shell;
};
void completion_release(struct completion *c);
#define auto_completion __attribute__((cleanup(completion_release))) struct completion

/* words: the n words after "garth"; the last one may be empty or incomplete. It never fails, because what
 * cannot be read is not offered, and it changes nothing. */
void complete(char **words, int n, struct completion *ret);

#endif
