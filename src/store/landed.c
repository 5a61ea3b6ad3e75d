#include "base/alloc.h"
#include "base/strvec.h"
#include "store/db.h"

int store_landed_add(struct store *s, int64_t task, const char *tip, const char *result, struct err *e)
{
	return db_run(s, e, "INSERT OR IGNORE INTO landed (task_id, tip, result) VALUES (?, ?, ?)", "iss",
		task, tip, result);
}

int store_landed(struct store *s, int64_t task, const char *tip, struct strvec *ret, struct err *e)
{
	auto_stmt st = NULL;
	int got;

	if (db_prepare(s, &st, e,
		    "SELECT result FROM landed WHERE task_id = ? AND tip = ? ORDER BY rowid DESC", "is", task,
		    tip) < 0)
		return -1;
	while ((got = db_step(s, st, e)) > 0) {
		auto_str result = db_text(st, 0);

		strvec_push(ret, result);
	}
	return got;
}

int store_task_pushed(
	struct store *s, int64_t id, const char *remote, const char *branch, const char *tip, struct err *e)
{
	return db_run(s, e,
		"UPDATE task SET pushed_remote = ?, pushed_branch = ?, pushed_tip = ? WHERE id = ?", "sssi",
		remote, branch, tip, id);
}
