/*
 * Reading objects through one running `git cat-file --batch-command --buffer`. Whoever parses hostile bytes
 * is that process, in the verifier's jail; what arrives here is bounded, in size and in time. SIGPIPE is
 * ignored by the caller.
 *
 * Where the process says something that is no answer, or nothing in time, nobody knows any more which answer
 * belongs to which request: `broken` is set, and every further call fails until it is begun anew.
 */
#ifndef PUBLISH_OBJECTS_H
#define PUBLISH_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"
#include "base/strvec.h"
#include "publish/object_cache.h"

enum object_type { OBJECT_MISSING, OBJECT_COMMIT, OBJECT_TREE, OBJECT_BLOB, OBJECT_TAG };

#define OBJECTS_TOLD_MAX 32

struct objects {
	int in, out;      /* to and from the process; the caller's to close */
	struct buf ahead; /* read and not yet used */
	size_t used;      /* this much of it was */
	unsigned seconds; /* how long an answer may take */
	bool broken;
	struct known known;
	struct told {
		char oid[OID_SIZE];
		enum object_type type;
		uint64_t size;
	} told[OBJECTS_TOLD_MAX]; /* by objects_prefetch */
	size_t ntold;
};

/* One object's type and size; OBJECT_MISSING is no error. oid is hexadecimal, checked by the caller. */
int objects_info(
	struct objects *o, const char *oid, enum object_type *ret_type, uint64_t *ret_size, struct err *e);
/* The same for many at once: the requests are written ahead of the answers. */
int objects_info_many(struct objects *o, char *const *oids, size_t n, enum object_type *types,
	uint64_t *sizes, struct err *e);
/* Its content; ERR_NOTFOUND where it is missing, ERR_FAILED where it is of another type or larger than out
 * holds (out->overflow then). */
int objects_read(struct objects *o, const char *oid, enum object_type want, struct buf *out, struct err *e);
/* Reads them ahead in one go: commits and trees are kept, of all it is known what they are, until they are
 * forgotten. For objects that are small together; nothing where there are many. */
int objects_prefetch(struct objects *o, const struct strvec *oids, struct err *e);
/* What was read stays; whether it is there is asked again. */
void objects_forget_told(struct objects *o);
/* Forgets what was read, for a process that is begun anew. */
void objects_release(struct objects *o);
/* Objects were thrown away again. */
void objects_forget(struct objects *o);
/* "tree" */
const char *objects_type_name(enum object_type type);

#endif
