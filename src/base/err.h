/*
 * The error value: a kind to branch on and a message to read. Each caller on the way up may put its own words
 * before the message.
 *
 *	if (ref_update(r, name, new, old, e) < 0)
 *		return err_wrap(e, "cannot publish task '%s'", t->name);
 *
 * Functions that can fail take a `struct err *` last and return a negative number. The err_*() functions that
 * set an error return -1, so that they can be the operand of `return`. A struct err has a fixed size, owns no
 * memory and can be sent through a pipe. Exit status, HTTP status and JSON code come from one table over the
 * kind (err.c).
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_kind {
	ERR_NONE,
	ERR_FAILED,   /* something went wrong: disk, kernel, git */
	ERR_USAGE,    /* the command line, a name or a user's file is malformed */
	ERR_CONFIG,   /* a configuration file is malformed or unreadable */
	ERR_NOTFOUND, /* no such task, project, revision, file */
	ERR_EXISTS,   /* a name is taken */
	ERR_CONFLICT, /* both sides changed the same thing */
	ERR_BUSY,     /* another process holds the lock or does this right now */
	ERR_REFUSED,  /* policy or the jail forbids it */
	ERR_BLOCKED,  /* the task waits for an answer */
	ERR_START,    /* Garth could not start the command */
	ERR_PROGRAM,  /* there is no such program in a task */
	ERR_KINDS
};

struct err {
	enum err_kind kind;
	int sys; /* errno if a system call failed, else 0 */
	char msg[512];
	char hint[512]; /* a command that can be copied, or "" */
};

#define ERR_INIT                                                                                             \
	{                                                                                                    \
		.kind = ERR_NONE                                                                             \
	}

/* Sets the error. The message is one line, starts in lower case and has no full stop. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* ERR_FAILED with errno's text after the message. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "MESSAGE: " before what the error says already. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the command that the user can run to solve it. Words that may hold anything are quoted (base/shell_word.h). A
 * command that is too long is left out. */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends the paths to the message, one per line, as many as fit. */
struct strvec;
int err_paths(struct err *e, const struct strvec *paths);

/* The exit status for a kind: 1 failed, 2 usage, 3 not found, 4 refused … */
int err_exit_code(enum err_kind kind);
/* The HTTP status for a kind, 200 for ERR_NONE. */
int err_http_status(enum err_kind kind);
/* The kind's name in JSON: "not_found". */
const char *err_code(enum err_kind kind);
/* The kind for another process's exit status. Several kinds share a number: the first of them in the enum is
 * returned. ERR_FAILED for a number that no kind has. */
enum err_kind err_kind_of_exit(int status);
/* The kind for the HTTP status of a failed request: never ERR_NONE. */
enum err_kind err_kind_of_http(int status);

#endif
