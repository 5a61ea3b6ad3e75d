#include "skip_covered.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/index_skip.h"
#include "sys/fd.h"

#define SECONDS   10
#define INDEX_MAX (512u << 20)
#define NOTES_MAX (64u << 20)
#define NOTES     "garth-covered"

/* One git directory. */
struct skipping {
	const struct rules *rules;
	const char *prefix; /* where its files are, relative to the rules: "" or "libs/mod/" */
	char **noted;       /* paths that were flagged before, sorted */
	size_t nnoted;
	struct buf notes; /* those that are flagged now */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool was_noted(const struct skipping *s, const char *path)
{
	return s->nnoted && bsearch(&path, s->noted, s->nnoted, sizeof(*s->noted), by_name);
}

static bool wants(const char *path, bool skipped, void *arg)
{
	struct skipping *s = arg;
	auto_str whole = *s->prefix ? xasprintf("%s%s", s->prefix, path) : NULL;
	const struct rule *r = rules_read(s->rules, whole ? whole : path);
	bool own = was_noted(s, path);

	if (!r || !rule_denies(r))
		return skipped && !own;
	if (!skipped || own)
		buf_add(&s->notes, path, strlen(path) + 1);
	return true;
}

/* The file may be a FIFO, or endless. */
static int read_own(int dir, const char *name, struct buf *out)
{
	auto_fd fd = open_regular_beneath(dir, name);
	struct err ignored = ERR_INIT;

	return fd < 0 ? -1 : read_rest(fd, out, name, &ignored);
}

static void read_notes(struct buf *text, struct skipping *s)
{
	size_t n = 0;

	for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1)
		n++;
	s->noted = xcalloc(n + 1, sizeof(*s->noted));
	for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1)
		s->noted[s->nnoted++] = text->data + at;
	qsort(s->noted, s->nnoted, sizeof(*s->noted), by_name);
}

/* As git does it: under the name NAME.lock, then renamed. */
static int replace(int dir, const char *name, const struct buf *text)
{
	auto_str lock = xasprintf("%s.lock", name);
	auto_fd fd = openat(dir, lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return -1;
	if (write_full(fd, buf_str(text), text->len) < 0 || renameat(dir, lock, dir, name) < 0)
		return unlinkat(dir, lock, 0), -1;
	return 0;
}

static void skip_in(const struct jail *j, const char *path, const char *git_dir)
{
	auto_str prefix = *path ? xasprintf("%s/", path) : xstrdup("");
	auto_fd dir = open(git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	auto_buf index = BUF_INIT(INDEX_MAX), out = BUF_INIT(INDEX_MAX), before = BUF_INIT(NOTES_MAX);
	struct skipping s = { .rules = &j->rules, .prefix = prefix, .notes = BUF_INIT(NOTES_MAX) };
	struct err ignored = ERR_INIT;
	bool changed = false;

	if (dir < 0 || (read_own(dir, NOTES, &before) < 0 && !j->rules.n) ||
		read_own(dir, "index", &index) < 0)
		return;
	read_notes(&before, &s);
	if (!index_skip(index.data, index.len, j->hash_len, wants, &s, &out, &changed, &ignored) && changed &&
		!s.notes.overflow) {
		/* noted first: a flag that nobody knows of would stay */
		if (!s.notes.len || !replace(dir, NOTES, &s.notes))
			changed = !replace(dir, "index", &out);
		if (changed && !s.notes.len)
			unlinkat(dir, NOTES, 0);
	}
	free(s.noted);
	buf_release(&s.notes);
}

/* Whether a rule hides something, or something was hidden when this ran before. */
static bool is_needed(const struct jail *j)
{
	for (size_t i = 0; i < j->rules.n; i++)
		if (j->rules.v[i].kind == RULE_DENY_READ)
			return j->git_dirs.n > 0;
	for (size_t i = 0; i + 1 < j->git_dirs.n; i += 2) {
		auto_str notes = path_join(j->git_dirs.v[i + 1], NOTES);

		if (!faccessat(AT_FDCWD, notes, F_OK, AT_SYMLINK_NOFOLLOW))
			return true;
	}
	return false;
}

void skip_covered(const struct jail *j)
{
	pid_t pid = is_needed(j) ? fork() : -1;
	int status;

	if (!pid) {
		/* an index may be made to take long */
		alarm(SECONDS);
		for (size_t i = 0; i + 1 < j->git_dirs.n; i += 2)
			skip_in(j, j->git_dirs.v[i], j->git_dirs.v[i + 1]);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}
