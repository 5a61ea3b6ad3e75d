#include "agent/outside.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/endpoints.h"
#include "agent/settings.h"
#include "agent/tokens.h"
#include "base/alloc.h"
#include "base/path.h"
#include "credentials/control.h"
#include "sys/fd.h"

#define FILE_BYTES (10u << 20)
#define TEXT(x)    TEXT_(x)
#define TEXT_(x)   #x
#define INSIDE_URL "http://127.0.0.1:" TEXT(CREDENTIALS_PORT) "/"
/* By how many of its last characters Claude Code remembers a key that the user has agreed to. */
#define CLAUDE_TAIL 20
#define SHORT       8
/* Within another value of the environment, a shorter one could be a word: "http://lm-studio:1234". */
#define LONG 20

void outside_release(struct outside *o)
{
	vault_release(&o->table);
	strvec_release(&o->kept);
	strvec_release(&o->entered);
	strvec_release(&o->told);
	strvec_release(&o->vars);
	strvec_release(&o->hosts);
	free(o->home);
	*o = (struct outside){ 0 };
}

/* Splits "A=B". */
struct pair {
	char *left;
	const char *right;
};

static struct pair split(const char *row)
{
	size_t len = strcspn(row, "=");

	return (struct pair){ xstrndup(row, len), row[len] ? row + len + 1 : "" };
}

static const char *value_in(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

/* The address that the user's own variable gives the service; NULL if there is none. A variable may be for a path
 * below the service: "VARIABLE=SERVICE/v1". */
static char *users_url(const struct outside_where *w, const struct default_login *l, const char *service)
{
	for (size_t i = 0; l->redirects[i]; i++) {
		struct pair p = split(l->redirects[i]);
		const char *value = value_in(w->environ_now, p.left);
		bool same = !strcmp(p.right, service);

		for (size_t k = 0; w->extra && k < w->extra->n; k++)
			if (!strncmp(w->extra->v[k], p.left, strlen(p.left)) &&
				w->extra->v[k][strlen(p.left)] == '=')
				value = w->extra->v[k] + strlen(p.left) + 1;
		free(p.left);
		if (same && value && *value)
			return xstrdup(value);
	}
	return NULL;
}

/* An address without a password, a query or a fragment, and without slashes at its end. */
static bool clean_url(char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		url[--len] = '\0';
	if (strncmp(url, "https://", 8) && strncmp(url, "http://", 7))
		return false;
	for (const char *p = url; *p; p++)
		if (*p <= ' ' || *p > '~' || strchr("@?#\\", *p))
			return false;
	return true;
}

/* Makes sure that the table has the service. False if it has no usable address. */
static bool need_service(const struct outside_where *w, struct outside *o, const char *name)
{
	const struct default_service *d = config_service(name);
	auto_str url = d ? users_url(w, o->login, name) : NULL;
	struct service *s;

	if (!d || !w->possible || (d->tls && !w->tls))
		return false;
	if (vault_service(&o->table, name, strlen(name)))
		return true;
	if (!url)
		url = xstrdup(d->url);
	if (!clean_url(url))
		return false;
	s = vault_add_service(&o->table, name);
	free(s->url);
	s->url = steal_ptr(url);
	strvec_pushv(&s->headers, d->headers);
	strvec_pushv(&s->paths, d->paths);
	strvec_pushv(&s->renews, d->renews);
	s->tls = d->tls;
	return true;
}

static void note(struct strvec *list, const char *name)
{
	if (!strvec_has(list, name))
		strvec_push(list, name);
}

static void add_secret(const struct outside_where *w, struct outside *o, const char *real,
	const char *service, const char *file, const char *member, const char *shown)
{
	auto_str dummy = NULL;

	if (!need_service(w, o, service)) {
		note(&o->entered, shown);
		return;
	}
	dummy = dummy_of(w->key, real);
	vault_add_secret(&o->table, dummy, real, service, file, member);
	note(&o->kept, shown);
}

/* Where the user has a log-in file: a variable may name another directory. On the heap. */
static char *users_file(const struct outside *o, const char *path)
{
	auto_str place = agent_users_path(o->agent, &o->env, path);

	return *place == '/' ? steal_ptr(place) : path_join(o->home, place);
}

/* The string at a path of the tree, "tokens.access_token". */
static const char *string_at(const json_t *tree, const char *path)
{
	while (tree && *path) {
		size_t len = strcspn(path, ".");
		auto_str name = xstrndup(path, len);

		tree = json_object_get(tree, name);
		path += len + (path[len] == '.');
	}
	return json_string_value(tree);
}

/* The user's log-in file; -1 if the agent has no such file, or it cannot be read. */
static int read_login(const struct outside *o, const char *path, struct buf *text)
{
	auto_str file = users_file(o, path);
	struct err ignored = ERR_INIT;
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 || !strvec_has(&o->agent->login, path) ? -1 : read_rest(fd, text, path, &ignored);
}

/* row: "FILE:MEMBER=SERVICE" */
static void look_in_file(const struct outside_where *w, struct outside *o, const char *row)
{
	size_t len = strcspn(row, ":");
	auto_str path = xstrndup(row, len), file = users_file(o, path), shown = NULL;
	struct pair p = split(row + len + 1);
	auto_str member = p.left;
	auto_buf text = BUF_INIT(FILE_BYTES);
	const char *real;
	json_t *tree;

	if (read_login(o, path, &text) < 0)
		return;
	tree = path_ends_in(path, ".env") ? settings_variables(&text) : settings_parse(path, &text);
	real = string_at(tree, member);
	shown = xasprintf("~/%s", path);
	/* a value with escapes could not be replaced */
	if (real && *real && memmem(text.data, text.len, real, strlen(real)))
		add_secret(w, o, real, p.right, file, member, shown);
	json_decref(tree);
}

/* Notes what else of a log-in file is a secret. It enters the task with the file, as the proxy knows nothing of it. */
static void look_for_others(struct outside *o, const char *path)
{
	auto_buf text = BUF_INIT(FILE_BYTES), names = BUF_SMALL;
	auto_str shown = xasprintf("~/%s", path), all = NULL;
	auto_strvec left = STRVEC_INIT;

	if (strvec_has(&o->entered, shown) || read_login(o, path, &text) < 0)
		return;
	outside_text(o, path, &text);
	tokens_left(path, &text, &left);
	for (size_t i = 0; i < left.n; i++)
		buf_printf(&names, "%s%s", i ? " " : "", left.v[i]);
	all = xasprintf("%s (%s)", shown, buf_str(&names));
	for (char *p = all; *p; p++)
		if (*p < ' ')
			*p = '?';
	if (left.n && !names.overflow)
		note(&o->entered, all);
}

static bool is_kept(const struct outside *o, const char *value)
{
	for (size_t i = 0; i < o->table.nsecrets; i++)
		if (strlen(value) >= SHORT && !strcmp(o->table.secrets[i].real, value))
			return true;
	return false;
}

/* known: those that a service takes; else the others, which may have the same secret. */
static int look_in_variables(const struct outside_where *w, struct outside *o, bool known, struct err *e)
{
	auto_strvec env = STRVEC_INIT;

	if (agent_environment(w->config, w->agent, w->environ_now, w->extra, NULL, &env, e) < 0)
		return -1;
	for (size_t i = 0; o->login->secrets[i]; i++) {
		struct pair p = split(o->login->secrets[i]);
		const char *value = strchr(p.left, ':') ? NULL : value_in(strvec_argv(&env), p.left);

		if (value && *value && known == !!config_service(p.right)) {
			if (!known && is_kept(o, value))
				note(&o->kept, p.left);
			else
				add_secret(w, o, value, p.right, "", p.left, p.left);
		}
		free(p.left);
	}
	return 0;
}

/* "{SERVICE}" in a line becomes its address. False if the line names one that is not used. */
static bool fill_line(const struct outside *o, const char *line, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		const char *end = line[i] == '{' ? memchr(line + i, '}', len - i) : NULL;
		size_t n = end ? (size_t)(end - line) - i - 1 : 0;
		auto_str name = xstrndup(line + i + (end ? 1 : 0), n);

		if (!end || !config_service(name)) {
			buf_addch(out, line[i]);
			continue;
		}
		if (!vault_service(&o->table, name, n))
			return false;
		buf_printf(out, INSIDE_URL "%s", name);
		i += n + 1;
	}
	return true;
}

/* Whether the text already has a line for this key. */
static bool has_key(const struct buf *text, const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len);
	auto_str key = equals ? xasprintf("\n%.*s", (int)(equals + 1 - line), line) : NULL;
	auto_str all = xasprintf("\n%s", buf_str(text));

	return key && strstr(all, key);
}

static void tell(struct outside *o, const char *entry)
{
	auto_buf text = BUF_SMALL;
	size_t len = strcspn(entry, "=");

	for (const char *line = entry + len + 1; *line;) {
		size_t n = strcspn(line, "\n");
		auto_buf filled = BUF_SMALL;

		if (fill_line(o, line, n, &filled) && !has_key(&text, line, n))
			buf_printf(&text, "%s\n", buf_str(&filled));
		line += n + (line[n] == '\n');
	}
	strvec_pushf(&o->told, "%.*s=%s", (int)len, entry, buf_str(&text));
}

static void redirect(struct outside *o)
{
	for (size_t i = 0; o->login->redirects[i]; i++) {
		struct pair p = split(o->login->redirects[i]);
		size_t len = strcspn(p.right, "/");

		if (vault_service(&o->table, p.right, len))
			strvec_pushf(&o->vars, "%s=" INSIDE_URL "%s", p.left, p.right);
		free(p.left);
	}
	for (size_t i = 0; o->table.nservices && o->login->told[i]; i++)
		tell(o, o->login->told[i]);
}

/* The host of "https://HOST/PATH"; on the heap. */
static char *host_of(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? xstrndup(host + 3, strcspn(host + 3, "/")) : xstrdup("");
}

/* Takes all such hosts of the agent: a later command in the task may need others of them. */
static void take_hosts_over(struct outside *o)
{
	bool any = false;

	for (size_t i = 0; i < o->table.nservices; i++)
		any |= o->table.services[i].tls;
	for (size_t i = 0; any && o->login->secrets[i]; i++) {
		const char *name = strrchr(o->login->secrets[i], '=');
		const struct default_service *d = name ? config_service(name + 1) : NULL;
		auto_str host = d && d->tls ? host_of(d->url) : NULL;

		if (host)
			note(&o->hosts, host);
	}
	if (!o->hosts.n)
		return;
	strvec_push(&o->vars, "NODE_EXTRA_CA_CERTS=" INSIDE_AUTHORITY);
	strvec_push(&o->vars, "SSL_CERT_FILE=" INSIDE_CERTIFICATES);
}

/* If the agent's own settings name another address, it would send the dummy there. */
static bool has_own_address(const struct outside_where *w)
{
	auto_strvec hosts = STRVEC_INIT;

	endpoints_of_files(w->agent, &(struct agent_env){ w->environ_now, w->extra }, w->home_fd, &hosts);
	return hosts.n > 0;
}

/* Whether the agent learns of the proxy from a file that does not change while the task runs. Files of its home do. */
static bool is_told_in_etc(const struct default_login *l)
{
	for (size_t i = 0; l && l->told[i]; i++)
		if (*l->told[i] != '~')
			return true;
	return false;
}

static enum outside_mode mode_of(const struct outside_where *w, const struct default_login *l)
{
	const char *asked = w->agent->credentials;

	if (asked)
		return strcmp(asked, CREDENTIALS_COPY) ? OUTSIDE_ALL : OUTSIDE_COPY;
	return l && w->possible && !(w->fixed && is_told_in_etc(l)) && !has_own_address(w) ? OUTSIDE_KNOWN
											   : OUTSIDE_COPY;
}

int outside_open(const struct outside_where *w, struct outside *ret, struct err *e)
{
	struct outside_where use = *w;
	auto_outside o = { .login = config_login(w->agent->name),
		.agent = w->agent,
		.env = { w->environ_now, w->extra },
		.home = xstrdup(w->user_home) };
	const char *asked = w->agent->credentials;

	o.mode = mode_of(w, o.login);
	/* with `none`, no secret has a service */
	use.possible &= o.mode == OUTSIDE_KNOWN || (asked && !strcmp(asked, CREDENTIALS_PROXY));
	use.possible &= !(w->fixed && is_told_in_etc(o.login)) && !(asked && has_own_address(w));
	if (o.login && look_in_variables(&use, &o, true, e) < 0)
		return -1;
	for (size_t i = 0; o.login && o.login->secrets[i]; i++)
		if (strchr(o.login->secrets[i], ':'))
			look_in_file(&use, &o, o.login->secrets[i]);
	if (o.login && look_in_variables(&use, &o, false, e) < 0)
		return -1;
	for (size_t i = 0; o.mode != OUTSIDE_ALL && i < w->agent->login.n; i++)
		look_for_others(&o, w->agent->login.v[i]);
	if (o.login) {
		redirect(&o);
		take_hosts_over(&o);
	}
	*ret = o;
	o = (struct outside){ 0 };
	return 0;
}

/* By its value: two variables, or a variable and a file, may have the same secret, and the table has it once. */
static const struct secret *secret_of_variable(const struct outside *o, const char *name, const char *value)
{
	for (size_t i = 0; o->login && o->login->secrets[i]; i++) {
		struct pair p = split(o->login->secrets[i]);
		bool same = !strcmp(p.left, name);

		free(p.left);
		for (size_t k = 0; same && k < o->table.nsecrets; k++)
			if (!strcmp(o->table.secrets[k].service, p.right) &&
				!strcmp(o->table.secrets[k].real, value))
				return &o->table.secrets[k];
	}
	return NULL;
}

static bool is_secret_variable(const struct outside *o, const char *pair, size_t len)
{
	for (size_t i = 0; o->login && o->login->secrets[i]; i++)
		if (!strncmp(o->login->secrets[i], pair, len + 1))
			return true;
	return false;
}

static void replace_all(struct buf *text, const char *from, const char *to)
{
	auto_buf new = BUF_INIT(text->max);
	const char *p = buf_str(text), *end = p + text->len, *at;

	while ((at = memmem(p, (size_t)(end - p), from, strlen(from)))) {
		buf_add(&new, p, (size_t)(at - p));
		buf_addstr(&new, to);
		p = at + strlen(from);
	}
	if (!new.len)
		return;
	buf_add(&new, p, (size_t)(end - p));
	buf_reset(text);
	buf_add(text, new.data, new.len);
	text->overflow |= new.overflow;
}

/* A secret can be the value of a variable that no service is known for, or a part of it. */
static void push_without_secrets(const struct outside *o, const char *pair, struct strvec *ret)
{
	auto_buf text = BUF_INIT(FILE_BYTES);
	const char *value = pair + strcspn(pair, "=");

	value += *value == '=';
	buf_addstr(&text, value);
	for (size_t i = 0; i < o->table.nsecrets; i++) {
		const struct secret *s = &o->table.secrets[i];

		if (strlen(s->real) >= (strcmp(s->real, value) ? LONG : SHORT))
			replace_all(&text, s->real, s->dummy);
	}
	strvec_pushf(ret, "%.*s%s", (int)(value - pair), pair, buf_str(&text));
}

void outside_env(const struct outside *o, struct strvec *env)
{
	auto_strvec new = STRVEC_INIT;

	for (size_t i = 0; i < env->n; i++) {
		size_t len = strcspn(env->v[i], "=");
		auto_str name = xstrndup(env->v[i], len);
		const struct secret *s =
			secret_of_variable(o, name, env->v[i] + len + (env->v[i][len] == '='));

		if (value_in(o->vars.v, name))
			continue;
		if (s)
			strvec_pushf(&new, "%s=%s", name, s->dummy);
		else if (o->mode != OUTSIDE_ALL || !is_secret_variable(o, env->v[i], len))
			push_without_secrets(o, env->v[i], &new);
	}
	strvec_pushv(&new, (const char *const *)o->vars.v);
	strvec_argv(&new);
	strvec_release(env);
	*env = new;
	new = (struct strvec)STRVEC_INIT;
}

/* The part of a secret that Claude Code writes into its settings. */
static void replace_tail(struct buf *text, const struct secret *s)
{
	size_t real = strlen(s->real), dummy = strlen(s->dummy);
	auto_str from = NULL, to = NULL;

	if (real <= CLAUDE_TAIL || dummy <= CLAUDE_TAIL)
		return;
	from = xasprintf("\"%s\"", s->real + real - CLAUDE_TAIL);
	to = xasprintf("\"%s\"", s->dummy + dummy - CLAUDE_TAIL);
	replace_all(text, from, to);
}

void outside_text(const struct outside *o, const char *path, struct buf *text)
{
	auto_str file = users_file(o, path);

	for (size_t i = 0; i < o->table.nsecrets; i++) {
		const struct secret *s = &o->table.secrets[i];
		auto_str real = xasprintf("\"%s\"", s->real), dummy = xasprintf("\"%s\"", s->dummy);

		/* a short secret could be part of any word */
		if (strlen(s->real) >= SHORT)
			replace_all(text, s->real, s->dummy);
		else if (!strcmp(s->file, file))
			replace_all(text, real, dummy);
		replace_tail(text, s);
	}
}

bool outside_is_old(const struct outside *o, const char *path, const char *text, size_t len)
{
	auto_str file = users_file(o, path);
	bool all = true;

	for (size_t i = 0; i < o->table.nsecrets; i++) {
		const struct secret *s = &o->table.secrets[i];

		if (strlen(s->real) >= SHORT && memmem(text, len, s->real, strlen(s->real)))
			return true;
		if (!strcmp(s->file, file))
			all = all && memmem(text, len, s->dummy, strlen(s->dummy));
	}
	return dummy_in(text, len) && (!all || !o->table.nsecrets);
}

bool outside_renews(const struct outside *o, const char *path)
{
	auto_str file = users_file(o, path);

	for (size_t i = 0; i < o->table.nsecrets; i++) {
		const struct secret *s = &o->table.secrets[i];

		if (!strcmp(s->file, file) &&
			vault_service(&o->table, s->service, strlen(s->service))->renews.n)
			return true;
	}
	return false;
}
