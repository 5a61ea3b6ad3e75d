#include "workspace/include.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/scratch.h"
#include "git/user_settings.h"
#include "sys/digest.h"
#include "sys/fd.h"
#include "workspace/ignored.h"
#include "workspace/layer.h"

/* Of all patterns together: they are arguments of git. */
#define PATTERNS_MAX (64u << 10)
#define PATHS_MAX    (256u << 20)
#define LIST_SECONDS 30
/* of UTF-8, as editors of Windows write it; git skips it too */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void include_report_release(struct include_report *r)
{
	strvec_release(&r->names);
	strvec_release(&r->not_ignored);
	strvec_release(&r->left_out);
	*r = (struct include_report){ 0 };
}

static int take_blob(size_t i, const char *data, size_t len, void *arg, struct err *e)
{
	(void)i;
	(void)e;
	buf_add(arg, data, len);
	return 0;
}

void include_lines(const char *text, struct strvec *ret)
{
	const char *p = text;

	if (!strncmp(p, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		p += strlen(BYTE_ORDER_MARK);
	for (const char *end = p + strlen(p); p < end; p += strcspn(p, "\n") + 1)
		strvec_pushn(ret, p, strcspn(p, "\n"));
}

void include_option(const char *line, struct strvec *args)
{
	size_t n = strcspn(line, "\n");

	if (n && line[n - 1] == '\r')
		n--;
	while (n && line[n - 1] == ' ' && !(n > 1 && line[n - 2] == '\\'))
		n--;
	if (n && *line != '#')
		strvec_pushf(args, "--exclude=%.*s", (int)n, line);
}

int include_patterns(const struct repo *r, struct strvec *ret, struct err *e)
{
	struct git g = repo_git(r);
	auto_strvec names = STRVEC_INIT;
	auto_buf text = BUF_INIT(PATTERNS_MAX);

	strvec_pushf(&names, "%s:" INCLUDE_FILE, r->commit);
	if (blob_read(&g, &names, take_blob, &text, e) < 0)
		return -1;
	if (text.overflow)
		return err_set(e, ERR_REFUSED, INCLUDE_FILE " is larger than %u KB", PATTERNS_MAX >> 10);
	include_lines(buf_str(&text), ret);
	return 0;
}

/* The untracked files of the checkout that match. git does not enter repositories in it, and names them with a
 * slash at the end. */
static int list_files(const struct repo *r, const struct strvec *options, struct buf *out, struct err *e)
{
	struct git g = { .cwd = r->top, .user_config = true, .seconds = LIST_SECONDS };
	auto_strvec args = STRVEC_INIT;

	strvec_pushl(&args, "ls-files", "-z", "--others", "--ignored", "--full-name", NULL);
	strvec_pushv(&args, (const char *const *)options->v);
	strvec_pushl(&args, "--", ":/", NULL);
	return git_run(&g, &args, NULL, out, e);
}

static void name(struct strvec *list, const char *path)
{
	if (list->n < LAYER_NAMES_MAX)
		strvec_push(list, path);
}

static bool is_within_any(const char *top, const char *path, const struct strvec *places)
{
	auto_str at = path_join(top, path);

	for (size_t i = 0; i < places->n; i++)
		if (path_within(at, places->v[i]))
			return true;
	return false;
}

/* The places that are in the checkout at all. */
static void places_in(const char *top, const struct strvec *all, struct strvec *ret)
{
	for (size_t i = 0; i < all->n; i++)
		if (path_within(all->v[i], top) || path_within(top, all->v[i]))
			strvec_push(ret, all->v[i]);
}

/* Sorts out what can be taken. */
static void choose(int top, const struct repo *r, const struct strvec *never, const struct buf *listed,
	const struct tracked *t, struct strvec *ret, struct include_report *rep)
{
	auto_str real = canonicalize_file_name(r->top);
	auto_strvec places = STRVEC_INIT;

	places_in(real ? real : r->top, never, &places);
	for (size_t at = 0; at < listed->len; at += strlen(listed->data + at) + 1) {
		const char *path = listed->data + at;
		size_t len = strlen(path);
		struct stat st;

		if (!len || (path[len - 1] != '/' && tracked_has_at(t, path)))
			continue;
		if (path[len - 1] == '/' || is_within_any(real ? real : r->top, path, &places) ||
			lstat_beneath(top, path, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)))
			name(&rep->left_out, path);
		else
			strvec_push(ret, path);
	}
}

/* Takes the paths of the second list, which has the same order, out of the first. */
static void take_out(struct strvec *paths, const struct strvec *out)
{
	size_t kept = 0, next = 0;

	for (size_t i = 0; i < paths->n; i++)
		if (next < out->n && !strcmp(paths->v[i], out->v[next])) {
			free(paths->v[i]);
			next++;
		} else {
			paths->v[kept++] = paths->v[i];
		}
	paths->n = kept;
	if (paths->v)
		paths->v[kept] = NULL;
}

/* Everything that decides about the layer's content. */
static void add_to_key(int top, const char *path, const struct tracked *t, struct buf *key)
{
	struct stat st;

	if (lstat_beneath(top, path, &st) < 0)
		return;
	buf_printf(key, "%s %o %lld %lld.%ld %lld.%ld %llu", path, st.st_mode, (long long)st.st_size,
		(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
		st.st_ctim.tv_nsec, (unsigned long long)st.st_ino);
	/* a directory of the commit is no root of the layer */
	for (const char *s = path; (s = strchr(s, '/')); s++) {
		auto_str dir = xstrndup(path, (size_t)(s - path));

		buf_addstr(key, tracked_has_dir(t, dir) ? " t" : " n");
	}
	buf_addch(key, '\0');
}

static char *name_of(const struct buf *key)
{
	unsigned char sum[DIGEST_MAX];
	char *text = NULL;

	digest_of(DIGEST_SHA256_LEN, buf_str(key), key->len, sum);
	text = xasprintf(LAYER_INCLUDE "%02x%02x%02x%02x%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3],
		sum[4], sum[5], sum[6], sum[7]);
	return text;
}

static int fill(
	struct layer_part *l, int top, const struct strvec *paths, struct include_report *rep, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		bool taken = false;

		if (layer_add_file(l, top, paths->v[i], &taken, e) < 0)
			return -1;
		if (!taken)
			name(&rep->left_out, paths->v[i]);
	}
	return 0;
}

/* What a layer that exists already has of the paths. */
static void look_up(const struct layer *l, const struct strvec *paths, struct include_report *rep)
{
	auto_fd tree = open(l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (size_t i = 0; tree >= 0 && i < paths->n; i++) {
		struct stat st;

		if (lstat_beneath(tree, paths->v[i], &st) < 0) {
			if (!strvec_has(&rep->left_out, paths->v[i]))
				name(&rep->left_out, paths->v[i]);
			continue;
		}
		rep->files++;
		rep->bytes += (uint64_t)st.st_size;
		name(&rep->names, paths->v[i]);
	}
}

static int make(const struct home *h, int64_t project, const char *layer, int top, const struct strvec *paths,
	const struct tracked *t, struct include_report *rep, struct err *e)
{
	auto_layer_part part = LAYER_PART_INIT;
	auto_str about = NULL;

	if (layer_begin(h, project, layer, &part, e) < 0 || fill(&part, top, paths, rep, e) < 0)
		return -1;
	about = xasprintf("%zu untracked file%s of the checkout", part.files, part.files == 1 ? "" : "s");
	return layer_finish(&part, t, about, e);
}

int include_layer(const struct home *h, int64_t project, const struct repo *r,
	const struct include_spec *spec, char **ret_name, int *ret_lock, struct include_report *rep,
	struct err *e)
{
	auto_strvec options = STRVEC_INIT, paths = STRVEC_INIT;
	auto_buf listed = BUF_INIT(PATHS_MAX), key = BUF_INIT(PATHS_MAX);
	auto_fd top = -1, lock = -1;
	auto_tracked t = { 0 };
	auto_layer l = { 0 };
	auto_str layer = NULL;

	*ret_name = NULL;
	for (size_t i = 0; i < spec->patterns->n; i++)
		include_option(spec->patterns->v[i], &options);
	if (!options.n)
		return 0;
	top = open(r->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(e, "cannot open '%s'", r->top);
	if (list_files(r, &options, &listed, e) < 0 || tracked_of_commit(r, r->commit, &t, e) < 0)
		return -1;
	choose(top, r, spec->never, &listed, &t, &paths, rep);
	if (include_not_ignored(h, r, &paths, &rep->not_ignored, e) < 0)
		return -1;
	if (spec->only_ignored) {
		take_out(&paths, &rep->not_ignored);
		strvec_release(&rep->not_ignored);
		rep->not_ignored = (struct strvec)STRVEC_INIT;
	}
	for (size_t i = 0; i < paths.n; i++)
		add_to_key(top, paths.v[i], &t, &key);
	if (key.overflow)
		return err_set(e, ERR_REFUSED, "%s and workspace.include match too many files", INCLUDE_FILE);
	if (!paths.n)
		return 0;
	layer = name_of(&key);
	if (layer_lock(h, project, layer, true, &lock, e) < 0)
		return -1;
	if (layer_open(h, project, layer, &l, e) < 0 &&
		(make(h, project, layer, top, &paths, &t, rep, e) < 0 ||
			layer_open(h, project, layer, &l, e) < 0))
		return err_wrap(e, "cannot include untracked files");
	layer_touch(h, project, layer);
	look_up(&l, &paths, rep);
	*ret_name = steal_ptr(layer);
	*ret_lock = fd_steal(&lock);
	return 0;
}

/* All ignore files of the commit, info/exclude, and the user's ignore file. */
static int take_rules(const struct repo *r, struct scratch *s, struct err *e)
{
	auto_strvec rules = STRVEC_INIT;
	auto_str path = settings_ignore_file(r);
	auto_buf text = BUF_INIT(SETTINGS_IGNORES_MAX);
	auto_tracked t = { 0 };

	if (tracked_of_commit(r, r->commit, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < t.n; i++)
		if (ignored_is_rules(t.names.data + t.v[i].name))
			strvec_push(&rules, t.names.data + t.v[i].name);
	if (path && (read_file(AT_FDCWD, path, &text, e) < 0 ||
			    scratch_user_ignores(s, buf_str(&text), text.len, e) < 0))
		return -1;
	return rules.n ? scratch_base_rules(s, r->commit, &rules, e) : 0;
}

int include_not_ignored(const struct home *h, const struct repo *r, const struct strvec *paths,
	struct strvec *ret, struct err *e)
{
	auto_scratch s = SCRATCH_INIT;
	auto_buf asked = BUF_INIT(PATHS_MAX), answer = BUF_INIT(PATHS_MAX);
	size_t at = 0;

	if (!paths->n)
		return 0;
	for (size_t i = 0; i < paths->n; i++) {
		buf_printf(&asked, "./%s", paths->v[i]);
		buf_addch(&asked, '\0');
	}
	if (scratch_open(r, h->fd, h->path, &s, e) < 0 || take_rules(r, &s, e) < 0)
		return -1;
	/* the user's own patterns, but perhaps a stranger's .gitignore: what git cannot answer is named */
	if (scratch_ignored(&s, &asked, IGNORED_SECONDS, &answer, e) < 0)
		*e = (struct err)ERR_INIT;
	for (size_t i = 0; i < paths->n; i++) {
		const char *now = at < answer.len ? answer.data + at : "";

		if (!strncmp(now, "./", 2) && !strcmp(now + 2, paths->v[i]))
			at += strlen(now) + 1;
		else
			strvec_push(ret, paths->v[i]);
	}
	return 0;
}
