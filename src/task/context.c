#include "task/context.h"

#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include "base/alloc.h"

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

int context_open(struct context *c, struct err *e)
{
	*c = (struct context){ .home.fd = -1 };
	if (who(c, e) < 0)
		return -1;
	if (config_load(c->user_home, getenv("XDG_CONFIG_HOME"), getenv("GARTH_CONFIG"), &c->config, e) < 0)
		return -1;
	return home_open(getenv("GARTH_HOME"), c->user_home, &c->home, e);
}

int context_store(struct context *c, struct err *e)
{
	return c->store ? 0 : store_open(c->home.path, &c->store, e);
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
