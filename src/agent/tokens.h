/*
 * What a log-in file holds, and what of it may come into a task.
 *
 * A refresh token is single use: the service answers it with a new one, and takes the second use of the old
 * one for a theft that ends the whole log-in. A copy inside would log the user out as soon as the agent
 * renews. So none is copied; the task has the access token alone, for as long as that is good.
 *
 *	auto_tokens t = { 0 };
 *	if (tokens_take_out(path, &text, &t) < 0) → cannot be read: is not copied
 *
 * JSON (with comments too) and YAML are read, and refresh tokens are found by the names of their keys at any
 * depth, also in JSON that is a string of JSON. They become empty strings: Codex and OpenCode do not start if
 * the key is missing. A text without any stays as it is, byte by byte.
 */
#ifndef AGENT_TOKENS_H
#define AGENT_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/buf.h"
#include "base/strvec.h"

struct tokens {
	struct strvec taken; /* the refresh tokens that were in it */
	struct login_end *ends;
	size_t nends;
};

void tokens_release(struct tokens *t);
#define auto_tokens __attribute__((cleanup(tokens_release))) struct tokens

/* -1: the text cannot be read, and may hold a refresh token: JSON that is none (Gemini encrypts a file of
 * that name), or text of another format that speaks of one. */
int tokens_take_out(const char *path, struct buf *text, struct tokens *ret);
/* When the last of them ends; 0 where none does. */
int64_t tokens_last_end(const struct tokens *t);

#endif
