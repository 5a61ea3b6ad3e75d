/*
 * Removes refresh tokens from log-in files before they are copied into a task.
 *
 * A refresh token can be used once: the service answers with a new one. If the old one is used again, the
 * service assumes a theft and ends the whole log-in. So a copy in a task would log the user out as soon as
 * the agent renews its log-in. The task gets only the access token, which works until it expires.
 *
 *	auto_tokens t = { 0 };
 *	if (tokens_take_out(path, &text, &t) < 0) → cannot be parsed: do not copy it
 *
 * Reads JSON (also with comments) and YAML. Finds refresh tokens by the names of their keys at any depth,
 * also in a string that contains JSON, and replaces them by empty strings: Codex and OpenCode do not start if
 * the key is missing. A text without any stays byte for byte the same.
 */
#ifndef AGENT_TOKENS_H
#define AGENT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/buf.h"
#include "base/strvec.h"

struct tokens {
	bool all;            /* given: remove every secret, also those that can be used again; dummies stay */
	struct strvec taken; /* the refresh tokens that it removed */
	struct login_end *ends;
	size_t nends;
};

void tokens_release(struct tokens *t);
#define auto_tokens __attribute__((cleanup(tokens_release))) struct tokens

/* Returns -1 if the text cannot be parsed and may hold a refresh token: a .json file that is not JSON (Gemini
 * encrypts such a file), or text of another format that mentions one. */
int tokens_take_out(const char *path, struct buf *text, struct tokens *ret);
/* Adds the names of those members of a file's tree that have a secret in them which is no dummy (credentials/dummy.h). */
void tokens_left(const char *path, const struct buf *text, struct strvec *ret);
/* When the last of the tokens expires; 0 if none does. */
int64_t tokens_last_end(const struct tokens *t);

#endif
