/*
 * The verifier: a small jail in which git unpacks and checks what an agent sent. It has no network and no
 * home; it sees the shared objects read-only and can write only to the quarantine (quarantine.h). It is
 * started when first needed and kept as long as the gateway's process lives.
 *
 * Each command in it may use VERIFIER_SECONDS of processor time and VERIFIER_MEMORY bytes. After an error
 * other than ERR_REFUSED, close the verifier and open a new one. The caller ignores SIGPIPE. Nearly all
 * functions block.
 *
 *	verifier_open
 *	verifier_take, checks, verifier_keep, verifier_drop        for each publish; or verifier_reject
 *	verifier_close
 */
#ifndef PUBLISH_VERIFIER_H
#define PUBLISH_VERIFIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "jail/runner.h"
#include "publish/objects.h"
#include "publish/oidset.h"
#include "publish/quarantine.h"
#include "git/repo.h"

struct verifier {
	const struct repo *repo;
	struct runner runner;
	pid_t first, launch; /* 0: none, or waited for */
	bool landlock_only;  /* a jail without namespaces */
	/* Paths inside: an empty repository, the area in memory, a directory for files, garth-fast-unpack. */
	char *empty, *memory, *tmp, *fast_path;
	struct quarantine at;
	char *quarantine;  /* path of the area on disk */
	struct strvec env; /* environment of every git in it; area_env says where its objects are */
	struct strvec area_env[QUARANTINE_AREAS];
	struct objects objects; /* a running cat-file */
	uint32_t reader;        /* its id in the runner */
	/* Packs must be complete (not thin): whether a delta against an object that the sender was not shown
	 * is accepted or refused would tell what is in that object. */
	bool whole;
	struct runner_piped fast; /* garth-fast-unpack, from the second small pack on */
	bool left_to_git;         /* garth-fast-unpack left the last pack to git */
	/* garth-fast-unpack did not end its work, and a git that it started may still write. The verifier must not
	 * be used any more. */
	bool spoiled;
	struct runner_piped next; /* an unpack-objects that waits for a pack up to next_max bytes */
	uint64_t next_max;
};

#define VERIFIER_SECONDS     120
#define VERIFIER_MEMORY      (4ull << 30)
#define VERIFIER_OBJECTS_MAX 1000000u

/* landlock_dir: NULL, or for a verifier without namespaces the path of a directory, which is made anew. */
int verifier_open(
	const struct repo *r, int64_t task, const char *landlock_dir, struct verifier *ret, struct err *e);
/* Ends everything in it and removes the quarantine. */
void verifier_close(struct verifier *v);
/* Whether its first process still runs and it can be used. */
bool verifier_is_alive(const struct verifier *v);

/* Unpacks a pack from a descriptor into the quarantine, at most max bytes (0: no limit): checks the header,
 * then runs garth-fast-unpack, unpack-objects or (for many objects) index-pack, --strict. small: the caller knows
 * that the pack is small, and it goes into the area in memory. Sets fresh->hash_len and fills *fresh with the
 * new objects. ERR_REFUSED: git refuses it, e->msg is git's reason, cleaned. ERR_NOTFOUND: nothing was
 * sent. */
int verifier_take(
	struct verifier *v, int pack_fd, bool small, uint64_t max, struct oidset *fresh, struct err *e);
/* git's own connectivity check of the tip against all refs of the shared repository, if walk.h is in doubt.
 * ERR_REFUSED: something is missing. */
int verifier_connected(struct verifier *v, const char *tip, struct err *e);
/* Whether the commits in `by` reach all of these commits. */
int verifier_reached(
	struct verifier *v, const struct strvec *commits, const struct strvec *by, bool *ret, struct err *e);
/* The first object that the tip reaches, that none of `by` reaches, and that is not fresh; "" if there is
 * none. */
int verifier_foreign(struct verifier *v, const char *tip, const struct strvec *by, const struct oidset *fresh,
	char out[OID_SIZE], struct err *e);
/* The newest common ancestor, "" if there is none. */
int verifier_merge_base(struct verifier *v, const char *a, const char *b, char out[OID_SIZE], struct err *e);
/* Adds what is in the quarantine to the shared objects: wanted loose objects, then packs with .idx last. Call
 * verifier_drop after it. */
int verifier_keep(struct verifier *v, const struct oidset *wanted, struct err *e);
/* Empties the quarantine after a refusal, and forgets what was read from it. */
int verifier_reject(struct verifier *v, struct err *e);
/* Empties the quarantine. */
int verifier_drop(struct verifier *v, struct err *e);
/* Starts what the next verifier_take of a small pack with that max will need, to save time. */
void verifier_prepare(struct verifier *v, uint64_t max);

#endif
