/*
 * The quarantine, where the verifier's processes write, so that it is read with suspicion: beneath
 * descriptors, names checked, regular files only. It has two rooms, of which a publish uses one:
 *
 *	disk    objects/garth-<task id> of the shared repository: whatever its size; what is kept is linked
 *	memory  a directory of the verifier's own tmpfs, gone with it: small things; what is kept is copied.
 *		A commit makes some six files in six directories, twice and for milliseconds, which a
 *		journalling file system takes as long for as the rest of publishing.
 */
#ifndef PUBLISH_QUARANTINE_H
#define PUBLISH_QUARANTINE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strvec.h"
#include "publish/oidset.h"
#include "git/repo.h"

enum quarantine_room { QUARANTINE_DISK, QUARANTINE_MEMORY, QUARANTINE_ROOMS };

struct quarantine {
	int objects;                 /* the shared object directory */
	int rooms[QUARANTINE_ROOMS]; /* -1: not there; the one in memory is the verifier's to fill in */
	enum quarantine_room room;   /* the one in use */
	char name[40];
	unsigned hash_len;
	uid_t uid; /* whose the repository is, and the mode of its object directories */
	gid_t gid;
	mode_t mode;
	/* As of the last look: loose objects as "xx/rest"; packs as "pack/pack-<hex>", without their suffix.
	 */
	struct strvec loose, packs;
};

#define QUARANTINE_INIT                                                                                      \
	{                                                                                                    \
		.objects = -1, .rooms = { -1, -1 }                                                           \
	}

/* The room on disk, made empty: what a crash left there is removed. It belongs to the inside's owner. */
int quarantine_open(const struct repo *r, int64_t task, struct quarantine *ret, struct err *e);
/* Removes it. */
void quarantine_close(struct quarantine *q);

/* What is in it now, for the calls below. */
int quarantine_look(struct quarantine *q, struct err *e);
/* Adds the names of the loose objects. */
void quarantine_loose(const struct quarantine *q, struct oidset *ret);
/* It becomes a part of the shared repository as well: loose objects that are wanted, then packs, .idx last.
 * What is there already stays as it is. */
int quarantine_keep(const struct quarantine *q, const struct oidset *wanted, struct err *e);
/* Empties both rooms. */
int quarantine_drop(struct quarantine *q, struct err *e);

#endif
