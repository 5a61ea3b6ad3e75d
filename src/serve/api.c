#include "serve/api.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/answer.h"
#include "http/guard.h"
#include "serve/child.h"
#include "serve/routes.h"
#include "sys/fd.h"

#define BACKLOG 64

/* A request that waits for a command's answer. */
struct ask {
	TAILQ_ENTRY(ask) next;
	struct api *api;
	struct evhttp_request *req;
	struct strvec args;
	struct buf in;       /* for a command that is given the request itself */
	struct child *child; /* NULL: it has not begun */
};

struct api {
	struct event_base *base;
	struct access access;
	struct http_guard guard;
	unsigned running;
	TAILQ_HEAD(asks, ask) asks;
};

int api_listen(unsigned port, int *ret_fd, unsigned *ret_port, struct err *e)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);
	int on = 1;

	/* connections of one that was killed do not keep the next one from starting */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return err_sys(e, "cannot make a socket");
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
		err_sys(e, "cannot listen on port %u of 127.0.0.1", port);
		if (e->sys == EADDRINUSE)
			e->kind = ERR_BUSY, err_hint(e, "garth serve --port 0");
		return -1;
	}
	*ret_port = ntohs(at.sin_port);
	*ret_fd = fd_steal(&fd);
	return 0;
}

static bool is_mcp(struct evhttp_request *req)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	return path && routes_is_mcp(path);
}

static void reply(struct api *a, struct evhttp_request *req, int status, struct evbuffer *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);

	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	if (status == 401)
		evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
	if (status == 405)
		evhttp_add_header(headers, "Allow", is_mcp(req) ? "POST" : "GET");
	http_guard_reply(&a->guard, req, status, body);
}

static void reply_denial(struct api *a, struct evhttp_request *req, const struct denial *why)
{
	struct evbuffer *body = evbuffer_new();
	json_t *o = json_pack("{s:i, s:{s:s, s:s, s:n}}", "version", ANSWER_VERSION, "error", "code",
		why->code, "message", why->message, "hint");
	auto_str text = json_dumps(o, JSON_COMPACT);

	if (body && text)
		evbuffer_add_printf(body, "%s\n", text);
	json_decref(o);
	reply(a, req, why->status, body);
}

static void ask_release(struct ask *k)
{
	TAILQ_REMOVE(&k->api->asks, k, next);
	strvec_release(&k->args);
	buf_release(&k->in);
	free(k);
}

static void go_on(struct api *a);

/* A command line that is malformed was made here: the client has done nothing wrong. */
static int status_of(int code)
{
	enum err_kind kind = err_kind_of_exit(code);

	return err_http_status(kind == ERR_USAGE ? ERR_FAILED : kind);
}

/* Its first line has the status; false: it is no answer. */
static bool reply_relayed(struct ask *k, const struct buf *out)
{
	const char *end = memchr(buf_str(out), '\n', out->len);
	json_t *head = end ? json_loadb(out->data, (size_t)(end - out->data), 0, NULL) : NULL;
	json_int_t status = json_integer_value(json_object_get(head, "status"));
	size_t len = end ? out->len - (size_t)(end + 1 - out->data) : 0;
	struct evbuffer *body = len ? evbuffer_new() : NULL;

	json_decref(head);
	if (body)
		evbuffer_add(body, end + 1, len);
	if (status >= 200 && status <= 599) {
		reply(k->api, k->req, (int)status, body);
		return true;
	}
	if (body)
		evbuffer_free(body);
	return false;
}

static void on_answer(void *arg, int code, const struct buf *out)
{
	struct ask *k = arg;
	struct api *a = k->api;
	struct evbuffer *body = evbuffer_new();
	struct denial why;

	if (k->in.len && !code && reply_relayed(k, out)) {
		if (body)
			evbuffer_free(body);
	} else if (code >= 0 && !k->in.len && out->len && body && !evbuffer_add(body, out->data, out->len)) {
		reply(a, k->req, status_of(code), body);
	} else {
		if (body)
			evbuffer_free(body);
		deny(&why,
			code == CHILD_LATE ? 504
			: code > 0         ? status_of(code)
					   : 500,
			code > 0 ? err_code(err_kind_of_exit(code)) : "failed", "garth %s %s", k->args.v[0],
			code == CHILD_LATE   ? "took too long"
			: code == CHILD_LONG ? "has more to say than fits into an answer"
					     : "gave no answer");
		reply_denial(a, k->req, &why);
	}
	a->running--;
	ask_release(k);
	go_on(a);
}

static void begin(struct ask *k)
{
	const struct child_spec s = { .args = &k->args,
		.in = k->in.len ? &k->in : NULL,
		.out_max = API_ANSWER_MAX,
		.seconds = API_ANSWER_SECONDS,
		.fn = on_answer,
		.arg = k };
	struct denial why;
	struct err e = ERR_INIT;

	if (!child_start(k->api->base, &s, &k->child, &e)) {
		k->api->running++;
		return;
	}
	deny(&why, 500, "failed", "%s", e.msg);
	reply_denial(k->api, k->req, &why);
	ask_release(k);
}

/* Lets those begin that waited, in their order. */
static void go_on(struct api *a)
{
	struct ask *k = TAILQ_FIRST(&a->asks);

	while (k && a->running < API_RUNNING_MAX) {
		struct ask *next = TAILQ_NEXT(k, next);

		if (!k->child)
			begin(k);
		k = next;
	}
}

static const char *method_of(struct evhttp_request *req)
{
	enum evhttp_cmd_type type = evhttp_request_get_command(req);

	return type == EVHTTP_REQ_GET ? "GET" : type == EVHTTP_REQ_POST ? "POST" : "other";
}

/* The first of the deciding headers that is there more than once; NULL for none. */
static const char *repeated_header(const struct evkeyvalq *headers)
{
	for (const char *const *name = access_once; *name; name++) {
		unsigned n = 0;
		const struct evkeyval *h;

		TAILQ_FOREACH(h, headers, next)
		n += !strcasecmp(h->key, *name);
		if (n > 1)
			return *name;
	}
	return NULL;
}

static int check_names(const struct evkeyvalq *headers, struct denial *why)
{
	const struct evkeyval *h;

	TAILQ_FOREACH(h, headers, next)
	if (access_name(h->key, why) < 0)
		return -1;
	return 0;
}

/* The request as garth mcp --http takes it. What decides about access is not passed on. */
static void take_request(struct ask *k, const char *method)
{
	static const char *const passed_on[] = { "Accept", "Content-Type", "MCP-Protocol-Version",
		"Mcp-Method", "Mcp-Name" };
	struct evkeyvalq *headers = evhttp_request_get_input_headers(k->req);
	struct evbuffer *body = evhttp_request_get_input_buffer(k->req);
	size_t len = evbuffer_get_length(body);
	json_t *o = json_object(), *head;
	auto_str text = NULL;
	char *room;

	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++) {
		const char *value = evhttp_find_header(headers, passed_on[i]);
		auto_str name = xstrdup(passed_on[i]);

		for (char *p = name; *p; p++)
			*p = (char)tolower(*p);
		if (value)
			json_object_set_new(o, name, json_string(value));
	}
	/* the user's token chose the task: there is one session, which its URL names */
	head = json_pack("{s:s, s:o, s:s}", "method", method, "headers", o, "session", "url");
	text = json_dumps(head, JSON_COMPACT);
	json_decref(head);
	k->in = (struct buf)BUF_INIT(len + (64u << 10));
	buf_printf(&k->in, "%s\n", text ? text : "{}");
	room = len ? buf_reserve(&k->in, len) : NULL;
	if (room && evbuffer_copyout(body, room, len) == (ev_ssize_t)len)
		k->in.len += len;
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(req);
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	const struct caller caller = { method_of(req), evhttp_find_header(headers, "Host"),
		evhttp_find_header(headers, "Origin"), evhttp_find_header(headers, "Authorization"),
		is_mcp(req) };
	struct ask *k = xcalloc(1, sizeof(*k));
	struct api *a = arg;
	struct denial why;

	*k = (struct ask){ .api = a, .req = req };
	TAILQ_INSERT_TAIL(&a->asks, k, next);
	if (check_names(headers, &why) < 0 ||
		access_form(evhttp_request_get_uri(req), repeated_header(headers), &why) < 0 ||
		access_check(&a->access, &caller, &why) < 0 ||
		routes_find(path ? path : "", uri ? evhttp_uri_get_query(uri) : NULL, &k->args, &why) < 0) {
		ask_release(k);
		reply_denial(a, req, &why);
		return;
	}
	/* what the command takes does not count as the asker's time, neither here nor in evhttp; all before
	 * it in the line have their time too */
	if (caller.any_method)
		take_request(k, caller.method);
	http_guard_hold(req);
	http_guard_grant(&a->guard, req,
		(HTTP_CONNECTIONS_MAX / API_RUNNING_MAX + 1) * API_ANSWER_SECONDS + HTTP_SECONDS);
	go_on(a);
}

int api_open(struct event_base *base, int fd, const struct access *d, struct api **ret, struct err *e)
{
	struct api *a = xcalloc(1, sizeof(*a));
	/* a method that is not GET is refused in our own words */
	const struct http_guard_spec spec = {
		.body_max = API_BODY_MAX, .methods = UINT16_MAX, .request = on_request, .arg = a
	};

	a->base = base;
	a->access = *d;
	TAILQ_INIT(&a->asks);
	if (http_guard_open(&a->guard, base, fd, &spec) < 0) {
		api_close(a);
		return err_set(e, ERR_FAILED, "cannot start the API");
	}
	*ret = a;
	return 0;
}

void api_close(struct api *a)
{
	struct ask *k;

	if (!a)
		return;
	while ((k = TAILQ_FIRST(&a->asks))) {
		/* a request belongs to its connection, unless that is gone */
		if (!evhttp_request_get_connection(k->req))
			evhttp_request_free(k->req);
		child_end(k->child, false);
		ask_release(k);
	}
	http_guard_close(&a->guard);
	free(a);
}
