#include "credentials/vault.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void service_release(struct service *s)
{
	free(s->name);
	free(s->url);
	strvec_release(&s->headers);
	strvec_release(&s->paths);
	strvec_release(&s->renews);
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void secret_release(struct secret *s)
{
	free(s->dummy);
	wipe(s->real);
	free(s->service);
	free(s->file);
	free(s->member);
}

void vault_release(struct vault *t)
{
	for (size_t i = 0; i < t->nservices; i++)
		service_release(&t->services[i]);
	for (size_t i = 0; i < t->nsecrets; i++)
		secret_release(&t->secrets[i]);
	free(t->services);
	free(t->secrets);
	free(t->cert);
	wipe(t->cert_key);
	*t = (struct vault){ 0 };
}

struct service *vault_add_service(struct vault *t, const char *name)
{
	struct service *s = vault_service(t, name, strlen(name));

	if (s) {
		service_release(s);
	} else {
		t->services = xrealloc(t->services, t->nservices + 1, sizeof(*t->services));
		s = &t->services[t->nservices++];
	}
	*s = (struct service){ .name = xstrdup(name), .url = xstrdup("") };
	return s;
}

void vault_add_secret(struct vault *t, const char *dummy, const char *real, const char *service,
	const char *file, const char *member)
{
	struct secret new = { xstrdup(dummy), xstrdup(real), xstrdup(service), xstrdup(file),
		xstrdup(member) };

	for (size_t i = 0; i < t->nsecrets; i++)
		if (!strcmp(t->secrets[i].dummy, dummy) && !strcmp(t->secrets[i].service, service)) {
			secret_release(&t->secrets[i]);
			t->secrets[i] = new;
			return;
		}
	t->secrets = xrealloc(t->secrets, t->nsecrets + 1, sizeof(*t->secrets));
	t->secrets[t->nsecrets++] = new;
}

struct service *vault_service(const struct vault *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->nservices; i++)
		if (strlen(t->services[i].name) == len && !memcmp(t->services[i].name, name, len))
			return &t->services[i];
	return NULL;
}

const struct secret *vault_secret(
	const struct vault *t, const struct service *s, const char *dummy, size_t len)
{
	for (size_t i = 0; i < t->nsecrets; i++)
		if (!strcmp(t->secrets[i].service, s->name) && strlen(t->secrets[i].dummy) == len &&
			!memcmp(t->secrets[i].dummy, dummy, len))
			return &t->secrets[i];
	return NULL;
}

static json_t *list(const struct strvec *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(a, json_string(v->v[i]));
	return a;
}

void vault_pack(const struct vault *t, struct buf *out)
{
	json_t *services = json_array(), *secrets = json_array(), *all;
	char *text;

	for (size_t i = 0; i < t->nservices; i++) {
		const struct service *s = &t->services[i];

		json_array_append_new(
			services, json_pack("{s:s, s:s, s:o, s:o, s:o, s:b}", "name", s->name, "url", s->url,
					  "headers", list(&s->headers), "paths", list(&s->paths), "renews",
					  list(&s->renews), "tls", (int)s->tls));
	}
	for (size_t i = 0; i < t->nsecrets; i++) {
		const struct secret *s = &t->secrets[i];

		json_array_append_new(
			secrets, json_pack("{s:s, s:s, s:s, s:s, s:s}", "dummy", s->dummy, "real", s->real,
					 "service", s->service, "file", s->file, "member", s->member));
	}
	all = json_pack("{s:o, s:o}", "services", services, "secrets", secrets);
	if (t->cert && t->cert_key) {
		json_object_set_new(all, "cert", json_string(t->cert));
		json_object_set_new(all, "cert_key", json_string(t->cert_key));
	}
	text = json_dumps(all, JSON_COMPACT);
	if (text)
		buf_addstr(out, text);
	else
		out->overflow = true;
	wipe(text);
	json_decref(all);
}

static void take_list(const json_t *a, struct strvec *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(a, i, item) if (json_is_string(item)) strvec_push(ret, json_string_value(item));
}

static bool take_service(const json_t *j, struct vault *to)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	const char *url = json_string_value(json_object_get(j, "url"));
	struct service *s;

	if (!name || !url)
		return false;
	s = vault_add_service(to, name);
	free(s->url);
	s->url = xstrdup(url);
	take_list(json_object_get(j, "headers"), &s->headers);
	take_list(json_object_get(j, "paths"), &s->paths);
	take_list(json_object_get(j, "renews"), &s->renews);
	s->tls = json_is_true(json_object_get(j, "tls"));
	return true;
}

static void take_authority(const json_t *all, struct vault *to)
{
	const char *cert = json_string_value(json_object_get(all, "cert"));
	const char *key = json_string_value(json_object_get(all, "cert_key"));

	if (to->cert || !cert || !key)
		return;
	to->cert = xstrdup(cert);
	to->cert_key = xstrdup(key);
}

static bool take_secret(json_t *j, struct vault *to)
{
	const char *dummy, *real, *service, *file, *member;

	if (json_unpack(j, "{s:s, s:s, s:s, s:s, s:s}", "dummy", &dummy, "real", &real, "service", &service,
		    "file", &file, "member", &member) < 0 ||
		!*dummy)
		return false;
	vault_add_secret(to, dummy, real, service, file, member);
	return true;
}

int vault_unpack(const char *data, size_t len, struct vault *to, struct err *e)
{
	json_t *all = json_loadb(data, len, 0, NULL), *item;
	bool good = all != NULL;
	size_t i;

	json_array_foreach(json_object_get(all, "services"), i, item) good = good && take_service(item, to);
	json_array_foreach(json_object_get(all, "secrets"), i, item) good = good && take_secret(item, to);
	if (good)
		take_authority(all, to);
	json_decref(all);
	return good ? 0 : err_set(e, ERR_FAILED, "the table of credentials is malformed");
}
