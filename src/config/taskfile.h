/*
 * Reads a task file, which `garth run FILE` turns into a task and runs (T5). It may have every key of the
 * configuration (config.h) except those for the user alone (rows.c), for this task alone, and these:
 *
 *	name: login
 *	agent:
 *	  project_dir: ../app         # the repository, relative to the file; unset: a task without one
 *	  command: [claude, --session-id, "{session}", -p, "fix the login"]
 *	  resume: [claude, --resume, "{session}", -p, "{answer}"]
 *	  name: claude                # whose log-in is copied; unset: the command decides
 *	  env: [DATABASE_URL]         # names of variables to pass in
 *	base: main                    # where it starts; unset: HEAD
 *	backend: overlay
 *	push: main                    # when done, push to this branch of the remote (push/push.h); unset: no push
 *	strict_isolation: false
 *	timeout: 2h
 *
 * In every run {session} is the id of the first run, a UUID; {answer} is the user's answer. Errors are
 * ERR_CONFIG with file, line and column.
 */
#ifndef CONFIG_TASKFILE_H
#define CONFIG_TASKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

/* A position in the file, from 1, for errors that are found later. */
struct taskfile_place {
	unsigned line, column;
};

struct taskfile {
	char *name, *project_dir, *agent, *base, *backend, *push; /* NULL if not given */
	struct strvec command, resume, env;
	uint64_t timeout; /* seconds; 0: none */
	bool strict;
	struct taskfile_place base_at, project_at;
};

void taskfile_release(struct taskfile *t);
#define auto_taskfile __attribute__((cleanup(taskfile_release))) struct taskfile

/* Reads the text into *ret and applies its configuration keys to c. */
int taskfile_apply(struct config *c, const char *text, size_t len, const char *file, struct taskfile *ret,
	struct err *e);

/* The tables of keys, from which a schema is made: those of a task file and of the configuration. */
struct value_row;
extern const struct value_row *const taskfile_rows[2];

#endif
