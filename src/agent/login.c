#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claude.h"
#include "agent/jsonc.h"
#include "agent/outside.h"
#include "agent/settings.h"
#include "agent/tokens.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "sys/fd.h"
#include "sys/owner.h"

#define MAX_BYTES (10u << 20)
#define MAX_FILES 1000
#define MAX_DEPTH 32

struct copy {
	const struct config_agent *agent;
	const struct agent_place *place;
	int task_home;
	size_t looked_at, bytes;
	struct login_report *report;
};

/* A file of the user: its text, from which what the task must not get is removed. */
struct file {
	const char *path;
	struct buf text;
	struct tokens tokens;
	bool unreadable; /* so it is not copied */
};

static void file_release(struct file *f)
{
	buf_release(&f->text);
	tokens_release(&f->tokens);
}
#define auto_file __attribute__((cleanup(file_release))) struct file

/* The chain of directories that are being copied, innermost first. It detects a link to one of them, which
 * would be an endless loop. */
struct level {
	struct stat st;
	unsigned depth;
	const struct level *up;
};

static int copy_one(
	struct copy *c, int from, const char *name, const char *path, const struct level *up, struct err *e);

static bool is_open_above(const struct stat *st, const struct level *up)
{
	for (; up; up = up->up)
		if (up->st.st_dev == st->st_dev && up->st.st_ino == st->st_ino)
			return true;
	return false;
}

void login_report_release(struct login_report *r)
{
	for (size_t i = 0; i < r->nends; i++)
		free(r->ends[i].name);
	free(r->ends);
	strvec_release(&r->left_out);
	*r = (struct login_report){ 0 };
}

/* Adds the members that tell of the file tools to those of a file of JSON. */
static void add_mcp(const struct config_agent *a, struct file *f)
{
	size_t n = strlen(f->path);

	for (size_t i = 0; i < a->mcp.n; i++) {
		const char *entry = a->mcp.v[i];
		json_t *all, *more;
		char *text = NULL;

		if (strncmp(entry, "~/", 2) || strncmp(entry + 2, f->path, n) || entry[2 + n] != '=')
			continue;
		all = settings_parse(f->path, &f->text);
		more = json_loads(entry + 3 + n, 0, NULL);
		if (all && more && !json_object_update_recursive(all, more))
			text = json_dumps(all, JSON_INDENT(2));
		if (text) {
			buf_reset(&f->text);
			buf_addstr(&f->text, text);
		}
		free(text);
		json_decref(all);
		json_decref(more);
	}
}

/* The text of the list's entry "~/PATH=TEXT" for this file; NULL if there is none. */
static const char *text_for(const struct strvec *list, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; list && i < list->n; i++)
		if (!strncmp(list->v[i], "~/", 2) && !strncmp(list->v[i] + 2, path, n) &&
			list->v[i][2 + n] == '=')
			return list->v[i][3 + n] ? list->v[i] + 3 + n : NULL;
	return NULL;
}

/* The members that the file gets where the user's has none: the agent's own, and what tells it of the proxy. NULL if
 * there are none. */
static json_t *members_for(const struct copy *c, const char *path)
{
	const char *texts[] = { text_for(&c->agent->files, path),
		text_for(c->place->outside ? &c->place->outside->told : NULL, path) };
	json_t *ret = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_t *more = texts[i] ? jsonc_parse(texts[i], strlen(texts[i])) : NULL;

		if (ret)
			json_object_update_recursive(ret, more);
		else
			ret = json_incref(more);
		json_decref(more);
	}
	return ret;
}

static void add_members(const struct copy *c, struct file *f)
{
	json_t *all = members_for(c, f->path), *users = all ? settings_parse(f->path, &f->text) : NULL;
	char *text = NULL;

	if (users && !json_object_update_recursive(all, users) && !json_equal(all, users))
		text = json_dumps(all, JSON_INDENT(2));
	if (text) {
		buf_reset(&f->text);
		buf_addstr(&f->text, text);
	}
	free(text);
	json_decref(all);
	json_decref(users);
}

static int read_users(struct copy *c, int from, struct file *f, struct err *e)
{
	f->text = (struct buf)BUF_INIT(MAX_BYTES - c->bytes);
	if (read_rest(from, &f->text, f->path, e) < 0) {
		if (f->text.overflow)
			err_set(e, ERR_FAILED, "the log-in files of '%s' are larger than %u bytes",
				c->agent->name, MAX_BYTES);
		return -1;
	}
	/* a rewritten text may be longer */
	f->text.max = MAX_BYTES * 2;
	c->bytes += f->text.len;
	if (!strcmp(f->path, CLAUDE_FILE))
		claude_own_part(&f->text, c->place);
	if (c->place->mcp)
		add_mcp(c->agent, f);
	add_members(c, f);
	if (c->place->outside) {
		outside_text(c->place->outside, f->path, &f->text);
		f->tokens.all = c->place->outside->mode == OUTSIDE_ALL;
	}
	f->unreadable = tokens_take_out(f->path, &f->text, &f->tokens) < 0;
	return 0;
}

static void note_ends(struct copy *c, const char *path, struct tokens *t)
{
	struct login_report *r = c->report;

	if (c->place->outside && outside_renews(c->place->outside, path))
		return;
	for (size_t i = 0; i < t->nends; i++) {
		r->ends = xrealloc(r->ends, r->nends + 1, sizeof(*r->ends));
		r->ends[r->nends++] =
			(struct login_end){ xstrdup(t->nends > 1 ? t->ends[i].name : ""), t->ends[i].at };
	}
}

static int fill(struct copy *c, struct file *f, int to, struct err *e)
{
	if (write_full(to, buf_str(&f->text), f->text.len) < 0 || owner_give(to, "") < 0)
		return err_sys(e, "cannot copy '%s' into the task's home", f->path);
	note_ends(c, f->path, &f->tokens);
	c->report->copied++;
	return 0;
}

/* The agent may have put a link, or a file in place of a directory, at the destination. Nothing is written
 * through it; the task then lacks the file. */
static bool is_in_the_way(int error)
{
	return error == EEXIST || error == ELOOP || error == ENOTDIR || error == EISDIR || error == EXDEV;
}

/* Whether the task's file of this name must be removed. The agent controls its content, so the user's tokens
 * are searched for as plain bytes. */
static bool is_outdated(struct copy *c, const struct file *f, int dir)
{
	auto_fd fd = open_regular_beneath(dir, path_base(f->path));
	auto_buf text = BUF_INIT(MAX_BYTES);
	struct err ignored = ERR_INIT;
	auto_tokens own = { 0 };

	if (fd < 0 || read_rest(fd, &text, f->path, &ignored) < 0)
		return false;
	if (f->unreadable)
		return text.len == f->text.len && !memcmp(buf_str(&text), buf_str(&f->text), text.len);
	if (c->place->outside && outside_is_old(c->place->outside, f->path, buf_str(&text), text.len))
		return true;
	for (size_t i = 0; i < f->tokens.taken.n; i++)
		if (memmem(buf_str(&text), text.len, f->tokens.taken.v[i], strlen(f->tokens.taken.v[i])))
			return true;
	if (tokens_take_out(f->path, &text, &own) < 0 || tokens_last_end(&own) < tokens_last_end(&f->tokens))
		return f->tokens.nends;
	note_ends(c, f->path, &own);
	return false;
}

static int put(struct copy *c, struct file *f, int dir, struct err *e)
{
	auto_fd to = open_beneath(dir, path_base(f->path), O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (to < 0)
		return is_in_the_way(errno) ? 0 : err_sys(e, "cannot make '%s' in the task's home", f->path);
	if (fill(c, f, to, e) < 0) {
		unlinkat(dir, path_base(f->path), 0);
		return -1;
	}
	return 0;
}

/* The directory in the task home for a file of this path. */
static int open_parent(const struct copy *c, const char *path)
{
	struct owner o = owner_inside();
	auto_str parent = xstrndup(path, (size_t)(path_base(path) - path));

	return mkdirs_beneath(c->task_home, parent, 0700, owner_is_other() ? o.uid : (uid_t)-1, o.gid);
}

/* A file that the user does not have, with the members that it gets. */
static int put_new(struct copy *c, const char *path, struct err *e)
{
	auto_file f = { .path = path, .text = BUF_INIT(MAX_BYTES) };
	auto_fd dir = -1;

	buf_addstr(&f.text, "{}");
	add_members(c, &f);
	if (f.text.len > 2)
		dir = open_parent(c, path);
	return dir < 0 ? 0 : put(c, &f, dir, e);
}

static int copy_file(struct copy *c, int from, const char *path, struct err *e)
{
	auto_file f = { .path = path };
	auto_fd dir = -1;

	if (read_users(c, from, &f, e) < 0)
		return -1;
	if (f.unreadable)
		strvec_push(&c->report->left_out, path);
	dir = open_parent(c, path);
	if (dir < 0)
		return is_in_the_way(errno) ? 0 : err_sys(e, "cannot make '%s' in the task's home", path);
	if (is_outdated(c, &f, dir))
		unlinkat(dir, path_base(path), 0);
	return f.unreadable ? 0 : put(c, &f, dir, e);
}

static int copy_dir(struct copy *c, int *from, const char *path, const struct level *here, struct err *e)
{
	DIR *d = fdopendir(*from);
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_sys(e, "cannot read '%s'", path);
	*from = -1; /* d owns it */
	while (!rc && (errno = 0, ent = readdir(d))) {
		auto_str sub = NULL;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		sub = path_join(path, ent->d_name);
		rc = copy_one(c, dirfd(d), ent->d_name, sub, here, e);
	}
	if (!rc && errno)
		rc = err_sys(e, "cannot read '%s'", path);
	closedir(d);
	return rc;
}

/* `name` is in the directory `from`; `path` is the same file, relative to the home. */
static int copy_one(
	struct copy *c, int from, const char *name, const char *path, const struct level *up, struct err *e)
{
	auto_fd fd = openat(from, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct level here = { .depth = up ? up->depth + 1 : 0, .up = up };

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO))
		return put_new(c, path, e); /* missing, a dangling link, or a socket */
	if (fd < 0 || fstat(fd, &here.st) < 0)
		return err_sys(e, "cannot read '%s' in the home", path);
	if (++c->looked_at > MAX_FILES || here.depth > MAX_DEPTH)
		return err_set(e, ERR_FAILED,
			"the log-in files of '%s' are more than %d, or nested more than %d deep",
			c->agent->name, MAX_FILES, MAX_DEPTH);
	if (S_ISREG(here.st.st_mode))
		return copy_file(c, fd, path, e);
	if (S_ISDIR(here.st.st_mode) && !is_open_above(&here.st, up))
		return copy_dir(c, &fd, path, &here, e);
	return 0;
}

int agent_copy_login(const struct config_agent *a, const struct agent_place *p, int user_home, int task_home,
	struct login_report *ret, struct err *e)
{
	struct copy c = { .agent = a, .place = p, .task_home = task_home, .report = ret };

	*ret = (struct login_report){ 0 };
	for (size_t i = 0; i < a->login.n; i++) {
		auto_str from = agent_users_path(a, &p->env, a->login.v[i]);

		if (copy_one(&c, user_home, from, a->login.v[i], NULL, e) < 0) {
			login_report_release(ret);
			return err_wrap(e, "cannot copy the log-in of '%s'", a->name);
		}
	}
	return 0;
}
