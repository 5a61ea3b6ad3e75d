/*
 * The verifier: a small jail of its own (no network, no home, nothing of the user's but the shared objects,
 * read-only, and one quarantine directory, writable) in which git takes apart what an agent sent. Started
 * when it is first needed, kept for as long as the gateway lives.
 *
 * The quarantine is objects/garth-<task id> of the shared repository, an object directory on the same file
 * system; what a crash left there is removed when it is opened the next time.
 *
 * Each command in it may use VERIFIER_SECONDS of processor time and VERIFIER_MEMORY bytes. After an error
 * that is not ERR_REFUSED the verifier is closed and, where it is needed again, opened anew. The caller's
 * process ignores SIGPIPE.
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
	bool landlock_only;  /* in a jail without namespaces */
	/* Places inside: a repository with nothing in it, the room in memory, a place for files, garth-fast-unpack.
	 */
	char *empty, *memory, *tmp, *fast_path;
	struct quarantine at;
	char *quarantine;  /* its path */
	struct strvec env; /* of every git in it, and where its objects are */
	struct strvec room_env[QUARANTINE_ROOMS];
	struct objects objects; /* a running cat-file */
	uint32_t reader;        /* its id in the runner */
	/* Packs must be whole: a difference to an object that the sender was not shown, taken or refused,
	 * would tell what is in it. */
	bool whole;
	struct runner_piped fast; /* garth-fast-unpack, from the second small pack on */
	bool left_to_git;         /* by it, the last one */
	/* It did not end its work: the gits that it started may still write. Nothing in here is to be used.
	 */
	bool spoiled;
	struct runner_piped
		next; /* an unpack-objects that waits for a small pack of at most next_max bytes */
	uint64_t next_max;
};

#define VERIFIER_SECONDS     120
#define VERIFIER_MEMORY      (4ull << 30)
#define VERIFIER_OBJECTS_MAX 1000000u

/* alone: NULL, or the path of a directory for a verifier on Landlock alone, which is made anew. */
int verifier_open(const struct repo *r, int64_t task, const char *alone, struct verifier *ret, struct err *e);
/* Ends everything in it and removes the quarantine. */
void verifier_close(struct verifier *v);
/* Whether its first process still runs, and it can be used. */
bool verifier_is_alive(const struct verifier *v);

/* Takes a pack from a descriptor: header checked, then garth-fast-unpack, unpack-objects or (many objects)
 * index-pack, --strict, into the quarantine, with at most max bytes (0: no limit); into the room in memory
 * where the caller knows it to be small. *fresh, whose hash_len is set here, is filled with what is new.
 * ERR_REFUSED where git refuses it: e->msg is git's reason, cleaned. ERR_NOTFOUND where nothing was sent at
 * all. */
int verifier_take(
	struct verifier *v, int pack_fd, bool small, uint64_t max, struct oidset *fresh, struct err *e);
/* git's own connectivity check of the tip against all refs of the shared repository; for what walk.h doubts.
 * ERR_REFUSED where something is missing. */
int verifier_connected(struct verifier *v, const char *tip, struct err *e);
/* Whether all of these commits are reached by the others. */
int verifier_reached(
	struct verifier *v, const struct strvec *commits, const struct strvec *by, bool *ret, struct err *e);
/* The first object that the tip has beyond those commits and that is not fresh; "" where there is none. */
int verifier_foreign(struct verifier *v, const char *tip, const struct strvec *by, const struct oidset *fresh,
	char out[OID_SIZE], struct err *e);
/* The newest commit that both have, "" where there is none. */
int verifier_merge_base(struct verifier *v, const char *a, const char *b, char out[OID_SIZE], struct err *e);
/* What is in the quarantine becomes a part of the shared objects: loose objects that are in the set, then
 * packs with .idx last. verifier_drop comes after it. */
int verifier_keep(struct verifier *v, const struct oidset *wanted, struct err *e);
/* The same where nothing was kept: what was read of it is forgotten. */
int verifier_reject(struct verifier *v, struct err *e);
/* Empties the quarantine. */
int verifier_drop(struct verifier *v, struct err *e);
/* Starts what the next verifier_take of a small pack with that max will need, so that it need not wait. */
void verifier_prepare(struct verifier *v, uint64_t max);

#endif
