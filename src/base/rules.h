/*
 * Rules about which paths may be read and written, as globs (glob.h).
 *
 *	auto_rules r = { 0 };
 *	rules_add(&r, RULE_DENY_READ, "secrets", "config.yaml:4");
 *	rules_add(&r, RULE_ALLOW_READ, "secrets/public", "config.yaml:5");
 *	const struct rule *w = rules_read(&r, "secrets/key");
 *	if (w && rule_denies(w)) → refuse, and tell w->glob and w->at
 *
 * The rule that names more of the path wins: more components without a wildcard, then more characters. If two
 * name as much, the denial wins. What may not be read may not be written either, and what may be written may be
 * read.
 */
#ifndef BASE_RULES_H
#define BASE_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum rule_kind { RULE_ALLOW_READ, RULE_ALLOW_WRITE, RULE_DENY_READ, RULE_DENY_WRITE, RULE_KINDS };

struct rule {
	enum rule_kind kind;
	char *glob;
	char *at; /* where it comes from, for people */
};

struct rules {
	struct rule *v;
	size_t n;
};

void rules_add(struct rules *r, enum rule_kind kind, const char *glob, const char *at);
void rules_release(struct rules *r);
#define auto_rules __attribute__((cleanup(rules_release))) struct rules

/* The rule that decides whether a path may be read or written; NULL if there is none. A glob that begins with a
 * slash is for absolute paths, any other for relative ones. */
const struct rule *rules_read(const struct rules *r, const char *path);
const struct rule *rules_write(const struct rules *r, const char *path);
bool rule_denies(const struct rule *r);
/* Whether a rule could match something beneath a directory; "" is the top. */
bool rules_are_beneath(const struct rules *r, const char *dir);
/* How much of a path a glob names; for tests. */
unsigned rule_weight(const char *glob);

#endif
