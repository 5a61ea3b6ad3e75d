/* Rules that name a link, or a path through one: nothing can be mounted over a link, so what it leads to is covered. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "task/walls_parts.h"

/* As the kernel has it for one path. */
#define LINKS_MAX 40
#define TEXT_MAX  4096

/* The workspace's files: of an overlay the topmost layer first. */
struct files {
	int *v;
	size_t n;
};

static void add_dir(struct files *f, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	f->v = xrealloc(f->v, f->n + 1, sizeof(*f->v));
	f->v[f->n++] = fd;
}

static void open_files(const struct task_at *at, const struct jail *j, struct files *ret)
{
	if (at->ws.host) {
		add_dir(ret, at->ws.host);
		return;
	}
	if (j->upper)
		add_dir(ret, j->upper);
	for (size_t i = 0; i < j->lowers.n; i++)
		add_dir(ret, j->lowers.v[i]);
}

static void files_release(struct files *f)
{
	for (size_t i = 0; i < f->n; i++)
		fd_closep(&f->v[i]);
	free(f->v);
}

/* What the link at the path says, on the heap; NULL if there is no link. */
static char *read_link(const struct files *f, const char *path)
{
	char text[TEXT_MAX + 1];
	auto_fd fd = -1;
	ssize_t n;

	for (size_t i = 0; fd < 0 && i < f->n; i++)
		fd = open_beneath(f->v[i], path, O_PATH | O_NOFOLLOW, 0);
	n = fd < 0 ? -1 : readlinkat(fd, "", text, TEXT_MAX);
	return n > 0 ? xstrndup(text, (size_t)n) : NULL;
}

/* Takes the first component off *rest, which is on the heap. */
static char *take_part(char **rest)
{
	char *left = *rest + strspn(*rest, "/"), *after;
	size_t n = strcspn(left, "/");
	char *part = xstrndup(left, n);

	after = xstrdup(left + n);
	free(*rest);
	*rest = after;
	return part;
}

/* Removes the last component; false if there is none: the path leads out of the workspace. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!*path)
		return false;
	*(slash ? slash : path) = '\0';
	return true;
}

/* The path in the workspace to which a path leads through links, on the heap. NULL if there are none, or if it leads out:
 * what is outside has its own rules. */
static char *follow(const struct files *f, const char *top, const char *path)
{
	auto_str rest = xstrdup(path), at = xstrdup("");
	unsigned links = 0;

	while (rest[strspn(rest, "/")]) {
		auto_str part = take_part(&rest), next = *at ? path_join(at, part) : xstrdup(part),
			 text = NULL, more = NULL;

		if (!strcmp(part, ".") || (!strcmp(part, "..") && go_up(at)))
			continue;
		if (!strcmp(part, ".."))
			return NULL;
		text = read_link(f, next);
		if (!text) {
			free(at);
			at = steal_ptr(next);
			continue;
		}
		if (++links > LINKS_MAX || (*text == '/' && !path_within(text, top)))
			return NULL;
		if (*text == '/')
			*at = '\0';
		more = xasprintf("%s/%s", text + (*text == '/' ? strlen(top) : 0), rest);
		free(rest);
		rest = steal_ptr(more);
	}
	return links && *at ? steal_ptr(at) : NULL;
}

/* The glob that names this path alone; one without a slash names it at any depth, as the user's own would. */
static char *glob_of(const char *path)
{
	auto_buf glob = BUF_INIT(4 * TEXT_MAX);

	for (const char *p = path; *p; p++) {
		if (strchr("*?[]\\", *p))
			buf_addch(&glob, '\\');
		buf_addch(&glob, *p);
	}
	return xstrdup(buf_str(&glob));
}

void walls_links(const struct task_at *at, struct jail *j)
{
	struct files f = { 0 };
	size_t n = j->rules.n;

	open_files(at, j, &f);
	for (size_t i = 0; i < n; i++) {
		struct rule r = j->rules.v[i];
		auto_str to = rule_denies(&r) && !strpbrk(r.glob, "*?[\\")
				      ? follow(&f, at->task->workspace, r.glob)
				      : NULL;
		auto_str glob = to ? glob_of(to) : NULL,
			 from = to ? xasprintf("%s: '%s' leads there", r.at, r.glob) : NULL;

		if (to)
			rules_add(&j->rules, r.kind, glob, from);
	}
	files_release(&f);
}
