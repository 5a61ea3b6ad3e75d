/*
 * The token that opens the API: 256 random bits in hex in $GARTH_HOME/serve.token, which only the user can
 * read, made at the first start and kept. No jail shows the Garth home, so an agent cannot have it, whatever
 * network it has (O1).
 */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include <stdbool.h>

#include "base/err.h"

#define TOKEN_FILE "serve.token"
#define TOKEN_LEN  64

struct token {
	char hex[TOKEN_LEN + 1];
};

/* Reads it, or makes it where there is none; of two that make it at once, both have the one that is kept. */
int token_load(int home, struct token *ret, struct err *e);
/* Whether the value of an Authorization header ("Bearer TOKEN") has it; NULL has not. The time that this
 * takes does not tell how much of it is right. */
bool token_opens(const struct token *t, const char *authorization);

#endif
