#include "task/context.h"

#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/named_path.h"
#include "workspace/identity.h"

static int who(struct context *c, struct err *e)
{
	struct passwd *pw = getpwuid(geteuid());
	const char *home = getenv("HOME");

	if (!home || home[0] != '/')
		home = pw ? pw->pw_dir : NULL;
	if (!home)
		return err_set(e, ERR_USAGE, "HOME is not set");
	c->user_home = canonicalize_file_name(home);
	if (!c->user_home)
		return err_sys(e, "cannot find the home directory '%s'", home);
	c->user = xstrdup(pw ? pw->pw_name : "user");
	c->shell = xstrdup(pw && pw->pw_shell && *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	return 0;
}

static int check_own(const struct context *c, struct err *e)
{
	return c->looks ? 0 : identity_refuse_copy(&c->home, e);
}

static int open_all(struct context *c, bool looks, struct err *e)
{
	struct config_places places;

	*c = (struct context){ .home.fd = -1, .looks = looks };
	if (who(c, e) < 0)
		return -1;
	places = config_places(c->user_home);
	if (config_load(&places, &c->config, e) < 0)
		return -1;
	if (home_open(getenv("GARTH_HOME"), c->user_home, &c->home, e) < 0)
		return -1;
	for (size_t i = 0; i < c->config.allow_write.n; i++)
		named_path_add_writable(c->config.allow_write.v[i]);
	return check_own(c, e);
}

int context_open(struct context *c, struct err *e)
{
	return open_all(c, false, e);
}

int context_open_to_look(struct context *c, struct err *e)
{
	return open_all(c, true, e);
}

/* An earlier version made every workspace below its home, so a workspace's path tells where the home was. */
static char *made_at(struct context *c)
{
	struct err ignored = ERR_INIT;
	auto_task_list all = { 0 };

	if (store_task_list(c->store, false, &all, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < all.n; i++) {
		auto_str end = xasprintf("/worktrees/%s", all.v[i].name);
		const char *at = all.v[i].workspace;
		size_t n = strlen(at), m = strlen(end);

		if (n > m && !strcmp(at + n - m, end))
			return xstrndup(at, n - m);
	}
	return NULL;
}

int context_store(struct context *c, struct err *e)
{
	if (c->store)
		return 0;
	if (store_open(c->home.path, &c->store, e) < 0)
		return -1;
	if (c->home.unnamed) {
		auto_str place = made_at(c);

		identity_settle(&c->home, place);
	}
	return check_own(c, e);
}

void context_close_store(struct context *c)
{
	store_close(c->store);
	c->store = NULL;
}

void context_close(struct context *c)
{
	context_close_store(c);
	config_release(&c->config);
	home_release(&c->home);
	free(c->user);
	free(c->user_home);
	free(c->shell);
	*c = (struct context){ .home.fd = -1 };
}
