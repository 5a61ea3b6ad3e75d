#include "publish/submodules.h"

#include <string.h>

#include "base/alloc.h"
#include "inside/submodule.h"

static int publish_open(struct inside *sub, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e)
{
	struct publisher pub = PUBLISHER_INIT(sub);
	char found[OID_SIZE] = "";
	int rc = 0;

	if (!tip && publish_find_tip(sub, found, e) < 0)
		return -1;
	if (tip || *found)
		rc = publish_offered(&pub, tip ? tip : found, by, pack, ret, no, e);
	publisher_close(&pub);
	return rc;
}

int publish_submodule(struct publisher *pub, size_t n, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e)
{
	auto_inside_submodule sub = INSIDE_SUBMODULE_INIT;
	auto_submodules s = { 0 };

	if (submodules_load(pub->in->at.ws.dir, &s, e) < 0)
		return -1;
	if (n >= s.n || !submodule_is_here(&s.v[n]))
		return err_set(e, ERR_USAGE, "the task has no submodule %zu", n);
	return inside_submodule_open(pub->in, &s, n, &sub, e) < 0
		       ? -1
		       : publish_open(&sub.in, tip, by, pack, ret, no, e);
}

static int publish_rest(struct publisher *pub, const struct submodules *s, size_t n, const char *by,
	struct refusal *no, struct err *e)
{
	auto_inside_submodule sub = INSIDE_SUBMODULE_INIT;
	struct publish_result r = { 0 };

	if (inside_submodule_open(pub->in, s, n, &sub, e) < 0)
		return -1;
	return publish_is_unmoved(&sub.in) ? 0 : publish_open(&sub.in, NULL, by, -1, &r, no, e);
}

int publish_submodules(
	struct publisher *pub, const char *by, char **ret_failed, struct refusal *no, struct err *e)
{
	auto_submodules s = { 0 };
	int rc = 0;

	*ret_failed = NULL;
	if (submodules_load(pub->in->at.ws.dir, &s, e) < 0)
		return *ret_failed = xstrdup(""), -1;
	/* a nested submodule comes after the one that it is in */
	for (size_t i = s.n; i-- > 0;) {
		struct refusal why = { 0 };
		struct err failed = ERR_INIT;

		if (!submodule_is_here(&s.v[i]) || !publish_rest(pub, &s, i, by, &why, &failed))
			continue;
		if (!rc) {
			*ret_failed = xstrdup(s.v[i].path);
			*no = why;
			*e = failed;
		}
		rc = -1;
	}
	return rc;
}
