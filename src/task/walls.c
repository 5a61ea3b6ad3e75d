#include "task/walls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/path.h"
#include "jail/userns.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "task/question.h"

extern char **environ;

/* Programs and libraries, read-only. Links stay links. */
static const char *const system_paths[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/opt", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew" };

/* Of /etc, what programs need and what says nothing about the user: directories are bound, … */
static const char *const etc_dirs[] = { "alternatives", "ca-certificates", "crypto-policies", "fonts", "java",
	"java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "ld.so.conf.d", "maven", "perl", "pki",
	"profile.d", "python3", "python3.11", "python3.12", "python3.13", "ssl/certs", "terminfo", "vim" };

/* … small files are copied, because the host replaces them by renaming, which would drop a mount. */
static const char *const etc_files[] = { "bash.bashrc", "ca-certificates.conf", "debian_version", "gai.conf",
	"host.conf", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "locale.alias", "localtime", "magic",
	"mime.types", "nsswitch.conf", "os-release", "profile", "protocols", "redhat-release", "services",
	"shells", "ssl/openssl.cnf", "timezone" };

struct hidden {
	const char *paths[8];
	size_t n;
};

static bool covers_hidden(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(h->paths[i], path))
			return true;
	return false;
}

static bool is_hidden(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(path, h->paths[i]))
			return true;
	return false;
}

/* Shows a path of the host read-only. Where something hidden lies beneath it, its other children are shown
 * instead: hiding by covering would end when the host replaces what is covered. */
static void show(struct jail *j, const struct hidden *h, const char *path, unsigned depth)
{
	struct dirent *ent;
	DIR *d;

	if (!covers_hidden(h, path)) {
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, path, path);
		return;
	}
	if (is_hidden(h, path) || depth > 32 || !(d = opendir(path)))
		return;
	while ((ent = readdir(d))) {
		auto_str sub = path_join(path, ent->d_name);

		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
			show(j, h, sub, depth + 1);
	}
	closedir(d);
}

static bool is_link(const char *path)
{
	char text[2];

	return readlink(path, text, sizeof(text)) >= 0;
}

static void show_system(struct jail *j, const struct hidden *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_paths); i++) {
		char text[PATH_MAX];
		ssize_t n = readlink(system_paths[i], text, sizeof(text) - 1);

		if (n > 0) {
			text[n] = '\0';
			jail_add(j, JAIL_LINK, 0, text, system_paths[i]);
		} else if (!access(system_paths[i], F_OK)) {
			show(j, h, system_paths[i], 0);
		}
	}
}

static void show_accounts(struct context *c, struct jail *j)
{
	auto_str passwd = NULL, group = NULL;
	const char *name = j->from_root ? "garth" : c->user;

	passwd = xasprintf("root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n%s:x:%u:%u:%s:%s:%s\n"
			   "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		name, j->uid, j->gid, name, c->user_home, c->shell);
	group = xasprintf("root:x:0:\n%s:x:%u:\nnogroup:x:65534:\n", name, j->gid);
	jail_add(j, JAIL_DATA, 0, passwd, "/etc/passwd");
	jail_add(j, JAIL_DATA, 0, group, "/etc/group");
}

static void show_etc(struct context *c, struct jail *j)
{
	for (size_t i = 0; i < ARRAY_SIZE(etc_dirs); i++) {
		auto_str path = path_join("/etc", etc_dirs[i]);

		if (!access(path, F_OK))
			jail_add(j, JAIL_BIND, JAIL_OPTIONAL, path, path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(etc_files); i++) {
		auto_str path = path_join("/etc", etc_files[i]);

		if (!access(path, F_OK))
			jail_add(j, JAIL_COPY, JAIL_OPTIONAL, path, path);
	}
	if (j->net == JAIL_NET_HOST)
		jail_add(j, JAIL_COPY, JAIL_OPTIONAL, "/etc/resolv.conf", "/etc/resolv.conf");
	show_accounts(c, j);
	/* a worktree of root's belongs to root, and git inside would not trust another's */
	if (j->from_root)
		jail_add(j, JAIL_DATA, 0, "[safe]\n\tdirectory = *\n", "/etc/gitconfig");
}

/* A path that the configuration names. Where it is a link, what it leads to is shown in its place, but never
 * something hidden and never a directory that holds the home. */
static void show_named(struct context *c, struct jail *j, const struct hidden *h, const char *path)
{
	auto_str real = canonicalize_file_name(path);

	if (!real || is_hidden(h, real) || path_within(c->user_home, real))
		return;
	if (!strcmp(real, path))
		show(j, h, path, 0);
	else if (!covers_hidden(h, real))
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, real, path);
}

static void show_tools(struct context *c, struct jail *j, const struct hidden *h)
{
	for (size_t i = 0; i < c->config.tools.n; i++) {
		auto_str path = path_join(c->user_home, c->config.tools.v[i]);

		show_named(c, j, h, path);
	}
	for (size_t i = 0; i < c->config.allow_read.n; i++)
		show_named(c, j, h, c->config.allow_read.v[i]);
}

static void write_facts(struct context *c, const struct task *t, struct buf *facts, struct buf *rules)
{
	buf_printf(facts, "name=%s\nbranch=%s\ntarget=%s\n", t->name, t->branch, t->target);
	if (!strcmp(c->config.policy.identity, "forced"))
		buf_printf(facts, "trailer=Garth-Task: %s\n", t->name);
	for (size_t i = 0; i < c->config.noperations; i++)
		buf_printf(rules, "%s %s\n", c->config.operations[i].name, c->config.operations[i].rule);
}

/* The gateway and what guides to it: the socket, the shim as `git`, the hook, and what they know of the task.
 */
static int show_gateway(struct context *c, struct task_at *at, struct jail *j, struct err *e)
{
	const struct task *t = at->task;
	auto_str socket = home_path(&c->home, "tasks/%lld/gateway", (long long)t->id), shim = NULL;
	auto_buf facts = BUF_INIT(16384), rules = BUF_INIT(65536);

	if (proc_find_part("garth-shim", &shim, e) < 0)
		return -1;
	write_facts(c, t, &facts, &rules);
	jail_add(j, JAIL_BIND, 0, shim, INSIDE_BIN "/git");
	jail_add(j, JAIL_BIND, 0, shim, INSIDE_HOOK);
	jail_add(j, JAIL_BIND, JAIL_OPTIONAL, socket, INSIDE_GATEWAY);
	jail_add(j, JAIL_DATA, 0, buf_str(&facts), INSIDE_TASK);
	jail_add(j, JAIL_DATA, 0, buf_str(&rules), INSIDE_OPERATIONS);
	return 0;
}

/* Of the host, as it is: what Landlock alone shows is shown at its own place, and what is a link needs no
 * rule. A rule holds for all that is beneath it: where something hidden lies there, the other children have
 * rules of their own. */
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
	if (!covers_hidden(h, real)) {
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, real, real);
		return;
	}
	if (depth > 32 || !(d = opendir(real)))
		return;
	while ((ent = readdir(d))) {
		auto_str sub = path_join(real, ent->d_name);

		/* a link may lead up again, or out */
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") && !is_link(sub))
			show_here(j, h, sub, depth + 1);
	}
	closedir(d);
}

static void show_system_here(struct jail *j, const struct hidden *h)
{
	static const char *const accounts[] = { "/etc/passwd", "/etc/group" };

	for (size_t i = 0; i < ARRAY_SIZE(system_paths); i++) {
		char text[PATH_MAX] = "";

		if (!is_link(system_paths[i]))
			show_here(j, h, system_paths[i], 0);
		else if (!j->alone && readlink(system_paths[i], text, sizeof(text) - 1) > 0)
			jail_add(j, JAIL_LINK, 0, text, system_paths[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(etc_dirs); i++) {
		auto_str path = path_join("/etc", etc_dirs[i]);

		show_here(j, h, path, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(etc_files); i++) {
		auto_str path = path_join("/etc", etc_files[i]);

		if (!is_link(path))
			show_here(j, h, path, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(accounts); i++)
		show_here(j, h, accounts[i], 0);
	if (j->net == JAIL_NET_HOST)
		show_here(j, h, "/etc/resolv.conf", 0);
}

static void show_tools_here(struct context *c, struct jail *j, const struct hidden *h)
{
	for (size_t i = 0; i < c->config.tools.n + c->config.allow_read.n; i++) {
		size_t k = i - c->config.tools.n;
		auto_str path = i < c->config.tools.n ? path_join(c->user_home, c->config.tools.v[i])
						      : xstrdup(c->config.allow_read.v[k]);
		auto_str real = canonicalize_file_name(path);

		if (real && !path_within(c->user_home, real))
			show_here(j, h, real, 0);
	}
}

/* The shim under its names, and what it knows of the task, in the task's own directory. */
static int make_run_dir(struct context *c, struct task_at *at, const char *shim, struct err *e)
{
	const struct {
		const char *name, *to;
	} links[] = { { "bin/git", shim }, { "hook", shim } };
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
	write_facts(c, at->task, &facts, &rules);
	if (write_file(dir, "task", buf_str(&facts), facts.len, 0600, e) < 0)
		return -1;
	return write_file(dir, "operations", buf_str(&rules), rules.len, 0600, e);
}

int walls_check_alone(const struct network *n, struct err *e)
{
	/* a list with nothing on it is no network at all */
	if (strcmp(n->mode, NETWORK_ALLOW) != 0 || !n->allow.n)
		return 0;
	err_set(e, ERR_REFUSED,
		"network 'allow' needs namespaces, which cannot be made here: it can be none or host");
	return err_hint(e, "garth run --allow-weaker --net host -- CMD");
}

/* Everything at its own place, so that Landlock can say the same without a mount. */
static int describe_alone(struct context *c, struct task_at *at, const struct hidden *outside,
	const struct hidden *tools, const struct walls_opts *o, struct jail *j, struct err *e)
{
	static const char *const writable[] = { "tmp", "home" };
	auto_str run = workspace_inside(&c->home, at->task, ""), shim = NULL;
	auto_str socket = home_path(&c->home, "tasks/%lld/gateway", (long long)at->task->id);

	j->alone = !userns_works();
	if (j->alone && walls_check_alone(o->net, e) < 0)
		return -1;
	if (j->alone && owner_is_other())
		return err_set(e, ERR_REFUSED,
			"Landlock alone is nothing for root: start garth as an ordinary user");
	/* where namespaces can be made after all, there are all walls, at the same places */
	if (j->alone)
		j->listens = 0;
	else
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, socket, socket);
	if (proc_find_part("garth-shim", &shim, e) < 0 || make_run_dir(c, at, shim, e) < 0)
		return -1;
	jail_add(j, JAIL_PROC, 0, "", "/proc");
	jail_add(j, JAIL_DEV, JAIL_WRITE, "", "/dev");
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++) {
		auto_str path = home_path(&c->home, "tasks/%lld/%s", (long long)at->task->id, writable[i]);

		jail_add(j, JAIL_BIND, JAIL_WRITE, path, path);
	}
	jail_add(j, JAIL_BIND, 0, run, run);
	show_system_here(j, outside);
	show_tools_here(c, j, tools);
	if (!path_within(shim, "/usr"))
		jail_add(j, JAIL_BIND, 0, shim, shim);
	strvec_push(&j->sockets, socket);
	return workspace_describe(&at->ws, j, e);
}

int walls_describe(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *ret, struct err *e)
{
	auto_str home = home_path(&c->home, "tasks/%lld/home", (long long)at->task->id);
	auto_str tmp = home_path(&c->home, "tasks/%lld/tmp", (long long)at->task->id);
	/* The user's home is hidden as such: what is shown of it is shown by name. */
	struct hidden outside = {
		{ c->home.path, at->repo.main_top, at->repo.top, at->repo.git_dir, c->user_home }, 5
	};
	struct hidden tools = { { c->home.path, at->repo.main_top, at->repo.top, at->repo.git_dir }, 4 };
	struct owner owner = owner_inside();

	jail_init(ret);
	ret->uid = owner.uid;
	ret->gid = owner.gid;
	ret->from_root = owner_is_other();
	ret->net = strcmp(o->net->mode, NETWORK_HOST) ? JAIL_NET_NONE : JAIL_NET_HOST;
	ret->listens = strcmp(o->net->mode, NETWORK_ALLOW) ? 0 : NETWORK_PROXY_PORT;
	ret->hostname = xstrndup(at->task->name, 63);
	ret->max_file_size = c->config.policy.max_file_size;
	ret->max_procs = c->config.max_processes;
	ret->max_memory = c->config.max_memory;
	if (o->allow_weaker)
		ret->without = JAIL_WALL_LANDLOCK | JAIL_WALL_LANDLOCK_SCOPE | JAIL_WALL_PROC;
	if (workspace_is_alone(at->task))
		return describe_alone(c, at, &outside, &tools, o, ret, e);
	jail_add(ret, JAIL_PROC, 0, "", "/proc");
	jail_add(ret, JAIL_DEV, JAIL_WRITE, "", "/dev");
	jail_add(ret, JAIL_BIND, JAIL_WRITE, tmp, "/tmp");
	jail_add(ret, JAIL_LINK, 0, "/tmp", "/var/tmp");
	show_system(ret, &outside);
	show_etc(c, ret);
	jail_add(ret, JAIL_BIND, JAIL_WRITE, home, c->user_home);
	show_tools(c, ret, &tools);
	return show_gateway(c, at, ret, e) < 0 ? -1 : workspace_describe(&at->ws, ret, e);
}

static const char *visible_shell(const struct context *c)
{
	return path_within(c->shell, "/usr") || path_within(c->shell, "/bin") ? c->shell : "/bin/sh";
}

int walls_command(struct context *c, const struct task *t, const struct config_agent *agent,
	const struct network *net, const char *session, const struct strvec *extra_env, char *const *argv,
	struct order_cmd *ret, struct err *e)
{
	bool alone = workspace_is_alone(t);
	auto_str home =
		alone ? home_path(&c->home, "tasks/%lld/home", (long long)t->id) : xstrdup(c->user_home);
	auto_str tmp = alone ? home_path(&c->home, "tasks/%lld/tmp", (long long)t->id) : xstrdup("/tmp");
	auto_str dir = workspace_inside(&c->home, t, ""), bin = workspace_inside(&c->home, t, "/bin");
	auto_str socket =
		alone ? home_path(&c->home, "tasks/%lld/gateway", (long long)t->id) : xstrdup(INSIDE_GATEWAY);
	auto_strvec fixed = STRVEC_INIT;
	const char *path = getenv("PATH");

	strvec_pushf(&fixed, "HOME=%s", home);
	strvec_pushf(&fixed, "USER=%s", owner_is_other() ? "garth" : c->user);
	strvec_pushf(&fixed, "LOGNAME=%s", owner_is_other() ? "garth" : c->user);
	strvec_pushf(&fixed, "SHELL=%s", visible_shell(c));
	/* where there is no repository of the task's, git is git */
	strvec_pushf(&fixed, "PATH=%s%s%s", workspace_is_empty(t) ? "" : bin,
		workspace_is_empty(t) ? "" : ":", path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
	strvec_pushf(&fixed, "TMPDIR=%s", tmp);
	strvec_pushv(&fixed, workspace_env(t));
	strvec_pushf(&fixed, "GARTH_TASK=%s", t->name);
	strvec_pushf(&fixed, "GARTH_SESSION=%s", session);
	strvec_pushf(&fixed, "GARTH_WORKSPACE=%s", t->workspace);
	strvec_pushf(&fixed, "GARTH_SOCKET=%s", socket);
	if (alone)
		strvec_pushf(&fixed, "GARTH_DIR=%s", dir);
	strvec_pushf(&fixed, "GARTH_QUESTION_FILE=%s" QUESTION_NAME, tmp);
	strvec_pushv(&fixed, network_env(net));
	if (agent_environment(&c->config, agent, environ, extra_env, &fixed, &ret->env, e) < 0)
		return -1;
	strvec_pushv(&ret->argv, (const char *const *)argv);
	ret->cwd = xstrdup(t->workspace);
	return 0;
}
