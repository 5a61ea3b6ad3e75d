/*
 * A task's workspace with a gateway that says what the test wants, for tests of the shim and its hook. The
 * program under test is the test itself: world_begin() must come first in main.
 */
#ifndef TESTS_SHIM_WORLD_H
#define TESTS_SHIM_WORLD_H

#include "scratch.h"

#include "shim/shim.h"
#include "shim_run.h"

/* The scratch directory: ws (the workspace), gateway, task, operations, hook, reply, asked, out, err. */
struct world {
	struct scratch *s;
	pid_t gateway;
	char paths[5][128];
	struct shim shim;
};

static char self[4096];

static inline void shim_of(const char *dir, char paths[5][128], struct shim *ret)
{
	static const char *const names[] = { "bin", "hook", "gateway", "task", "operations" };

	for (size_t i = 0; i < 5; i++)
		snprintf(paths[i], 128, "%s/%s", dir, names[i]);
	*ret = (struct shim){ paths[0], paths[1], paths[2], paths[3], paths[4] };
}

static inline int world_setup(void **state)
{
	static struct world w;
	auto_str hook = NULL, ws = NULL;

	if (setup((void **)&w.s) < 0)
		return -1;
	shim_of(w.s->path, w.paths, &w.shim);
	ws = xasprintf("%s/ws", w.s->path);
	setenv("GARTH_WORKSPACE", ws, 1);
	hook = xasprintf("#!/bin/sh\nexec '%s' --hook '%s' \"$0\" \"$@\"\n", self, w.s->path);
	put(w.s->fd, "hook", hook);
	put(w.s->fd, "task", "name=fix\nbranch=refs/heads/garth/fix\ntarget=refs/heads/main\n");
	put(w.s->fd, "reply", "200 {}");
	put(w.s->fd, "asked", "");
	if (shell(w.s,
		    "chmod +x hook && git init -q -b main ws && cd ws && mkdir d && echo 1 >a && echo 1 >d/f && "
		    "git add . && git commit -qm one && git branch other && git switch -q -c garth/fix && "
		    "ln -sf ../../../hook .git/hooks/reference-transaction"))
		return -1;
	w.gateway = serve(w.s);
	*state = &w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *w = *state;
	void *s = w->s;

	if (w->gateway > 0) {
		kill(w->gateway, SIGKILL);
		waitpid(w->gateway, NULL, 0);
	}
	unsetenv("GARTH_WORKSPACE");
	return teardown(&s);
}

static inline void no_gateway(struct world *w)
{
	kill(w->gateway, SIGKILL);
	waitpid(w->gateway, NULL, 0);
	w->gateway = 0;
}

/* Through the shim, in the workspace. */
static inline pid_t start_words(struct world *w, int argc, char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		dup2(openat(w->s->fd, "out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 1);
		dup2(openat(w->s->fd, "err", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 2);
		if (chdir(getenv("GARTH_WORKSPACE")) < 0)
			_exit(99);
		_exit(shim_git(&w->shim, argc, argv));
	}
	return pid;
}

/* "commit|-m|x" */
static inline pid_t start_git(struct world *w, const char *line)
{
	auto_str text = xstrdup(line);
	char *rest = text, *argv[64] = { (char *)"/anything/git" };
	int argc = 1;

	while (rest && argc < 63)
		argv[argc++] = strsep(&rest, "|");
	return start_words(w, argc, argv);
}

static inline int git(struct world *w, const char *line)
{
	put(w->s->fd, "asked", "");
	return wait_code(start_git(w, line));
}

static inline void assert_err_has(struct world *w, const char *text)
{
	auto_buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	assert_int_equal(read_file(w->s->fd, "err", &b, &e), 0);
	if (!strstr(buf_str(&b), text))
		fail_msg("'%s' is not in: %s", text, buf_str(&b));
}

/* Packs that come along are another test's. */
#define asked(w, text)                                                                                       \
	(assert_int_equal(shell((w)->s, "sed -i 's/,\"pack\":\"[^\"]*\"//' asked"), 0),                      \
		assert_content((w)->s->fd, "asked", text))
#define out(w, text) assert_content((w)->s->fd, "out", text)
#define no(w, text)  put((w)->s->fd, "reply", "403 {\"error\":{\"code\":\"x\"," text "}}")

static inline char *rev(struct world *w, const char *name)
{
	auto_str line = xasprintf("git -C ws rev-parse -q --verify %s >rev", name);
	auto_buf b = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(shell(w->s, line), 0);
	assert_int_equal(read_file(w->s->fd, "rev", &b, &e), 0);
	buf_cut(&b, b.len - 1);
	return buf_steal(&b);
}

/* True where this process was started as the hook, and has done its work. */
static inline bool world_begin(int argc, char **argv, int *code)
{
	char paths[5][128];
	struct shim s;

	*code = 1;
	if (argc > 4 && !strcmp(argv[1], "--hook")) {
		shim_of(argv[2], paths, &s);
		*code = shim_hook(&s, argc - 3, argv + 3);
		return true;
	}
	git_environment();
	return readlink("/proc/self/exe", self, sizeof(self) - 1) < 0;
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

#endif
