/* A repository with a base commit, a task on it, and a policy; everything that came after fixture_known is
 * fresh. */
#ifndef TESTS_WALKED_H
#define TESTS_WALKED_H

#include "reader.h"

#include "base/strvec.h"
#include "publish/walk.h"

struct fixture {
	const struct scratch *s;
	unsigned hash_len;
	struct config config;
	struct strvec allowed, compare;
	struct policy policy;
	struct oidset known, fresh;
	char base[65];
	int64_t before;
	struct walk_result r;
	struct refusal no;
	struct err e;
};

static inline void all_objects(const struct fixture *f, struct oidset *to, const struct oidset *but)
{
	auto_str text = sh(f->s, "git cat-file --batch-all-objects --batch-check='%(objectname)'");

	for (char *at = text; *at;) {
		size_t n = strcspn(at, "\n");
		bool last = !at[n];

		at[n] = '\0';
		if (!but || !oidset_has(but, at))
			assert_true(oidset_add(to, at));
		at += n + !last;
	}
}

static inline void fixture_known(struct fixture *f)
{
	oidset_release(&f->known);
	all_objects(f, &f->known, NULL);
}

static inline void fixture_open(struct fixture *f, void **state, unsigned hash_len)
{
	auto_str base = NULL;

	*f = (struct fixture){ .s = *state, .hash_len = hash_len };
	f->known.hash_len = f->fresh.hash_len = hash_len;
	config_defaults(&f->config);
	f->policy = (struct policy){ .rules = &f->config.policy, .allowed = &f->allowed, .task = "fix" };
	run(f->s, hash_len == 20 ? "git init -q -b main ." : "git init -q -b main --object-format=sha256 .");
	run(f->s, "mkdir -p dir/sub .github/workflows docs; echo a >a; echo b >dir/b; echo c >dir/sub/c;"
		  "echo d >docs/d; echo ci >.github/workflows/ci.yml; echo '* @me' >CODEOWNERS;"
		  "git add -A; git commit -qm base; git checkout -qb task");
	base = sh(f->s, "git rev-parse HEAD");
	snprintf(f->base, sizeof(f->base), "%s", base);
	fixture_known(f);
}

static inline void fixture_close(struct fixture *f)
{
	config_release(&f->config);
	strvec_release(&f->allowed);
	strvec_release(&f->compare);
	oidset_release(&f->known);
	oidset_release(&f->fresh);
	walk_release(&f->r);
}

static inline int look_at(struct fixture *f, const char *tip)
{
	struct objects o;
	pid_t pid = start(f->s, cat_file, &o);
	struct walk_spec spec = { .objects = &o,
		.hash_len = f->hash_len,
		.fresh = &f->fresh,
		.tip = tip,
		.base = f->base,
		.compare = &f->compare,
		.commits_before = f->before,
		.policy = &f->policy };
	int rc;

	oidset_release(&f->fresh);
	all_objects(f, &f->fresh, &f->known);
	walk_release(&f->r);
	f->e = (struct err)ERR_INIT;
	rc = walk(&spec, &f->r, &f->no, &f->e);
	assert_false(o.broken);
	/* the next one finds the reader as it should be */
	if (!rc)
		assert_true(o.used == o.ahead.len);
	stop(pid, &o);
	return rc;
}

/* The script's last line is the tip. */
static inline int look(struct fixture *f, const char *script)
{
	auto_str out = sh(f->s, script);
	const char *tip = strrchr(out, '\n');

	return look_at(f, tip ? tip + 1 : out);
}

static inline void assert_good(struct fixture *f, int rc)
{
	/* the message first: it says what happened */
	assert_string_equal(f->e.msg, "");
	assert_string_equal(f->no.code, "");
	assert_int_equal(rc, 0);
}

static inline void assert_no(struct fixture *f, int rc, const char *code, const char *path)
{
	assert_int_equal(rc, -1);
	assert_string_equal(f->no.code, code);
	assert_int_equal(f->e.kind, strcmp(code, "incomplete") ? ERR_REFUSED : ERR_FAILED);
	if (path)
		assert_string_equal(f->no.path, path);
	assert_true(*f->no.tried && *f->no.instead);
}

#endif
