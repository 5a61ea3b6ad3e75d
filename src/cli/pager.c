#include "cli/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clean.h"
#include "cli/say.h"

static pid_t pager = -1;

void pager_start(void)
{
	const char *wanted = getenv("GARTH_PAGER");
	int fds[2];

	if (!isatty(1) || (wanted && !*wanted) || access("/usr/bin/less", X_OK) < 0 ||
		pipe2(fds, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pager = fork();
	if (!pager) {
		dup2(fds[0], 0);
		/* LESSSECURE: the user cannot start a shell or open files from less */
		setenv("LESSSECURE", "1", 1);
		execl("/usr/bin/less", "less", "-FRX", (char *)NULL);
		_exit(127);
	}
	if (pager > 0) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		dup2(fds[1], 1);
	}
	close(fds[0]);
	close(fds[1]);
}

void pager_end(void)
{
	fflush(stdout);
	if (pager <= 0)
		return;
	close(1);
	while (waitpid(pager, NULL, 0) < 0)
		;
	open("/dev/null", O_WRONLY);
}

static const char *colour_of(struct pager_diff *d)
{
	const char *l = d->line;

	if (!strncmp(l, "diff --git ", 11))
		d->header = true;
	else if (!strncmp(l, "@@", 2))
		d->header = false;
	if (!strncmp(l, "@@", 2))
		return "\033[36m";
	if (d->header)
		return "\033[1m";
	return l[0] == '+' ? "\033[32m" : l[0] == '-' ? "\033[31m" : "";
}

/* Prints a line, or as much of a long line as fits. */
static void put(struct pager_diff *d, bool end)
{
	auto_buf clean = BUF_INIT(1 << 16);
	const char *colour = "";

	d->line[d->len] = '\0';
	if (d->colours && !d->middle)
		colour = colour_of(d);
	clean_text(&clean, d->line, d->len, false);
	printf("%s%s%s%s", colour, buf_str(&clean), *colour ? "\033[0m" : "", end ? "\n" : "");
	d->middle = !end;
	d->len = 0;
}

void pager_diff(struct pager_diff *d, const char *text, size_t len)
{
	if (d->raw) {
		fwrite(text, 1, len, stdout);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			put(d, true);
		else if (d->line[d->len++] = text[i], d->len == sizeof(d->line) - 1)
			put(d, false);
	}
}

void pager_diff_end(struct pager_diff *d)
{
	if (d->len)
		put(d, true);
}
