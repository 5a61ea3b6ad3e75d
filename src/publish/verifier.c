#include "publish/verifier_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/path.h"
#include "git/private.h"
#include "jail/start.h"
#include "sys/fd.h"
#include "sys/sock.h"

#define READY_SECONDS 30

/* Settings that override every configuration file. The windows are small because all memory that a command
 * maps counts against its limit, and the user's packs may be larger than the limit. */
static const char *const overrides[] = { "core.hooksPath=/dev/null", "core.attributesFile=/dev/null",
	"core.fsmonitor=false", "core.packedGitWindowSize=32m", "core.packedGitLimit=1g", "gc.auto=0",
	"maintenance.auto=false", "protocol.allow=never", "core.createObject=rename" };

/* A path in git's form for a colon-separated list. */
static void add_quoted(struct buf *out, const char *path)
{
	bool quote = path[0] == '"' || strpbrk(path, ":\n");

	if (quote)
		buf_addch(out, '"');
	for (; *path; path++) {
		if (quote && (*path == '"' || *path == '\\'))
			buf_addch(out, '\\');
		if (quote && *path == '\n')
			buf_addstr(out, "\\n");
		else
			buf_addch(out, *path);
	}
	if (quote)
		buf_addch(out, '"');
}

/* The environment for each area: where objects are read from and written to. */
static int add_objects(struct verifier *v, struct err *e)
{
	auto_buf shared = BUF_INIT(1 << 20);

	for (size_t i = 0; i < v->repo->objects.n; i++) {
		if (i)
			buf_addch(&shared, ':');
		add_quoted(&shared, v->repo->objects.v[i]);
	}
	if (shared.overflow)
		return err_set(e, ERR_FAILED, "the repository borrows objects from too many others");
	strvec_pushf(&v->area_env[QUARANTINE_DISK], "GIT_OBJECT_DIRECTORY=%s", v->quarantine);
	strvec_pushf(&v->area_env[QUARANTINE_DISK], "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s:%s", v->memory,
		buf_str(&shared));
	strvec_pushf(&v->area_env[QUARANTINE_MEMORY], "GIT_OBJECT_DIRECTORY=%s", v->memory);
	strvec_pushf(
		&v->area_env[QUARANTINE_MEMORY], "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", buf_str(&shared));
	return 0;
}

static int set_environment(struct verifier *v, struct err *e)
{
	strvec_pushl(&v->env, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", NULL);
	strvec_pushf(&v->env, "GIT_DIR=%s", v->empty);
	/* zlib allocates and frees memory for every object; with these, malloc does not return it to the
	 * kernel each time */
	strvec_pushl(&v->env, "MALLOC_TOP_PAD_=2097152", "MALLOC_TRIM_THRESHOLD_=67108864", NULL);
	return add_objects(v, e);
}

void verifier_command(
	const struct verifier *v, enum quarantine_area area, const struct strvec *args, struct order_cmd *ret)
{
	*ret = (struct order_cmd){ .cwd = xstrdup("/") };
	strvec_push(&ret->argv, "git");
	for (size_t i = 0; i < ARRAY_SIZE(overrides); i++)
		strvec_pushl(&ret->argv, "-c", overrides[i], NULL);
	strvec_pushv(&ret->argv, (const char *const *)args->v);
	strvec_pushv(&ret->env, (const char *const *)v->env.v);
	strvec_pushv(&ret->env, (const char *const *)v->area_env[area].v);
}

/* Set for the first process; every command that it starts inherits them. */
static int set_limits(pid_t first, struct err *e)
{
	struct rlimit cpu = { VERIFIER_SECONDS, VERIFIER_SECONDS };
	struct rlimit memory __attribute__((unused)) = { VERIFIER_MEMORY, VERIFIER_MEMORY };

	if (prlimit(first, RLIMIT_CPU, &cpu, NULL) < 0)
		return err_sys(e, "cannot limit the verifier");
#ifndef __SANITIZE_ADDRESS__
	/* a sanitized launch maps terabytes */
	if (prlimit(first, RLIMIT_AS, &memory, NULL) < 0)
		return err_sys(e, "cannot limit the verifier");
#endif
	return 0;
}

/* Only our own child is ever signalled by its pid. */
static int on_born(struct verifier *v, pid_t pid, struct err *e)
{
	siginfo_t info = { 0 };

	if (v->landlock_only && v->launch > 0 && !v->first && pid > 1) {
		v->first = v->launch;
		v->launch = 0;
		return set_limits(pid, e);
	}
	if (v->first || pid <= 1 || pid == v->launch ||
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return err_set(e, ERR_FAILED, "the verifier names a process that is not its own");
	v->first = pid;
	return set_limits(pid, e);
}

/* 1: it is ready. 0: more messages follow. */
static int on_message(struct verifier *v, struct order_msg *m, struct err *e)
{
	if (m->type == ORDER_BORN)
		return on_born(v, m->value, e);
	if (m->type == ORDER_READY && v->first)
		return 1;
	if (m->type != ORDER_FAILED)
		return err_set(e, ERR_FAILED, "the verifier says something that makes no sense");
	m->err.msg[sizeof(m->err.msg) - 1] = '\0';
	return err_set(e, ERR_FAILED, "%s", m->err.msg);
}

/* *ret_memory is the descriptor of the area in memory. */
static int wait_ready(struct verifier *v, int *ret_memory, struct err *e)
{
	struct deadline d = deadline_in(READY_SECONDS * 1000);
	int ready = 0;

	while (!ready) {
		struct pollfd p = { v->runner.orders, POLLIN, 0 };
		struct order_msg m;
		int given = -1;
		size_t nfds = 1;
		ssize_t n;

		if (poll(&p, 1, deadline_left(&d)) <= 0)
			return err_set(
				e, ERR_FAILED, "the verifier was not ready after %d seconds", READY_SECONDS);
		n = sock_recv(v->runner.orders, &m, sizeof(m), &given, &nfds);
		fd_closep(ret_memory);
		*ret_memory = nfds ? given : -1;
		if ((size_t)n != sizeof(m))
			return err_set(e, ERR_FAILED, "the verifier ended before it was ready");
		ready = on_message(v, &m, e);
	}
	return ready < 0 ? -1 : 0;
}

static int start(struct verifier *v, struct err *e)
{
	auto_jail j;
	int status;

	if (verifier_describe(v, &j, e) < 0 || jail_start(&j, &v->runner.orders, &v->launch, e) < 0 ||
		wait_ready(v, &v->at.areas[QUARANTINE_MEMORY], e) < 0)
		return -1;
	if (v->at.areas[QUARANTINE_MEMORY] < 0)
		return err_set(e, ERR_FAILED, "there is no quarantine in memory");
	if (v->launch > 0 && waitpid(v->launch, &status, 0) == v->launch)
		v->launch = 0;
	return 0;
}

static void close_reader(struct verifier *v)
{
	if (v->reader)
		runner_kill(&v->runner, v->reader);
	v->reader = 0;
	objects_release(&v->objects);
	fd_closep(&v->objects.in);
	fd_closep(&v->objects.out);
	v->objects.in = v->objects.out = -1;
}

int verifier_renew_reader(struct verifier *v, struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_strvec args = STRVEC_INIT;
	auto_fd in = -1, out = -1, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int to[2], from[2];

	close_reader(v);
	if (null < 0 || pipe2(to, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	in = to[0];
	v->objects.in = to[1];
	if (pipe2(from, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	out = from[1];
	v->objects.out = from[0];
	v->objects.seconds = VERIFIER_SECONDS;
	strvec_pushl(&args, "cat-file", "--batch-command", "--buffer", NULL);
	verifier_command(v, QUARANTINE_DISK, &args, &cmd);
	return runner_start(&v->runner, &cmd, (int[3]){ in, out, null }, &v->reader, e);
}

int verifier_open(
	const struct repo *r, int64_t task, const char *landlock_dir, struct verifier *ret, struct err *e)
{
	*ret = (struct verifier){ .repo = r,
		.runner = RUNNER_INIT(-1),
		.at = QUARANTINE_INIT,
		.objects = { .in = -1, .out = -1 },
		.fast = RUNNER_PIPED_INIT,
		.next = RUNNER_PIPED_INIT };
	if (!private_can_borrow(r))
		return err_set(e, ERR_REFUSED,
			"'%s' can be read by root alone, and what an agent sends is never taken apart by root",
			r->objects.v[0]);
	if (quarantine_open(r, task, &ret->at, e) < 0)
		return -1;
	ret->quarantine = path_join(r->objects.v[0], ret->at.name);
	if (verifier_set_places(ret, landlock_dir, e) < 0 || set_environment(ret, e) < 0 ||
		start(ret, e) < 0 || verifier_renew_reader(ret, e) < 0) {
		verifier_close(ret);
		return err_wrap(e, "cannot start the verifier");
	}
	return 0;
}

static void end_process(pid_t *pid, int how)
{
	if (*pid <= 0)
		return;
	kill(*pid, how);
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}

void verifier_close(struct verifier *v)
{
	close_reader(v);
	runner_drop_piped(&v->runner, &v->fast);
	runner_drop_piped(&v->runner, &v->next);
	/* if the first process is not known yet, closing this socket ends it */
	fd_closep(&v->runner.orders);
	v->runner.orders = -1;
	/* without namespaces the supervisor has to end the other processes, which it does on SIGTERM */
	end_process(&v->first, v->landlock_only ? SIGTERM : SIGKILL);
	end_process(&v->launch, SIGKILL);
	quarantine_close(&v->at);
	strvec_release(&v->env);
	for (size_t i = 0; i < QUARANTINE_AREAS; i++)
		strvec_release(&v->area_env[i]);
	free(steal_ptr(v->quarantine));
	free(steal_ptr(v->empty));
	free(steal_ptr(v->memory));
	free(steal_ptr(v->tmp));
	free(steal_ptr(v->fast_path));
}

bool verifier_is_alive(const struct verifier *v)
{
	siginfo_t info = { 0 };

	return v->first > 0 && !v->spoiled &&
	       !waitid(P_PID, (id_t)v->first, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}
