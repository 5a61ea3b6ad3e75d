#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/line.h"
#include "base/alloc.h"
#include "sys/fd.h"

#define BLOCK (4 * LINE_MAX_LEN)

/* Calls fn with each complete line of a block; *ret_used is their length. */
static int give_lines(const char *block, size_t len, audit_fn *fn, void *arg, size_t *ret_used, struct err *e)
{
	const char *line_break;
	int rc = 0;

	*ret_used = 0;
	while (!rc && (line_break = memchr(block + *ret_used, '\n', len - *ret_used))) {
		const char *line = block + *ret_used;

		*ret_used = (size_t)(line_break - block) + 1;
		rc = fn(line, (size_t)(line_break - line), arg, e);
	}
	return rc;
}

static int open_for_reading(int home, uint64_t *offset, int *ret_fd, struct err *e)
{
	auto_fd fd = open_regular_beneath(home, LINE_FILE);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "cannot read the audit log '%s'", LINE_FILE);
	if ((uint64_t)st.st_size < *offset)
		*offset = 0;
	*ret_fd = fd_steal(&fd);
	return 0;
}

int audit_read(int home, uint64_t *offset, audit_fn *fn, void *arg, struct err *e)
{
	auto_str block = xcalloc(1, BLOCK);
	auto_fd fd = -1;
	int rc = open_for_reading(home, offset, &fd, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	for (;;) {
		ssize_t n = pread(fd, block, BLOCK, (off_t)*offset);
		size_t used;

		if (n < 0)
			return err_sys(e, "cannot read the audit log '%s'", LINE_FILE);
		rc = give_lines(block, (size_t)n, fn, arg, &used, e);
		*offset += used;
		if (rc)
			return rc;
		if (!used && (size_t)n == BLOCK)
			return err_set(e, ERR_CONFLICT, "the audit log has a line that is too long");
		if (!used)
			return 0;
	}
}

struct check {
	struct line known; /* the newest line that the store knows */
	struct line last;  /* the last good line; seq 0 before the first */
	struct line odd;   /* the first line whose seq is not the next one; seq 0: none */
	uint64_t lines;    /* number of good lines */
	uint64_t number;   /* number of the current line */
	uint64_t began;    /* the first line's seq, if it is not 1 */
};

/* If the log's end does not match the store, nothing is appended; this starts a new log. */
#define WAY_OUT "cd \"${GARTH_HOME:-$HOME/.garth}\" && mv audit.jsonl audit.jsonl.old"

static int changed(uint64_t number, uint64_t seq, const char *why, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "line %" PRIu64 " (seq %" PRIu64 ") was changed%s", number, seq, why);
}

/* After a gap in the seqs: whether the skipped line comes later, which means that lines were moved. */
static int look_for_skipped(const struct check *c, const struct line *l, struct err *e)
{
	if (l->seq != c->last.seq + 1)
		return 0;
	return err_set(e, ERR_CONFLICT,
		"line %" PRIu64 " (seq %" PRIu64 ") is not in its place: seq %" PRIu64
		" comes at line %" PRIu64,
		c->lines + 1, c->odd.seq, l->seq, c->number);
}

static int check_line(const char *text, size_t len, void *arg, struct err *e)
{
	struct check *c = arg;
	struct line l;

	c->number++;
	if (!line_parse(text, len, &l))
		return c->odd.seq ? 0
				  : err_set(e, ERR_CONFLICT,
					    "line %" PRIu64 " was changed: it cannot be read", c->number);
	if (c->odd.seq)
		return look_for_skipped(c, &l, e);
	if (!line_is_unchanged(text, len, &l))
		return changed(c->number, l.seq, "", e);
	if (l.seq <= c->last.seq)
		return err_set(e, ERR_CONFLICT, "line %" PRIu64 " (seq %" PRIu64 ") is not in its place",
			c->number, l.seq);
	/* the beginning is missing; check the rest anyway */
	if (c->number == 1 && l.seq > 1) {
		c->began = l.seq;
		c->last.seq = l.seq - 1;
		memcpy(c->last.hash, l.prev, sizeof(c->last.hash));
	}
	if (l.seq > c->last.seq + 1) {
		c->odd = l;
		return 0;
	}
	/* this line's hash matches its text, so the line before was changed and its hash computed again */
	if (strcmp(l.prev, c->last.hash) && c->lines)
		return changed(c->lines--, c->last.seq, " and its hash made anew", e);
	if (strcmp(l.prev, c->last.hash))
		return changed(c->number, l.seq, " and its hash made anew", e);
	if (l.seq == c->known.seq && strcmp(l.hash, c->known.hash))
		return changed(c->number, l.seq, ": the store knows another hash of it", e),
		       err_hint(e, WAY_OUT);
	c->last = l;
	c->lines++;
	return 0;
}

static int check_end(const struct check *c, struct err *e)
{
	uint64_t next = c->last.seq + 1;

	if (c->odd.seq == next + 1)
		return err_set(e, ERR_CONFLICT, "after line %" PRIu64 ": seq %" PRIu64 " is missing",
			c->lines, next);
	if (c->odd.seq)
		return err_set(e, ERR_CONFLICT,
			"after line %" PRIu64 ": seq %" PRIu64 " to %" PRIu64 " are missing", c->lines, next,
			c->odd.seq - 1);
	if (c->last.seq >= c->known.seq)
		return 0;
	err_set(e, ERR_CONFLICT, "the log ends at seq %" PRIu64 ", the store knows of %" PRIu64, c->last.seq,
		c->known.seq);
	return c->number ? err_hint(e, WAY_OUT) : -1;
}

int audit_verify(int home, struct store *s, uint64_t *ret_lines, struct err *e)
{
	struct check c = { 0 };
	uint64_t offset = 0;
	int rc = 0;

	*ret_lines = 0;
	/* before the log is read: a line that is in the store was in the log earlier, whoever writes
	 * meanwhile */
	if (line_known(s, &c.known, e) < 0)
		return -1;
	rc = audit_read(home, &offset, check_line, &c, e);
	if (!rc)
		rc = check_end(&c, e);
	*ret_lines = c.lines;
	if (!c.began)
		return rc;
	if (rc < 0)
		return err_wrap(e,
			"the log begins at seq %" PRIu64 " (what was before is missing), and further on",
			c.began);
	return err_set(
		e, ERR_CONFLICT, "the log begins at seq %" PRIu64 ": what was before is missing", c.began);
}
