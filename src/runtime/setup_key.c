#include "runtime/setup_key.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/glob.h"
#include "config/defaults.h"
#include "sys/digest.h"
#include "workspace/layer.h"

#define TREE_MAX (512u << 20)

static bool is_input(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->setup_inputs.n; i++)
		if (glob_matches(c->setup_inputs.v[i], path))
			return true;
	for (size_t i = 0; !c->setup_inputs.n && default_setup_inputs[i]; i++)
		if (glob_matches(default_setup_inputs[i], path))
			return true;
	return false;
}

/* Adds "MODE TYPE OID<tab>PATH" of each input; returns how many there are. */
static size_t add_inputs(const struct config *c, const struct buf *tree, struct buf *key)
{
	size_t found = 0;

	for (size_t at = 0; at < tree->len; at += strlen(tree->data + at) + 1) {
		const char *tab = strchr(tree->data + at, '\t');

		if (!tab || !is_input(c, tab + 1))
			continue;
		buf_add(key, tree->data + at, strlen(tree->data + at) + 1);
		found++;
	}
	return found;
}

int setup_key(const struct config *c, const struct repo *r, bool own, char **ret, struct err *e)
{
	auto_buf tree = BUF_INIT(TREE_MAX), key = BUF_INIT(TREE_MAX);
	struct git g = repo_git(r);
	unsigned char sum[DIGEST_MAX];

	if (git_do(&g, &tree, e, "ls-tree", "-r", "-z", "--full-tree", r->commit, NULL) < 0)
		return -1;
	/* installed files often contain the path that they were installed at */
	buf_printf(&key, "1 %s", r->main_top);
	for (size_t i = 0; i < c->setup.n; i++) {
		buf_addch(&key, '\0');
		buf_addstr(&key, c->setup.v[i]);
	}
	buf_addch(&key, '\0');
	if (!add_inputs(c, &tree, &key) || own)
		buf_addstr(&key, r->commit);
	if (key.overflow)
		return err_set(e, ERR_REFUSED, "workspace.setup_inputs matches too many files");
	digest_of(DIGEST_SHA256_LEN, key.data, key.len, sum);
	*ret = xasprintf(LAYER_SETUP "%02x%02x%02x%02x%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3],
		sum[4], sum[5], sum[6], sum[7]);
	return 0;
}
