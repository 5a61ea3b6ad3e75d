#include "audit/line.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <nettle/sha2.h>

#include "base/alloc.h"

#define FACT "audit_head"
#define HEX  "0123456789abcdef"

/* A hash in hexadecimal; with `empty`, an empty string is accepted too. */
static bool take_hash(const char *s, bool empty, char out[LINE_HASH_LEN + 1])
{
	size_t n = s ? strlen(s) : 0;

	if (!s || strspn(s, HEX) != n || (n != LINE_HASH_LEN && (n || !empty)))
		return false;
	memcpy(out, s, n + 1);
	return true;
}

bool line_parse(const char *text, size_t len, struct line *ret)
{
	json_t *o, *seq;
	bool good;

	if (len < LINE_TAIL_LEN || memcmp(text + len - LINE_TAIL_LEN, ",\"hash\":\"", 9) != 0)
		return false;
	o = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	seq = json_object_get(o, "seq");
	good = json_is_integer(seq) && json_integer_value(seq) > 0 &&
	       take_hash(json_string_value(json_object_get(o, "prev")), true, ret->prev) &&
	       take_hash(json_string_value(json_object_get(o, "hash")), false, ret->hash);
	ret->seq = good ? (uint64_t)json_integer_value(seq) : 0;
	json_decref(o);
	return good;
}

void line_hash(const char *data, size_t len, char hex[LINE_HASH_LEN + 1])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, len, (const uint8_t *)data);
	sha256_digest(&c, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++) {
		hex[2 * i] = HEX[digest[i] >> 4];
		hex[2 * i + 1] = HEX[digest[i] & 15];
	}
	hex[LINE_HASH_LEN] = '\0';
}

bool line_is_unchanged(const char *text, size_t len, const struct line *l)
{
	char hex[LINE_HASH_LEN + 1];

	line_hash(text, len - LINE_TAIL_LEN, hex);
	return !strcmp(hex, l->hash);
}

int line_known(struct store *s, struct line *ret, struct err *e)
{
	auto_str fact = NULL;
	char *end = NULL;

	*ret = (struct line){ 0 };
	if (!s)
		return 0;
	if (store_fact(s, FACT, &fact, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	errno = 0;
	ret->seq = strtoull(fact, &end, 10);
	if (errno || !ret->seq || *end != ' ' || !take_hash(end + 1, false, ret->hash))
		return err_set(e, ERR_CONFLICT, "what the store knows of the audit log was changed");
	return 1;
}

int line_set_known(struct store *s, const struct line *l, struct err *e)
{
	char fact[LINE_HASH_LEN + 32];

	if (!s)
		return 0;
	snprintf(fact, sizeof(fact), "%" PRIu64 " %s", l->seq, l->hash);
	return store_set_fact(s, FACT, fact, e);
}
