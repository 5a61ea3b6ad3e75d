#include "task/moved.h"

#include <ctype.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "task/refs.h"

/* A file in the task's directory with the commit. */
#define BY_HAND "moved-to"

struct search {
	char *id, *commit; /* as text of the line */
	int64_t bytes;
};

static bool has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

/* The "bytes" of a publish. No string of an agent can contain this key: its quotes would be escaped. */
static int64_t bytes_in(const char *line, size_t len)
{
	static const char key[] = "\"bytes\":";
	const char *at = memmem(line, len, key, strlen(key));
	int64_t n = 0;

	for (at = at ? at + strlen(key) : line + len; at < line + len && isdigit((unsigned char)*at); at++)
		n = n * 10 + (*at - '0');
	return n;
}

/* Matches the two events that move a branch. */
static int look(const char *line, size_t len, void *arg, struct err *e)
{
	struct search *s = arg;

	(void)e;
	if (!has(line, len, s->id) || !has(line, len, s->commit) ||
		!(has(line, len, "\"event\":\"publish\"") || has(line, len, "\"event\":\"move\"")))
		return 0;
	s->bytes = bytes_in(line, len);
	return 1;
}

int moved_by_garth(struct context *c, const struct task *t, const char *commit, bool *ret, int64_t *ret_bytes,
	struct err *e)
{
	auto_str id = xasprintf("\"task_id\":%lld,", (long long)t->id),
		 oid = xasprintf("\"tip\":\"%s\"", commit);
	struct search s = { id, oid, 0 };
	uint64_t offset = 0;
	int rc = audit_read(c->home.fd, &offset, look, &s, e);

	if (rc < 0)
		return -1;
	*ret = rc > 0;
	*ret_bytes = s.bytes;
	return 0;
}

static int keep_tip(struct context *c, const struct repo *r, const struct task *t, struct err *e)
{
	struct snapshot s = {
		.task_id = t->id, .commit = t->published, .reason = (char *)"moved", .commits = t->commits
	};
	auto_ref_txn txn = REF_TXN_INIT;

	if (!*t->published || !ref_can_name(r, t->published))
		return 0;
	if (store_snapshot_add(c->store, &s, e) < 0)
		return -1;
	return refs_keep(c, r, t, &txn, e) < 0 ? -1 : ref_commit(r, &txn, e);
}

int moved_keep(struct context *c, const struct repo *r, const struct task *t, int task_dir, const char *now,
	struct err *e)
{
	if (keep_tip(c, r, t, e) < 0)
		return -1;
	return write_file(task_dir, BY_HAND, now, strlen(now), 0600, e);
}

bool moved_by_hand(int task_dir, const char *commit)
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	return !read_file(task_dir, BY_HAND, &text, &ignored) && !strcmp(buf_str(&text), commit);
}
