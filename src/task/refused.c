#include "task/refused.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "task/agent_name.h"

/* The only bytes of an entry that is offered for copying. What counts as a letter elsewhere may depend on the
 * user's language. */
#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-._:[]"

static char *entry_of(const char *host, int port)
{
	auto_str entry = hosts_entry(host, port);

	return entry && !entry[strspn(entry, HOST_LETTERS)] ? steal_ptr(entry) : NULL;
}

static void explain_near(const struct strvec *allow, const struct asked *a, struct buf *why)
{
	const char *entry;
	struct host h;

	if (!host_parse(a->host, strlen(a->host), (uint16_t)a->port, &h))
		return;
	switch (hosts_near(allow, &h, &entry)) {
	case HOSTS_PORT:
		buf_printf(why, "only other ports of it are on the list (%s)", entry);
		break;
	case HOSTS_SPELLING:
		buf_printf(why, "perhaps %s is meant, which is on the list", entry);
		break;
	case HOSTS_ABOVE:
		buf_printf(why, "%s on the list is only what is beneath it", entry);
		break;
	case HOSTS_FAR:
		break;
	}
}

char *refused_explain(const struct strvec *allow, const struct asked *a, struct buf *why)
{
	bool private = a->why == ASKED_PRIVATE;
	auto_str name = entry_of(a->host, a->port);
	auto_str entry = private ? entry_of(a->address, a->port) : NULL;

	if (!name || (private && !entry))
		return NULL;
	if (private)
		buf_printf(why, "leads to %s, which is not a public address", a->address);
	else
		explain_near(allow, a, why);
	return private ? steal_ptr(entry) : steal_ptr(name);
}

char *refused_sentence(const struct strvec *allow, const struct asked *a, const char *task, char **ret_entry)
{
	auto_buf why = BUF_SMALL;
	auto_str entry = refused_explain(allow, a, &why);
	char *text;

	if (!entry)
		return NULL;
	if (a->why == ASKED_PRIVATE)
		text = xasprintf(
			"%s:%d %s: garth allow --host %s %s", a->host, a->port, buf_str(&why), task, entry);
	else
		text = xasprintf("%s:%d is not on the task's list%s%s: garth allow --host %s %s", a->host,
			a->port, why.len ? "; " : "", buf_str(&why), task, entry);
	*ret_entry = steal_ptr(entry);
	return text;
}

bool refused_is_quiet(const struct config *c, int task_dir, const struct asked *a)
{
	auto_str name = agent_name_load(task_dir);
	const struct config_agent *agent = name ? config_agent_by_name(c, name) : NULL;
	struct host h;

	return agent && host_parse(a->host, strlen(a->host), (uint16_t)a->port, &h) &&
	       hosts_allow(&agent->quiet_hosts, &h);
}
