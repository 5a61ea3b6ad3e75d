#include "task/sessions.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "task/run.h"

#define LINE 42 /* an id, a blank, the kind, a line end */

static void load(int dir, struct buf *out)
{
	struct err ignored = ERR_INIT;

	if (read_file(dir, SESSIONS_FILE, out, &ignored) < 0)
		buf_cut(out, 0);
}

/* One write of a line: others that add one at the same time do not mix with it. */
static int add(int dir, const char *kind, char out[37], struct err *e)
{
	auto_buf all = BUF_INIT(SESSIONS_MAX * LINE);
	auto_fd fd = openat(dir, SESSIONS_FILE, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	char line[64];

	load(dir, &all);
	if (all.len >= (SESSIONS_MAX - 1) * LINE)
		return err_set(e, ERR_REFUSED, "the task has had %d sessions already", SESSIONS_MAX);
	task_session_id(out);
	snprintf(line, sizeof(line), "%s %s\n", out, kind);
	if (fd < 0 || write_full(fd, line, strlen(line)) < 0)
		return err_sys(e, "cannot keep the session");
	return 0;
}

int sessions_add(int dir, char out[37], struct err *e)
{
	return add(dir, "own", out, e);
}

int sessions_main(const struct task *t, int dir, char out[37], struct err *e)
{
	auto_buf all = BUF_INIT(SESSIONS_MAX * LINE);
	const char *at;

	if (t->session && *t->session) {
		snprintf(out, 37, "%s", t->session);
		return 0;
	}
	load(dir, &all);
	at = strstr(buf_str(&all), " main\n");
	if (at && at - all.data >= 36) {
		snprintf(out, 37, "%.36s", at - 36);
		return 0;
	}
	return add(dir, "main", out, e);
}

static bool is_id(const char *id)
{
	return strlen(id) == 36 && strspn(id, "0123456789abcdef-") == 36;
}

bool sessions_has(const struct task *t, int dir, const char *id, bool *ret_own)
{
	auto_buf all = BUF_INIT(SESSIONS_MAX * LINE);
	const char *at;

	*ret_own = false;
	if (!is_id(id))
		return false;
	if (t->session && !strcmp(t->session, id))
		return true;
	load(dir, &all);
	at = strstr(buf_str(&all), id);
	*ret_own = at && !strncmp(at + 36, " own", 4);
	return at != NULL;
}
