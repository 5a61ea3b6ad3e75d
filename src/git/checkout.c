#include "git/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/content.h"
#include "git/index.h"
#include "sys/fd.h"

static struct git at_index(const struct repo *r, const char *tree, const char *index)
{
	return (struct git){
		.dir = r->git_dir, .work_tree = tree, .index = index, .as_inside = true, .seconds = 3600
	};
}

/* The monitor that says "nothing changed", as a command line: git gives it to a shell, so the path is quoted.
 */
static char *clean_monitor(const char *program, const char *id)
{
	auto_buf b = BUF_SMALL;

	buf_addch(&b, '\'');
	for (const char *p = program; *p; p++)
		*p == '\'' ? buf_addstr(&b, "'\\''") : buf_addch(&b, *p);
	buf_printf(&b, "' --clean --base-id %s", id);
	return buf_steal(&b);
}

int checkout_all(const struct repo *r, const char *commit, const char *tree, const char *index, struct err *e)
{
	struct git g = at_index(r, tree, index);

	if (git_do(&g, NULL, e, "read-tree", "--end-of-options", commit, NULL) < 0 ||
		content_check(r, index, e) < 0)
		return -1;
	/* parallel checkout: creating files is what takes the time */
	return git_do(&g, NULL, e, "-c", "checkout.workers=0", "-c", "checkout.thresholdForParallelism=1000",
		"checkout-index", "-a", "-u", "-f", "-q", NULL);
}

int checkout_warm(const struct repo *r, const char *tree, const char *index, const char *fsmonitor,
	const char *id, struct err *e)
{
	struct git g = at_index(r, tree, index);
	auto_str answer = clean_monitor(fsmonitor, id);
	auto_buf out = BUF_INIT(1 << 20);

	g.fsmonitor = answer;
	g.writes_index = true;
	return git_do(&g, &out, e, "-c", "core.untrackedCache=true", "-c", "core.fsmonitorHookVersion=2",
		"-c", "status.showUntrackedFiles=normal", "-c", "core.splitIndex=false", "-c",
		"core.excludesFile=/nonexistent/ignore", "status", "--porcelain", NULL);
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

/* Entries for `update-index -z --index-info`: the changed paths, gone ones with mode 0. */
static int index_info(
	const struct repo *r, const struct buf *raw, bool gone_too, struct buf *out, struct err *e)
{
	struct diff_entry d;
	size_t at = 0;
	int got;

	while ((got = diff_next(raw, &at, r->hash_len, &d)) > 0) {
		if (d.new_mode || gone_too)
			buf_printf(out, "%o %.*s\t%s", d.new_mode, (int)r->hash_len * 2, d.new_oid, d.path),
				buf_addch(out, '\0');
	}
	if (got < 0 || out->overflow)
		return err_set(e, ERR_FAILED, "cannot understand the difference of two commits");
	return 0;
}

/* Attributes say how a file is written out, so the small index needs the .gitattributes of the whole tree. */
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

int checkout_delta(const struct repo *r, const struct buf *raw, const char *tree, const char *index,
	const char *scratch, const char *fsmonitor, const char *id, struct err *e)
{
	auto_str answer = clean_monitor(fsmonitor, id);
	auto_buf all = BUF_INIT(64 << 20), some = BUF_INIT(64 << 20), names = BUF_INIT(64 << 20);
	auto_strvec update = STRVEC_INIT, checkout = STRVEC_INIT;
	struct git big = at_index(r, tree, index), small = at_index(r, tree, scratch);
	struct diff_entry d;
	size_t at = 0;

	/* with the monitor off, git would drop the extension */
	big.fsmonitor = answer;
	strvec_pushl(&update, "update-index", "-z", "--index-info", NULL);
	if (index_info(r, raw, true, &all, e) < 0 || git_run(&big, &update, &all, NULL, e) < 0 ||
		content_check_diff(r, raw, e) < 0)
		return -1;
	if (add_attributes(index, r->hash_len, &some, e) < 0 || index_info(r, raw, false, &some, e) < 0)
		return -1;
	while (diff_next(raw, &at, r->hash_len, &d) > 0)
		if (d.new_mode)
			buf_add(&names, d.path, strlen(d.path) + 1);
	if (!names.len)
		return 0;
	if (git_run(&small, &update, &some, NULL, e) < 0)
		return -1;
	strvec_pushl(&checkout, "checkout-index", "-f", "-q", "-z", "--stdin", NULL);
	return git_run(&small, &checkout, &names, NULL, e);
}
