/*
 * The quarantine: where the verifier's git writes received objects before they are checked. Its content is
 * hostile and is read with care: beneath descriptors, with names checked, regular files only. It has two
 * areas, and each publish uses one:
 *
 *	disk    objects/garth-<task id> of the shared repository, for any size; kept files are linked
 *	memory  a directory in the verifier's tmpfs, for small packs; kept files are copied. A commit makes
 *		about six files in six directories, twice and for milliseconds; on a journalling file
 *		system that takes as long as the rest of publishing.
 *
 * Order: quarantine_open; then for each publish quarantine_scan, quarantine_loose, quarantine_keep,
 * quarantine_drop; quarantine_close at the end.
 */
#ifndef PUBLISH_QUARANTINE_H
#define PUBLISH_QUARANTINE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strvec.h"
#include "publish/oidset.h"
#include "git/repo.h"

enum quarantine_area { QUARANTINE_DISK, QUARANTINE_MEMORY, QUARANTINE_AREAS };

struct quarantine {
	int objects;                 /* the shared object directory */
	int areas[QUARANTINE_AREAS]; /* -1: none; the verifier sets the one in memory */
	enum quarantine_area area;   /* the one in use */
	char name[40];
	unsigned hash_len;
	uid_t uid; /* owner and mode of the repository's object directories */
	gid_t gid;
	mode_t mode;
	/* Found by the last scan: loose objects as "xx/rest"; packs as "pack/pack-<hex>", without suffix. */
	struct strvec loose, packs;
};

#define QUARANTINE_INIT                                                                                      \
	{                                                                                                    \
		.objects = -1, .areas = { -1, -1 }                                                           \
	}

/* Makes the area on disk, empty: what a crash left there is removed. Its owner is the inside's user. */
int quarantine_open(const struct repo *r, int64_t task, struct quarantine *ret, struct err *e);
/* Removes the area on disk. */
void quarantine_close(struct quarantine *q);

/* Lists what is in the area now, for the calls below. */
int quarantine_scan(struct quarantine *q, struct err *e);
/* Adds the ids of the loose objects to *ret. */
void quarantine_loose(const struct quarantine *q, struct oidset *ret);
/* Adds the wanted loose objects and all packs (.idx last) to the shared repository. Existing files are not
 * replaced. */
int quarantine_keep(const struct quarantine *q, const struct oidset *wanted, struct err *e);
/* Empties both areas. */
int quarantine_drop(struct quarantine *q, struct err *e);

#endif
