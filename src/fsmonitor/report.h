/*
 * What git has to look at in an overlay workspace, for `git status` without looking at the rest. The answer
 * is worked out afresh each time from what is there, and remembers nothing:
 *
 *	report_index	what git's index has and the base's index has not, or has otherwise: such a path is in
 *			no lower layer as the index knows it, so its disappearing leaves no trace in the upper
 *	report_upper	what the overlay's upper directory holds: changed, new and deleted files, and every
 *			directory in which a name may have come or gone
 *
 * in this order, as the first finds out what the second may pass over. Both append NUL-terminated paths,
 * relative to the workspace's root; a slash at the end means everything beneath. On an error what they
 * appended is worthless, and the answer has to be "look at everything".
 */
#ifndef FSMONITOR_REPORT_H
#define FSMONITOR_REPORT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "fsmonitor/known.h"

/* Reported in every directory of the upper, so that git lists it anew. */
#define REPORT_DUMMY ".garth-fsmonitor"
/* An upper with more names than this is answered with "look at everything", which is faster then. */
#define REPORT_MAX_NAMES 40000
#define REPORT_MAX_DEPTH 200

struct bytes {
	const void *data;
	size_t len;
};

/* Tries both lengths that a hash can have. */
int report_index(struct bytes base, struct bytes own, struct buf *out, struct known *ret, struct err *e);
/* dir is an open directory, the upper's root; it stays open. */
int report_upper(int dir, const struct known *known, struct buf *out, struct err *e);

#endif
