/*
 * Options as rows of data. Parsing, `--help`, completion and the man pages read the same rows.
 *
 *	const char *base = NULL;
 *	const struct opt opts[] = {
 *		{ 'b', "base", OPT_STR, &base, "REV", "start from this commit", WORD_REVISION },
 *		OPT_END,
 *	};
 *	opt_parse(opts, argc, argv, false, &words, &rest, &e)
 *	    argv[0] to argv[words - 1] are the words that are no options
 *
 * A value is the next word or follows "=": "--base REV", "--base=REV". Short options can be joined: "-fD".
 * Options end at "--", which is skipped. For a command that runs another program they also end at the first
 * word that is no option.
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

/* What a word on the command line is: the value of an option, or an argument. Completion offers words of that
 * kind (complete.c). */
enum word {
	WORD_NONE, /* no word: of a flag, and after the last argument */
	WORD_TEXT, /* anything; nothing is offered */
	WORD_TASK,
	WORD_ANY_TASK, /* discarded ones too */
	WORD_AGENT,
	WORD_STATE, /* of a task */
	WORD_BACKEND,
	WORD_NETWORK,
	WORD_ON_DIRTY,
	WORD_LIMIT,    /* NAME=VALUE */
	WORD_KEY,      /* of the configuration */
	WORD_VARIABLE, /* of the environment */
	WORD_BRANCH,
	WORD_REVISION,
	WORD_REMOTE,
	WORD_SNAPSHOT,
	WORD_COMMAND, /* of garth */
	WORD_PART,    /* a subcommand */
	WORD_OF_PART, /* its argument: files, plans or stages, as its row says */
	WORD_SHELL,
	WORD_PROGRAM, /* a program and, after it, the program's own arguments */
	WORD_FILE,
	WORD_DIRECTORY,
};

struct opt {
	char letter; /* 0 for none */
	const char *name;
	enum opt_type type;
	void *value;
	const char *arg;  /* what --help calls the value; NULL for a flag */
	const char *help; /* one line */
	enum word word;   /* what the value is */
};

#define OPT_END                                                                                              \
	{                                                                                                    \
		0                                                                                            \
	}

/* Moves the words that are no options to the front of argv and sets *ret_words to their number. argv[*ret_rest]
 * is the first word after "--", or *ret_rest is argc. With stop_at_word, the first word that is no option ends
 * the options, and is argv[*ret_rest]. Returns 0, or -1 with ERR_USAGE. */
int opt_parse(const struct opt *opts, int argc, char **argv, bool stop_at_word, int *ret_words, int *ret_rest,
	struct err *e);

#endif
