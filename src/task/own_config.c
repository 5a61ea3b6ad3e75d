#include "task/own_config.h"

#include "base/alloc.h"
#include "base/yaml.h"
#include "config/taskfile.h"
#include "sys/fd.h"
#include "task/own_limits.h"
#include "task/repository_config.h"

#define TASKFILE "task.yaml"
#define TICKETS  "tickets.yaml"
#define PARENT   "parent.yaml"
#define STAGE    "stage.yaml"

/* The text stays empty if there is no such file. */
static int read_if_there(int task_dir, const char *name, struct buf *text, struct err *e)
{
	struct err why = ERR_INIT;

	if (task_dir < 0 || !read_file(task_dir, name, text, &why) || why.kind == ERR_NOTFOUND)
		return 0;
	*e = why;
	return -1;
}

int own_config_apply(struct config *c, int task_dir, struct err *e)
{
	auto_buf file = BUF_INIT(YAML_MAX_BYTES), limits = BUF_INIT(YAML_MAX_BYTES),
		 stage = BUF_INIT(YAML_MAX_BYTES), parent = BUF_INIT(YAML_MAX_BYTES), tickets = BUF_SMALL,
		 repository = BUF_INIT(YAML_MAX_BYTES);
	auto_taskfile ignored = { 0 };

	if (read_if_there(task_dir, REPOSITORY_CONFIG, &repository, e) < 0 ||
		config_apply_repository(c, buf_str(&repository), repository.len, REPO_SETTINGS, e) < 0)
		return -1;
	if (read_if_there(task_dir, TASKFILE, &file, e) < 0 ||
		read_if_there(task_dir, TICKETS, &tickets, e) < 0 ||
		read_if_there(task_dir, PARENT, &parent, e) < 0 ||
		read_if_there(task_dir, STAGE, &stage, e) < 0 ||
		read_if_there(task_dir, OWN_LIMITS, &limits, e) < 0)
		return -1;
	if (file.len && taskfile_apply(c, buf_str(&file), file.len, TASKFILE, &ignored, e) < 0)
		return -1;
	if (tickets.len && config_apply(c, buf_str(&tickets), tickets.len, TICKETS, e) < 0)
		return -1;
	if (parent.len && config_apply(c, buf_str(&parent), parent.len, PARENT, e) < 0)
		return -1;
	if (stage.len && config_apply(c, buf_str(&stage), stage.len, STAGE, e) < 0)
		return -1;
	return limits.len ? config_apply(c, buf_str(&limits), limits.len, OWN_LIMITS, e) : 0;
}

int own_config_keep_repository(int task_dir, const struct buf *text, struct err *e)
{
	return write_file(task_dir, REPOSITORY_CONFIG, buf_str(text), text->len, 0600, e);
}

int own_config_keep_taskfile(int task_dir, const char *text, size_t len, struct err *e)
{
	return write_file(task_dir, TASKFILE, text, len, 0600, e);
}

int own_config_keep_stage(int task_dir, const char *text, size_t len, struct err *e)
{
	return write_file(task_dir, STAGE, text, len, 0600, e);
}

char *own_tickets_text(const char *n)
{
	return xasprintf("tickets:\n  max: %s\n", n);
}

int own_config_keep_tickets(int task_dir, const char *n, struct err *e)
{
	auto_str text = own_tickets_text(n);

	return write_file(task_dir, TICKETS, text, strlen(text), 0600, e);
}

/* The text stays what it was if the other task has no such file. */
static int copy(int from, const char *name, int to, const char *as, struct err *e)
{
	auto_buf text = BUF_INIT(YAML_MAX_BYTES);

	if (read_if_there(from, name, &text, e) < 0)
		return -1;
	return text.len ? write_file(to, as, buf_str(&text), text.len, 0600, e) : 0;
}

int own_config_keep_parents(int task_dir, int parent_dir, struct err *e)
{
	return copy(parent_dir, TASKFILE, task_dir, TASKFILE, e) < 0 ||
			       copy(parent_dir, STAGE, task_dir, PARENT, e) < 0
		       ? -1
		       : copy(parent_dir, OWN_LIMITS, task_dir, OWN_LIMITS, e);
}
