#include "task/approval.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/digest.h"
#include "sys/fault.h"

/* The keys that can be asked for, in the order of the digest. Their order must not change. */
static const char *const keys[] = { "workspace.setup", "workspace.setup_network", "workspace.include" };

void approval_digest(const struct config *config, char out[APPROVAL_DIGEST_SIZE])
{
	unsigned char hash[DIGEST_MAX];
	auto_buf text = BUF_INIT(64 << 20);

	for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
		for (size_t i = 0; i < config->nasks; i++)
			if (!strcmp(config->asks[i].key, keys[k]))
				buf_printf(&text, "%s %s\n", keys[k], config->asks[i].exact);
	digest_of(DIGEST_SHA256_LEN, buf_str(&text), text.len, hash);
	for (size_t i = 0; i < DIGEST_SHA256_LEN; i++)
		snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static int refuse(const char *rev, struct err *e)
{
	err_set(e, ERR_REFUSED,
		"the repository's .garth.yaml asks for set-up or files that have not been approved");
	return rev ? err_hint(e, "garth trust --base %s", rev) : err_hint(e, "garth trust");
}

int approval_check(
	struct context *c, int64_t project, const struct config *config, const char *rev, struct err *e)
{
	char digest[APPROVAL_DIGEST_SIZE];
	bool approved = false;

	if (!config->nasks)
		return 0;
	approval_digest(config, digest);
	if (context_store(c, e) < 0 || store_is_approved(c->store, project, digest, &approved, e) < 0)
		return -1;
	return approved ? 0 : refuse(rev, e);
}

/* What is asked for, for people: ["workspace.setup: npm ci", …]. */
static json_t *in_words(const struct config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; i < config->nasks; i++) {
		auto_str line = xasprintf("%s: %s", config->asks[i].key, config->asks[i].text);

		json_array_append_new(list, audit_text(line));
	}
	return list;
}

static int record(struct context *c, int64_t project, const char *event, json_t *details, struct err *e)
{
	auto_project p = { 0 };
	auto_audit log = NULL;

	if (store_project_by_id(c->store, project, &p, e) < 0 ||
		audit_open(c->home.fd, c->store, &log, e) < 0) {
		json_decref(details);
		return -1;
	}
	json_object_set_new(details, "repository", audit_text(p.path));
	return audit_add(log, event, NULL, details, e);
}

int approval_give(struct context *c, int64_t project, const struct config *config, struct err *e)
{
	char digest[APPROVAL_DIGEST_SIZE], *text;
	json_t *words;
	int rc;

	if (context_store(c, e) < 0)
		return -1;
	approval_digest(config, digest);
	words = in_words(config);
	text = json_dumps(words, JSON_COMPACT);
	json_decref(words);
	/* the line has the digest and the beginning; the store has all of it */
	rc = record(c, project, "trust",
		json_pack("{s:s, s:o}", "digest", digest, "what", audit_text(text ? text : "")), e);
	fault("trust-audit");
	if (!rc)
		rc = store_approve(c->store, project, digest, text ? text : "[]", e);
	free(text);
	return rc;
}

int approval_revoke(struct context *c, int64_t project, struct err *e)
{
	if (context_store(c, e) < 0 || record(c, project, "untrust", json_object(), e) < 0)
		return -1;
	return store_unapprove(c->store, project, e);
}
