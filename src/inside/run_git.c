#include "inside/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "git/run.h"
#include "sys/fd.h"
#include "sys/proc.h"

#define ASK_SECONDS    10
#define MKDIRS_AT_ONCE 20
/* A pack with more objects stays a pack: writing a file for each would take longer than all the rest. */
#define LOOSE_MAX 1000

void inside_program_command(
	struct inside *in, const char *program, const struct strvec *args, struct order_cmd *ret)
{
	*ret = (struct order_cmd){ .cwd = xstrdup(in->task.workspace) };
	strvec_push(&ret->argv, program);
	for (size_t i = 0; i < args->n; i++)
		strvec_push(&ret->argv, args->v[i]);
	strvec_pushl(&ret->env, "PATH=" PROC_PATH, "LC_ALL=C.UTF-8", "GARTH_GATEWAY=1", GIT_MALLOC, NULL);
	if (backend_of(&in->task)->landlock_only) {
		auto_str home = home_path(&in->context.home, "tasks/%lld/home", (long long)in->task.id);

		strvec_pushf(&ret->env, "HOME=%s", home);
	} else {
		strvec_pushf(&ret->env, "HOME=%s", in->context.user_home);
	}
	strvec_pushf(&ret->env, "GARTH_TASK=%s", in->task.name);
	strvec_pushf(&ret->env, "GARTH_WORKSPACE=%s", in->task.workspace);
	strvec_pushv(&ret->env, workspace_env(&in->task));
}

void inside_command(struct inside *in, const struct strvec *args, struct order_cmd *ret)
{
	/* by its absolute path if possible: in PATH inside, git is the shim */
	inside_program_command(in, access("/usr/bin/git", X_OK) ? "git" : "/usr/bin/git", args, ret);
}

int inside_git(struct inside *in, const struct strvec *args, const struct buf *input, struct buf *out,
	struct buf *errtext, unsigned seconds, int *ret_code, struct err *e)
{
	auto_order_cmd cmd = { 0 };

	inside_command(in, args, &cmd);
	if (runner_run(in->runner, &cmd, input, out, errtext, seconds, ret_code, e) < 0)
		return err_wrap(e, "git %s inside", args->n ? args->v[0] : "");
	return 0;
}

static int run_words(
	struct inside *in, unsigned seconds, struct buf *out, int *ret_code, struct err *e, va_list ap)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf words = BUF_INIT(4096), clean = BUF_INIT(4096);
	const char *s;
	int code;

	while ((s = va_arg(ap, const char *)))
		strvec_push(&args, s);
	if (inside_git(in, &args, NULL, out, ret_code ? NULL : &words, seconds, ret_code ? ret_code : &code,
		    e) < 0)
		return -1;
	if (ret_code || !code)
		return 0;
	clean_text(&clean, buf_str(&words), strcspn(buf_str(&words), "\n"), false);
	return err_set(e, ERR_FAILED, "git %s inside: %s", args.v[0], clean.len ? clean.data : "failed");
}

int inside_ask(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
{
	va_list ap;
	int rc;

	va_start(ap, e);
	rc = run_words(in, ASK_SECONDS, out, ret_code, e, ap);
	va_end(ap);
	if (rc < 0 && e->sys == ETIMEDOUT)
		err_set(e, ERR_FAILED,
			"git inside does not answer: it was stopped, or something in its .git is a pipe; see: garth exec %s -- sh -c 'ls -la \"$(git rev-parse --git-dir)\"'",
			in->task.name);
	return rc;
}

int inside_do(struct inside *in, struct buf *out, int *ret_code, struct err *e, ...)
{
	va_list ap;
	int rc;

	va_start(ap, e);
	rc = run_words(in, INSIDE_SECONDS, out, ret_code, e, ap);
	va_end(ap);
	return rc;
}

int inside_program(struct inside *in, struct err *e, const char *program, ...)
{
	auto_buf words = BUF_INIT(4096), clean = BUF_INIT(4096);
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	const char *s;
	va_list ap;
	int code;

	va_start(ap, program);
	while ((s = va_arg(ap, const char *)))
		strvec_push(&args, s);
	va_end(ap);
	inside_program_command(in, program, &args, &cmd);
	if (runner_run(in->runner, &cmd, NULL, NULL, &words, INSIDE_SECONDS, &code, e) < 0)
		return err_wrap(e, "%s inside", program);
	clean_text(&clean, buf_str(&words), strcspn(buf_str(&words), "\n"), false);
	return code ? err_set(e, ERR_FAILED, "%s inside: %s", program, clean.len ? clean.data : "failed") : 0;
}

/* "PACK", the version, the number of objects. If it is not a pack, git refuses it. */
static bool is_large(int pack)
{
	unsigned char head[12] = { 0 };

	return pread(pack, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       ((uint32_t)head[8] << 24 | (uint32_t)head[9] << 16 | (uint32_t)head[10] << 8 | head[11]) >
		       LOOSE_MAX;
}

int inside_unpack(struct inside *in, int pack, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	int code;

	if (is_large(pack))
		strvec_pushl(&args, "index-pack", "--stdin", "--fix-thin", NULL);
	else
		strvec_pushl(&args, "unpack-objects", "-q", NULL);
	inside_command(in, &args, &cmd);
	if (runner_run_from(in->runner, &cmd, pack, NULL, NULL, INSIDE_SECONDS, &code, e) < 0)
		return -1;
	return code ? err_set(e, ERR_FAILED, "git inside could not take the objects in") : 0;
}

int inside_mkdirs(struct inside *in, const struct strvec *paths, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	int code;

	strvec_pushl(&args, "-p", "--", NULL);
	for (size_t i = 0; i < paths->n; i++) {
		auto_order_cmd cmd = { 0 };

		strvec_push(&args, paths->v[i]);
		/* as many as fit on one command line */
		if (args.n < MKDIRS_AT_ONCE && i + 1 < paths->n)
			continue;
		inside_program_command(in, "/bin/mkdir", &args, &cmd);
		/* a directory that cannot be made is reported when something is put into it */
		if (runner_run(in->runner, &cmd, NULL, NULL, NULL, INSIDE_SECONDS, &code, e) < 0)
			return err_wrap(e, "mkdir inside");
		strvec_release(&args);
		strvec_pushl(&args, "-p", "--", NULL);
	}
	return 0;
}

int inside_send_objects(struct inside *in, const struct buf *revs, struct err *e)
{
	auto_fd pack = openat(in->at.ws.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct git out = repo_git(&in->at.repo);
	auto_strvec args = STRVEC_INIT;

	if (pack < 0)
		return err_sys(e, "cannot make a file in the task's directory");
	out.stdout_fd = pack;
	strvec_pushl(&args, "pack-objects", "--revs", "--delta-base-offset", "--quiet", "--stdout", NULL);
	if (git_run(&out, &args, revs, NULL, e) < 0)
		return -1;
	lseek(pack, 0, SEEK_SET);
	return inside_unpack(in, pack, e);
}
