#include "task/walls_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/outside.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/path.h"
#include "git/named_path.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "sys/proc.h"
#include "task/task_command.h"
#include "task/borrowed.h"
#include "task/disk_limit.h"
#include "task/inside_path.h"
#include "task/question.h"
#include "task/stage_files.h"
#include "task/walls_told.h"

extern char **environ;

void walls_show(struct jail *j, const struct hidden *h, const char *path, unsigned depth)
{
	auto_str real = NULL;
	struct dirent *ent;
	char to[PATH_MAX];
	ssize_t n;
	DIR *d;

	if (is_hidden(h, path))
		return;
	/* a link stays one: what it leads to may be anything, and is there only if something else shows it */
	if ((n = readlink(path, to, sizeof(to) - 1)) > 0) {
		to[n] = '\0';
		jail_add(j, JAIL_LINK, JAIL_OPTIONAL, to, path);
		return;
	}
	if (!hidden_beneath(h, path)) {
		if ((real = named_path_real(path)))
			jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_PLAIN, real, path);
		return;
	}
	if (depth > 32 || !(d = opendir(path)))
		return;
	while ((ent = readdir(d))) {
		auto_str sub = path_join(path, ent->d_name);

		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
			walls_show(j, h, sub, depth + 1);
	}
	closedir(d);
}

static void show_system(struct jail *j, const struct hidden *h)
{
	for (size_t i = 0; walls_system_paths[i]; i++) {
		char text[PATH_MAX];
		ssize_t n = readlink(walls_system_paths[i], text, sizeof(text) - 1);

		if (n > 0) {
			text[n] = '\0';
			jail_add(j, JAIL_LINK, 0, text, walls_system_paths[i]);
		} else if (!access(walls_system_paths[i], F_OK)) {
			walls_show(j, h, walls_system_paths[i], 0);
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

/* Files are copied, because the host replaces them by renaming, which would drop a mount. A link to a file of /usr stays
 * one: from that of localtime, libraries know the time zone's name, and without it they read all of zoneinfo (60 ms). */
static void show_setting(const char *path, bool is_dir, void *arg)
{
	auto_str real = is_dir ? NULL : canonicalize_file_name(path);

	if (real && path_within(real, "/usr"))
		jail_add(arg, JAIL_LINK, JAIL_OPTIONAL, real, path);
	else
		jail_add(arg, is_dir ? JAIL_BIND : JAIL_COPY, JAIL_OPTIONAL, path, path);
}

/* With root, the worktree belongs to root, and git inside would not trust it. Older libgit2 does not know the star. */
static void show_trust(const struct task *t, struct jail *j)
{
	auto_buf text = BUF_SMALL;

	buf_addstr(&text, "[safe]\n\tdirectory = *\n\tdirectory = \"");
	for (const char *p = t->workspace; *p; p++) {
		if (strchr("\"\\\n", *p))
			buf_addch(&text, '\\');
		buf_addch(&text, *p == '\n' ? 'n' : *p);
	}
	buf_addstr(&text, "\"\n");
	jail_add(j, JAIL_DATA, 0, buf_str(&text), "/etc/gitconfig");
}

static void show_etc(struct context *c, const struct task *t, struct jail *j)
{
	auto_str search = walls_path(c, t);
	auto_str id = home_path(&c->home, "tasks/%lld/" WALLS_MACHINE_ID, (long long)t->id);

	walls_etc(show_setting, j);
	jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, id, "/etc/machine-id");
	if (j->net == JAIL_NET_HOST)
		jail_add(j, JAIL_COPY, JAIL_OPTIONAL, "/etc/resolv.conf", "/etc/resolv.conf");
	show_accounts(c, j);
	walls_login(j, search);
	if (j->from_root)
		show_trust(t, j);
}

/* A path may have any bytes in it, but a line ends. */
static void add_fact(struct buf *facts, const char *name, const char *value)
{
	if (*value && !strchr(value, '\n'))
		buf_printf(facts, "%s=%s\n", name, value);
}

/* What the guard decides by: which places are the task's, and what it may do at a remote. */
static void add_places(
	struct context *c, const struct task_at *at, const struct network *net, struct buf *facts)
{
	const struct task *t = at->task;
	bool landlock_only = backend_of(t)->landlock_only,
	     elsewhere = strcmp(t->workspace, at->repo.main_top ? at->repo.main_top : "");
	auto_str home = landlock_only ? home_path(&c->home, "tasks/%lld/home", (long long)t->id)
				      : xstrdup(c->user_home);
	auto_str tmp =
		landlock_only ? home_path(&c->home, "tasks/%lld/tmp", (long long)t->id) : xstrdup("/tmp");
	struct err ignored = ERR_INIT;
	auto_task_command cmd = { 0 };

	add_fact(facts, "guard", c->config.guard);
	add_fact(facts, "network", net->mode);
	add_fact(facts, "fetch", c->config.fetch ? "yes" : "");
	if (task_command_load(at->ws.dir, &cmd, &ignored) >= 0)
		add_fact(facts, "push", cmd.push ? "yes" : "");
	add_fact(facts, "workspace", t->workspace);
	add_fact(facts, "home", home);
	add_fact(facts, "tmp", tmp);
	add_fact(facts, "garth_home", c->home.path);
	if (elsewhere && backend_of(t)->has_git)
		add_fact(facts, "project", at->repo.main_top);
}

void walls_facts(struct context *c, const struct task_at *at, const struct network *net, struct buf *facts,
	struct buf *rules)
{
	const struct task *t = at->task;
	bool merge = false;

	buf_printf(facts, "name=%s\nbranch=%s\ntarget=%s\n", t->name, t->branch, t->target);
	add_places(c, at, net, facts);
	if (!strcmp(c->config.policy.identity, "forced"))
		buf_printf(facts, "trailer=Garth-Task: %s\n", t->name);
	for (size_t i = 0; i < c->config.noperations; i++) {
		buf_printf(rules, "%s %s\n", c->config.operations[i].name, c->config.operations[i].rule);
		merge |= !strcmp(c->config.operations[i].name, "merge");
	}
	/* what an agent may fetch it will want to merge */
	if (c->config.fetch && !merge)
		buf_addstr(rules, "merge routed\n");
}

/* Shows the gateway's socket, the shim as `git`, `garth` and as hook, the guard, the file tools, and what they need to
 * know about the task. */
static int show_gateway(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *j, struct err *e)
{
	const struct task *t = at->task;
	auto_str socket = home_path(&c->home, "tasks/%lld/gateway", (long long)t->id), shim = NULL,
		 guard = NULL, mcp = NULL;
	auto_buf facts = BUF_INIT(16384), rules = BUF_INIT(65536);

	if (proc_find_part("garth-shim", &shim, e) < 0 || proc_find_part("garth-guard", &guard, e) < 0 ||
		proc_find_part("garth-mcp", &mcp, e) < 0)
		return -1;
	walls_facts(c, at, o->net, &facts, &rules);
	/* without a repository, an agent's own git is left alone */
	if (backend_of(t)->has_git)
		jail_add(j, JAIL_BIND, 0, shim, INSIDE_BIN "/git");
	jail_add(j, JAIL_BIND, 0, shim, INSIDE_BIN "/garth");
	jail_add(j, JAIL_BIND, 0, guard, INSIDE_GUARD);
	jail_add(j, JAIL_BIND, 0, guard, INSIDE_SHELL);
	jail_add(j, JAIL_BIND, 0, shim, INSIDE_HOOK);
	jail_add(j, JAIL_BIND, 0, mcp, INSIDE_MCP);
	if (!o->no_gateway)
		jail_add(j, JAIL_BIND, JAIL_OPTIONAL, socket, INSIDE_GATEWAY);
	jail_add(j, JAIL_DATA, 0, buf_str(&facts), INSIDE_TASK);
	jail_add(j, JAIL_DATA, 0, buf_str(&rules), INSIDE_OPERATIONS);
	return 0;
}

/* /var/tmp is a link to /tmp, unless something must be mounted below it. */
static void show_var_tmp(struct context *c, struct task_at *at, const char *tmp, struct jail *j)
{
	static const char place[] = "/var/tmp";
	const struct hidden beneath = {
		{ c->user_home, c->home.path, at->repo.main_top, at->repo.git_dir, at->task->workspace }, 5
	};
	bool used = hidden_beneath(&beneath, place);

	for (size_t i = 0; i < c->config.allow_read.n; i++)
		used |= path_within(c->config.allow_read.v[i], place);
	for (size_t i = 0; i < c->config.allow_write.n; i++)
		used |= path_within(c->config.allow_write.v[i], place);
	for (size_t i = 0; i < at->repo.objects.n; i++)
		used |= path_within(at->repo.objects.v[i], place);
	if (used)
		jail_add(j, JAIL_BIND, JAIL_WRITE, tmp, place);
	else
		jail_add(j, JAIL_LINK, 0, "/tmp", place);
}

/* An agent that knows the project's path, from its memory or from an editor, might write there, and the work
 * would be lost silently in the task home. So if the workspace is elsewhere, a read-only directory with a
 * note is at that path. */
static void show_elsewhere(struct context *c, struct task_at *at, struct jail *j)
{
	const char *project = at->repo.main_top;
	auto_str file = path_join(project, WALLS_ELSEWHERE);
	auto_str text = xasprintf(
		"The files of this task are in %s ($GARTH_WORKSPACE).\n"
		"The user's own checkout of the project is not here, and nothing can be written here.\n",
		at->task->workspace);

	if (!strcmp(at->task->workspace, project) || !backend_of(at->task)->has_git ||
		!inside_path_is_free(c, project))
		return;
	jail_add(j, JAIL_TMPFS, JAIL_NOEXEC, "1048576", project);
	jail_add(j, JAIL_DATA, 0, text, file);
}

/* The kernel has one setting for where core files go. A program would get them outside. */
static bool allow_core(const struct context *c, const struct walls_opts *o)
{
	auto_buf pattern = BUF_SMALL;
	struct err ignored = ERR_INIT;

	if (!c->config.max_core)
		return false;
	if (!read_file(AT_FDCWD, "/proc/sys/kernel/core_pattern", &pattern, &ignored) && pattern.len &&
		!strchr("|@", *pattern.data))
		return true;
	if (o->not_shown)
		strvec_push(o->not_shown,
			"limits.max_core is not used: kernel.core_pattern gives core files to a program outside");
	return false;
}

static void show_authority(struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *j)
{
	auto_str all = NULL;

	if (!o->authority)
		return;
	all = home_path(&c->home, "tasks/%lld/%s", (long long)at->task->id, o->certificates);
	jail_add(j, JAIL_DATA, 0, o->authority, INSIDE_AUTHORITY);
	jail_add(j, JAIL_BIND, JAIL_OPTIONAL, all, INSIDE_CERTIFICATES);
}

int walls_describe(
	struct context *c, struct task_at *at, const struct walls_opts *o, struct jail *ret, struct err *e)
{
	auto_str home = home_path(&c->home, "tasks/%lld/home", (long long)at->task->id);
	auto_str tmp = home_path(&c->home, "tasks/%lld/tmp", (long long)at->task->id);
	/* the user's home is hidden: what is shown of it is listed by name */
	struct hidden outside = { { c->home.path, at->repo.main_top, at->repo.top, at->repo.git_dir,
					  at->task->workspace, c->user_home },
		6, &c->config.policy.rules };
	struct hidden tools = { { c->home.path, at->repo.main_top, at->repo.top, at->repo.git_dir,
					at->task->workspace },
		5, &c->config.policy.rules };
	struct owner owner = owner_inside();

	jail_init(ret);
	ret->uid = owner.uid;
	ret->gid = owner.gid;
	ret->from_root = owner_is_other();
	ret->net = strcmp(o->net->mode, NETWORK_HOST) ? JAIL_NET_NONE : JAIL_NET_HOST;
	ret->listens = strcmp(o->net->mode, NETWORK_ALLOW) ? 0 : NETWORK_PROXY_PORT;
	ret->hostname = xstrndup(at->task->name, 63);
	/* the kernel's limit for one file; publishing has its own limits, in the gateway */
	ret->max_file_size = disk_max(&c->config, at->ws.dir, (uint64_t)at->task->disk);
	ret->max_open_files = c->config.max_open_files;
	ret->max_procs = c->config.max_processes;
	ret->max_memory = c->config.max_memory;
	ret->max_core = allow_core(c, o) ? c->config.max_core : 0;
	if (o->allow_weaker)
		ret->without = JAIL_WALL_LANDLOCK | JAIL_WALL_LANDLOCK_SCOPE | JAIL_WALL_PROC;
	if (borrowed_check(c, &at->repo, e) < 0 || borrowed_check_submodules(c, &at->ws, e) < 0)
		return -1;
	if (backend_of(at->task)->landlock_only)
		return walls_describe_landlock_only(c, at, &outside, &tools, o, ret, e);
	jail_add(ret, JAIL_PROC, 0, "", "/proc");
	jail_add(ret, JAIL_DEV, JAIL_WRITE, "", "/dev");
	jail_add(ret, JAIL_BIND, JAIL_WRITE, tmp, "/tmp");
	show_var_tmp(c, at, tmp, ret);
	show_system(ret, &outside);
	for (size_t i = 0; walls_sys_paths[i]; i++)
		jail_add(ret, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, walls_sys_paths[i], walls_sys_paths[i]);
	show_etc(c, at->task, ret);
	jail_add(ret, JAIL_BIND, JAIL_WRITE, home, c->user_home);
	walls_home(c, at, o, &tools, ret);
	show_elsewhere(c, at, ret);
	walls_rules(c, at, o, ret);
	if (walls_told(c, at, o, ret, e) < 0)
		return -1;
	show_authority(c, at, o, ret);
	if (show_gateway(c, at, o, ret, e) < 0 || workspace_describe(&at->ws, ret, e) < 0)
		return -1;
	walls_links(at, ret);
	stage_files_show(c, at->task, at->ws.dir, ret);
	return 0;
}

static const char *visible_shell(const struct context *c)
{
	return path_within(c->shell, "/usr") || path_within(c->shell, "/bin") ? c->shell : "/bin/sh";
}

char *walls_path(const struct context *c, const struct task *t)
{
	auto_str bin = workspace_inside(&c->home, t, "/bin");
	const char *path = getenv("PATH");

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	return xasprintf("%s:%s", bin, path);
}

/* If commits must have a certain author, git inside uses that name. */
static void force_author(const struct config_policy *p, struct strvec *env)
{
	auto_str name = NULL, mail = NULL;

	if (strcmp(p->identity, "forced") || !p->author || !name_split_person(p->author, &name, &mail))
		return;
	strvec_pushf(env, "GIT_AUTHOR_NAME=%s", name);
	strvec_pushf(env, "GIT_AUTHOR_EMAIL=%s", mail);
	strvec_pushf(env, "GIT_COMMITTER_NAME=%s", name);
	strvec_pushf(env, "GIT_COMMITTER_EMAIL=%s", mail);
}

/* The same as in /etc/gitconfig (show_etc), for a git that is not the shim and that reads no settings of the system.
 * Settings that the user gives in the same way stay. */
static void trust_workspace(struct strvec *env)
{
	for (size_t i = 0; i < env->n; i++)
		if (!strncmp(env->v[i], "GIT_CONFIG_COUNT=", 17))
			return;
	strvec_push(env, "GIT_CONFIG_COUNT=1");
	strvec_push(env, "GIT_CONFIG_KEY_0=safe.directory");
	strvec_push(env, "GIT_CONFIG_VALUE_0=*");
}

/* On Landlock alone there are no files of Garth's at the usual place. */
static void leave_out_files(struct strvec *env)
{
	size_t n = 0;

	for (size_t i = 0; i < env->n; i++) {
		const char *value = strchr(env->v[i], '=');

		if (value && !strncmp(value + 1, INSIDE_DIR "/", sizeof(INSIDE_DIR)))
			free(env->v[i]);
		else
			env->v[n++] = env->v[i];
	}
	env->n = n;
	strvec_argv(env);
}

int walls_command(struct context *c, const struct task *t, const struct config_agent *agent,
	const struct network *net, const char *session, const struct strvec *extra_env, char *const *argv,
	struct order_cmd *ret, struct err *e)
{
	bool landlock_only = backend_of(t)->landlock_only;
	auto_str home = landlock_only ? home_path(&c->home, "tasks/%lld/home", (long long)t->id)
				      : xstrdup(c->user_home);
	auto_str tmp =
		landlock_only ? home_path(&c->home, "tasks/%lld/tmp", (long long)t->id) : xstrdup("/tmp");
	auto_str dir = workspace_inside(&c->home, t, ""), path = walls_path(c, t);
	auto_str socket = landlock_only ? home_path(&c->home, "tasks/%lld/gateway", (long long)t->id)
					: xstrdup(INSIDE_GATEWAY);
	auto_strvec fixed = STRVEC_INIT;

	strvec_pushf(&fixed, "HOME=%s", home);
	strvec_pushf(&fixed, "USER=%s", owner_is_other() ? "garth" : c->user);
	strvec_pushf(&fixed, "LOGNAME=%s", owner_is_other() ? "garth" : c->user);
	strvec_pushf(&fixed, "SHELL=%s", visible_shell(c));
	strvec_pushf(&fixed, "PATH=%s", path);
	strvec_pushf(&fixed, "GARTH_PATH=%s", path);
	strvec_pushf(&fixed, "TMPDIR=%s", tmp);
	strvec_pushv(&fixed, workspace_env(t));
	strvec_pushf(&fixed, "GARTH_TASK=%s", t->name);
	strvec_pushf(&fixed, "GARTH_SESSION=%s", session);
	strvec_pushf(&fixed, "GARTH_WORKSPACE=%s", t->workspace);
	strvec_pushf(&fixed, "GARTH_SOCKET=%s", socket);
	if (c->config.tickets_max)
		strvec_pushf(&fixed, "GARTH_TICKETS=%llu", (unsigned long long)c->config.tickets_max);
	if (landlock_only)
		strvec_pushf(&fixed, "GARTH_DIR=%s", dir);
	strvec_pushf(&fixed, "GARTH_QUESTION_FILE=%s" QUESTION_NAME, tmp);
	force_author(&c->config.policy, &fixed);
	network_env(net, &fixed);
	if (agent_environment(&c->config, agent, environ, extra_env, &fixed, &ret->env, e) < 0)
		return -1;
	if (landlock_only)
		leave_out_files(&ret->env);
	else if (owner_is_other())
		trust_workspace(&ret->env);
	strvec_pushv(&ret->argv, (const char *const *)argv);
	ret->cwd = xstrdup(t->workspace);
	return 0;
}

void walls_enter(struct order_cmd *cmd, const struct task *t, const char *cwd)
{
	if (!cwd || !*cwd)
		return;
	free(cmd->cwd);
	cmd->cwd = path_join(t->workspace, cwd);
}
