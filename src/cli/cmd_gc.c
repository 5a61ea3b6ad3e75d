#include <stdio.h>

#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "task/gc.h"

static void print(const char *name, uint64_t bytes)
{
	printf("%-10s %.1f MB\n", name, (double)bytes / 1e6);
}

static json_t *as_json(const struct gc_report *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "emptied",
		(json_int_t)r->trash, "leftovers", (json_int_t)r->leftovers, "archived",
		(json_int_t)r->archived, "bytes_freed", (json_int_t)r->freed, "usage", "bases",
		(json_int_t)r->disk.bases, "layers", (json_int_t)r->disk.layers, "tasks",
		(json_int_t)r->disk.tasks, "worktrees", (json_int_t)r->disk.worktrees, "trash",
		(json_int_t)r->disk.trash, "archives", (json_int_t)r->disk.archives);
}

int cmd_gc(int argc, char **argv)
{
	bool json = false, all = false;
	const struct opt opts[] = {
		{ 0, "empty-trash", OPT_FLAG, &all, NULL, "remove all discarded tasks now, for good" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "gc", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	struct gc_report r;
	int rc;

	CMD_PARSE(&l, argc, argv);
	progress_begin(all ? "emptying the trash" : "clearing up");
	rc = context_open(&c, &e) < 0 ? -1 : gc(&c, all, &r, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	if (json)
		return json_print(as_json(&r));
	print("freed", r.freed);
	print("bases", r.disk.bases);
	print("layers", r.disk.layers);
	print("tasks", r.disk.tasks);
	print("worktrees", r.disk.worktrees);
	print("trash", r.disk.trash);
	print("archives", r.disk.archives);
	if (gc_total(&r.disk) > GC_WARN_BYTES) {
		say_warning("all tasks together take more than %llu GB", GC_WARN_BYTES >> 30);
		say_hint("garth cleanup --older-than 7d");
	}
	return 0;
}
