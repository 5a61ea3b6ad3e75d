/*
 * Reads objects through one running `git cat-file --batch-command --buffer`. That process, in the verifier's
 * jail, parses the hostile bytes; what arrives here is limited in size and time. All functions that ask it
 * may block for `seconds`. The caller ignores SIGPIPE.
 *
 * If the process prints something that is not an answer, or nothing in time, it is no longer known which
 * answer belongs to which request. Then `broken` is set, and every call fails until the process is started
 * anew.
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
	int in, out;      /* to and from the process; the caller closes them */
	struct buf ahead; /* bytes read from the process */
	size_t used;      /* how many of them were used */
	unsigned seconds; /* limit for one answer */
	bool broken;
	struct object_cache cache;
	struct told {
		char oid[OID_SIZE];
		enum object_type type;
		uint64_t size;
	} told[OBJECTS_TOLD_MAX]; /* types and sizes found by objects_prefetch */
	size_t ntold;
};

/* One object's type and size; OBJECT_MISSING is not an error. The caller has checked that oid is
 * hexadecimal. */
int objects_info(
	struct objects *o, const char *oid, enum object_type *ret_type, uint64_t *ret_size, struct err *e);
/* The same for many objects; all requests are written without waiting for answers. */
int objects_info_many(struct objects *o, char *const *oids, size_t n, enum object_type *types,
	uint64_t *sizes, struct err *e);
/* Appends the object's content to out. ERR_NOTFOUND: it is missing. ERR_FAILED: it has another type, or is
 * larger than out can hold (then out->overflow). */
int objects_read(struct objects *o, const char *oid, enum object_type want, struct buf *out, struct err *e);
/* Reads small objects with one round of requests: commits and trees are cached, and types and sizes
 * remembered until objects_forget_told. Does nothing if there are too many. */
int objects_prefetch(struct objects *o, const struct strvec *oids, struct err *e);
/* Types and sizes are asked for again; cached contents stay. */
void objects_forget_told(struct objects *o);
/* Frees everything, before a new process is started. */
void objects_release(struct objects *o);
/* Forgets all, because objects were removed. */
void objects_forget(struct objects *o);
/* "tree" */
const char *objects_type_name(enum object_type type);

#endif
