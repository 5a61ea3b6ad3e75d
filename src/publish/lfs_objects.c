/*
 * Content of Git LFS files. A commit has only their pointers, so the content is carried into the user's store before
 * the branch moves. The task's own store is in its private repository: hostile, and read beneath a descriptor.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "git/lfs.h"
#include "inside/inside.h"
#include "publish/job.h"
#include "sys/fd.h"

static void list_reached(const struct oidset *s, struct strvec *ret)
{
	char hex[OID_SIZE];

	for (size_t i = 0; i < s->cap; i++) {
		if (!s->used[i])
			continue;
		for (unsigned k = 0; k < s->hash_len; k++)
			snprintf(hex + 2 * k, 3, "%02x", s->v[i][k]);
		strvec_push(ret, hex);
	}
}

/* Of a file of LFS the limits count the content. */
static int check_limits(
	struct job *j, const struct lfs_pointer *p, uint64_t *bytes, struct refusal *no, struct err *e)
{
	const struct config_policy *rules = &j->pub->in->context.config.policy;
	struct policy policy = { .rules = rules };

	*bytes += p->size;
	if (policy_size(&policy, p->oid, p->size, no, e) < 0)
		return -1;
	if (*bytes <= rules->max_size)
		return 0;
	refuse(no, e, "too_large", "", "the LFS files have more than %llu bytes",
		(unsigned long long)rules->max_size);
	snprintf(no->boundary, sizeof(no->boundary), "limits.max_worktree_size");
	return refusal_say(no, "publish many large files", "publish fewer or smaller files");
}

static int carry(struct job *j, int from, const char *oid, uint64_t *bytes, struct refusal *no, struct err *e)
{
	auto_buf data = BUF_INIT(LFS_POINTER_MAX);
	struct lfs_pointer p;
	int rc;

	if (objects_read(&j->v->objects, oid, OBJECT_BLOB, &data, e) < 0)
		return -1;
	if (!lfs_parse(buf_str(&data), data.len, &p))
		return 0;
	if (check_limits(j, &p, bytes, no, e) < 0)
		return -1;
	rc = lfs_carry(&j->pub->in->at.repo, from, &p, e);
	if (rc <= 0)
		return rc;
	refuse(no, e, "lfs_missing", "", "a commit has the LFS pointer %.12s, but its content is nowhere",
		p.oid);
	return refusal_say(no, "publish an LFS file without its content",
		"add the file again: git rm --cached FILE, git add FILE, git commit --amend");
}

int publish_lfs(struct job *j, struct refusal *no, struct err *e)
{
	auto_fd from = open_beneath(j->pub->in->at.ws.dir, "git/" LFS_STORE, O_RDONLY | O_DIRECTORY, 0),
		store = lfs_open_store(&j->pub->in->at.repo);
	auto_strvec oids = STRVEC_INIT;
	enum object_type *types;
	uint64_t *sizes, bytes = j->walk.bytes;
	int rc;

	if (from < 0 && store < 0)
		return 0;
	list_reached(&j->walk.reached, &oids);
	if (!oids.n)
		return 0;
	types = xcalloc(oids.n, sizeof(*types));
	sizes = xcalloc(oids.n, sizeof(*sizes));
	rc = objects_info_many(&j->v->objects, oids.v, oids.n, types, sizes, e);
	for (size_t i = 0; !rc && i < oids.n; i++)
		if (types[i] == OBJECT_BLOB && sizes[i] < LFS_POINTER_MAX)
			rc = carry(j, from, oids.v[i], &bytes, no, e);
	free(types);
	free(sizes);
	return rc;
}
