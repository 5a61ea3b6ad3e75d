#include "runtime/setup_key.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/glob.h"
#include "config/defaults.h"
#include "sys/digest.h"
#include "workspace/scan.h"

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

/* A name with a hash of these bytes. */
static char *hashed(const char *start, const struct buf *key)
{
	unsigned char sum[DIGEST_MAX];

	digest_of(DIGEST_SHA256_LEN, key->data, key->len, sum);
	return xasprintf("%s%02x%02x%02x%02x%02x%02x%02x%02x", start, sum[0], sum[1], sum[2], sum[3], sum[4],
		sum[5], sum[6], sum[7]);
}

/* What the configuration says. */
static void add_settings(const struct config *c, const struct repo *r, struct buf *key)
{
	/* installed files often contain the path that they were installed at */
	buf_printf(key, "2 %s", r->main_top);
	for (size_t i = 0; i < c->setup.n; i++) {
		buf_addch(key, '\0');
		buf_addstr(key, c->setup.v[i]);
	}
	buf_addch(key, '\0');
}

static int make_key(
	const struct config *c, const struct repo *r, bool own, struct buf *key, char **ret, struct err *e)
{
	auto_buf tree = BUF_INIT(TREE_MAX);
	struct git g = repo_git(r);

	if (git_do(&g, &tree, e, "ls-tree", "-r", "-z", "--full-tree", r->commit, NULL) < 0)
		return -1;
	if (!add_inputs(c, &tree, key) || own)
		buf_addstr(key, r->commit);
	if (key->overflow)
		return err_set(e, ERR_REFUSED, "workspace.setup_inputs matches too many files");
	*ret = hashed(LAYER_SETUP, key);
	return 0;
}

int setup_key(struct context *c, const struct repo *r, bool own, char **ret, struct err *e)
{
	auto_buf key = BUF_INIT(TREE_MAX), asked = BUF_INIT(TREE_MAX);
	auto_str settings = NULL;

	add_settings(&c->config, r, &key);
	buf_add(&asked, buf_str(&key), key.len);
	for (size_t i = 0; i < c->config.setup_inputs.n; i++)
		buf_printf(&asked, "%s\n", c->config.setup_inputs.v[i]);
	settings = hashed(own ? "own-" : "", &asked);
	if (context_store(c, e) < 0)
		return -1;
	if (!store_compared(c->store, "setup", r->commit, settings, ret, e))
		return 0;
	if (e->kind != ERR_NOTFOUND || make_key(&c->config, r, own, &key, ret, e) < 0)
		return -1;
	return store_set_compared(c->store, "setup", r->commit, settings, *ret, e);
}

int setup_fits(struct context *c, const struct repo *r, const struct layer *l, bool *ret, struct err *e)
{
	auto_tracked t = { 0 };
	auto_buf roots = BUF_INIT(TREE_MAX);
	auto_str known = NULL, layer = NULL;

	buf_addstr(&roots, l->name);
	for (size_t i = 0; i < l->roots.n; i++)
		buf_printf(&roots, "\n%s", l->roots.v[i]);
	layer = hashed("", &roots);
	if (context_store(c, e) < 0)
		return -1;
	if (!store_compared(c->store, "setup-fits", r->commit, layer, &known, e))
		return *ret = !strcmp(known, "yes"), 0;
	if (e->kind != ERR_NOTFOUND || tracked_of_commit(r, r->commit, &t, e) < 0)
		return -1;
	*ret = !layer_collides(l, &t);
	return store_set_compared(c->store, "setup-fits", r->commit, layer, *ret ? "yes" : "no", e);
}
