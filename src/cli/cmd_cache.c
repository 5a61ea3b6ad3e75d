#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/size.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "task/cache.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/layers.h"
#include "task/project_cache.h"

#define NAMES_SHOWN 3

static json_t *as_json(const struct cache *c)
{
	json_t *items = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct cache_item *x = &c->v[i];

		json_array_append_new(items,
			json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "project", x->project, "kind",
				x->kind, "name", x->name, "about", x->about, "bytes", (json_int_t)x->bytes,
				"task_names", json_list(&x->tasks), "trashed", json_list(&x->trashed)));
	}
	return json_pack("{s:o, s:I}", "cache", items, "bytes", (json_int_t)c->bytes);
}

static void add_names(struct buf *out, const struct strvec *names)
{
	for (size_t i = 0; i < names->n && i < NAMES_SHOWN; i++)
		buf_printf(out, "%s%s", i ? ", " : "", names->v[i]);
	if (names->n > NAMES_SHOWN)
		buf_printf(out, " and %zu more", names->n - NAMES_SHOWN);
}

static void print_item(const struct cache_item *x)
{
	auto_buf users = BUF_SMALL, clean = BUF_SMALL, about = BUF_SMALL;
	bool shows = *x->about && strcmp(x->kind, "include") != 0;
	char size[SIZE_TEXT_MAX];

	add_names(&users, x->tasks.n ? &x->tasks : &x->trashed);
	if (!users.len)
		buf_addstr(&users, "unused");
	else if (!x->tasks.n)
		buf_addstr(&users, " (in the trash)");
	printf("%-12.12s %-9s %-24.24s %10s  %s%s%s\n", x->project, x->kind, x->name,
		size_text(x->bytes, size), say_one_line(&clean, buf_str(&users)), shows ? "  # " : "",
		shows ? say_one_line(&about, x->about) : "");
}

/* What --prune left, although no task that exists uses it. */
static void say_kept(const struct cache *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += !c->v[i].tasks.n && c->v[i].trashed.n;
	if (!n)
		return;
	say_state("%zu layer%s kept for tasks in the trash: garth gc --empty-trash", n,
		n == 1 ? " is" : "s are");
}

static int remove_unused(struct context *c, int64_t project, void *arg, struct err *e)
{
	(void)arg;
	return layers_remove_unused(c, project, true, false, e);
}

/* Adds what a task wrote to its caches to those of its project. */
static int add_task(struct context *c, const char *name, struct err *e)
{
	struct project_cache_added added = { 0 };
	char files[COUNT_TEXT_MAX], size[SIZE_TEXT_MAX];
	auto_task t = { 0 };
	auto_lock lock = -1;
	auto_fd dir = -1;
	int rc;

	if (cmd_find_task(c, name, &t, e) < 0 || home_task_dir(&c->home, t.id, &dir, e) < 0)
		return -1;
	if (!project_cache_is_on(c, &t))
		return err_set(e, ERR_REFUSED, "no cache is the project's: jail.caches must say 'project'");
	if (lock_take(dir, "lock", false, &lock, e) < 0)
		return e->kind == ERR_BUSY ? err_set(e, ERR_BUSY, "task '%s' is running", t.name) : -1;
	rc = project_cache_add(c, &t, dir, false, &added, e);
	if (added.left_out.n)
		say_warning_list(&added.left_out, "not taken, because it cannot be shared");
	strvec_release(&added.left_out);
	if (!rc && added.files)
		say_done("the project's cache has what task '%s' wrote: %s file%s, %s", t.name,
			count_text(added.files, files), added.files == 1 ? "" : "s",
			size_text(added.bytes, size));
	else if (!rc)
		say_state("task '%s' wrote nothing to its caches", t.name);
	return rc;
}

int cmd_cache(int argc, char **argv)
{
	bool json = false, prune = false;
	const char *add = NULL;
	const struct opt opts[] = {
		{ 0, "prune", OPT_FLAG, &prune, NULL, "remove the layers that no task uses, the newest too" },
		{ 0, "add", OPT_STR, &add, "TASK",
			"let the project's other tasks have what TASK wrote to its caches", WORD_TASK },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "cache", opts, 0, 0, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_cache items = { 0 };
	char size[SIZE_TEXT_MAX];
	int rc;

	CMD_PARSE(&l, argc, argv);
	rc = (prune || add ? context_open : context_open_to_look)(&c, &e);
	if (!rc && add)
		rc = add_task(&c, add, &e);
	progress_begin("measuring");
	if (!rc && prune)
		rc = cache_projects(&c, "layers", remove_unused, NULL, &e);
	if (!rc)
		rc = cache_list(&c, &items, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	if (json)
		return json_print(as_json(&items));
	for (size_t i = 0; i < items.n; i++)
		print_item(&items.v[i]);
	say_state("%zu base%s and layer%s, %s", items.n, items.n == 1 ? "" : "s", items.n == 1 ? "" : "s",
		size_text(items.bytes, size));
	if (prune)
		say_kept(&items);
	return 0;
}
