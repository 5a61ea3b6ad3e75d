#include "cli/run_agents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "base/shell_word.h"
#include "cli/json.h"
#include "cli/say.h"
#include "git/repo.h"
#include "sys/fd.h"
#include "sys/proc.h"
#include "task/here.h"
#include "task/program.h"
#include "task/task.h"

#define AGENTS_MAX 16
#define NAMES_MAX  4096

static int split(const char *list, struct strvec *ret, struct err *e)
{
	for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		auto_str name = xstrndup(p, strcspn(p, ","));

		if (*name && !strvec_has(ret, name))
			strvec_push(ret, name);
	}
	if (!ret->n || ret->n > AGENTS_MAX)
		return err_set(e, ERR_USAGE,
			"--agents must be a list of 1 to %d agents, such as claude,codex", AGENTS_MAX);
	return 0;
}

static int check(const struct context *c, const struct strvec *names, struct err *e)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct config_agent *a;
		auto_str path = NULL;

		if (config_agent_find(&c->config, names->v[i], &a, e) < 0)
			return -1;
		path = a->programs.n ? program_find(a->programs.v[0]) : NULL;
		if (!path)
			return err_set(e, ERR_PROGRAM,
				"agent '%s' is not installed: there is no program '%s'", a->name,
				a->programs.n ? a->programs.v[0] : a->name);
	}
	return 0;
}

/* The commit that all of them start from, even if the branch moves meanwhile. */
static int pin(struct context *c, const struct run_agents *r, char out[OID_SIZE], struct err *e)
{
	auto_str cwd = get_current_dir_name();
	auto_repo repo = { 0 };

	*out = '\0';
	if (r->base)
		return 0;
	if (here_open(c, cwd ? cwd : ".", "HEAD", &repo, e) < 0)
		return -1;
	snprintf(out, OID_SIZE, "%s", repo.commit);
	return 0;
}

/* Returns the exit code; *ret_name is the task's name, "" if there is none. */
static int run_one(const struct run_agents *r, const char *agent, const char *base, struct buf *ret_name)
{
	struct err ignored = ERR_INIT;
	auto_fd out = -1;
	int ends[2], status = 0;
	pid_t pid;

	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return 1;
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		exit(r->one(agent, *base ? base : NULL, r->arg));
	}
	close(ends[1]);
	out = ends[0];
	if (pid < 0)
		return 1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* the task's keeper has its own output: the pipe ends with the process */
	read_rest(out, ret_name, "the task's name", &ignored);
	buf_cut(ret_name, strcspn(buf_str(ret_name), "\n"));
	return proc_exit_code(status);
}

static void answer(struct context *c, const struct strvec *tasks, bool json)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tasks->n; i++) {
		struct err ignored = ERR_INIT;
		auto_task t = { 0 };

		if (!json)
			printf("%s\n", tasks->v[i]);
		else if (!task_find(c, tasks->v[i], &t, &ignored))
			json_array_append_new(list, json_task(&t));
	}
	if (json)
		json_print(json_pack("{s:o}", "tasks", list));
	else
		json_decref(list);
}

int run_agents(const struct run_agents *r)
{
	auto_strvec names = STRVEC_INIT, tasks = STRVEC_INIT;
	auto_context c = { .home.fd = -1 };
	auto_buf all = BUF_INIT(NAMES_MAX);
	struct err e = ERR_INIT;
	char base[OID_SIZE];
	int code = 0;

	if (split(r->list, &names, &e) < 0 || context_open(&c, &e) < 0 || check(&c, &names, &e) < 0 ||
		pin(&c, r, base, &e) < 0)
		return say_error(&e);
	context_close_store(&c);
	for (size_t i = 0; i < names.n; i++) {
		auto_buf name = BUF_INIT(NAMES_MAX);
		int own = run_one(r, names.v[i], base, &name);

		if (name.len) {
			strvec_push(&tasks, buf_str(&name));
			buf_printf(&all, " %s", buf_str(&name));
		}
		code = code ? code : own;
	}
	answer(&c, &tasks, r->json);
	if (tasks.n > 1 && !r->json)
		say_state("%zu tasks run in the background", tasks.n),
			say_hint("garth compare%s", buf_str(&all));
	return code;
}
