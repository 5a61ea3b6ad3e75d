#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/flood.h"
#include "audit/line.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"

struct audit {
	int home;
	struct store *store;
	int fd;
	struct stat st;   /* of the open file */
	uint64_t end;     /* where `last` ends; 0: not found yet */
	struct line last; /* seq 0: the log is empty */
};

static int open_log(struct audit *a, struct err *e)
{
	auto_fd fd = openat(
		a->home, LINE_FILE, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &a->st) < 0)
		return err_sys(e, "cannot open the audit log '%s'", LINE_FILE);
	if (!S_ISREG(a->st.st_mode))
		return err_set(e, ERR_FAILED, "the audit log '%s' is not a file", LINE_FILE);
	fd_closep(&a->fd);
	a->fd = fd_steal(&fd);
	a->end = 0;
	a->last = (struct line){ 0 };
	return 0;
}

int audit_open(int home, struct store *s, struct audit **ret, struct err *e)
{
	auto_audit a = xcalloc(1, sizeof(*a));

	a->store = s;
	a->fd = -1;
	a->home = fcntl(home, F_DUPFD_CLOEXEC, 3);
	if (a->home < 0)
		return err_sys(e, "cannot keep the Garth home open");
	if (open_log(a, e) < 0)
		return -1;
	*ret = steal_ptr(a);
	return 0;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	fd_closep(&a->fd);
	fd_closep(&a->home);
	free(a);
}

void audit_closep(struct audit **a)
{
	audit_close(*a);
}

static int tampered(struct err *e, const char *how)
{
	err_set(e, ERR_CONFLICT, "nothing more is written to the audit log: %s", how);
	return err_hint(e, "garth audit --verify");
}

/*
 * Finds the last well-formed line in `data`, the last bytes of the file. *ret_end is the offset behind it;
 * anything after that is an incomplete line. Returns 1 if the line begins before `data` (`first`: data begins
 * where the file does). At most one line may be malformed, since a crash leaves only the last one incomplete.
 */
static int last_line(
	const char *data, size_t len, bool first, struct line *ret, size_t *ret_end, struct err *e)
{
	const char *line_break = memrchr(data, '\n', len);
	size_t end = line_break ? (size_t)(line_break - data) + 1 : 0;

	for (int bad = end < len; end; bad++) {
		const char *before = memrchr(data, '\n', end - 1);
		size_t start = before ? (size_t)(before - data) + 1 : 0;

		if (!before && !first)
			return 1;
		*ret_end = end;
		if (line_parse(data + start, end - 1 - start, ret))
			return 0;
		if (bad)
			return tampered(e, "more than its last line is damaged");
		end = start;
	}
	*ret_end = 0;
	*ret = (struct line){ 0 };
	return !first;
}

/* Reads larger and larger pieces of the file's end until the last line is found. */
static int find_end(struct audit *a, uint64_t size, struct err *e)
{
	for (size_t want = 4096; want <= 4 * LINE_MAX_LEN; want *= 4) {
		size_t len = size < want ? (size_t)size : want, end = 0;
		auto_str block = xcalloc(1, len + 1);
		int rc;

		if (pread(a->fd, block, len, (off_t)(size - len)) != (ssize_t)len)
			return err_sys(e, "cannot read the audit log");
		rc = last_line(block, len, len == size, &a->last, &end, e);
		if (rc < 0)
			return -1;
		a->end = size - len + end;
		if (!rc)
			return 0;
	}
	return tampered(e, "its last line is longer than a line can be");
}

/* The store knows only lines that were written completely. If such a line is missing, nothing is appended. If
 * the log is empty (somebody moved the old one away), it continues with the next number, so that the gap can
 * be seen. */
static int check_known(struct audit *a, uint64_t size, struct err *e)
{
	struct line known;

	if (line_known(a->store, &known, e) < 0)
		return err_hint(e, "garth audit --verify");
	if (!size && known.seq)
		a->last = known;
	if (known.seq > a->last.seq)
		return tampered(e, "its end was cut off or changed");
	if (known.seq == a->last.seq && strcmp(known.hash, a->last.hash))
		return tampered(e, "its last line was changed");
	return 0;
}

/* Under the lock: updates `last` and `end` with what other processes wrote, and cuts off an incomplete
 * line. */
static int catch_up(struct audit *a, struct err *e)
{
	struct stat st;
	uint64_t size;

	if (fstatat(a->home, LINE_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != a->st.st_ino ||
		st.st_dev != a->st.st_dev) {
		if (open_log(a, e) < 0)
			return -1;
		st = a->st;
	}
	size = (uint64_t)st.st_size;
	if (size && size == a->end)
		return 0;
	if (find_end(a, size, e) < 0 || check_known(a, size, e) < 0) {
		a->end = 0;
		return -1;
	}
	if (a->end < size && ftruncate(a->fd, (off_t)a->end) < 0)
		return err_sys(e, "cannot cut off the audit log's torn last line");
	return 0;
}

static json_t *now(void)
{
	char text[40], day[32];
	struct timespec ts;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(ts.tv_nsec / 1000000));
	return json_string(text);
}

static json_t *compose(const struct line *l, const char *event, const struct task *task, json_t *details)
{
	json_t *o = json_object();

	json_object_set_new(o, "v", json_integer(1));
	json_object_set_new(o, "seq", json_integer((json_int_t)l->seq));
	json_object_set_new(o, "time", now());
	json_object_set_new(o, "event", audit_text(event));
	json_object_set_new(o, "task", task ? audit_text(task->name) : json_null());
	json_object_set_new(o, "task_id", task ? json_integer(task->id) : json_null());
	if (task && task->project)
		json_object_set_new(o, "project", audit_text(task->project));
	json_object_update_missing(o, details);
	json_object_set_new(o, "prev", json_string(l->prev));
	return o;
}

/* The text of the line with its line break; fills in l->hash. */
static int line_text(struct buf *out, struct line *l, json_t *object, struct err *e)
{
	/* only ASCII: the log contains nothing that a terminal would interpret */
	auto_str text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return err_set(e, ERR_FAILED, "an event for the audit log cannot be written as JSON");
	line_hash(text, len - 1, l->hash);
	buf_add(out, text, len - 1);
	buf_printf(out, ",\"hash\":\"%s\"}\n", l->hash);
	if (out->overflow)
		return err_set(e, ERR_FAILED, "an event of %zu bytes is too long for the audit log", len);
	return 0;
}

static int append(struct audit *a, const struct buf *text, struct err *e)
{
	if (write_full(a->fd, text->data, text->len) < 0) {
		err_sys(e, "cannot write the audit log");
		/* if this fails too, the next audit_append cuts the line off */
		if (ftruncate(a->fd, (off_t)a->end) < 0)
			a->end = 0;
		return -1;
	}
	a->end += text->len;
	return 0;
}

int audit_append(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e)
{
	auto_buf text = BUF_INIT(LINE_MAX_LEN);
	struct line l = { 0 };
	json_t *object;
	int rc;

	if (catch_up(a, e) < 0)
		return -1;
	l.seq = a->last.seq + 1;
	memcpy(l.prev, a->last.hash, sizeof(l.prev));
	object = compose(&l, event, task, details);
	rc = line_text(&text, &l, object, e);
	json_decref(object);
	if (rc < 0 || append(a, &text, e) < 0)
		return -1;
	a->last = l;
	fault("audit-written");
	if (line_set_known(a->store, &l, e) < 0)
		return err_wrap(e, "cannot record the audit log's end");
	return 0;
}

static int check_details(json_t *details, struct err *e)
{
	static const char *const own[] = { "v", "seq", "time", "event", "task", "task_id", "prev", "hash",
		"repeated", "various" };

	if (details && !json_is_object(details))
		return err_set(e, ERR_FAILED, "details of an event are not an object");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (json_object_get(details, own[i]))
			return err_set(e, ERR_FAILED, "details of an event have a member '%s'", own[i]);
	return 0;
}

static int add_locked(
	struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e)
{
	if (!task || !a->store)
		return audit_append(a, event, task, details, e);
	if (flood_is_often(event))
		return flood_add(a, a->store, event, task, details, e);
	return flood_settle(a, a->store, task, true, e) < 0 ? -1 : audit_append(a, event, task, details, e);
}

int audit_add(struct audit *a, const char *event, const struct task *task, json_t *details, struct err *e)
{
	auto_lock lock = -1;
	int rc = check_details(details, e);

	if (!rc)
		rc = lock_take(a->home, "audit.lock", true, &lock, e);
	if (!rc)
		rc = add_locked(a, event, task, details, e);
	json_decref(details);
	return rc;
}

int audit_allows(struct audit *a, const struct task *task, size_t bytes, bool *ret, struct err *e)
{
	auto_lock lock = -1;

	if (lock_take(a->home, "audit.lock", true, &lock, e) < 0)
		return -1;
	return flood_spend(a->store, task, bytes, 0, ret, e);
}

/* The length of the UTF-8 character at s, or 0. */
static size_t character(const char *s)
{
	size_t len = strnlen(s, 4);

	if ((unsigned char)*s < 0x80)
		return 1;
	for (size_t n = 1; n <= len; n++) {
		json_t *j = json_stringn(s, n);
		bool good = j;

		json_decref(j);
		if (good)
			return n;
	}
	return 0;
}

/* The length of a character in JSON that is ASCII only. */
static size_t cost_of(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;

	if (len == 1 && c >= 0x20 && c < 0x7f)
		return c == '"' || c == '\\' ? 2 : 1;
	/* "\ud83d\ude00"; some control characters have shorter forms */
	return len == 4 ? 12 : 6;
}

json_t *audit_text(const char *s)
{
	const char *end = s + AUDIT_TEXT_MAX;
	size_t cost = 0;
	auto_buf b = BUF_INIT(4 * AUDIT_TEXT_MAX);

	while (*s && s < end) {
		size_t n = character(s);

		cost += n ? cost_of(s, n) : 6;
		if (cost > AUDIT_ESCAPED_MAX)
			break;
		if (n)
			buf_add(&b, s, n);
		else
			buf_addstr(&b, "\xef\xbf\xbd");
		s += n ? n : 1;
	}
	if (*s)
		buf_addstr(&b, "\xe2\x80\xa6");
	return json_string(buf_str(&b));
}
