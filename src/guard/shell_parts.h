/*
 * The two halves of reading a text for a shell: shell_words.c reads words with their quotes and expansions, shell.c puts them
 * together to commands. Each calls the other, because a word can have commands in it: $(…).
 */
#ifndef GUARD_SHELL_PARTS_H
#define GUARD_SHELL_PARTS_H

#include "guard/guard.h"

#define DEPTH_MAX    16
#define VARS_MAX     32
#define HEREDOCS_MAX 8

struct var {
	char name[64];
	char *value; /* NULL: not known */
};

struct heredoc {
	char *end;
	bool tabs; /* <<-: tabs before the end are skipped */
};

struct shell {
	const struct guard *g;
	const char *p, *end;
	char cwd[GUARD_PATH_MAX]; /* "" if it is not known */
	struct var vars[VARS_MAX];
	size_t nvars;
	struct heredoc heredocs[HEREDOCS_MAX];
	size_t nheredocs;
	unsigned depth, commands;
	unsigned in_case;    /* within case … esac, where a ")" ends a pattern */
	unsigned blocks;     /* of if, for and while */
	bool moved_in_block; /* a cd may or may not have happened */
	bool after_or;       /* the command runs only if the one before failed */
	bool refused, given_up;
	struct refusal *ret;
};

/* Whether this text is next. */
bool shell_at(const struct shell *s, const char *text);
/* A limit is exceeded: the rest is not read. */
void shell_give_up(struct shell *s);

/* shell_words.c: reads a word. False if there is none here. *ret_quoted: some of it was in quotes. */
bool shell_read_word(struct shell *s, struct word *ret, bool *ret_quoted);
/* Moves behind the matching closing bracket. */
void shell_skip_brackets(struct shell *s, char open, char close);
/* The length of the variable name that begins here. */
size_t shell_name_length(const char *p, const char *end);
/* Sets a variable; NULL: its value is not known. */
void shell_set(struct shell *s, const char *name, size_t len, const char *value);

/* shell.c: reads a separate text, such as a subshell's, from here up to `stop`. What it changes is forgotten. */
void shell_read_apart(struct shell *s, char stop);
/* The same for another text. */
void shell_read_copy(struct shell *s, const char *text, size_t len);

#endif
