#include <inttypes.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "jail/jail.h"
#include "jail/overlay_rename.h"

static const struct {
	unsigned wall;
	const char *name;
} walls[] = {
	{ JAIL_WALL_LANDLOCK, "Landlock" },
	{ JAIL_WALL_LANDLOCK_SCOPE, "Landlock scopes" },
	{ JAIL_WALL_PROC, "a /proc of its own" },
};

static void add_clean(struct buf *out, const char *text)
{
	clean_text(out, text, strlen(text), false);
}

static const char *access_name(const struct jail_row *r)
{
	if (r->kind == JAIL_OVERLAY || r->kind == JAIL_CACHE || r->flags & JAIL_WRITE)
		return r->flags & JAIL_NOEXEC ? "writable, noexec" : "writable";
	return r->flags & JAIL_NOEXEC ? "read-only, noexec" : "read-only";
}

static void print_row(const struct jail *j, const struct jail_row *r, struct buf *out)
{
	buf_printf(out, "%-8s ", jail_kind_name(r->kind));
	add_clean(out, r->target);
	buf_printf(out, "  (%s%s)", access_name(r), r->flags & JAIL_OPTIONAL ? ", optional" : "");
	if (r->kind == JAIL_DATA)
		buf_printf(out, "  %zu bytes", strlen(r->source));
	else if (r->kind == JAIL_TMPFS)
		buf_printf(out, "  at most %s bytes", r->source);
	else if (r->source && *r->source && strcmp(r->source, r->target) != 0) {
		buf_addstr(out, r->kind == JAIL_LINK ? "  to " : "  from ");
		add_clean(out, r->source);
	}
	buf_addch(out, '\n');
	if (r->kind == JAIL_CACHE) {
		buf_addstr(out, "  layer  ");
		add_clean(out, j->caches);
		buf_addch(out, '/');
		add_clean(out, r->layer);
		buf_addch(out, '\n');
	}
	for (size_t i = 0; i < r->lowers.n; i++) {
		buf_addstr(out, "  lower  ");
		add_clean(out, j->shared);
		buf_addch(out, '/');
		add_clean(out, r->lowers.v[i]);
		buf_addch(out, '\n');
	}
	if (r->kind != JAIL_OVERLAY)
		return;
	buf_addstr(out, "  upper  ");
	add_clean(out, j->upper);
	for (size_t i = 0; i < j->lowers.n; i++) {
		buf_addstr(out, "\n  lower  ");
		add_clean(out, j->lowers.v[i]);
	}
	buf_addch(out, '\n');
}

void jail_print(const struct jail *j, struct buf *out)
{
	static const char *const kinds[RULE_KINDS] = { "allow_read", "allow_write", "deny_read",
		"deny_write" };

	if (j->landlock_only)
		buf_addstr(out, "spaces   none: Landlock and the filter alone\n");
	else
		buf_printf(out, "spaces   user, mount, pid, ipc, uts, cgroup%s\n",
			j->net == JAIL_NET_HOST ? "" : ", net");
	buf_printf(out, "user     %u:%u%s\n", j->uid, j->gid, j->from_root ? ", entered by root" : "");
	for (size_t i = 0; i < j->nrows; i++)
		print_row(j, &j->rows[i], out);
	for (size_t i = 0; i < j->rules.n; i++) {
		buf_printf(out, "rule     %s  ", kinds[j->rules.v[i].kind]);
		add_clean(out, j->rules.v[i].glob);
		buf_addch(out, '\n');
	}
	buf_printf(out, "network  %s\n",
		j->net == JAIL_NET_HOST ? "the host's"
		: j->landlock_only      ? "none"
					: "loopback only");
	if (j->listens)
		buf_printf(out, "proxy    127.0.0.1:%" PRIu64 ", answered from outside\n", j->listens);
	if (j->hostname) {
		buf_addstr(out, "hostname ");
		add_clean(out, j->hostname);
		buf_addch(out, '\n');
	}
	if (j->max_file_size)
		buf_printf(out, "limit    %" PRIu64 " bytes in a file\n", j->max_file_size);
	if (j->max_open_files)
		buf_printf(out, "limit    %" PRIu64 " open files in a process\n", j->max_open_files);
	if (j->max_procs)
		buf_printf(out, "limit    %" PRIu64 " processes\n", j->max_procs);
	if (j->max_memory)
		buf_printf(out, "limit    %" PRIu64 " bytes of memory in a process\n", j->max_memory);
	if (j->max_core)
		buf_printf(out, "limit    %" PRIu64 " bytes in a core file\n", j->max_core);
	buf_addstr(out, "rights   no capabilities, no new privileges\n");
	if (!(j->without & JAIL_WALL_LANDLOCK))
		buf_addstr(
			out, "landlock the same files once more, signals and abstract sockets stay inside\n");
	buf_addstr(out, "seccomp  the built-in filter\n");
	if (rename_helps(j))
		buf_addstr(out, "renames  the first process helps with directories of lower layers\n");
	if (j->landlock_only)
		buf_addstr(out,
			"outside  a supervisor carries out connects, and changes of modes and times, in writable places only\n");
	for (size_t i = 0; i < j->sockets.n; i++) {
		buf_addstr(out, "socket   ");
		add_clean(out, j->sockets.v[i]);
		buf_addch(out, '\n');
	}
	for (size_t i = 0; i < ARRAY_SIZE(walls); i++)
		if (j->without & walls[i].wall)
			buf_printf(out, "without  %s, if the kernel lacks it\n", walls[i].name);
}
