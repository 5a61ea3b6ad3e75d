#include "cli/tmux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "sys/proc.h"

#define SESSION "garth"

static int tmux(const struct strvec *args, struct buf *out, struct err *e)
{
	struct proc_spec p = { .argv = args->v, .env = environ, .seconds = 10 };
	auto_buf errtext = BUF_SMALL;
	int status;

	if (proc_run(&p, NULL, out, &errtext, &status, e) < 0)
		return err_wrap(e, "cannot run tmux");
	if (!status)
		return 0;
	if (errtext.len)
		errtext.data[strcspn(errtext.data, "\n")] = '\0';
	return err_set(e, ERR_FAILED, "tmux: %s", buf_str(&errtext));
}

/* The command in the window. tmux's server may have another environment, so GARTH_HOME is passed. */
static int push_attach(struct strvec *args, const char *task, struct err *e)
{
	auto_str dir = proc_own_dir(), program = dir ? path_join(dir, "garth") : NULL;
	const char *home = getenv("GARTH_HOME");

	if (!program)
		return err_sys(e, "cannot find the program itself");
	strvec_push(args, "env");
	if (home)
		strvec_pushf(args, "GARTH_HOME=%s", home);
	strvec_pushl(args, program, "attach", task, NULL);
	return 0;
}

static bool has_session(void)
{
	auto_strvec args = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	strvec_pushl(&args, "tmux", "has-session", "-t", "=" SESSION, NULL);
	return !tmux(&args, NULL, &ignored);
}

int tmux_window(const char *task, char **ret, struct err *e)
{
	const char *inside = getenv("TMUX");
	auto_strvec args = STRVEC_INIT, stay = STRVEC_INIT;
	auto_buf window = BUF_SMALL;
	struct err ignored = ERR_INIT;

	strvec_push(&args, "tmux");
	if (inside && *inside)
		strvec_pushl(&args, "new-window", "-d", NULL);
	else if (has_session())
		strvec_pushl(&args, "new-window", "-d", "-t", "=" SESSION ":", NULL);
	else
		strvec_pushl(&args, "new-session", "-d", "-s", SESSION, NULL);
	strvec_pushl(&args, "-n", task, "-P", "-F", "#{window_id}", NULL);
	if (push_attach(&args, task, e) < 0 || tmux(&args, &window, e) < 0)
		return -1;
	if (window.len)
		window.data[strcspn(window.data, "\n")] = '\0';
	/* keep the window after the end, so that the last output can be read */
	strvec_pushl(&stay, "tmux", "set-option", "-w", "-t", buf_str(&window), "remain-on-exit", "on", NULL);
	tmux(&stay, NULL, &ignored);
	*ret = inside && *inside ? xasprintf("tmux select-window -t %s", buf_str(&window))
				 : xasprintf("tmux attach -t %s", SESSION);
	return 0;
}

void tmux_show(const char *name, bool quiet)
{
	struct err e = ERR_INIT;
	auto_str look = NULL;

	if (tmux_window(name, &look, &e) < 0) {
		say_warning("task '%s' runs, but has no window: %s", name, e.msg);
		say_hint("garth attach %s", name);
	} else if (!quiet) {
		say_state("task '%s' has a window in tmux", name);
		say_hint("%s", look);
	}
}
