#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/deadline.h"
#include "cli/ls.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "base/width.h"
#include "sys/fd.h"

/* Ages, branches and dead keepers change without a word in the store: they are looked at this often. */
#define LOOK_EVERY_MS 5000
/* However much happens, the list is not made anew more often. */
#define REST_MS 250

#define SCREEN_ON  "\033[22;0t\033[?1049h\033[?25l\033[?7l"
#define SCREEN_OFF "\033[?7h\033[?25h\033[?1049l\033[23;0t"

static const int watched[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT };

/* A task that wanted attention in the last picture. */
struct wanting {
	int64_t id;
	enum ls_attention why;
};

struct watch {
	struct context *c;
	const struct ls_query *q;
	int signals, store; /* signalfd; inotify on the Garth home */
	struct termios before;
	sigset_t old_mask;
	bool raw, over, loaded;
	int code;
	struct ls_view view;
	int64_t version; /* of the store, when the view was loaded */
	struct wanting *wanting;
	size_t nwanting;
};

static void put(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(1, text, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

static void screen_on(struct watch *w)
{
	struct termios raw = w->before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	w->raw = tcsetattr(0, TCSANOW, &raw) == 0;
	put(SCREEN_ON, strlen(SCREEN_ON));
}

static void screen_off(struct watch *w)
{
	put(SCREEN_OFF, strlen(SCREEN_OFF));
	if (w->raw)
		tcsetattr(0, TCSANOW, &w->before);
	w->raw = false;
}

static bool was_wanting(const struct watch *w, const struct ls_row *r)
{
	for (size_t i = 0; i < w->nwanting; i++)
		if (w->wanting[i].id == r->task->id && w->wanting[i].why == r->attention)
			return true;
	return false;
}

/* Remembers which tasks want attention now. Whether one of them did not before, or for another reason. */
static bool remember(struct watch *w)
{
	struct wanting *now = xcalloc(w->view.n + 1, sizeof(*now));
	bool news = false;
	size_t n = 0;

	for (size_t i = 0; i < w->view.n; i++) {
		const struct ls_row *r = &w->view.rows[i];

		if (!ls_wants_attention(r))
			continue;
		news |= !was_wanting(w, r);
		now[n++] = (struct wanting){ r->task->id, r->attention };
	}
	free(w->wanting);
	w->wanting = now;
	w->nwanting = n;
	return news;
}

/* The line is erased before it is written: behind a line that fills the screen's width, that would erase its last
 * character. */
static void begin_line(struct buf *out, size_t *row)
{
	buf_addstr(out, (*row)++ ? "\r\n\033[K" : "\033[K");
}

static void add_line(struct buf *out, const char *text, size_t width, size_t *row)
{
	auto_buf line = BUF_SMALL;

	width_cut(&line, text, width);
	begin_line(out, row);
	buf_addstr(out, buf_str(&line));
}

/* The title and the first line: how many tasks want the user, and how many run. */
static void add_head(const struct watch *w, size_t width, struct buf *out, size_t *row)
{
	size_t wanting, running;
	auto_str text = NULL, title = NULL;

	ls_count(&w->view, &wanting, &running);
	title = wanting ? xasprintf("garth: %zu want%s attention", wanting, wanting == 1 ? "s" : "")
			: xasprintf("garth: %zu running", running);
	buf_printf(out, "\033]0;%s\a", title);
	text = xasprintf("%zu want%s attention, %zu run%s, %zu listed. q quits", wanting,
		wanting == 1 ? "s" : "", running, running == 1 ? "s" : "", w->view.n);
	add_line(out, text, width, row);
}

/* The notes get a third of the screen at most, the table the rest. Lines of the table are as wide as the screen
 * already; those with colours cannot be cut here. */
static void add_lists(const struct watch *w, const struct wire_size *size, struct buf *out, size_t *row)
{
	auto_strvec lines = STRVEC_INIT, notes = STRVEC_INIT;
	size_t room = size->rows > *row ? size->rows - *row : 0, for_notes, for_table;

	if (w->view.n)
		ls_table(w->c, &w->view, size->cols, say_colours(1), &lines);
	ls_notes(&w->view, &notes);
	for_notes = notes.n < room / 3 ? notes.n : room / 3;
	for_table = room - for_notes;
	for (size_t i = 0; i < lines.n && i < for_table; i++) {
		size_t hidden = lines.n - i;

		if (hidden > 1 && i + 1 == for_table) {
			auto_str more = xasprintf("and %zu more", hidden);

			add_line(out, more, size->cols, row);
		} else {
			begin_line(out, row);
			buf_addstr(out, lines.v[i]);
		}
	}
	for (size_t i = 0; i < for_notes; i++) {
		auto_buf clean = BUF_SMALL;
		auto_str text = xasprintf("%s%s", say_utf8() ? "▲ " : "", say_one_line(&clean, notes.v[i]));

		add_line(out, text, size->cols, row);
	}
}

static void draw(const struct watch *w, bool bell)
{
	auto_buf out = BUF_INIT(16 << 20);
	struct wire_size size;
	size_t row = 0;

	terminal_size(&size);
	/* home, and what is behind the last line is erased at the end: nothing flickers */
	buf_addstr(&out, bell ? "\a\033[H" : "\033[H");
	add_head(w, size.cols, &out, &row);
	add_lists(w, &size, &out, &row);
	if (row < size.rows)
		buf_addstr(&out, "\r\n\033[J");
	put(buf_str(&out), out.len);
}

static int load(struct watch *w, struct err *e)
{
	struct ls_view new = { 0 };
	bool first = !w->loaded, news;

	/* read before the list: what is written meanwhile is seen the next time */
	if (context_store(w->c, e) < 0 || store_version_seen(w->c->store, &w->version, e) < 0 ||
		ls_load(w->c, w->q, &new, e) < 0)
		return -1;
	ls_release(&w->view);
	w->view = new;
	w->loaded = true;
	news = remember(w);
	draw(w, news && !first);
	return 0;
}

/* Stops like any other program on Ctrl-Z, with the terminal as it was. */
static void suspend(struct watch *w)
{
	screen_off(w);
	kill(getpid(), SIGSTOP);
	screen_on(w);
}

static void on_signal(struct watch *w, int sig)
{
	if (sig == SIGTSTP) {
		suspend(w);
	} else if (sig != SIGWINCH && sig != SIGCONT) {
		w->over = true;
		w->code = sig == SIGINT ? 0 : 128 + sig;
	}
}

static bool read_signals(struct watch *w)
{
	struct signalfd_siginfo info;
	bool any = false;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info)) {
		on_signal(w, (int)info.ssi_signo);
		any = true;
	}
	return any;
}

static void read_keys(struct watch *w)
{
	char keys[64];
	ssize_t n = read(0, keys, sizeof(keys));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* a hang-up */
	w->over |= n <= 0;
	for (ssize_t i = 0; i < n; i++)
		w->over |= keys[i] == 'q' || keys[i] == 'Q' || keys[i] == 3;
}

static void drain(int fd)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(fd, events, sizeof(events)) > 0)
		;
}

/* Whether another process has written to the store. What this one writes is no news. */
static bool is_written(struct watch *w)
{
	struct err ignored = ERR_INIT;
	int64_t now;

	drain(w->store);
	return store_version_seen(w->c->store, &now, &ignored) < 0 || now != w->version;
}

static int follow(struct watch *w, struct err *e)
{
	struct deadline look = deadline_in(0), rest = deadline_in(0);
	bool changed = true;

	while (!w->over) {
		struct pollfd p[] = { { w->signals, POLLIN, 0 }, { 0, POLLIN, 0 }, { w->store, POLLIN, 0 } };
		int wait = deadline_left(changed ? &rest : &look);

		if (poll(p, ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
			return err_sys(e, "cannot wait for news");
		if (p[1].revents)
			read_keys(w);
		if (p[0].revents && read_signals(w) && !w->over)
			draw(w, false);
		if (p[2].revents)
			changed |= is_written(w);
		if (w->over || (deadline_left(&look) && !(changed && !deadline_left(&rest))))
			continue;
		if (load(w, e) < 0)
			return -1;
		changed = false;
		look = deadline_in(LOOK_EVERY_MS);
		rest = deadline_in(REST_MS);
	}
	return 0;
}

static int open_watch(struct watch *w, struct err *e)
{
	sigset_t set;

	if (!isatty(0) || !isatty(1) || tcgetattr(0, &w->before) < 0)
		return err_set(e, ERR_REFUSED, "--watch needs a terminal");
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		sigaddset(&set, watched[i]);
	w->store = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* the write-ahead log; it is a file of the home's directory and may be made anew */
	if (w->store < 0 ||
		inotify_add_watch(w->store, w->c->home.path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return err_sys(e, "cannot watch '%s'", w->c->home.path);
	if (sigprocmask(SIG_BLOCK, &set, &w->old_mask) < 0)
		return err_sys(e, "cannot watch for signals");
	w->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return w->signals < 0 ? err_sys(e, "cannot watch for signals") : 0;
}

int ls_watch(struct context *c, const struct ls_query *q, struct err *e)
{
	struct watch w = { .c = c, .q = q, .signals = -1, .store = -1 };
	int rc = open_watch(&w, e);

	if (!rc) {
		screen_on(&w);
		rc = follow(&w, e);
		screen_off(&w);
		sigprocmask(SIG_SETMASK, &w.old_mask, NULL);
	}
	if (w.signals >= 0)
		close(w.signals);
	if (w.store >= 0)
		close(w.store);
	ls_release(&w.view);
	free(w.wanting);
	return rc < 0 ? say_error(e) : w.code;
}
