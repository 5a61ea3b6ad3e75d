#include "task/repository_config.h"

#include "base/alloc.h"

int repository_config_apply(const struct repo *r, const char *commit, struct config *c, bool *ret_there,
	struct buf *text, struct err *e)
{
	auto_str name = xasprintf(REPO_SETTINGS "@%.7s", commit);

	*ret_there = false;
	if (repo_settings(r, commit, ret_there, text, e) < 0)
		return -1;
	return *ret_there ? config_apply_repository(c, buf_str(text), text->len, name, e) : 0;
}

int repository_config_load(struct context *c, const struct repo *r, struct config *ret, bool *ret_there,
	struct buf *text, struct err *e)
{
	const struct config_places places = config_places(c->user_home);
	auto_config config = { 0 };

	*ret_there = false;
	if (config_load(&places, &config, e) < 0 ||
		(r->has_settings && repository_config_apply(r, r->commit, &config, ret_there, text, e) < 0))
		return -1;
	*ret = config;
	config = (struct config){ 0 };
	return 0;
}
