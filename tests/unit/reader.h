/*
 * For tests with real repositories: a shell in the scratch directory, and a process with a pipe to it and one
 * from it, such as cat-file.
 */
#ifndef TESTS_READER_H
#define TESTS_READER_H

#include "scratch.h"

#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "publish/objects.h"
#include "sys/proc.h"

#define NO_OBJECT "1234567890123456789012345678901234567890"

static char *const git_env[] = { "PATH=" PROC_PATH, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@x",
	"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", NULL };

/* What a shell prints, without the last newline. */
static inline char *sh(const struct scratch *s, const char *script)
{
	struct buf out = BUF_INIT(64 << 20);
	auto_buf errors = BUF_SMALL;
	char *const argv[] = { "/bin/bash", "-euc", (char *)script, NULL };
	struct proc_spec p = { .argv = argv, .env = git_env, .cwd = s->path };
	struct err e = ERR_INIT;
	int status = 0;

	if (proc_run(&p, NULL, &out, &errors, &status, &e) < 0 || status)
		fail_msg("%s: %s %s", script, e.msg, buf_str(&errors));
	if (out.len && out.data[out.len - 1] == '\n')
		buf_cut(&out, out.len - 1);
	return out.data ? buf_steal(&out) : xstrdup("");
}

static inline void run(const struct scratch *s, const char *script)
{
	free(sh(s, script));
}

/* A process with a pipe from it and a pipe to it. */
static inline pid_t start(const struct scratch *s, char *const *argv, struct objects *o)
{
	int to[2], from[2];
	pid_t pid;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (chdir(s->path) < 0 || dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0)
			_exit(99);
		execvpe(argv[0], argv, git_env);
		_exit(99);
	}
	close(to[0]);
	close(from[1]);
	*o = (struct objects){ .in = to[1], .out = from[0], .seconds = 20 };
	return pid;
}

static inline void stop(pid_t pid, struct objects *o)
{
	close(o->in);
	close(o->out);
	objects_release(o);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static char *const cat_file[] = { "git", "cat-file", "--batch-command", "--buffer", NULL };

static inline double seconds_since(const struct timespec *from)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec - from->tv_sec) + (double)(t.tv_nsec - from->tv_nsec) / 1e9;
}

#endif
