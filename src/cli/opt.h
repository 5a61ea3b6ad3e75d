/*
 * Options as rows of data. Parsing, `--help` and completion read the same rows.
 *
 *	const char *base = NULL;
 *	const struct opt opts[] = {
 *		{ 'b', "base", OPT_STR, &base, "REV", "start from this commit" },
 *		OPT_END,
 *	};
 *	n = opt_parse(opts, argc, argv, &e);    argv[n] is the first word that is no option
 *
 * "--name VALUE" and "--name=VALUE"; short ones can be joined ("-fD"). Options end at "--", which is skipped,
 * or, for commands that run another, at the first word that is none.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"

enum opt_type {
	OPT_FLAG, /* bool */
	OPT_STR,  /* const char * */
	OPT_LIST, /* struct strvec */
};

struct opt {
	char letter; /* 0 for none */
	const char *name;
	enum opt_type type;
	void *value;
	const char *arg;
	const char *help;
};

#define OPT_END                                                                                              \
	{                                                                                                    \
		0                                                                                            \
	}

/* Words that are no options are moved to the front of argv (their number in *ret_words); what follows "--" is
 * left as it is from *ret_rest on (argc where there was none). With stop_at_word, the first such word ends
 * the options, as if "--" stood before it. ERR_USAGE. */
int opt_parse(const struct opt *opts, int argc, char **argv, bool stop_at_word, int *ret_words, int *ret_rest,
	struct err *e);

#endif
