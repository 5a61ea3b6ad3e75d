#include "git/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "sys/proc.h"

/* Settings that override every configuration file. */
static const char *const overrides[] = {
	"core.hooksPath=/dev/null",
	"core.attributesFile=/dev/null",
	"core.untrackedCache=keep",
	"core.commitGraph=true",
	"core.pager=cat",
	"core.askPass=",
	"core.sshCommand=/bin/false",
	"credential.helper=",
	"diff.external=",
	"gc.auto=0",
	"index.version=2",
	"index.skipHash=false",
	"maintenance.auto=false",
	"protocol.allow=never",
	"submodule.recurse=false",
	"diff.submodule=short",
	"status.submoduleSummary=false",
	"fetch.recurseSubmodules=false",
	"push.recurseSubmodules=no",
	"advice.detachedHead=false",
};

/* The overrides for connecting to a remote, where the user's settings must be used. */
static const char *const remote_overrides[] = {
	"core.hooksPath=/dev/null",
	"core.pager=cat",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"push.recurseSubmodules=no",
};

/* Variables for the user's keys, credential helpers and proxies. */
static const char *const remote_variables[] = { "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS",
	"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "DISPLAY", "WAYLAND_DISPLAY",
	"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME", "http_proxy", "https_proxy",
	"HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "USER", "LOGNAME" };

/* Limits for commands that only look: a file of the repository may be one that never answers (a FIFO, a disk that is
 * gone). For the other commands the limit is that of proc_run. Some of these commands can also write; the others end with
 * the process that asked, however much an agent has given them to do: nobody would limit their time any more. */
static const struct look {
	const char *verb;
	unsigned seconds;
	bool writes;
} looks[] = {
	/* they read a few small files */
	{ "check-attr", 20, false },
	{ "config", 20, true },
	{ "for-each-ref", 60, false }, /* it may walk through history: --merged */
	{ "remote", 20, true },
	{ "rev-parse", 20, false },
	{ "symbolic-ref", 20, true },
	{ "var", 20, false },
	{ "version", 20, false },
	/* they read objects, or the whole index */
	{ "cat-file", 120, false },
	{ "diff-tree", 120, false },
	{ "ls-files", 120, false },
	{ "ls-tree", 120, false },
	{ "merge-base", 120, false },
	{ "rev-list", 120, false },
	{ "status", 120, false },
	/* contents and patterns can be such that they take very long: callers have limits of their own */
	{ "check-ignore", 600, false },
	{ "diff", 600, false },
};

static void push_env(struct strvec *env, const char *name, const char *value)
{
	if (value)
		strvec_pushf(env, "%s=%s", name, value);
}

/* PATH without relative directories: those would depend on git's current directory. */
static void push_path(struct strvec *env)
{
	const char *path = getenv("PATH");
	auto_buf kept = BUF_INIT(1 << 20);

	for (const char *p = path ? path : ""; *p; p += strcspn(p, ":"), p += *p == ':')
		if (*p == '/')
			buf_printf(&kept, "%s%.*s", kept.len ? ":" : "", (int)strcspn(p, ":"), p);
	push_env(env, "PATH", kept.len ? kept.data : PROC_PATH);
}

/* An empty list allows no protocol. Newer gits have a variable against fetching missing objects. */
static void push_transports(const struct git *g, struct strvec *env)
{
	if (!g->remote)
		strvec_push(env, "GIT_ALLOW_PROTOCOL=");
	strvec_push(env, "GIT_NO_LAZY_FETCH=1");
}

static void environment(const struct git *g, struct strvec *env)
{
	g->remote ? push_path(env) : push_env(env, "PATH", PROC_PATH);
	push_transports(g, env);
	strvec_pushl(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null", "GIT_PAGER=cat", "GIT_EDITOR=/bin/false", GIT_MALLOC, NULL);
	push_env(env, "GIT_OPTIONAL_LOCKS", g->writes_index ? "1" : "0");
	for (size_t i = 0; g->remote && i < ARRAY_SIZE(remote_variables); i++)
		push_env(env, remote_variables[i], getenv(remote_variables[i]));
	if (g->user_config || g->shows_config || g->remote) {
		push_env(env, "HOME", getenv("HOME"));
		push_env(env, "XDG_CONFIG_HOME", getenv("XDG_CONFIG_HOME"));
		push_env(env, "SUDO_UID", getenv("SUDO_UID"));
	} else {
		strvec_pushl(env, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_ATTR_NOSYSTEM=1", NULL);
		/* a fixed name for the reflogs: the repository's configuration must not choose it, and git
		 * would search for one, even in the network */
		strvec_pushl(env, "GIT_COMMITTER_NAME=Garth", "GIT_COMMITTER_EMAIL=garth@localhost", NULL);
	}
	push_env(env, "GIT_DIR", g->dir);
	push_env(env, "GIT_WORK_TREE", g->work_tree);
	push_env(env, "GIT_INDEX_FILE", g->index);
	push_env(env, "GIT_OBJECT_DIRECTORY", g->objects);
	push_env(env, "GIT_SHALLOW_FILE", g->shallow);
}

static void arguments(const struct git *g, const struct strvec *args, struct strvec *argv)
{
	const char *const *settings = g->remote ? remote_overrides : overrides;
	size_t n = g->remote ? ARRAY_SIZE(remote_overrides) : ARRAY_SIZE(overrides);

	strvec_push(argv, "git");
	/* `git config` must print the user's settings unchanged */
	for (size_t i = 0; !g->shows_config && i < n; i++)
		strvec_pushl(argv, "-c", settings[i], NULL);
	for (size_t i = 0; g->settings && i < g->settings->n; i++)
		strvec_pushl(argv, "-c", g->settings->v[i], NULL);
	strvec_push(argv, "-c");
	strvec_pushf(argv, "core.fsmonitor=%s", g->fsmonitor ? g->fsmonitor : "false");
	for (size_t i = 0; i < args->n; i++)
		strvec_push(argv, args->v[i]);
}

/* The first argument that is neither an option nor the value of -c. */
static const char *verb_of(const struct strvec *args)
{
	size_t i = 0;

	while (i < args->n && args->v[i][0] == '-')
		i += strcmp(args->v[i], "-c") ? 1 : 2;
	return i < args->n ? args->v[i] : "";
}

/* NULL if the command is not read-only. */
static const struct look *look_of(const char *verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (!strcmp(looks[i].verb, verb))
			return &looks[i];
	return NULL;
}

int git_try(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, int *ret_code, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	const struct look *look = look_of(verb_of(args));
	struct proc_spec p = { .cwd = g->cwd ? g->cwd : "/",
		.as_inside = g->as_inside,
		.stdin_fd = g->stdin_fd,
		.stdout_fd = g->stdout_fd,
		.seconds = g->seconds || !look ? g->seconds : look->seconds,
		.no_fifo = true,
		.bound = look && !look->writes && !g->writes_index,
		/* if all of our group is killed, it ends its transaction: a lock that is left would stop every git */
		.own_group = !strcmp(verb_of(args), "update-ref") };
	int status;

	arguments(g, args, &argv);
	environment(g, &env);
	p.argv = argv.v;
	p.env = env.v;
	if (proc_run(&p, input, out, errtext, &status, e) < 0)
		return (e->sys == ETIMEDOUT || e->sys == EDEADLK) && (g->dir || g->cwd)
			       ? err_wrap(e, "git %s in '%s'", verb_of(args), g->dir ? g->dir : g->cwd)
			       : err_wrap(e, "git %s", verb_of(args));
	*ret_code = proc_exit_code(status);
	return 0;
}

/* What follows "fatal: " or "error: " in a line; NULL for another line. */
static const char *complaint(const char *line)
{
	return !strncmp(line, "fatal: ", 7) || !strncmp(line, "error: ", 7) ? line + 7 : NULL;
}

/* git's last line that says what is wrong; if there is none, its last line. Advice can follow it, for example after the
 * name of a lock. */
static const char *last_words(struct buf *text)
{
	const char *words = NULL, *last = "";

	for (char *line = text->data, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line)
			last = line;
		if (complaint(line))
			words = complaint(line);
	}
	return words ? words : last;
}

int git_failed(const struct strvec *args, struct buf *errtext, struct err *e)
{
	return err_set(e, ERR_FAILED, "git %s: %s", verb_of(args),
		errtext->len ? last_words(errtext) : "failed without a word");
}

int git_run(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct err *e)
{
	auto_buf errtext = BUF_SMALL;
	int code;

	if (git_try(g, args, input, out, &errtext, &code, e) < 0)
		return -1;
	return code ? git_failed(args, &errtext, e) : 0;
}

int git_do(const struct git *g, struct buf *out, struct err *e, ...)
{
	auto_strvec args = STRVEC_INIT;
	const char *s;
	va_list ap;

	va_start(ap, e);
	while ((s = va_arg(ap, const char *)))
		strvec_push(&args, s);
	va_end(ap);
	return git_run(g, &args, NULL, out, e);
}

static int spawn_git(const struct git *g, const int fds[3], char **argv, char **env, pid_t *ret)
{
	static const char *const paths[] = { "/usr/local/bin/git", "/usr/bin/git", "/bin/git" };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int rc = ENOENT;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	/* Its own process group: if all of our group is killed, git still sees the end of its input and
	 * removes its locks. */
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&files, fds[i], i);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawn_file_actions_addchdir_np(&files, g->cwd ? g->cwd : "/");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && rc == ENOENT; i++)
		rc = posix_spawn(ret, paths[i], &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int git_start(const struct git *g, const struct strvec *args, const int fds[3], pid_t *ret, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	/* away from the numbers 0 to 2, which the child needs */
	auto_fd in = fcntl(fds[0], F_DUPFD_CLOEXEC, 3), out = fcntl(fds[1], F_DUPFD_CLOEXEC, 3),
		err = fcntl(fds[2], F_DUPFD_CLOEXEC, 3);
	int rc;

	if (in < 0 || out < 0 || err < 0)
		return err_sys(e, "git %s", verb_of(args));
	arguments(g, args, &argv);
	environment(g, &env);
	rc = spawn_git(g, (int[3]){ in, out, err }, argv.v, env.v, ret);
	errno = rc;
	return rc ? err_sys(e, "cannot start git %s", verb_of(args)) : 0;
}
