#include "git/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/content.h"
#include "git/gitlinks.h"
#include "git/index.h"
#include "git/lfs.h"
#include "git/neutral.h"
#include "git/user_settings.h"
#include "sys/worker.h"
#include "sys/fd.h"
#include "sys/tree.h"

/* Writes files without the repository's filters or other programs. */
static int at_index(
	const struct repo *r, const char *tree, const char *index, struct neutral *ret, struct err *e)
{
	if (neutral_open_files(r, r->git_dir, false, ret, e) < 0)
		return -1;
	ret->git.work_tree = tree;
	ret->git.index = index;
	ret->git.as_inside = true;
	ret->git.seconds = 3600;
	return 0;
}

/* A monitor command that says "nothing changed". git passes it to a shell, so the path is quoted. */
static char *clean_monitor(const char *program, const char *id)
{
	auto_buf b = BUF_SMALL;

	buf_addch(&b, '\'');
	for (const char *p = program; *p; p++)
		*p == '\'' ? buf_addstr(&b, "'\\''") : buf_addch(&b, *p);
	buf_printf(&b, "' --clean --base-id %s", id);
	return buf_steal(&b);
}

/* The files of LFS, after git wrote their pointers. The index gets their stat data. */
static int fill_lfs(const struct repo *r, const struct git *g, const char *tree, const char *index,
	const struct buf *paths, struct err *e)
{
	auto_strvec filled = STRVEC_INIT;
	auto_fd top = -1;

	if (lfs_fill(r, g, tree, paths, &filled, e) < 0)
		return -1;
	if (!filled.n || !index)
		return 0;
	top = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(e, "cannot open '%s'", tree);
	return lfs_stamp(r, index, top, "", &filled, NULL, NULL, e);
}

static int refuse_missing(const struct repo *r, const char *commit, size_t n, struct err *e)
{
	auto_str what = xasprintf("a part of the commit (%zu object%s)", n, n == 1 ? "" : "s");

	return n ? repo_refuse_missing(r, commit, what, e) : 0;
}

/* Refuses a commit of a partial clone whose files are not all there. */
static int check_missing(const struct repo *r, const struct git *g, const char *commit, struct err *e)
{
	auto_str tree = xasprintf("%s^{tree}", commit);
	auto_buf out = BUF_INIT(1u << 30);
	size_t n = 0;

	if (!repo_is_partial(r))
		return 0;
	if (git_do(g, &out, e, "rev-list", "--objects", "--no-object-names", "--missing=print", tree, "--",
		    NULL) < 0)
		return -1;
	for (const char *l = buf_str(&out); *l; l += strcspn(l, "\n"), l += *l == '\n')
		n += *l == '?';
	return refuse_missing(r, commit, n, e);
}

/* The same for the files of a difference. */
static int check_missing_diff(const struct repo *r, const struct buf *raw, struct err *e)
{
	auto_buf ask = BUF_INIT(64 << 20), out = BUF_INIT(64 << 20);
	auto_strvec args = STRVEC_INIT;
	auto_neutral p = NEUTRAL_INIT;
	struct diff_entry d;
	size_t at = 0, n = 0;

	if (!repo_is_partial(r))
		return 0;
	while (diff_next(raw, &at, r->hash_len, &d) > 0)
		if (d.new_mode && (d.new_mode & S_IFMT) != GITLINK_MODE)
			buf_printf(&ask, "%.*s\n", (int)r->hash_len * 2, d.new_oid);
	strvec_pushl(&args, "cat-file", "--batch-check=%(objecttype)", NULL);
	if (neutral_open(r, r->git_dir, &p, e) < 0 || git_run(&p.git, &args, &ask, &out, e) < 0)
		return -1;
	for (const char *l = buf_str(&out); (l = strstr(l, " missing\n")); l++)
		n++;
	return refuse_missing(r, r->commit, n, e);
}

int checkout_all(const struct repo *r, const char *commit, const char *tree, const char *index, struct err *e)
{
	auto_neutral p = NEUTRAL_INIT;

	if (at_index(r, tree, index, &p, e) < 0 || check_missing(r, &p.git, commit, e) < 0 ||
		git_do(&p.git, NULL, e, "read-tree", "--end-of-options", commit, NULL) < 0 ||
		content_check(r, index, e) < 0)
		return -1;
	/* parallel checkout: creating the files takes most of the time */
	if (git_do(&p.git, NULL, e, "-c", "checkout.workers=0", "-c", "checkout.thresholdForParallelism=1000",
		    "checkout-index", "-a", "-u", "-f", "-q", NULL) < 0)
		return -1;
	return fill_lfs(r, &p.git, tree, index, NULL, e);
}

int checkout_warm(const struct repo *r, const char *tree, const char *index, const char *fsmonitor,
	const char *id, struct err *e)
{
	auto_str answer = clean_monitor(fsmonitor, id), ignores = settings_ignore_file(r),
		 own = xasprintf("%s.git", index);
	/* git drops the untracked cache if it was made with another ignore file than the tasks use */
	auto_str excludes = xasprintf("core.excludesFile=%s", ignores ? ignores : "/nonexistent/ignore");
	auto_neutral p = NEUTRAL_INIT;
	int rc = neutral_open_at(r, own, &p, e);

	if (!rc) {
		p.git.work_tree = tree;
		p.git.index = index;
		p.git.as_inside = true;
		p.git.seconds = 3600;
		p.git.fsmonitor = answer;
		p.git.writes_index = true;
		/* what it prints is not needed: to this repository without commits, every file is new */
		rc = git_do(&p.git, NULL, e, "-c", "core.untrackedCache=true", "-c",
			"core.fsmonitorHookVersion=2", "-c", "status.showUntrackedFiles=normal", "-c",
			"core.splitIndex=false", "-c", excludes, "status", "--porcelain",
			"--ignore-submodules=all", NULL);
	}
	tree_remove(AT_FDCWD, own, &(struct err)ERR_INIT);
	return rc;
}

int checkout_diff(
	const struct repo *r, const char *from, const char *to, size_t limit, struct buf *out, struct err *e)
{
	struct git g = repo_git(r);

	out->max = limit;
	return git_do(&g, out, e, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev",
		"--end-of-options", from, to, NULL);
}

/* ":OLDMODE NEWMODE OLDOID NEWOID STATUS\0PATH\0" */
int diff_next(const struct buf *raw, size_t *at, unsigned hash_len, struct diff_entry *ret)
{
	size_t head = 1 + 6 + 1 + 6 + 1 + hash_len * 2 + 1 + hash_len * 2 + 1 + 1 + 1;
	const char *p;

	if (*at >= raw->len)
		return 0;
	p = raw->data + *at;
	if (raw->len - *at <= head || p[0] != ':' || p[head - 1] != '\0')
		return -1;
	ret->old_mode = (unsigned)strtoul(p + 1, NULL, 8);
	ret->new_mode = (unsigned)strtoul(p + 8, NULL, 8);
	ret->old_oid = p + 15;
	ret->new_oid = p + 15 + hash_len * 2 + 1;
	ret->path = p + head;
	*at += head + strlen(ret->path) + 1;
	return 1;
}

/* Input for `update-index -z --index-info`: the changed paths; removed ones have mode 0. */
static int index_info(const struct repo *r, const struct buf *raw, struct buf *out, struct err *e)
{
	struct diff_entry d;
	size_t at = 0;
	int got;

	while ((got = diff_next(raw, &at, r->hash_len, &d)) > 0) {
		buf_printf(out, "%o %.*s\t%s", d.new_mode, (int)r->hash_len * 2, d.new_oid, d.path);
		buf_addch(out, '\0');
	}
	if (got < 0 || out->overflow)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	return 0;
}

/* Attributes decide how a file is written, so the small index needs the .gitattributes of the whole tree. */
static int add_attributes(const char *index, unsigned hash_len, struct buf *info, struct err *e)
{
	auto_buf data = BUF_INIT(1u << 30);
	struct index_reader r;
	struct index_entry ent;
	int got;

	if (read_file(AT_FDCWD, index, &data, e) < 0 || index_open(&r, data.data, data.len, hash_len, e) < 0)
		return -1;
	while ((got = index_next(&r, &ent, e)) > 0) {
		if (strcmp(path_base(ent.path), ".gitattributes"))
			continue;
		buf_printf(info, "%o ", ent.mode);
		for (unsigned i = 0; i < hash_len; i++)
			buf_printf(info, "%02x", ent.oid[i]);
		buf_printf(info, "\t%s", ent.path);
		buf_addch(info, '\0');
	}
	index_close(&r);
	return got;
}

/* What the two halves of checkout_delta share. */
struct delta {
	const struct repo *r;
	const struct buf *raw;
	const char *tree, *index, *scratch, *monitor;
	struct strvec update; /* git's arguments */
	struct buf some;      /* index entries of the changed files and of all .gitattributes */
};

/* Updates the whole index. Runs in a child process. */
static int move_index(void *arg, struct err *e)
{
	struct delta *d = arg;
	auto_neutral big = NEUTRAL_INIT;
	auto_buf all = BUF_INIT(64 << 20);

	if (at_index(d->r, d->tree, d->index, &big, e) < 0 || index_info(d->r, d->raw, &all, e) < 0)
		return -1;
	/* without the monitor git would drop the extension */
	big.git.fsmonitor = d->monitor;
	return git_run(&big.git, &d->update, &all, NULL, e);
}

/* Checks out the changed files with a small index. */
static int write_files(struct delta *d, struct err *e)
{
	auto_neutral small = NEUTRAL_INIT;
	auto_buf names = BUF_INIT(64 << 20);
	auto_strvec checkout = STRVEC_INIT;
	struct diff_entry entry;
	size_t at = 0;

	while (diff_next(d->raw, &at, d->r->hash_len, &entry) > 0)
		if (entry.new_mode)
			buf_add(&names, entry.path, strlen(entry.path) + 1);
	if (!names.len)
		return 0;
	strvec_pushl(&checkout, "checkout-index", "-f", "-q", "-z", "--stdin", NULL);
	if (at_index(d->r, d->tree, d->scratch, &small, e) < 0 ||
		git_run(&small.git, &d->update, &d->some, NULL, e) < 0)
		return -1;
	if (git_run(&small.git, &checkout, &names, NULL, e) < 0)
		return -1;
	/* the changed entries of a delta's index get their stat data later */
	return fill_lfs(d->r, &small.git, d->tree, NULL, &names, e);
}

static void delta_release(struct delta *d)
{
	strvec_release(&d->update);
	buf_release(&d->some);
}

int checkout_delta(const struct repo *r, const struct buf *raw, const char *tree, const char *index,
	const char *scratch, const char *fsmonitor, const char *id, struct err *e)
{
	auto_str answer = clean_monitor(fsmonitor, id);
	auto_worker indexing = WORKER_INIT;
	__attribute__((cleanup(delta_release))) struct delta d = { r, raw, tree, index, scratch, answer,
		STRVEC_INIT, BUF_INIT(64 << 20) };

	strvec_pushl(&d.update, "update-index", "-z", "--index-info", NULL);
	/* first all old attribute files, then the difference, which removes some of them */
	if (check_missing_diff(r, raw, e) < 0 || content_check_diff(r, raw, e) < 0 ||
		add_attributes(index, r->hash_len, &d.some, e) < 0 || index_info(r, raw, &d.some, e) < 0 ||
		worker_start(&indexing, move_index, &d, e) < 0)
		return -1;
	if (write_files(&d, e) < 0)
		return -1;
	return worker_wait(&indexing, e);
}
