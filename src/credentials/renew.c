#include "credentials/renew.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "sys/proc.h"

#define FORM "application/x-www-form-urlencoded"

extern char **environ;

/* The service's name for a member of the log-in file, such as "refresh_token". The caller frees it. */
static char *name_of(const struct service *s, const char *member)
{
	for (size_t i = 0; i < s->renews.n; i++) {
		size_t len = strcspn(s->renews.v[i], "=");

		if (s->renews.v[i][len] && !strcmp(s->renews.v[i] + len + 1, member))
			return xstrndup(s->renews.v[i], len);
	}
	return NULL;
}

static bool is_form(const struct conn *c)
{
	const char *type = head_value(&c->head, "content-type");

	return type && !strncasecmp(type, FORM, strlen(FORM));
}

/* Decodes a name or a value of a form. NULL if it has a NUL. */
static char *decoded(const char *text, size_t len)
{
	auto_str copy = xstrndup(text, len);
	char *plain, *ret;
	int n = 0;

	for (char *p = copy; *p; p++)
		if (*p == '+')
			*p = ' ';
	plain = curl_easy_unescape(NULL, copy, 0, &n);
	ret = plain && strlen(plain) == (size_t)n ? xstrdup(plain) : NULL;
	curl_free(plain);
	return ret;
}

/* A form: "a=b&refresh_token=DUMMY". */
static json_t *parse_form(const char *p)
{
	json_t *ret = json_object();

	for (;;) {
		size_t len = strcspn(p, "&"), equals = strcspn(p, "=&");
		auto_str name = decoded(p, equals),
			 value = equals < len ? decoded(p + equals + 1, len - equals - 1) : NULL;

		if (name && value)
			json_object_set_new(ret, name, json_string(value));
		if (!p[len])
			return ret;
		p += len + 1;
	}
}

static void write_form(json_t *members, struct buf *out)
{
	const char *name;
	json_t *value;

	json_object_foreach(members, name, value)
	{
		char *escaped = curl_easy_escape(NULL, json_string_value(value), 0);

		if (escaped)
			buf_printf(out, "%s%s=%s", out->len ? "&" : "", name, escaped);
		curl_free(escaped);
	}
}

/* The request that the service gets. The agent's own could say more: a code of another account, whose log-in would then be
 * written to the user's file. So it is made again, and of the agent's members only these are in it. */
static json_t *made_again(const json_t *asked, const char *name, const char *real)
{
	static const char *const kept[] = { "client_id", "client_secret", RENEW_SCOPE };
	json_t *ret = json_pack("{s:s, s:s}", "grant_type", "refresh_token", name, real);

	for (size_t i = 0; ret && i < ARRAY_SIZE(kept); i++)
		if (json_is_string(json_object_get(asked, kept[i])))
			json_object_set(ret, kept[i], json_object_get(asked, kept[i]));
	return ret;
}

/* Puts the real token into the member of the request's body that is meant for it, and into no other: a service may repeat
 * other members in its answer. False if the dummy is not there. */
static bool fill_body(const struct conn *c, const struct secret *s, struct buf *out)
{
	auto_str name = name_of(conn_service(c), s->member);
	json_t *asked, *again = NULL;
	const char *value;
	char *text = NULL;

	if (!name || !c->body.len)
		return false;
	asked = is_form(c) ? parse_form(buf_str(&c->body)) : json_loadb(c->body.data, c->body.len, 0, NULL);
	value = json_string_value(json_object_get(asked, name));
	if (value && !strcmp(value, s->dummy))
		again = made_again(asked, name, s->real);
	if (again && is_form(c))
		write_form(again, out);
	else if (again && (text = json_dumps(again, JSON_COMPACT))) {
		buf_addstr(out, text);
		explicit_bzero(text, strlen(text));
	}
	free(text);
	json_decref(again);
	json_decref(asked);
	return out->len > 0;
}

/* Finds the secret of this service whose dummy is in the request, and makes the body with the secret. */
static const struct secret *named_in(const struct conn *c, struct buf *body)
{
	const struct vault *t = &c->server->table;

	for (size_t i = 0; i < t->nsecrets; i++) {
		const struct secret *s = &t->secrets[i];

		if (strcmp(s->service, conn_service(c)->name) || !*s->file)
			continue;
		buf_reset(body);
		if (fill_body(c, s, body) && !body->overflow)
			return s;
	}
	return NULL;
}

/* A slot for one more process; NULL if there are too many. A process whose client has hung up continues, so it counts. */
static pid_t *free_place(struct server *s)
{
	for (size_t i = 0; i < RENEWALS_MAX; i++) {
		pid_t *p = &s->renewals[i];

		if (*p && waitpid(*p, NULL, WNOHANG))
			*p = 0;
		if (!*p)
			return p;
	}
	return NULL;
}

static json_t *strings(const struct strvec *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(a, json_string(v->v[i]));
	return a;
}

/* The secrets that the task has from this file by now. */
static json_t *had(const struct vault *t, const char *file)
{
	json_t *a = json_array();

	for (size_t i = 0; i < t->nsecrets; i++)
		if (!strcmp(t->secrets[i].file, file))
			json_array_append_new(a, json_string(t->secrets[i].real));
	return a;
}

static char *job_text(const struct conn *c, const struct secret *s, const struct buf *body)
{
	const char *agent = head_value(&c->head, "user-agent");
	/* what follows '?' would be members of the request too */
	auto_str url = xasprintf("%s%.*s", conn_service(c)->url, (int)strcspn(c->path, "?"), c->path);
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "url", url, "file", s->file,
		"member", s->member, "token", s->real, "type", is_form(c) ? FORM : "application/json",
		"agent", agent ? agent : "", "body", buf_str(body), "renews",
		strings(&conn_service(c)->renews), "had", had(&c->server->table, s->file));
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

static bool start(struct conn *c, const char *job)
{
	auto_fd in = fd_of_bytes("renewal", job, strlen(job));
	auto_str program = NULL;
	struct err ignored = ERR_INIT;
	struct proc_spec p = { .env = environ, .stdin_fd = in };

	if (in < 0 || proc_find_part("garth-credentials", &program, &ignored) < 0)
		return false;
	p.argv = (char *[]){ program, RENEW_ARGUMENT, NULL };
	return !proc_start(&p, &c->renewal.fd, &c->renewal.pid, &ignored);
}

void renew_begin(struct conn *c)
{
	auto_buf body = BUF_INIT(RENEW_BODY_MAX * 2);
	pid_t *place = free_place(c->server);
	const struct secret *s;
	char *job;

	if (c->body.len > RENEW_BODY_MAX) {
		conn_refuse(c, 413, "the request is too large");
		return;
	}
	s = named_in(c, &body);
	if (!s) {
		if (!upstream_start(c))
			conn_refuse(c, 502, "the request cannot be made");
		return;
	}
	if (!place) {
		conn_refuse(c, 503, "the log-in is being renewed already");
		return;
	}
	job = job_text(c, s, &body);
	explicit_bzero(body.data, body.len);
	c->renewal.file = xstrdup(s->file);
	buf_reset(&c->renewal.answer);
	if (!job || !start(c, job)) {
		renew_release(c);
		conn_refuse(c, 502, "the log-in cannot be renewed now");
	}
	*place = c->renewal.pid;
	if (job)
		explicit_bzero(job, strlen(job));
	free(job);
}

/* The dummy of a new token. It is for the same services as the old token from the same place. */
static json_t *dummy_for(struct conn *c, const char *member, const char *real)
{
	struct vault *t = &c->server->table;
	auto_str dummy = dummy_of(c->server->key, real);
	size_t n = t->nsecrets;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(t->secrets[i].file, c->renewal.file) && !strcmp(t->secrets[i].member, member)) {
			auto_str service = xstrdup(t->secrets[i].service);

			vault_add_secret(t, dummy, real, service, c->renewal.file, member);
		}
	return json_string(dummy);
}

/* Makes the answer for the task: dummies of the new tokens, and how long they last. Nothing else, because other members may
 * be secrets too. */
static json_t *for_task(struct conn *c, const json_t *reply)
{
	static const char *const plain[] = { RENEW_LASTS, RENEW_SCOPE, "token_type",
		"refresh_token_expires_in" };
	const struct strvec *renews = &conn_service(c)->renews;
	json_t *ret = json_object();

	for (size_t i = 0; i < renews->n; i++) {
		size_t len = strcspn(renews->v[i], "=");
		auto_str name = xstrndup(renews->v[i], len);
		const char *real = json_string_value(json_object_get(reply, name));

		if (real && *real && strcmp(name, RENEW_SCOPE) != 0)
			json_object_set_new(ret, name, dummy_for(c, renews->v[i] + len + 1, real));
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (json_object_get(reply, plain[i]))
			json_object_set(ret, plain[i], json_object_get(reply, plain[i]));
	return ret;
}

/* A refusal. It is written anew, so that a token in it has no escapes, with which it would not be found. */
static void refused(struct conn *c, int status, const char *body)
{
	json_t *all = json_loads(body, JSON_DECODE_ANY, NULL);
	char *text = all ? json_dumps(all, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text) {
		scrub_text(&c->server->table, text, strlen(text));
		conn_reply(c, status, text, strlen(text));
		conn_answered(c);
	} else {
		conn_refuse(c, status, "the service has refused to renew the log-in");
	}
	free(text);
	json_decref(all);
}

static void answer(struct conn *c)
{
	json_t *all = json_loadb(buf_str(&c->renewal.answer), c->renewal.answer.len, 0, NULL), *inside;
	int status = (int)json_integer_value(json_object_get(all, "status"));
	const char *body = json_string_value(json_object_get(all, "body"));
	json_t *reply = json_object_get(all, "reply");

	if (reply) {
		char *text = json_dumps(inside = for_task(c, reply), JSON_COMPACT);

		conn_reply(c, 200, text ? text : "{}", text ? strlen(text) : 2);
		conn_answered(c);
		free(text);
		json_decref(inside);
	} else if (status >= 400 && status < 600 && body) {
		refused(c, status, body);
	} else {
		conn_refuse(c, 502, "the log-in cannot be renewed now");
	}
	json_decref(all);
}

void renew_readable(struct conn *c)
{
	char part[8192];
	ssize_t n = read(c->renewal.fd, part, sizeof(part));

	if (n > 0) {
		buf_add(&c->renewal.answer, part, (size_t)n);
		return;
	}
	answer(c);
	renew_release(c);
	conn_work(c);
}

void renew_release(struct conn *c)
{
	fd_closep(&c->renewal.fd);
	c->renewal.fd = -1;
	/* it is not killed: the service's answer must get into the user's file */
	if (c->renewal.pid)
		c->renewal.pid = 0;
	if (c->renewal.answer.data)
		explicit_bzero(c->renewal.answer.data, c->renewal.answer.len);
	buf_reset(&c->renewal.answer);
	free(c->renewal.file);
	c->renewal.file = NULL;
}
