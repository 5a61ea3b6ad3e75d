/* The commits that a task may build on: those that it was shown, and those that it has published. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "inside/inside.h"
#include "publish/job.h"
#include "task/refs.h"
#include "task/shown.h"

#define LEAVE_SECONDS 20

/* Commits that only a deleted tag held may be pruned, and git fails if one of its arguments is missing. */
int publish_list_known(struct job *j, struct strvec *ret, struct err *e)
{
	struct publisher *pub = j->pub;
	auto_buf shown = BUF_INIT(SHOWN_MAX);
	auto_strvec all = STRVEC_INIT;
	auto_snapshot_list l = { 0 };
	enum object_type *types;
	uint64_t *sizes;
	int rc;

	strvec_pushv(&all, (const char *const *)j->known.v);
	if (*pub->in->within
			? refs_kept(&pub->in->at.repo, &pub->in->task, &all, e) < 0
			: shown_read(&pub->in->context, pub->in->task.id, &shown, e) < 0 ||
				  store_snapshot_list(pub->in->context.store, pub->in->task.id, &l, e) < 0)
		return -1;
	shown_ids(&shown, &all);
	for (size_t i = 0; i < l.n; i++)
		strvec_push(&all, l.v[i].commit);
	types = xcalloc(all.n + 1, sizeof(*types));
	sizes = xcalloc(all.n + 1, sizeof(*sizes));
	rc = objects_info_many(&j->v->objects, all.v, all.n, types, sizes, e);
	for (size_t i = 0; !rc && i < all.n; i++)
		if (types[i] == OBJECT_COMMIT || types[i] == OBJECT_TAG)
			strvec_push(ret, all.v[i]);
	free(types);
	free(sizes);
	return rc;
}

/* Nearly always the few tips of the job are enough, without the shown tags. */
int publish_are_known(struct job *j, const struct strvec *commits, bool *ret, struct err *e)
{
	auto_strvec by = STRVEC_INIT;
	size_t known = 0;

	for (size_t i = 0; i < commits->n; i++)
		known += strvec_has(&j->known, commits->v[i]);
	*ret = known == commits->n;
	if (*ret)
		return 0;
	if (verifier_reached(j->v, commits, &j->known, ret, e) < 0)
		return -1;
	if (*ret)
		return 0;
	return publish_list_known(j, &by, e) < 0 ? -1 : verifier_reached(j->v, commits, &by, ret, e);
}

void publish_left_out(struct job *j, struct strvec *ret)
{
	struct publisher *pub = j->pub;
	auto_buf shown = BUF_INIT(SHOWN_MAX), input = BUF_INIT(SHOWN_MAX), out = BUF_INIT(16 << 20);
	auto_strvec ids = STRVEC_INIT, args = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	char *save = NULL;
	int code;

	strvec_pushv(ret, (const char *const *)j->known.v);
	if (*pub->in->within || shown_read(&pub->in->context, pub->in->task.id, &shown, &ignored) < 0)
		return;
	shown_ids(&shown, &ids);
	buf_printf(&input, "%s\n", j->tip);
	for (size_t i = 0; i < j->known.n; i++)
		buf_printf(&input, "^%s\n", j->known.v[i]);
	for (size_t i = 0; i < ids.n; i++)
		buf_printf(&input, "^%s\n", ids.v[i]);
	strvec_pushl(&args, "rev-list", "--boundary", "--ignore-missing", "--stdin", NULL);
	if (!ids.n || inside_git(pub->in, &args, &input, &out, NULL, LEAVE_SECONDS, &code, &ignored) < 0 ||
		code)
		return;
	for (char *l = out.len ? strtok_r(out.data, "\n", &save) : NULL; l && ret->n < PUBLISH_KNOWN_MAX;
		l = strtok_r(NULL, "\n", &save))
		if (*l == '-' && oid_is(l + 1, pub->in->at.repo.hash_len) && !strvec_has(ret, l + 1))
			strvec_push(ret, l + 1);
}
