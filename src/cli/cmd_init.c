#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/init_file.h"
#include "cli/say.h"
#include "git/discover.h"
#include "git/repo.h"
#include "sys/fd.h"

/* Never over a file or a link that is there. */
static int write_new(int top, const struct buf *text, struct err *e)
{
	auto_fd fd = openat(top, REPO_SETTINGS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "there is a " REPO_SETTINGS " already"),
		       err_hint(e, "garth init --print");
	if (fd < 0)
		return err_sys(e, "cannot make " REPO_SETTINGS);
	if (write_full(fd, text->data, text->len) < 0) {
		err_sys(e, "cannot write " REPO_SETTINGS);
		unlinkat(top, REPO_SETTINGS, 0);
		return -1;
	}
	return 0;
}

int cmd_init(int argc, char **argv)
{
	bool print = false;
	const struct opt opts[] = {
		{ 0, "print", OPT_FLAG, &print, NULL, "print the file, and write nothing" },
		OPT_END,
	};
	struct cmd_line l = { "init", opts, 0, 0, false, 0, 0 };
	auto_strvec found = STRVEC_INIT;
	auto_buf text = BUF_INIT(1 << 20), names = BUF_SMALL;
	auto_discovered d = { 0 };
	struct err e = ERR_INIT;
	auto_fd top = -1;

	CMD_PARSE(&l, argc, argv);
	if (discover(".", &d, &e) < 0)
		return say_error(&e);
	top = open(d.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(&e, "cannot open '%s'", d.top), say_error(&e);
	if (init_file(top, &text, &found, &e) < 0)
		return say_error(&e);
	if (print)
		return fwrite(buf_str(&text), 1, text.len, stdout) == text.len ? 0 : 1;
	if (write_new(top, &text, &e) < 0)
		return say_error(&e);
	for (size_t i = 0; i < found.n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", found.v[i]);
	say_done("%s/" REPO_SETTINGS " is written%s%s: look through it, and commit it", d.top,
		found.n ? " for " : "", buf_str(&names));
	say_hint("git add " REPO_SETTINGS " && git commit");
	return 0;
}
