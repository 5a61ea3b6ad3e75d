#include "cli/show_submodules.h"

#include <stdio.h>

#include "cli/json.h"
#include "cli/say.h"
#include "git/ref.h"
#include "sys/fd.h"
#include "workspace/submodules.h"

/* The tip of the task's branch in the submodule's repository; "" if nothing was published. */
static void find_published(const struct task_at *at, const struct submodule *s, char out[OID_SIZE])
{
	struct err ignored = ERR_INIT;
	auto_repo r = { 0 };

	out[0] = '\0';
	if (!submodule_is_here(s) || submodule_repo(&at->ws, s, &r, &ignored) < 0 ||
		ref_read(&r, at->task->branch, out, &ignored) < 0)
		out[0] = '\0';
}

void show_submodules(const struct task_at *at)
{
	auto_submodules s = { 0 };
	struct err ignored = ERR_INIT;

	submodules_load(at->ws.dir, &s, &ignored);
	for (size_t i = 0; i < s.n; i++) {
		const struct submodule *one = &s.v[i];
		auto_buf clean = BUF_INIT(1 << 20), why = BUF_INIT(1 << 20);
		char tip[OID_SIZE];

		say_one_line(&clean, one->path);
		say_one_line(&why, one->why);
		find_published(at, one, tip);
		printf("%-10s %s %.12s%s%.12s%s%s\n", i ? "" : "submodules", buf_str(&clean), one->commit,
			*tip ? ", published " : "", tip,
			submodule_is_here(one) ? "" : ", empty: ", buf_str(&why));
	}
}

void show_submodules_missing(const struct context *c, const struct task *t)
{
	auto_submodules s = { 0 };
	struct err ignored = ERR_INIT;
	auto_strvec lines = STRVEC_INIT;
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, &ignored) < 0 || submodules_load(dir, &s, &ignored) < 0)
		return;
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i].missing)
			strvec_pushf(&lines, "%s: %s", s.v[i].path, s.v[i].why);
	if (lines.n)
		say_warning_list(&lines, "%zu submodule%s in the task", lines.n,
			lines.n == 1 ? " is an empty directory" : "s are empty directories");
}

json_t *show_submodules_json(const struct task_at *at)
{
	auto_submodules s = { 0 };
	struct err ignored = ERR_INIT;
	json_t *a = json_array();

	submodules_load(at->ws.dir, &s, &ignored);
	for (size_t i = 0; i < s.n; i++) {
		bool here = submodule_is_here(&s.v[i]);
		char tip[OID_SIZE];

		find_published(at, &s.v[i], tip);
		json_array_append_new(
			a, json_pack("{s:o, s:s, s:o, s:b, s:o}", "path", json_text(s.v[i].path), "commit",
				   s.v[i].commit, "published", *tip ? json_text(tip) : json_null(), "usable",
				   here, "empty_because", here ? json_null() : json_text(s.v[i].why)));
	}
	return a;
}
