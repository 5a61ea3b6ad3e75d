/*
 * A jail as plain data: everything that the walls around a task's processes consist of.
 *
 * The caller fills a struct jail (jail_init, then jail_add in the order in which things are mounted, parents
 * first), may print it (jail_print), and starts it (jail_start in start.h, which calls jail_check and
 * jail_pack). garth-launch unpacks it (jail_unpack) and enters it (enter.h).
 *
 * Targets are absolute paths inside, sources are absolute paths on the host. Only what is described here
 * exists inside.
 *
 * If no namespaces can be made, a jail consists of Landlock and seccomp filters only (`landlock_only`). Then
 * nothing is mounted: each row's target is its source, and only existing files can be shown. enter.h tells
 * what is weaker then.
 */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/rules.h"
#include "base/strvec.h"

/* The kinds of rows in the file view. */
enum jail_kind {
	JAIL_BIND,  /* the host's file or directory at source, with everything mounted beneath it */
	JAIL_COPY,  /* a copy of the host's small file at source, made when the jail is entered */
	JAIL_DATA,  /* a file whose content is `source` itself */
	JAIL_LINK,  /* a symbolic link to `source` */
	JAIL_DIR,   /* an empty directory in the root */
	JAIL_TMPFS, /* an empty file system; source is its size in bytes, as text */
	JAIL_PROC,  /* the pid namespace's own /proc, with its dangerous parts read-only */
	JAIL_DEV, /* a small /dev: null zero full random urandom tty, its own pts, ptmx, shm, mqueue, fd links */
	JAIL_OVERLAY, /* the workspace: see struct jail */
	JAIL_CACHE, /* the host's directory at source (may be NULL), frozen layers, and a writable one on top */
	JAIL_KINDS
};

enum jail_flags {
	JAIL_WRITE = 1,    /* writable; everything is read-only without it */
	JAIL_OPTIONAL = 2, /* skipped silently if the source is missing or the target is occupied */
	JAIL_NOEXEC = 4,
	JAIL_PLAIN =
		8, /* the source is named without links: if there is one on its way by now, it is missing */
};

/* A COPY, DATA or LINK is as writable as the row around it. In a writable bind the agent can change it, and
 * it is made again whenever the jail is entered. In the root it cannot be changed. A TMPFS without JAIL_WRITE
 * becomes read-only after all rows are in place, so that rows can put files into it. */
struct jail_row {
	enum jail_kind kind;
	unsigned flags;
	char *source, *target;
	char *layer; /* of a CACHE: the name of its layer; else NULL */
	/* of a CACHE: paths beneath struct jail's `shared`, between its layer and the source, the top one first */
	struct strvec lowers;
};

enum jail_net { JAIL_NET_NONE, JAIL_NET_HOST };

/* Walls that a kernel may lack; see probe.h. */
enum jail_wall {
	JAIL_WALL_LANDLOCK = 1,       /* Landlock's file rules */
	JAIL_WALL_LANDLOCK_SCOPE = 2, /* its signal and abstract-socket scopes */
	JAIL_WALL_PROC = 4,           /* a /proc of its own; without it the outer one, read-only */
};

struct jail {
	uid_t uid; /* the processes' uid, the same inside and outside, never 0 */
	gid_t gid;
	bool from_root; /* root enters the jail, and becomes uid on the way */
	enum jail_net net;
	unsigned without; /* jail_wall bits: walls that may be missing, because the user allowed it */
	char *hostname;
	struct jail_row *rows;
	size_t nrows;
	/* The overlay, if there is a row JAIL_OVERLAY: the top lower layer comes first. */
	struct strvec lowers;
	char *upper, *work;
	/* Rules about paths below `ruled`, a directory inside, relative to it (cover.c). `ruled` is NULL if there
	 * are none. */
	struct rules rules;
	char *ruled;
	/* Git directories inside, in pairs: where the files are, relative to `ruled` ("": there), and the directory. Git
	 * is told which files the rules hide (launch/skip_covered.h). hash_len is 20 or 32. */
	struct strvec git_dirs;
	unsigned hash_len;
	/* The directory with the layers of CACHE rows, NULL if there are none: NAME/upper, and NAME/work, which
	 * overlayfs needs. If a layer cannot be mounted, the host's directory is there, read-only. */
	char *caches;
	/* The directory with the frozen layers that CACHE rows name; NULL if none does. */
	char *shared;
	uint64_t max_file_size;  /* RLIMIT_FSIZE, 0 for none */
	uint64_t max_open_files; /* RLIMIT_NOFILE of commands, 0 for none */
	uint64_t max_procs;      /* RLIMIT_NPROC, which each user namespace counts separately; 0 for none */
	uint64_t max_memory;     /* RLIMIT_DATA, for each process; 0 for none */
	uint64_t max_core;       /* RLIMIT_CORE; 0: no core files */
	/* What comes with ORDER_READY: a descriptor of this directory (NULL: none), or a socket that listens
	 * on this port of the jail's loopback (0: none). */
	char *gives;
	uint64_t listens;
	/* No namespaces. The rows are PROC, DEV and BINDs whose target is the source. Unix sockets can be
	 * connected to if they are in a writable row or in this list. */
	bool landlock_only;
	struct strvec sockets;
};

void jail_init(struct jail *j);
void jail_release(struct jail *j);
#define auto_jail __attribute__((cleanup(jail_release))) struct jail

void jail_add(struct jail *j, enum jail_kind kind, unsigned flags, const char *source, const char *target);

/* source, without links, may be NULL if lowers (copied; may be NULL too) has something. */
#define JAIL_CACHE_LOWERS_MAX 8
void jail_add_cache(struct jail *j, const char *source, const char *target, const char *layer,
	const struct strvec *lowers);

/* Whether the description makes sense: clean absolute targets, a non-zero uid, an overlay with its layers
 * (upper and work in one directory), no row at or above an earlier row's target. ERR_START. jail_start calls
 * it. */
int jail_check(const struct jail *j, struct err *e);

/* Prints the jail for people: one line per fact, in the order of entering. */
void jail_print(const struct jail *j, struct buf *out);

#define JAIL_PACKED_MAX (4u << 20)

/* To bytes and back. jail_unpack checks the form of the bytes completely. */
void jail_pack(const struct jail *j, struct buf *out);
int jail_unpack(const char *data, size_t len, struct jail *ret, struct err *e);

const char *jail_kind_name(enum jail_kind kind);

#endif
