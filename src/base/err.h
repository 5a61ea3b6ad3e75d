/*
 * One error value: a kind to branch on, a message to read, built from the inside out.
 *
 *	if (ref_update(r, name, new, old, e) < 0)
 *		return err_wrap(e, "cannot publish task '%s'", t->name);
 *
 * Functions that can fail take a `struct err *` last and return a negative number; every err_*() function
 * returns -1, so it can be the operand of `return`. A struct err has a fixed size, owns nothing and fits
 * through a pipe. Exit status, HTTP status and JSON code come from one table over the kind (err.c).
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_kind {
	ERR_NONE,
	ERR_FAILED,   /* something went wrong: disk, kernel, git */
	ERR_USAGE,    /* the command line, a name or a file of the user's is malformed */
	ERR_CONFIG,   /* a configuration file is malformed or unreadable */
	ERR_NOTFOUND, /* no such task, project, revision, file */
	ERR_EXISTS,   /* a name is taken */
	ERR_CONFLICT, /* two sides cannot be brought together */
	ERR_BUSY,     /* somebody else is at it right now */
	ERR_REFUSED,  /* policy or a boundary says no */
	ERR_BLOCKED,  /* the task waits for an answer */
	ERR_START,    /* Garth could not start the command */
	ERR_KINDS
};

struct err {
	enum err_kind kind;
	int sys; /* errno where the kernel said no, else 0 */
	char msg[512];
	char hint[256]; /* a command that can be copied, or "" */
};

#define ERR_INIT                                                                                             \
	{                                                                                                    \
		.kind = ERR_NONE                                                                             \
	}

/* Sets the error. The message is one line, starts in lower case and has no full stop. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* ERR_FAILED with errno's text behind the message. ENOSPC, EDQUOT and ENOMEM keep their names. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "MESSAGE: " before what the error says already. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives the error the command that helps. */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Names the paths behind the message, a line each, as many as it holds. */
struct strvec;
int err_paths(struct err *e, const struct strvec *paths);

/* The exit status for a kind: 1 failed, 2 usage, 3 no such thing, 4 refused … */
int err_exit_code(enum err_kind kind);
/* The HTTP status for a kind, 200 for ERR_NONE. */
int err_http_status(enum err_kind kind);
/* The kind's name in JSON: "not_found". */
const char *err_code(enum err_kind kind);
/* The kind that another process means by its exit status. Kinds share numbers: it is the first of them in the
 * enum. ERR_FAILED for a number that no kind has. */
enum err_kind err_kind_of_exit(int status);
/* The same for the HTTP status of an answer that says what went wrong: never ERR_NONE. */
enum err_kind err_kind_of_http(int status);

#endif
