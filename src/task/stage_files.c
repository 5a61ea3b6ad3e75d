#include "task/stage_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/owner.h"
#include "workspace/workspace.h"

#define PLACE       "planned"
#define NOTES       "notes"
#define OUTPUTS     "outputs"
#define EXCLUDE_MAX (1u << 20)

int stage_files_open(int task_dir, int *ret_fd, struct err *e)
{
	auto_fd fd = -1;

	if (mkdirat(task_dir, PLACE, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make the directory of the stage's files");
	fd = open_beneath(task_dir, PLACE, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return err_sys(e, "cannot open the directory of the stage's files");
	*ret_fd = fd_steal(&fd);
	return 0;
}

int stage_files_put(int fd, const char *name, const char *text, size_t len, struct err *e)
{
	return write_file(fd, name, text, len, 0644, e);
}

char *stage_files_inside(const struct context *c, const struct task *t)
{
	return backend_of(t)->landlock_only ? home_path(&c->home, "tasks/%lld/" PLACE, (long long)t->id)
					    : path_join(t->workspace, STAGE_FILES_NAME);
}

int stage_files_hide(int task_dir, struct err *e)
{
	auto_fd info = mkdirs_beneath(task_dir, "git/info", 0755, (uid_t)-1, (gid_t)-1);
	auto_buf text = BUF_INIT(EXCLUDE_MAX);
	struct err none = ERR_INIT;

	if (info < 0)
		return err_sys(e, "cannot make git ignore the stage's files");
	if (!faccessat(info, "exclude", F_OK, AT_SYMLINK_NOFOLLOW) &&
		read_file(info, "exclude", &text, &none) < 0)
		return *e = none, -1;
	buf_printf(
		&text, "%s/" STAGE_FILES_NAME "\n", text.len && text.data[text.len - 1] != '\n' ? "\n" : "");
	if (write_file(info, "exclude", buf_str(&text), text.len, 0644, e) < 0)
		return -1;
	if (owner_give(info, "exclude") < 0 || owner_give(info, "") < 0)
		return err_sys(e, "cannot give the task its list of ignored files");
	return 0;
}

void stage_files_show(const struct context *c, const struct task *t, int task_dir, struct jail *j)
{
	auto_str place = home_path(&c->home, "tasks/%lld/" PLACE, (long long)t->id), inside = NULL;

	if (faccessat(task_dir, PLACE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	inside = stage_files_inside(c, t);
	jail_add(j, JAIL_BIND, JAIL_OPTIONAL | JAIL_NOEXEC, place, inside);
}

int stage_notes_add(int task_dir, const char *text, struct err *e)
{
	auto_fd file = -1;
	struct stat st;

	if (faccessat(task_dir, PLACE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(
			e, ERR_REFUSED, "this task is not a stage of a plan: nobody would read a note");
	if (!*text || strlen(text) > STAGE_NOTE_MAX)
		return err_set(e, ERR_USAGE, "a note has 1 to %d bytes", STAGE_NOTE_MAX);
	file = openat(task_dir, NOTES, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0 || fstat(file, &st) < 0)
		return err_sys(e, "cannot keep the note");
	if ((uint64_t)st.st_size + strlen(text) + 1 > STAGE_NOTES_MAX)
		return err_set(e, ERR_USAGE,
			"the notes of a stage have %u bytes in all, and they are used up", STAGE_NOTES_MAX);
	return write_full(file, text, strlen(text)) < 0 || write_full(file, "\n", 1) < 0
		       ? err_sys(e, "cannot keep the note")
		       : 0;
}

void stage_notes_load(int task_dir, struct buf *out)
{
	auto_buf text = BUF_INIT(STAGE_NOTES_MAX);
	struct err ignored = ERR_INIT;

	if (!read_file(task_dir, NOTES, &text, &ignored))
		clean_text(out, buf_str(&text), text.len, false);
}

static bool is_output_name(const char *name)
{
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len <= 64 && !strchr("0123456789", *name);
}

static bool is_output_value(const char *value)
{
	size_t len = 0;

	for (; (unsigned char)value[len] >= ' ' && value[len] != 0x7f; len++)
		;
	return !value[len] && len <= STAGE_OUTPUT_MAX;
}

/* The lines without the one of this name. */
static void load_others(const struct buf *all, const char *name, struct buf *out)
{
	size_t len = strlen(name);

	for (const char *line = buf_str(all); *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, len) || line[len] != '=')
			buf_printf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
}

int stage_outputs_set(int task_dir, const char *name, const char *value, struct err *e)
{
	auto_buf all = BUF_INIT(STAGE_OUTPUTS_MAX), now = BUF_INIT(STAGE_OUTPUTS_MAX);
	struct err none = ERR_INIT;

	if (faccessat(task_dir, PLACE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(
			e, ERR_REFUSED, "this task is not a stage of a plan: nobody would read an output");
	if (!is_output_name(name))
		return err_set(
			e, ERR_USAGE, "an output's name is like that of a variable, with at most 64 bytes");
	if (!is_output_value(value))
		return err_set(
			e, ERR_USAGE, "an output's value is one line of at most %d bytes", STAGE_OUTPUT_MAX);
	if (read_file(task_dir, OUTPUTS, &all, &none) < 0 && none.kind != ERR_NOTFOUND)
		return *e = none, -1;
	load_others(&all, name, &now);
	buf_printf(&now, "%s=%s\n", name, value);
	if (now.overflow)
		return err_set(e, ERR_USAGE,
			"the outputs of a stage have %u bytes in all, and they are used up",
			STAGE_OUTPUTS_MAX);
	return write_file(task_dir, OUTPUTS, buf_str(&now), now.len, 0600, e);
}

void stage_outputs_load(int task_dir, struct buf *out)
{
	auto_buf text = BUF_INIT(STAGE_OUTPUTS_MAX);
	struct err ignored = ERR_INIT;

	if (!read_file(task_dir, OUTPUTS, &text, &ignored))
		clean_text(out, buf_str(&text), text.len, false);
}
