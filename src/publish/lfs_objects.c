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

/* Of a file of LFS the limits count the content, together with everything that the task has published before. */
static int check_limits(
	struct job *j, const struct lfs_pointer *p, uint64_t bytes, struct refusal *no, struct err *e)
{
	const struct config_policy *rules = &j->pub->in->context.config.policy;
	struct policy policy = { .rules = rules };

	if (policy_size(&policy, p->oid, p->size, no, e) < 0)
		return -1;
	if (bytes <= rules->max_size)
		return 0;
	refuse(no, e, "too_large", "", "the LFS files have more than %llu bytes",
		(unsigned long long)rules->max_size);
	snprintf(no->boundary, sizeof(no->boundary), "limits.max_worktree_size");
	return refusal_say(no, "publish many large files", "publish fewer or smaller files");
}

/* Copied content stays in the user's store, even if the publish is refused in the end. So it counts before that. */
static int charge(struct job *j, uint64_t size, struct err *e)
{
	struct inside *in = j->pub->in;
	struct submodule_row row = { .commits = in->task.commits, .bytes = in->task.bytes + (int64_t)size };
	int rc;

	snprintf(row.published, sizeof(row.published), "%s", in->task.published);
	rc = *in->within ? store_submodule_set(in->context.store, in->task.id, in->within, &row, e)
			 : store_task_published(in->context.store, in->task.id, in->task.published,
				   in->task.commits, row.bytes, e);
	if (!rc)
		in->task.bytes = row.bytes;
	return rc;
}

static int refuse_missing(const struct lfs_pointer *p, struct refusal *no, struct err *e)
{
	refuse(no, e, "lfs_missing", "", "a commit has the LFS pointer %.12s, but its content is nowhere",
		p->oid);
	return refusal_say(no, "publish an LFS file without its content",
		"add the file again: git rm --cached FILE, git add FILE, git commit --amend");
}

/* *bytes: all that the task has published, with this. */
static int carry(struct job *j, int from, const char *oid, uint64_t *bytes, struct refusal *no, struct err *e)
{
	auto_buf data = BUF_INIT(LFS_POINTER_MAX);
	struct lfs_pointer p;
	int rc;

	if (objects_read(&j->v->objects, oid, OBJECT_BLOB, &data, e) < 0)
		return -1;
	if (!lfs_parse(buf_str(&data), data.len, &p) || lfs_has(&j->pub->in->at.repo, &p))
		return 0;
	if (from < 0 || !lfs_is_in(from, &p))
		return refuse_missing(&p, no, e);
	*bytes += p.size;
	if (check_limits(j, &p, *bytes, no, e) < 0 || charge(j, p.size, e) < 0)
		return -1;
	rc = lfs_carry(&j->pub->in->at.repo, from, &p, e);
	return rc > 0 ? refuse_missing(&p, no, e) : rc;
}

int publish_lfs(struct job *j, struct refusal *no, struct err *e)
{
	auto_str path = xasprintf("%s/" LFS_STORE, j->pub->in->git_dir);
	auto_fd from = open_beneath(j->pub->in->at.ws.dir, path, O_RDONLY | O_DIRECTORY, 0),
		store = lfs_open_store(&j->pub->in->at.repo);
	auto_strvec oids = STRVEC_INIT;
	enum object_type *types;
	uint64_t *sizes, bytes = j->bytes_before + j->walk.bytes;
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
