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
#include "git/uncommitted.h"
#include "sys/fd.h"
#include "workspace/workspace.h"

#define NAMES_SHOWN 3

static int find(void *arg, struct err *e)
{
	struct checkout_changes *w = arg;

	return uncommitted_find(w->dir, w->repo, w->answer, e);
}

static void start(const struct repo *r, void *arg)
{
	struct checkout_changes *w = arg;
	struct err ignored = ERR_INIT;

	w->answer = fd_of_bytes("changes", "", 0);
	w->repo = r;
	if (w->answer >= 0)
		worker_start(&w->git, find, w, &ignored);
	w->repo = NULL;
}

void checkout_changes_watch(struct checkout_changes *w, struct task_spec *spec)
{
	w->dir = spec->dir;
	spec->on_checked = start;
	spec->on_checked_arg = w;
}

void checkout_changes_release(struct checkout_changes *w)
{
	worker_release(&w->git);
	fd_closep(&w->answer);
}

static void tell_settings(void)
{
	say_warning("uncommitted changes of " REPO_SETTINGS " are not in force");
}

void checkout_changes_tell(struct checkout_changes *w, const struct task *t, const struct strvec *included)
{
	auto_buf names = BUF_SMALL, clean = BUF_SMALL;
	auto_strvec all = STRVEC_INIT, paths = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	char count[COUNT_TEXT_MAX];

	if (!backend_of(t)->has_git || !w->git.pid || worker_wait(&w->git, &ignored) < 0 ||
		uncommitted_read(w->answer, &all, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (!strvec_has(included, all.v[i]))
			strvec_push(&paths, all.v[i]);
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
