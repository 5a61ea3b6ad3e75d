#include "agent/tokens.h"

#include <ctype.h>
#include <jansson.h>
#include <nettle/base64.h>
#include <stdlib.h>

#include "agent/settings.h"
#include "base/alloc.h"
#include "credentials/dummy.h"

#define DEPTH_MAX 32
#define KEY_MAX   256
/* the shortest text that is taken for a secret */
#define SECRET_MIN 8
/* A larger time is in milliseconds: in seconds it would be later than the year 5000. */
#define MILLISECONDS 100000000000LL

void tokens_release(struct tokens *t)
{
	for (size_t i = 0; i < t->nends; i++)
		free(t->ends[i].name);
	free(t->ends);
	strvec_release(&t->taken);
	*t = (struct tokens){ .all = t->all };
}

int64_t tokens_last_end(const struct tokens *t)
{
	int64_t last = 0;

	for (size_t i = 0; i < t->nends; i++)
		last = t->ends[i].at > last ? t->ends[i].at : last;
	return last;
}

/* The key in lower case, without separators: refresh_token, refreshToken and REFRESH-TOKEN are the same. */
static void bare_name(const char *key, char out[KEY_MAX])
{
	size_t n = 0;

	for (; *key && n < KEY_MAX - 1; key++)
		if (isalnum((unsigned char)*key))
			out[n++] = (char)tolower((unsigned char)*key);
	out[n] = '\0';
}

static bool is_refresh(const char *key)
{
	char name[KEY_MAX];

	bare_name(key, name);
	/* a time, without which Codex takes the file for broken */
	if (!strcmp(name, "lastrefresh"))
		return false;
	return strstr(name, "refresh") || !strcmp(name, "offlinetoken");
}

/* A key that may stand for a secret of any kind. */
static bool is_secret(const char *key)
{
	static const char *const parts[] = { "token", "apikey", "secret", "password", "credential",
		"bearer" };
	char name[KEY_MAX];

	bare_name(key, name);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return !strcmp(name, "key") || !strcmp(name, "access");
}

static bool is_one_of(const char *key, const char *const *names)
{
	char name[KEY_MAX];

	bare_name(key, name);
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static const json_t *member(const json_t *object, const char *const *names)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) if (is_one_of(key, names)) return value;
	return NULL;
}

static const char *access_token(const json_t *object)
{
	static const char *const names[] = { "accesstoken", "access", NULL };

	return json_string_value(member(object, names));
}

/* The claim `exp` of a JSON web token; 0 if it is none. */
static int64_t jwt_end(const char *token)
{
	const char *dot = strchr(token, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
	size_t len = second ? (size_t)(second - dot - 1) : 0, n = BASE64_DECODE_LENGTH(len);
	struct base64_decode_ctx ctx;
	auto_str plain = xcalloc(1, n + 4);
	json_t *claims;
	int64_t end;

	if (!len)
		return 0;
	base64url_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, (uint8_t *)plain, len, dot + 1))
		return 0;
	claims = json_loadb(plain, n, 0, NULL);
	end = (int64_t)json_number_value(json_object_get(claims, "exp"));
	json_decref(claims);
	return end;
}

static void note_end(const json_t *object, const char *name, struct tokens *t)
{
	static const char *const names[] = { "expiresat", "expires", "expirydate", "expiry", NULL };
	const char *access = access_token(object);
	int64_t at = (int64_t)json_number_value(member(object, names));

	if (!access || !*access)
		return;
	if (at <= 0)
		at = jwt_end(access);
	if (at <= 0)
		return;
	t->ends = xrealloc(t->ends, t->nends + 1, sizeof(*t->ends));
	t->ends[t->nends++] = (struct login_end){ xstrdup(name), at > MILLISECONDS ? at / 1000 : at };
}

/* State of a walk through a tree. */
struct walk {
	struct tokens *t;
	unsigned depth;
	bool too_deep;
	bool beside; /* inside the log-ins of tool servers, whose expiry does not matter */
};

static bool clean_value(struct walk *w, json_t *value, const char *name);

/* A string that contains JSON is cleaned too. NULL if nothing was removed. */
static json_t *clean_string(struct walk *w, const char *text)
{
	char first = text[strspn(text, " \t\r\n")];
	json_t *inner = first == '{' || first == '[' ? json_loads(text, 0, NULL) : NULL, *ret = NULL;
	char *dump = NULL;

	if (inner && clean_value(w, inner, "") && (dump = json_dumps(inner, JSON_COMPACT)))
		ret = json_string(dump);
	free(dump);
	json_decref(inner);
	return ret;
}

/* The replacement for a member's value; NULL if it stays. */
static json_t *instead(struct walk *w, const json_t *object, const char *key, const json_t *value)
{
	const char *text = json_string_value(value), *access = access_token(object);

	/* what the proxy adds outside */
	if (text && !strchr("{[", *text) && dummy_in(text, strlen(text)))
		return NULL;
	if (w->t->all && text && *text && is_secret(key))
		return json_string("");
	if (!is_refresh(key))
		return text ? clean_string(w, text) : NULL;
	if (json_is_object(value) || json_is_array(value))
		return json_null();
	/* OpenCode's log-in at GitHub has the same token under both names; that one can be used again */
	if (!text || !*text || (access && !strcmp(access, text)))
		return NULL;
	strvec_push(&w->t->taken, text);
	return json_string("");
}

static bool clean_member(struct walk *w, json_t *object, const char *key, json_t *value)
{
	json_t *other = instead(w, object, key, value);
	bool beside = w->beside, changed;

	if (other)
		return json_object_set_new(object, key, other), true;
	w->beside |= !strcmp(key, "mcpOAuth");
	changed = clean_value(w, value, key);
	w->beside = beside;
	return changed;
}

static bool clean_item(struct walk *w, json_t *array, size_t i, const char *name)
{
	json_t *item = json_array_get(array, i);
	json_t *other = json_is_string(item) ? clean_string(w, json_string_value(item)) : NULL;

	return other ? !json_array_set_new(array, i, other) : clean_value(w, item, name);
}

/* Returns whether anything was removed. */
static bool clean_value(struct walk *w, json_t *value, const char *name)
{
	bool changed = false;
	const char *key;
	json_t *sub;
	void *next;

	if (w->depth == DEPTH_MAX) {
		w->too_deep = true;
		return false;
	}
	w->depth++;
	for (size_t i = 0; i < json_array_size(value); i++)
		changed |= clean_item(w, value, i, name);
	if (json_is_object(value) && !w->beside)
		note_end(value, name, w->t);
	json_object_foreach_safe(value, next, key, sub) changed |= clean_member(w, value, key, sub);
	w->depth--;
	return changed;
}

/* Whether a text that cannot be parsed certainly has no refresh token. A .json file that is not JSON may be
 * encrypted; other formats are plain text, and would contain the key's name. */
static bool is_harmless(const char *path, const struct buf *text, bool all)
{
	static const char *const words[] = { "key", "token", "secret", "password" };

	for (size_t i = 0; all && i < ARRAY_SIZE(words); i++)
		if (strcasestr(buf_str(text), words[i]))
			return false;
	if (strspn(buf_str(text), " \t\r\n") == text->len)
		return true;
	return !path_ends_in(path, ".json") && !path_ends_in(path, ".jsonc") &&
	       !strcasestr(buf_str(text), "refresh_token") && !strcasestr(buf_str(text), "refresh-token") &&
	       !strcasestr(buf_str(text), "refreshtoken");
}

int tokens_take_out(const char *path, struct buf *text, struct tokens *ret)
{
	json_t *tree = settings_parse(path, text);
	struct walk w = { .t = ret };
	char *without = NULL;
	bool changed;

	if (!tree)
		return is_harmless(path, text, ret->all) ? 0 : -1;
	changed = clean_value(&w, tree, "");
	if (changed && !w.too_deep)
		without = json_dumps(tree, JSON_INDENT(2));
	json_decref(tree);
	if (w.too_deep || (changed && !without))
		return -1;
	if (changed) {
		buf_reset(text);
		buf_addstr(text, without);
		free(without);
	}
	return text->overflow ? -1 : 0;
}

/* A word of a few letters, or a number, is none, whatever its key says: "token_type": "Bearer". */
static bool may_be_secret(const char *text)
{
	size_t n = strlen(text);

	return n >= SECRET_MIN && strspn(text, "0123456789") < n && !dummy_in(text, n);
}

static bool has_secret(const json_t *value, const char *name, unsigned depth)
{
	const char *key, *text = json_string_value(value);
	json_t *item;
	size_t i;

	if (depth == DEPTH_MAX)
		return false;
	if (text)
		return is_secret(name) && may_be_secret(text);
	json_array_foreach(value, i, item) if (has_secret(item, name, depth + 1)) return true;
	json_object_foreach((json_t *)value, key, item) if (has_secret(item, key, depth + 1)) return true;
	return false;
}

void tokens_left(const char *path, const struct buf *text, struct strvec *ret)
{
	json_t *tree = path_ends_in(path, ".env") ? settings_variables(text) : settings_parse(path, text);
	const char *key;
	json_t *value;

	json_object_foreach(tree, key, value) if (has_secret(value, key, 0)) strvec_push(ret, key);
	json_decref(tree);
}
