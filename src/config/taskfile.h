/*
 * A task file: what `garth run FILE` makes and runs (T5). The keys of the configuration (config.h), for this
 * task alone, and these:
 *
 *	name: login
 *	agent:
 *	  project_dir: ../app         # the repository, relative to the file; without it the task has none
 *	  command: [claude, --session-id, "{session}", -p, "fix the login"]
 *	  resume: [claude, --resume, "{session}", -p, "{answer}"]
 *	  name: claude                # whose log-in it brings; else the command tells
 *	  env: [DATABASE_URL]         # names of variables that are passed in
 *	base: main                    # where it begins; else HEAD
 *	backend: overlay
 *	push: main                    # when it is done, to this branch of the remote (push/push.h); else
 * nowhere strict_isolation: false timeout: 2h
 *
 * {session} is the first run's id, a UUID, in every run; {answer} is what the user answered. Errors are
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

/* In the file, from 1; for what turns out later to be wrong. */
struct taskfile_place {
	unsigned line, column;
};

struct taskfile {
	char *name, *project_dir, *agent, *base, *backend, *push; /* NULL where they are not named */
	struct strvec command, resume, env;
	uint64_t timeout; /* seconds; 0: none */
	bool strict;
	struct taskfile_place base_at, project_at;
};

void taskfile_release(struct taskfile *t);
#define auto_taskfile __attribute__((cleanup(taskfile_release))) struct taskfile

/* Reads the text; what it says of the configuration is laid over c. */
int taskfile_apply(struct config *c, const char *text, size_t len, const char *file, struct taskfile *ret,
	struct err *e);

/* The keys, for a schema: those of a task file, those of the configuration; and those of an agent. */
struct value_row;
extern const struct value_row *const taskfile_rows[2];
extern const struct value_row *const config_agent_rows;

#endif
