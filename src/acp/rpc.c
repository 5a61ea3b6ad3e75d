#include "acp/rpc.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/message.h"

#define METHOD_MAX 200
#define ID_MAX     256

static int hex4(const char *p)
{
	int n = 0;

	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, p[i] | 0x20);

		if (!p[i] || !at || (p[i] < '0' || (p[i] > '9' && p[i] < 'A')))
			return -1;
		n = n * 16 + (int)(at - digits);
	}
	return n;
}

/* The number of an escape \uXXXX at p, of which n bytes are there; -1 if it is none. */
static int escape(const char *p, size_t n)
{
	return n >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
}

void rpc_mend_surrogates(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int first, second;

		if (line[i] != '\\')
			continue;
		first = escape(line + i, len - i);
		if (first < 0xd800 || first > 0xdfff) {
			i++;
			continue;
		}
		second = first < 0xdc00 ? escape(line + i + 6, len - i - 6) : -1;
		if (second >= 0xdc00 && second <= 0xdfff) {
			i += 11;
		} else {
			memcpy(line + i + 2, "fffd", 4);
			i += 5;
		}
	}
}

const char *rpc_text(const json_t *object, const char *member)
{
	return message_text(json_object_get(object, member));
}

static bool is_id(const json_t *v)
{
	return json_is_integer(v) || (json_is_string(v) && json_string_length(v) <= ID_MAX);
}

static const char *look_at_answer(struct rpc *m)
{
	m->result = json_object_get(m->whole, "result");
	m->error = json_object_get(m->whole, "error");
	m->kind = RPC_ANSWER;
	if (json_is_null(m->error) && m->result)
		m->error = NULL;
	if (!m->result == !m->error)
		return "it is neither a request nor an answer";
	if (m->error && (!json_is_integer(json_object_get(m->error, "code")) ||
				!json_is_string(json_object_get(m->error, "message"))))
		return "its error has no code and message";
	return is_id(m->id) ? NULL : "it answers no request";
}

/* NULL, or what is wrong with it. */
static const char *look(struct rpc *m)
{
	const json_t *method;

	if (!json_is_object(m->whole))
		return "it is not an object";
	method = json_object_get(m->whole, "method");
	m->id = json_object_get(m->whole, "id");
	if (!method)
		return look_at_answer(m);
	m->method = message_text(method);
	m->params = json_object_get(m->whole, "params");
	if (!m->method || !*m->method || strlen(m->method) > METHOD_MAX)
		return "its method is not a name";
	if (json_is_null(m->params))
		m->params = NULL;
	if (m->params && !json_is_object(m->params))
		return "its params are no object";
	m->kind = m->id ? RPC_REQUEST : RPC_NOTIFICATION;
	return !m->id || is_id(m->id) ? NULL : "its id is neither a whole number nor a short text";
}

int rpc_read(char *line, size_t len, struct rpc *ret, char why[RPC_WHY_MAX])
{
	const char *bad;

	*ret = (struct rpc){ 0 };
	rpc_mend_surrogates(line, len);
	ret->whole = message_parse(line, len, why);
	if (!ret->whole)
		return -1;
	bad = look(ret);
	if (!bad)
		return 0;
	snprintf(why, RPC_WHY_MAX, "%s", bad);
	/* the id is kept, so that a request can be refused */
	return -1;
}

void rpc_release(struct rpc *m)
{
	json_decref(m->whole);
	*m = (struct rpc){ 0 };
}

static json_t *message(void)
{
	return json_pack("{s:s}", "jsonrpc", "2.0");
}

static void add(json_t *o, const char *name, json_t *v)
{
	if (v)
		json_object_set_new(o, name, v);
}

json_t *rpc_request(const json_t *id, const char *method, json_t *params_new)
{
	json_t *m = message();

	add(m, "id", json_incref((json_t *)id));
	add(m, "method", json_string(method));
	add(m, "params", params_new);
	return m;
}

json_t *rpc_notification(const char *method, json_t *params_new)
{
	json_t *m = message();

	add(m, "method", json_string(method));
	add(m, "params", params_new);
	return m;
}

json_t *rpc_result(const json_t *id, json_t *result_new)
{
	json_t *m = message();

	add(m, "id", json_incref((json_t *)id));
	add(m, "result", result_new ? result_new : json_object());
	return m;
}

json_t *rpc_error(const json_t *id, enum rpc_code code, const char *text, json_t *data_new)
{
	json_t *m = message(), *error = json_pack("{s:i}", "code", (int)code), *said = json_string(text);

	/* a path in it may not be UTF-8 */
	add(error, "message", said ? said : json_string("garth: refused"));
	add(error, "data", data_new);
	add(m, "id", id ? json_incref((json_t *)id) : json_null());
	add(m, "error", error);
	return m;
}

json_t *rpc_error_of(const json_t *id, enum rpc_code code, const struct err *e)
{
	auto_buf text = BUF_SMALL;

	buf_printf(&text, "garth: %s", e->msg);
	if (*e->hint)
		buf_printf(&text, " (%s)", e->hint);
	return rpc_error(id, code, buf_str(&text), NULL);
}

json_t *rpc_answer_again(const json_t *id, const struct rpc *m)
{
	json_t *answer = message(), *error;

	add(answer, "id", json_incref((json_t *)id));
	if (m->result) {
		add(answer, "result", json_incref(m->result));
		return answer;
	}
	error = json_object();
	for (size_t i = 0; i < 3; i++) {
		const char *name = ((const char *const[]){ "code", "message", "data" })[i];

		add(error, name, json_incref(json_object_get(m->error, name)));
	}
	add(answer, "error", error);
	return answer;
}
