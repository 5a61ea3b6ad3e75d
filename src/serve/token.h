/*
 * The API's token: 256 random bits in hex, in $GARTH_HOME/serve.token, which only the user can read. It is
 * made at the first start and kept. The Garth home is visible in no jail, so an agent cannot have the token,
 * whatever its network (O1).
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

/* Reads the token, or makes it. If two processes make it at once, both get the one that was written first. */
int token_load(int home, struct token *ret, struct err *e);
/* Whether an Authorization header ("Bearer TOKEN"; may be NULL) has the token. Compares in constant time. */
bool token_opens(const struct token *t, const char *authorization);

#endif
