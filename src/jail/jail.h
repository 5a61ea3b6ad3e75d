/*
 * A jail as plain data: everything that the walls around a task's processes consist of.
 *
 * Describe, check, then enter. The caller fills a struct jail (jail_init, then the jail_add_* functions in
 * the order in which things are to be mounted, parents first), may print it (jail_print), and hands it to
 * garth-launch as bytes (jail_pack). launch unpacks it (jail_unpack) and enters it (enter.h).
 *
 * Targets are absolute paths inside; sources are absolute paths on the host. Nothing that is not described
 * here exists inside.
 *
 * Where no namespaces can be made, a jail stands on Landlock and the filter alone (`alone`): nothing is
 * mounted, so that each row's target is its source, and only what is there already can be shown. enter.h
 * tells what is weaker then.
 */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

/* What a row of the file view is. */
enum jail_kind {
	JAIL_BIND,    /* the host's file or directory at source, with all that is mounted beneath it */
	JAIL_COPY,    /* a copy of the host's small file at source, made when entering */
	JAIL_DATA,    /* a file whose content is `source` itself */
	JAIL_LINK,    /* a symbolic link to `source` */
	JAIL_DIR,     /* an empty directory of the root */
	JAIL_TMPFS,   /* an empty file system; source is its size in bytes as text. Without JAIL_WRITE it is
			 read-only when all rows are in place: it has what rows put into it */
	JAIL_PROC,    /* the pid namespace's own /proc, its dangerous parts read-only */
	JAIL_DEV,     /* a small /dev: null zero full random urandom tty, own pts, ptmx, shm, fd links */
	JAIL_OVERLAY, /* the workspace: see struct jail */
	JAIL_KINDS
};

enum jail_flags {
	JAIL_WRITE = 1,    /* writable; everything is read-only without it */
	JAIL_OPTIONAL = 2, /* left out without a word where the source is not there or the place is taken */
	JAIL_NOEXEC = 4,
};

/* A COPY, DATA or LINK is as writable as the place in which it lies: in a writable bind it is the agent's,
 * and is made anew at every entering; in the root it cannot be changed. */
struct jail_row {
	enum jail_kind kind;
	unsigned flags;
	char *source, *target;
};

enum jail_net { JAIL_NET_NONE, JAIL_NET_HOST };

/* Walls that a kernel may lack; see probe.h. */
enum jail_wall {
	JAIL_WALL_LANDLOCK = 1,       /* Landlock's file rules */
	JAIL_WALL_LANDLOCK_SCOPE = 2, /* its signal and abstract-socket scopes */
	JAIL_WALL_PROC = 4,           /* a /proc of its own; without it the outer one, read-only */
};

struct jail {
	uid_t uid; /* who the processes are, the same number inside and outside, never 0 */
	gid_t gid;
	bool from_root; /* entered by root, who becomes uid on the way */
	enum jail_net net;
	unsigned without; /* jail_wall bits that are not to be expected, because the user said so */
	char *hostname;
	struct jail_row *rows;
	size_t nrows;
	/* The overlay, where there is a row JAIL_OVERLAY: lowers top-most first. */
	struct strvec lowers;
	char *upper, *work;
	uint64_t max_file_size;  /* RLIMIT_FSIZE, 0 for none */
	uint64_t max_open_files; /* RLIMIT_NOFILE of commands, 0 for none */
	uint64_t max_procs;      /* RLIMIT_NPROC, which a user namespace counts by itself; 0 for none */
	uint64_t max_memory;     /* RLIMIT_DATA, of each process; 0 for none */
	/* What comes with ORDER_READY: a descriptor of a directory (NULL: none), or a socket that listens on
	 * this port of the jail's own loopback (0: none). */
	char *gives;
	uint64_t listens;
	/* No namespaces: rows are BIND onto themselves, PROC and DEV. Of unix sockets, those in writable
	 * places can be connected to, and these. */
	bool landlock_only;
	struct strvec sockets;
};

void jail_init(struct jail *j);
void jail_release(struct jail *j);
#define auto_jail __attribute__((cleanup(jail_release))) struct jail

void jail_add(struct jail *j, enum jail_kind kind, unsigned flags, const char *source, const char *target);

/* Whether the description makes sense: clean absolute targets, a non-zero uid, an overlay with its layers
 * (upper and work directory in one directory of their own), no row at or above an earlier one's target.
 * ERR_START. jail_start asks it. */
int jail_check(const struct jail *j, struct err *e);

/* For people: a line for each fact, in the order of entering. */
void jail_print(const struct jail *j, struct buf *out);

#define JAIL_PACKED_MAX (4u << 20)

/* As bytes, and back. jail_unpack takes nothing on trust about the bytes' form. */
void jail_pack(const struct jail *j, struct buf *out);
int jail_unpack(const char *data, size_t len, struct jail *ret, struct err *e);

const char *jail_kind_name(enum jail_kind kind);

#endif
