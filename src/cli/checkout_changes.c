#include "cli/checkout_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/size.h"
#include "base/strvec.h"
#include "cli/say.h"
#include "git/repo.h"
#include "sys/fd.h"

#define NAMES_SHOWN 3

static void tell_settings(void)
{
	say_warning("uncommitted changes of " REPO_SETTINGS " are not in force");
}

void checkout_changes_tell(struct left_behind *w, const struct task *t, const struct strvec *included)
{
	auto_buf names = BUF_SMALL, clean = BUF_SMALL;
	auto_strvec paths = STRVEC_INIT;
	char count[COUNT_TEXT_MAX];

	left_behind_read(w, t, included, &paths);
	if (!paths.n)
		return;
	for (size_t i = 0; i < paths.n && i < NAMES_SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", paths.v[i]);
	if (paths.n > NAMES_SHOWN)
		buf_printf(&names, " and %s more", count_text(paths.n - NAMES_SHOWN, count));
	say_state(
		"%s uncommitted change%s of the checkout %s not in the task: %s (--with-changes takes %s along)",
		count_text(paths.n, count), paths.n == 1 ? "" : "s", paths.n == 1 ? "is" : "are",
		say_one_line(&clean, buf_str(&names)), paths.n == 1 ? "it" : "them");
	for (size_t i = 0; i < paths.n; i++)
		if (!strcmp(paths.v[i], REPO_SETTINGS))
			tell_settings();
}

/* Whether the file has exactly these bytes. A link, a FIFO and the like have not. */
static bool has_bytes(int fd, const struct buf *want)
{
	auto_buf text = BUF_INIT(REPO_SETTINGS_MAX + 1);
	struct stat st;
	char *at;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)want->len)
		return false;
	at = buf_reserve(&text, want->len + 1);
	return at && read_full(fd, at, want->len) == (ssize_t)want->len &&
	       !memcmp(at, buf_str(want), want->len);
}

void checkout_settings_tell(const char *top, const struct buf *committed)
{
	auto_str path = path_join(top, REPO_SETTINGS);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 ? errno == ELOOP : !has_bytes(fd, committed))
		tell_settings();
}
