#include "task/stage_ask.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "store/plan.h"
#include "sys/fd.h"
#include "sys/lock.h"

#define ASKED    "complete-asked"
#define ANSWERED "complete-answered"

/* The runner watches the file, and is notified when it is closed. */
static void wake(const struct context *c, int64_t plan)
{
	auto_str path = xasprintf(PLAN_DIR "/" PLAN_WAKE_FILE, (long long)plan);
	int fd = openat(c->home.fd, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		close(fd);
}

int stage_ask_put(struct context *c, const struct task *t, int task_dir, const char *tip, bool *ret_new,
	bool *ret_runner, struct err *e)
{
	auto_stage_row s = { 0 };
	auto_str plan = NULL, lock = NULL, before = stage_ask_pending(task_dir);

	if (context_store(c, e) < 0)
		return -1;
	if (store_stage_of_task(c->store, t->id, &s, &plan, e) < 0)
		return e->kind == ERR_NOTFOUND ? err_set(e, ERR_REFUSED, "this task is not a stage of a plan")
					       : -1;
	*ret_new = !before || strcmp(before, tip) != 0;
	if (*ret_new && write_file(task_dir, ASKED, tip, strlen(tip), 0600, e) < 0)
		return -1;
	lock = xasprintf(PLAN_DIR "/" PLAN_LOCK_FILE, (long long)s.plan_id);
	*ret_runner = lock_is_held(c->home.fd, lock);
	wake(c, s.plan_id);
	return 0;
}

bool stage_ask_answered(int task_dir, const char *tip, bool *ret_passed, struct buf *text)
{
	auto_buf all = BUF_INIT(2 * STAGE_ANSWER_MAX);
	const char *of = NULL, *said = NULL;
	struct err ignored = ERR_INIT;
	int passed = 0;
	bool found;
	json_t *o;

	if (read_file(task_dir, ANSWERED, &all, &ignored) < 0)
		return false;
	o = json_loadb(buf_str(&all), all.len, 0, NULL);
	found = o && !json_unpack(o, "{s:s, s:b, s:s}", "tip", &of, "passed", &passed, "text", &said) &&
		!strcmp(of, tip);
	if (found) {
		*ret_passed = passed;
		buf_addstr(text, said);
	}
	json_decref(o);
	return found;
}

char *stage_ask_pending(int task_dir)
{
	auto_buf tip = BUF_INIT(OID_SIZE);
	struct err ignored = ERR_INIT;

	if (read_file(task_dir, ASKED, &tip, &ignored) < 0 || !tip.len)
		return NULL;
	return xstrdup(buf_str(&tip));
}

void stage_ask_forget(int task_dir)
{
	unlinkat(task_dir, ASKED, 0);
	unlinkat(task_dir, ANSWERED, 0);
}

int stage_ask_answer(int task_dir, const char *tip, bool passed, const char *text, struct err *e)
{
	json_t *said = json_string(text), *o;
	char *all;
	int rc;

	o = json_pack("{s:s, s:b, s:o}", "tip", tip, "passed", passed, "text", said ? said : json_string(""));
	all = json_dumps(o, JSON_COMPACT);
	rc = all ? write_file(task_dir, ANSWERED, all, strlen(all), 0600, e)
		 : err_set(e, ERR_FAILED, "the answer cannot be written down");
	if (!rc)
		unlinkat(task_dir, ASKED, 0);
	free(all);
	json_decref(o);
	return rc;
}
