#include "task/inside_path.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "task/walls_parts.h"
#include "workspace/workspace.h"

/* Nothing may be mounted at or below these: the jail fills them itself. */
static const char *const filled[] = { "/proc", "/sys", "/dev", "/etc", INSIDE_DIR };
/* Nothing may be mounted at these. Projects below them are fine. So are projects below the system's
 * directories: the rest of those is shown around the project. */
static const char *const bare[] = { "/tmp", "/var/tmp" };

static bool covers(const char *project, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n && paths[i]; i++)
		if (path_within(paths[i], project))
			return true;
	return false;
}

/* The copies of log-ins in the task home must not be covered. */
static bool covers_login(const struct context *c, const char *project)
{
	for (size_t i = 0; i < c->config.nagents; i++)
		for (size_t k = 0; k < c->config.agents[i].login.n; k++) {
			auto_str login = path_join(c->user_home, c->config.agents[i].login.v[k]);

			if (path_within(login, project))
				return true;
		}
	return false;
}

bool inside_path_is_free(const struct context *c, const char *project)
{
	if (!path_is_clean(project) || !project[1] || strlen(project) + NAME_MAX > PATH_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(filled); i++)
		if (path_within(project, filled[i]))
			return false;
	return !path_within(project, c->home.path) && !path_within(c->user_home, project) &&
	       !covers(project, filled, ARRAY_SIZE(filled)) && !covers(project, bare, ARRAY_SIZE(bare)) &&
	       !covers(project, walls_system_paths, SIZE_MAX) && !covers_login(c, project);
}

char *inside_path_of(const struct context *c, const char *project, const char *backend, const char *place)
{
	if (backend_named(backend)->at_project && inside_path_is_free(c, project))
		return xstrdup(project);
	return home_path(&c->home, "%s/%s", backend_named(backend)->place, place);
}
