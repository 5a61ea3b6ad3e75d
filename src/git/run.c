#include "git/run.h"

#include <stdarg.h>
#include <unistd.h>

#include "sys/proc.h"

/* Settings that win over every file. */
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
	"advice.detachedHead=false",
};

static void push_env(struct strvec *env, const char *name, const char *value)
{
	if (value)
		strvec_pushf(env, "%s=%s", name, value);
}

static void environment(const struct git *g, struct strvec *env)
{
	strvec_pushl(env, "PATH=" PROC_PATH, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_PAGER=cat", "GIT_EDITOR=/bin/false", NULL);
	push_env(env, "GIT_OPTIONAL_LOCKS", g->writes_index ? "1" : "0");
	if (g->user_config) {
		push_env(env, "HOME", getenv("HOME"));
		push_env(env, "XDG_CONFIG_HOME", getenv("XDG_CONFIG_HOME"));
		push_env(env, "SUDO_UID", getenv("SUDO_UID"));
	} else {
		strvec_pushl(env, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_ATTR_NOSYSTEM=1", NULL);
	}
	push_env(env, "GIT_DIR", g->dir);
	push_env(env, "GIT_WORK_TREE", g->work_tree);
	push_env(env, "GIT_INDEX_FILE", g->index);
}

static void arguments(const struct git *g, const struct strvec *args, struct strvec *argv)
{
	strvec_push(argv, "git");
	for (size_t i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++) {
		/* looking at the user's own settings must show them as they are */
		if (g->user_config)
			break;
		strvec_pushl(argv, "-c", overrides[i], NULL);
	}
	strvec_push(argv, "-c");
	strvec_pushf(argv, "core.fsmonitor=%s", g->fsmonitor ? g->fsmonitor : "false");
	for (size_t i = 0; i < args->n; i++)
		strvec_push(argv, args->v[i]);
}

/* The first word that is neither an option nor the value of -c. */
static const char *verb_of(const struct strvec *args)
{
	size_t i = 0;

	while (i < args->n && args->v[i][0] == '-')
		i += strcmp(args->v[i], "-c") ? 1 : 2;
	return i < args->n ? args->v[i] : "";
}

int git_try(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, int *ret_code, struct err *e)
{
	auto_strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	struct proc_spec p = { .cwd = g->cwd,
		.as_inside = g->as_inside,
		.stdin_fd = g->stdin_fd,
		.stdout_fd = g->stdout_fd,
		.seconds = g->seconds };
	int status;

	arguments(g, args, &argv);
	environment(g, &env);
	p.argv = argv.v;
	p.env = env.v;
	if (proc_run(&p, input, out, errtext, &status, e) < 0)
		return err_wrap(e, "git %s", verb_of(args));
	*ret_code = proc_exit_code(status);
	return 0;
}

/* git's last line, without "fatal: ". */
static const char *last_words(struct buf *text)
{
	char *line;

	while (text->len && text->data[text->len - 1] == '\n')
		buf_cut(text, text->len - 1);
	if (!text->len)
		return "";
	line = strrchr(text->data, '\n');
	line = line ? line + 1 : text->data;
	if (!strncmp(line, "fatal: ", 7))
		line += 7;
	else if (!strncmp(line, "error: ", 7))
		line += 7;
	return line;
}

int git_run(const struct git *g, const struct strvec *args, const struct buf *input, struct buf *out,
	struct err *e)
{
	auto_buf errtext = BUF_SMALL;
	int code;

	if (git_try(g, args, input, out, &errtext, &code, e) < 0)
		return -1;
	if (code)
		return err_set(e, ERR_FAILED, "git %s: %s", verb_of(args),
			errtext.len ? last_words(&errtext) : "failed without a word");
	return 0;
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
