/* Describes a jail without namespaces: every file is at its own path on the host, and Landlock decides about
 * access. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/named_path.h"
#include "jail/userns.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "task/stage_files.h"
#include "task/walls_parts.h"

static bool is_link(const char *path)
{
	char text[2];

	return readlink(path, text, sizeof(text)) >= 0;
}

/* Allows a path of the host. Links need no rule, since Landlock checks what they point to. A rule applies to
 * everything below it: if something below is hidden, the other children get rules one by one. */
static void show_here(struct jail *j, const struct hidden *h, const char *path, unsigned depth)
{
	auto_str real = canonicalize_file_name(path);
	struct dirent *ent;
	DIR *d;

	for (size_t i = 0; real && i < j->nrows; i++)
		if (!strcmp(j->rows[i].target, real))
			return;
	if (!real || is_hidden(h, real))
		return;
	if (!hidden_beneath(h, real)) {
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, real, real);
		return;
	}
	if (depth > 32 || !(d = opendir(real)))
		return;
	while ((ent = readdir(d))) {
		auto_str sub = path_join(real, ent->d_name);

		/* a link may point upwards or out of the directory */
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") && !is_link(sub))
			show_here(j, h, sub, depth + 1);
	}
	closedir(d);
}

struct here {
	struct jail *j;
	const struct hidden *h;
};

/* A file that is a link may be replaced by the host; what it leads to is in a shown place. */
static void show_setting_here(const char *path, bool is_dir, void *arg)
{
	struct here *in = arg;

	if (is_dir || !is_link(path))
		show_here(in->j, in->h, path, 0);
}

static void show_system_here(struct jail *j, const struct hidden *h)
{
	struct here in = { j, h };
	static const char *const more[] = { "/etc/passwd", "/etc/group", "/etc/profile", "/etc/profile.d" };

	for (size_t i = 0; walls_system_paths[i]; i++) {
		char text[PATH_MAX] = "";

		if (!is_link(walls_system_paths[i]))
			show_here(j, h, walls_system_paths[i], 0);
		else if (!j->landlock_only && readlink(walls_system_paths[i], text, sizeof(text) - 1) > 0)
			jail_add(j, JAIL_LINK, 0, text, walls_system_paths[i]);
	}
	walls_etc(show_setting_here, &in);
	for (size_t i = 0; walls_sys_paths[i]; i++)
		show_here(j, h, walls_sys_paths[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		show_here(j, h, more[i], 0);
	if (j->net == JAIL_NET_HOST)
		show_here(j, h, "/etc/resolv.conf", 0);
}

static void show_named_here(const struct context *c, struct jail *j, const struct hidden *h, char *path)
{
	auto_str real = named_path_real(path);

	free(path);
	if (walls_home_is_fine(c, real))
		show_here(j, h, real, 0);
}

static void show_tools_here(struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *j,
	const struct hidden *h)
{
	for (size_t i = 0; i < c->config.tools.n; i++)
		show_named_here(c, j, h, path_join(c->user_home, c->config.tools.v[i]));
	/* nothing can be mounted over them: they stay read-only */
	for (size_t i = 0; i < c->config.ncaches; i++)
		if (strcmp(c->config.caches[i].mode, CACHE_OFF) != 0)
			show_named_here(c, j, h, path_join(c->user_home, c->config.caches[i].path));
	for (size_t i = 0; i < c->config.allow_read.n; i++)
		if (walls_can_allow(c, at, o, RULE_ALLOW_READ, i))
			show_named_here(c, j, h, xstrdup(c->config.allow_read.v[i]));
	/* links need no rule, and nothing can be shown at another path */
	for (size_t i = 0; o->also && i < o->also->n; i++)
		if (!o->also->v[i].link)
			show_named_here(c, j, h, xstrdup(o->also->v[i].source));
}

/* Writes a start-up file to the task home that sources `script`, unless the agent has such a file. */
static void write_profile(int home, const char *folder, const char *name, const char *script, bool fish)
{
	auto_fd dir = mkdirs_beneath(home, folder, 0700, (uid_t)-1, (gid_t)-1);
	auto_fd file = dir < 0 ? -1 : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	auto_buf line = BUF_SMALL;

	buf_addstr(&line, ". ");
	login_quote(&line, script, fish);
	buf_addch(&line, '\n');
	if (file >= 0)
		write_full(file, buf_str(&line), line.len);
}

/* /etc is the host's here, so files in the task home set PATH for login shells. */
static int write_login(struct context *c, struct task_at *at, int dir, struct err *e)
{
	auto_buf sh = BUF_INIT(LOGIN_SCRIPT_MAX), fish = BUF_INIT(LOGIN_SCRIPT_MAX);
	auto_str path = walls_path(c, at->task);
	auto_str to_sh = workspace_inside(&c->home, at->task, "/login.sh");
	auto_str to_fish = workspace_inside(&c->home, at->task, "/login.fish");
	auto_fd home = open_beneath(at->ws.dir, "home", O_RDONLY | O_DIRECTORY, 0);

	login_script(path, false, &sh);
	login_script(path, true, &fish);
	if (write_file(dir, "login.sh", buf_str(&sh), sh.len, 0600, e) < 0 ||
		write_file(dir, "login.fish", buf_str(&fish), fish.len, 0600, e) < 0)
		return -1;
	if (home < 0)
		return 0;
	/* bash reads only the first of three files */
	if (faccessat(home, ".bash_profile", F_OK, 0) < 0 && faccessat(home, ".bash_login", F_OK, 0) < 0)
		write_profile(home, "", ".profile", to_sh, false);
	write_profile(home, "", ".zprofile", to_sh, false);
	write_profile(home, ".config/fish/conf.d", "garth.fish", to_fish, true);
	return 0;
}

/* Paths of the programs that a task finds. */
struct inside_programs {
	const char *shim, *guard, *mcp;
};

/* Makes the directory with the shim's names and what it needs to know about the task. */
static int make_run_dir(struct context *c, struct task_at *at, const struct network *net,
	const struct inside_programs *p, struct err *e)
{
	const struct {
		const char *name, *to;
	} links[] = { { "bin/git", p->shim }, { "bin/garth", p->shim }, { "bin/garth-guard", p->guard },
		{ "hook", p->shim }, { "mcp", p->mcp } };
	auto_buf facts = BUF_INIT(16384), rules = BUF_INIT(65536);
	auto_fd bin = mkdirs_beneath(at->ws.dir, "run/bin", 0700, (uid_t)-1, (gid_t)-1);
	auto_fd dir = openat(at->ws.dir, "run", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (bin < 0 || dir < 0)
		return err_sys(e, "cannot make 'run' of the task");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		unlinkat(dir, links[i].name, 0);
		if (symlinkat(links[i].to, dir, links[i].name) < 0)
			return err_sys(e, "cannot make '%s' of the task", links[i].name);
	}
	walls_facts(c, at, net, &facts, &rules);
	if (write_login(c, at, dir, e) < 0)
		return -1;
	if (write_file(dir, "task", buf_str(&facts), facts.len, 0600, e) < 0)
		return -1;
	return write_file(dir, "operations", buf_str(&rules), rules.len, 0600, e);
}

int walls_check_landlock_only(const struct network *n, struct err *e)
{
	/* an empty list is the same as no network */
	if (strcmp(n->mode, NETWORK_ALLOW) != 0 || !n->allow.n)
		return 0;
	err_set(e, ERR_REFUSED,
		"network 'allow' needs namespaces, which cannot be made here: it can be none or host");
	return err_hint(e, "garth run --allow-weaker --net host -- CMD");
}

/* Every path is the same as on the host, so Landlock needs no mounts. */
int walls_describe_landlock_only(struct context *c, struct task_at *at, const struct hidden *outside,
	const struct hidden *tools, const struct walls_opts *o, struct jail *j, struct err *e)
{
	static const char *const writable[] = { "tmp", "home" };
	auto_str run = workspace_inside(&c->home, at->task, ""), shim = NULL, guard = NULL, mcp = NULL;
	auto_str socket = home_path(&c->home, "tasks/%lld/gateway", (long long)at->task->id);

	j->landlock_only = !userns_works();
	if (j->landlock_only && walls_check_landlock_only(o->net, e) < 0)
		return -1;
	if (j->landlock_only && owner_is_other())
		return err_set(
			e, ERR_REFUSED, "Landlock alone cannot hold root: start garth as an ordinary user");
	/* if namespaces are available after all, the jail uses them, with the same paths */
	if (j->landlock_only)
		j->listens = 0;
	else if (!o->no_gateway)
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, socket, socket);
	if (proc_find_part("garth-shim", &shim, e) < 0 || proc_find_part("garth-guard", &guard, e) < 0 ||
		proc_find_part("garth-mcp", &mcp, e) < 0 ||
		make_run_dir(c, at, o->net, &(struct inside_programs){ shim, guard, mcp }, e) < 0)
		return -1;
	jail_add(j, JAIL_PROC, 0, "", "/proc");
	jail_add(j, JAIL_DEV, JAIL_WRITE, "", "/dev");
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++) {
		auto_str path = home_path(&c->home, "tasks/%lld/%s", (long long)at->task->id, writable[i]);

		jail_add(j, JAIL_BIND, JAIL_WRITE, path, path);
	}
	jail_add(j, JAIL_BIND, 0, run, run);
	show_system_here(j, outside);
	show_tools_here(c, at, o, j, tools);
	if (!path_within(shim, "/usr")) {
		jail_add(j, JAIL_BIND, 0, shim, shim);
		jail_add(j, JAIL_BIND, 0, guard, guard);
		jail_add(j, JAIL_BIND, 0, mcp, mcp);
	}
	if (!o->no_gateway)
		strvec_push(&j->sockets, socket);
	stage_files_show(c, at->task, at->ws.dir, j);
	walls_rules(c, at, o, j);
	return workspace_describe(&at->ws, j, e);
}
