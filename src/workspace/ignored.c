#include "workspace/ignored.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/user_settings.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/fd.h"

/* Bytes of paths in one batch. */
#define BATCH_BYTES (4u << 20)
/* If there are more candidates, git is asked about their directories first, down to this depth. */
#define FEW_CANDIDATES 1000
#define DIRS_DEPTH     3
#define GROUPS_FEW     20

bool ignored_is_rules(const char *path)
{
	return !strcmp(path_base(path), ".gitignore");
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_in(const struct strvec *sorted, const char *s)
{
	return sorted->n && bsearch(&s, sorted->v, sorted->n, sizeof(*sorted->v), compare);
}

int ignored_add_rules(struct scratch *s, int root, const char *path, struct err *e)
{
	auto_fd fd = open_regular_beneath(root, path);
	auto_buf text = BUF_INIT(1 << 20);
	struct stat st;

	/* too large for an ignore file: without its rules more is shown, not less */
	if (fd < 0 || fstat(fd, &st) < 0 || (size_t)st.st_size >= text.max)
		return 0;
	if (read_rest(fd, &text, path, e) < 0)
		return -1;
	return scratch_add_rules(s, path, buf_str(&text), text.len, e);
}

/* Whether the path, or a directory that it was in, is in the list. */
static bool is_beneath(const struct strvec *sorted, const char *path)
{
	auto_str up = xstrdup(path);

	for (char *slash = up + strlen(up); slash; slash = strrchr(up, '/')) {
		*slash = '\0';
		if (is_in(sorted, up))
			return true;
	}
	return false;
}

void ignored_base_rules(const struct changes *c, const struct strvec *files, struct strvec *ret)
{
	auto_strvec gone = STRVEC_INIT;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind == CHANGE_GONE || c->v[i].kind == CHANGE_OPAQUE ||
			(c->v[i].kind != CHANGE_FILE && !strncmp(path_base(c->v[i].path), ".git", 4)))
			strvec_push(&gone, c->v[i].path);
	strvec_sort(&gone);
	for (size_t i = 0; i < files->n; i++)
		if (!is_beneath(&gone, files->v[i]))
			strvec_push(ret, files->v[i]);
}

static int take_rules(struct scratch *s, const char *since, struct changes *c, struct err *e)
{
	auto_strvec base = STRVEC_INIT;

	if (c->has_rules)
		return 0;
	ignored_base_rules(c, &c->base_ignores, &base);
	if (scratch_base_rules(s, since, &base, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].kind == CHANGE_FILE && ignored_is_rules(c->v[i].path) &&
			ignored_add_rules(s, c->root, c->v[i].path, e) < 0)
			return -1;
	c->has_rules = true;
	return 0;
}

int ignored_user_rules(struct workspace *ws, struct scratch *s, struct err *e)
{
	auto_buf text = BUF_INIT(SETTINGS_IGNORES_MAX);
	struct err ignored = ERR_INIT;

	/* the user may have none */
	if (read_file(ws->dir, WORKSPACE_IGNORES, &text, &ignored) < 0)
		return 0;
	return scratch_user_ignores(s, buf_str(&text), text.len, e);
}

/* Asks git about paths in batches until its time is used up. */
struct asking {
	struct scratch *scratch;
	struct changes *changes; /* cannot_tell is set when time is up */
	int64_t deadline;
	struct buf paths, answer;
};

static struct asking asking_begin(struct scratch *s, struct changes *c)
{
	unsigned seconds = fault_short("ignored", IGNORED_SECONDS);

	return (struct asking){ .scratch = s,
		.changes = c,
		.deadline = clock_ms() + 1000 * (int64_t)seconds,
		.paths = BUF_INIT(2 * BATCH_BYTES),
		.answer = BUF_INIT(2 * BATCH_BYTES) };
}

static void asking_release(struct asking *a)
{
	buf_release(&a->paths);
	buf_release(&a->answer);
}
#define auto_asking __attribute__((cleanup(asking_release))) struct asking

static void add_question(struct asking *a, const char *path, bool dir)
{
	buf_printf(&a->paths, "./%s%s", path, dir ? "/" : "");
	buf_addch(&a->paths, '\0');
}

/* Whether an entry of git's answer is this path. */
static bool is_answer(const char *answer, const char *path, bool dir)
{
	size_t n = strlen(path);

	return !strncmp(answer, "./", 2) && !strncmp(answer + 2, path, n) &&
	       !strcmp(answer + 2 + n, dir ? "/" : "");
}

/* Asks about the current batch. A timeout is no failure: the paths count as not ignored. */
static int put_questions(struct asking *a, struct err *e)
{
	int64_t left = a->deadline - clock_ms();

	buf_reset(&a->answer);
	if (!a->changes->cannot_tell &&
		scratch_ignored(a->scratch, &a->paths, left > 1000 ? (unsigned)(left / 1000) : 1, &a->answer,
			e) < 0) {
		if (e->sys != ETIMEDOUT && e->sys != EFBIG)
			return -1;
		a->changes->cannot_tell = xasprintf("git takes longer than %u seconds for its ignore files",
			fault_short("ignored", IGNORED_SECONDS));
	}
	buf_reset(&a->paths);
	return 0;
}

static bool is_dir(const struct change *n)
{
	return n->kind == CHANGE_CLOSED || n->kind == CHANGE_REPO;
}

/* Tracked files are never ignored, and git sees nothing but files and links. */
static bool is_candidate(const struct change *n)
{
	return !n->tracked && (n->kind == CHANGE_FILE || n->kind == CHANGE_LINK || is_dir(n));
}

/* The length of a path's first `depth` components, or 0. */
static size_t prefix_len(const char *path, int depth)
{
	const char *slash = path - 1;

	while (depth-- && slash)
		slash = strchr(slash + 1, '/');
	return slash ? (size_t)(slash - path) : 0;
}

/* The upper directories of the candidates. Candidates are sorted as in a walk, so comparing with the last
 * directory avoids most duplicates. */
static void list_dirs(const struct changes *c, struct strvec *ret)
{
	size_t last[DIRS_DEPTH] = { 0 };

	for (size_t i = 0; i < c->n; i++)
		for (int depth = 0; is_candidate(&c->v[i]) && depth < DIRS_DEPTH; depth++) {
			const char *path = c->v[i].path, *before = ret->n ? ret->v[last[depth]] : "";
			size_t n = prefix_len(path, depth + 1);

			if (!n || (!strncmp(before, path, n) && !before[n]))
				continue;
			strvec_pushn(ret, path, n);
			last[depth] = ret->n - 1;
		}
}

/* If there are very many files, most of them are usually in a few ignored directories: ask about these
 * first. */
static int ask_dirs(struct asking *a, struct strvec *ret, struct err *e)
{
	auto_strvec dirs = STRVEC_INIT;

	list_dirs(a->changes, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		add_question(a, dirs.v[i], true);
		if (a->paths.len < BATCH_BYTES && i + 1 < dirs.n)
			continue;
		if (put_questions(a, e) < 0)
			return -1;
		for (size_t at = 0; at < a->answer.len; at += strlen(a->answer.data + at) + 1)
			strvec_pushn(ret, a->answer.data + at + 2, strlen(a->answer.data + at + 2) - 1);
	}
	strvec_sort(ret);
	return 0;
}

static bool is_in_dirs(const struct strvec *dirs, const char *path)
{
	for (int depth = 1; dirs->n && depth <= DIRS_DEPTH; depth++) {
		auto_str up = xstrndup(path, prefix_len(path, depth));

		if (is_in(dirs, up))
			return true;
	}
	return false;
}

/* The answers have the order of the questions. */
static void take_answers(struct changes *c, size_t from, size_t to, const struct buf *answer)
{
	size_t at = 0;

	for (size_t i = from; i < to && at < answer->len; i++)
		if (is_candidate(&c->v[i]) && is_answer(answer->data + at, c->v[i].path, is_dir(&c->v[i]))) {
			c->v[i].ignored = true;
			at += strlen(answer->data + at) + 1;
		}
}

static int ask_all(struct asking *a, struct err *e)
{
	auto_strvec dirs = STRVEC_INIT;
	struct changes *c = a->changes;
	size_t from = 0, candidates = 0;

	for (size_t i = 0; i < c->n; i++)
		candidates += is_candidate(&c->v[i]);
	if (candidates > FEW_CANDIDATES && ask_dirs(a, &dirs, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		if (is_candidate(&c->v[i]) && is_in_dirs(&dirs, c->v[i].path))
			c->v[i].ignored = true;
		else if (is_candidate(&c->v[i]))
			add_question(a, c->v[i].path, is_dir(&c->v[i]));
		if (a->paths.len < BATCH_BYTES && i + 1 < c->n)
			continue;
		if (put_questions(a, e) < 0)
			return -1;
		take_answers(c, from, i + 1, &a->answer);
		from = i + 1;
	}
	return 0;
}

/* Ignored files that were committed by force (git add -f) since the commit below are tracked now. */
static int unmark_tracked(
	struct scratch *s, const char *since, const char *tip, struct changes *c, struct err *e)
{
	auto_buf added = BUF_INIT(512u << 20);
	auto_strvec paths = STRVEC_INIT;

	if (scratch_added(s, since, tip, &added, e) < 0)
		return -1;
	for (size_t at = 0; at < added.len; at += strlen(added.data + at) + 1)
		strvec_push(&paths, added.data + at);
	strvec_sort(&paths);
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].ignored && is_in(&paths, c->v[i].path))
			c->v[i].ignored = false;
	return 0;
}

static bool any(const struct changes *c, bool ignored)
{
	for (size_t i = 0; i < c->n; i++)
		if (ignored ? c->v[i].ignored : is_candidate(&c->v[i]))
			return true;
	return false;
}

int ignored_mark(struct workspace *ws, struct scratch *s, const char *since, const char *tip,
	struct changes *c, struct err *e)
{
	auto_asking a = asking_begin(s, c);

	if (ignored_user_rules(ws, s, e) < 0)
		return -1;
	if (!any(c, false))
		return 0;
	if (take_rules(s, since, c, e) < 0 || ask_all(&a, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		c->v[i].ignored |= c->v[i].brought && is_candidate(&c->v[i]);
	return strcmp(since, tip) && any(c, true) ? unmark_tracked(s, since, tip, c, e) : 0;
}

/* Paths of lines "A path" about which git was not asked yet. */
static void list_unasked(const struct changes *c, const struct strvec *names, struct strvec *ret)
{
	char **asked = xcalloc(c->n + 1, sizeof(*asked));
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (is_candidate(&c->v[i]))
			asked[n++] = c->v[i].path;
	qsort(asked, n, sizeof(*asked), compare);
	for (size_t i = 0; i < names->n; i++) {
		char *path = names->v[i] + 2;

		if (names->v[i][0] == 'A' && !bsearch(&path, asked, n, sizeof(*asked), compare))
			strvec_push(ret, path);
	}
	free(asked);
}

int ignored_untracked(struct scratch *s, const char *since, struct changes *c, struct strvec *names,
	size_t *ret_ignored, struct err *e)
{
	auto_asking a = asking_begin(s, c);
	auto_strvec paths = STRVEC_INIT, ignored = STRVEC_INIT;
	size_t kept = 0;

	list_unasked(c, names, &paths);
	if (!paths.n)
		return 0;
	if (take_rules(s, since, c, e) < 0)
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		add_question(&a, paths.v[i], false);
		if (a.paths.len < BATCH_BYTES && i + 1 < paths.n)
			continue;
		if (put_questions(&a, e) < 0)
			return -1;
		for (size_t at = 0; at < a.answer.len; at += strlen(a.answer.data + at) + 1)
			strvec_pushf(&ignored, "A %s", a.answer.data + at + 2);
	}
	strvec_sort(&ignored);
	for (size_t i = 0; i < names->n; i++)
		if (is_in(&ignored, names->v[i]))
			free(names->v[i]);
		else
			names->v[kept++] = names->v[i];
	*ret_ignored += names->n - kept;
	names->n = kept;
	return 0;
}

static void hidden_drop_groups(struct hidden *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].path);
	free(h->v);
	h->v = NULL;
	h->n = h->more = 0;
}

void hidden_release(struct hidden *h)
{
	hidden_drop_groups(h);
	strvec_release(&h->rules);
}

/* Returns false if there would be more than `max` groups. */
static bool add_to_group(struct hidden *h, const char *path, size_t len, size_t max)
{
	for (size_t i = h->n; i-- > 0;)
		if (!strncmp(h->v[i].path, path, len) && !h->v[i].path[len]) {
			h->v[i].files++;
			return true;
		}
	if (h->n == max)
		return false;
	h->v = xrealloc(h->v, h->n + 1, sizeof(*h->v));
	h->v[h->n++] = (struct hidden_group){ xstrndup(path, len), 1 };
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct hidden_group *)a)->path, ((const struct hidden_group *)b)->path);
}

void hidden_list(const struct changes *c, struct hidden *ret)
{
	bool topmost = false;

	*ret = (struct hidden){ 0 };
	for (size_t i = 0; i < c->n; i++) {
		const char *path = c->v[i].path;
		size_t top = strcspn(path, "/"), dir = (size_t)(path_base(path) - path);

		if (!c->v[i].ignored)
			continue;
		if (add_to_group(
			    ret, path, topmost || !dir ? top : dir - 1, topmost ? HIDDEN_MAX : GROUPS_FEW))
			continue;
		if (topmost) {
			ret->more++;
			continue;
		}
		/* too many groups: start again with the topmost directories */
		topmost = true;
		hidden_drop_groups(ret);
		i = (size_t)-1;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	for (size_t i = 0; i < c->n && ret->rules.n < HIDDEN_MAX; i++)
		if (c->v[i].ignored && ignored_is_rules(c->v[i].path))
			strvec_push(&ret->rules, c->v[i].path);
}
