/*
 * Messages of JSON-RPC, one on each line. Input is hostile: size, depth and number of values are limited (mcp/message.h).
 * Only the members that JSON-RPC defines are passed on, and they are written anew, so no program after Garth can understand
 * a message differently than Garth did.
 *
 *	struct rpc m;
 *	if (rpc_read(line, len, &m, why) < 0) → why
 *	switch (m.kind) …
 *	rpc_release(&m);
 */
#ifndef ACP_RPC_H
#define ACP_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_CANCELLED = -32800,
	RPC_LOG_IN = -32000,
	RPC_NOT_FOUND = -32002,
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_ANSWER };

struct rpc {
	json_t *whole; /* owns the rest */
	enum rpc_kind kind;
	const char *method; /* NULL in an answer */
	json_t *id;         /* NULL in a notification */
	json_t *params;     /* an object or NULL */
	json_t *result;     /* of an answer: this or error */
	json_t *error;
};

#define RPC_WHY_MAX 160
int rpc_read(char *line, size_t len, struct rpc *ret, char why[RPC_WHY_MAX]);
void rpc_release(struct rpc *m);
#define auto_rpc __attribute__((cleanup(rpc_release))) struct rpc

/* Replaces escapes of half surrogate pairs by that of U+FFFD, in place. JavaScript writes them if it cuts a text in the
 * middle of a character, and parsers of UTF-8 refuse them. */
void rpc_mend_surrogates(char *line, size_t len);

/* New messages. Values are consumed if the name of the parameter ends in _new; they may be NULL. */
json_t *rpc_request(const json_t *id, const char *method, json_t *params_new);
json_t *rpc_notification(const char *method, json_t *params_new);
json_t *rpc_result(const json_t *id, json_t *result_new);
json_t *rpc_error(const json_t *id, enum rpc_code code, const char *text, json_t *data_new);
/* An error of Garth: the message, then the hint. */
json_t *rpc_error_of(const json_t *id, enum rpc_code code, const struct err *e);
/* A new answer with the result or the error of this one. Of an error only code, message and data are copied. */
json_t *rpc_answer_again(const json_t *id, const struct rpc *m);

/* A member that is a string without NUL characters, or NULL. */
const char *rpc_text(const json_t *object, const char *member);

#endif
