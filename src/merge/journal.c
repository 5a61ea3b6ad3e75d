#include "merge/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/identity.h"

#define DIR_NAME "merges"

void journal_release(struct journal *j)
{
	free(j->name);
	free(j->target);
	free(j->from);
	free(j->to);
	free(j->tip);
	free(j->kind);
	free(j->top);
	free(j->admin);
	free(j->state);
	journal_links_release(&j->links);
	journal_links_release(&j->was);
	*j = (struct journal){ 0 };
}

static int open_dir(const struct home *h, int *ret, struct err *e)
{
	if (mkdirat(h->fd, DIR_NAME, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make '%s/%s'", h->path, DIR_NAME);
	*ret = openat(h->fd, DIR_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret < 0 ? err_sys(e, "cannot open '%s/%s'", h->path, DIR_NAME) : 0;
}

int journal_lock(const struct home *h, int64_t project, int *ret_fd, struct err *e)
{
	auto_str name = xasprintf("%lld.lock", (long long)project);
	auto_fd dir = -1;

	if (identity_refuse_copy(h, e) < 0)
		return -1;
	return open_dir(h, &dir, e) < 0 ? -1 : lock_take(dir, name, true, ret_fd, e);
}

int journal_write(const struct home *h, const struct journal *j, struct err *e)
{
	auto_str name = xasprintf("%lld.json", (long long)j->project), text = NULL;
	auto_fd dir = -1;
	json_t *o = json_pack("{s:i, s:I, s:I, s:I}", "version", 1, "project", (json_int_t)j->project, "task",
		(json_int_t)j->task, "deed", (json_int_t)j->deed);

	json_object_set_new(o, "name", journal_pack(j->name));
	json_object_set_new(o, "target", journal_pack(j->target));
	json_object_set_new(o, "old", journal_pack(j->from));
	json_object_set_new(o, "new", journal_pack(j->to));
	json_object_set_new(o, "tip", journal_pack(j->tip ? j->tip : ""));
	json_object_set_new(o, "kind", journal_pack(j->kind));
	json_object_set_new(o, "checkout", journal_pack(j->top));
	json_object_set_new(o, "git_dir", journal_pack(j->admin));
	json_object_set_new(o, "state", journal_pack(j->state));
	json_object_set_new(o, "submodules", journal_links_pack(&j->links));
	text = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	if (!text)
		return err_set(e, ERR_FAILED, "cannot write the journal of a merge");
	return open_dir(h, &dir, e) < 0 ? -1 : write_file(dir, name, text, strlen(text), 0600, e);
}

int journal_read(const struct home *h, int64_t project, struct journal *ret, struct err *e)
{
	auto_str name = xasprintf("%lld.json", (long long)project);
	auto_buf text = BUF_INIT(16 << 20);
	auto_fd dir = -1;
	json_t *o;

	if (open_dir(h, &dir, e) < 0 || read_file(dir, name, &text, e) < 0)
		return -1;
	o = json_loadb(buf_str(&text), text.len, 0, NULL);
	if (!json_is_object(o)) {
		json_decref(o);
		return err_set(e, ERR_FAILED, "'%s/%s/%s' is broken", h->path, DIR_NAME, name);
	}
	*ret = (struct journal){ .project = project,
		.task = json_integer_value(json_object_get(o, "task")),
		.deed = json_integer_value(json_object_get(o, "deed")),
		.name = journal_unpack(o, "name"),
		.target = journal_unpack(o, "target"),
		.from = journal_unpack(o, "old"),
		.to = journal_unpack(o, "new"),
		.tip = journal_unpack(o, "tip"),
		.kind = journal_unpack(o, "kind"),
		.top = journal_unpack(o, "checkout"),
		.admin = journal_unpack(o, "git_dir"),
		.state = journal_unpack(o, "state") };
	journal_links_unpack(json_object_get(o, "submodules"), &ret->links);
	json_decref(o);
	return 0;
}

void journal_remove(const struct home *h, int64_t project)
{
	auto_str name = xasprintf(DIR_NAME "/%lld.json", (long long)project);

	unlinkat(h->fd, name, 0);
}

int journal_list(const struct home *h, int64_t **ret, size_t *n, struct err *e)
{
	int dir = -1;
	DIR *d;
	struct dirent *ent;

	*ret = NULL;
	*n = 0;
	if (open_dir(h, &dir, e) < 0)
		return -1;
	d = fdopendir(dir);
	if (!d) {
		close(dir);
		return err_sys(e, "cannot read '%s/%s'", h->path, DIR_NAME);
	}
	while ((ent = readdir(d))) {
		char *end;
		long long id = strtoll(ent->d_name, &end, 10);

		if (end == ent->d_name || strcmp(end, ".json"))
			continue;
		*ret = xrealloc(*ret, *n + 1, sizeof(**ret));
		(*ret)[(*n)++] = id;
	}
	closedir(d);
	return 0;
}
