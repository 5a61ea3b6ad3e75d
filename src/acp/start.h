/*
 * Child processes that start an agent. That may take long (a workspace is made, a set-up runs), and open sessions go on
 * meanwhile.
 *
 *	struct starting s = STARTING_INIT;
 *	starting_begin(&s, &spec, e)
 *	poll s.sock, then starting_read(&s): true when the child has said everything
 *	starting_get(&s, "workspace") … starting_error(&s, e), s.conn
 *	starting_release(&s);
 */
#ifndef ACP_START_H
#define ACP_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "acp/acp.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

enum start_what {
	START_PROBE, /* asks the agent one thing in an empty task, which is removed again */
	START_NEW,   /* in a new task, or the one that is named */
	START_AGAIN, /* in the task of a session that is loaded */
};

struct start_spec {
	const struct acp_opts *o;
	enum start_what what;
	const char *cwd;        /* the editor's directory */
	int64_t task;           /* for START_AGAIN */
	const struct buf *line; /* for START_PROBE: what it is asked, with the line end */
};

struct starting {
	pid_t pid; /* 0: none */
	int sock;
	int conn; /* to the task's keeper, when the agent is started; the caller takes it with fd_steal */
	struct buf said;
};
#define STARTING_INIT                                                                                        \
	{                                                                                                    \
		.sock = -1, .conn = -1, .said = BUF_INIT(32u << 20)                                          \
	}

int starting_begin(struct starting *s, const struct start_spec *spec, struct err *e);
/* Reads what is there. True when the child has ended or closed its end. */
bool starting_read(struct starting *s);
/* A value that the child has sent: "task" (the id), "name", "branch", "workspace" and "cwd" (inside), "top", "main_top",
 * "answer" (of a probe, before the child has ended). NULL if it has not sent it. */
const char *starting_get(const struct starting *s, const char *name);
/* Its notes for the user. */
void starting_notes(const struct starting *s, struct strvec *ret);
/* Whether it has failed. */
bool starting_failed(const struct starting *s, struct err *e);
/* Waits for the child, unless it has been waited for. */
void starting_release(struct starting *s);
/* Stops it. */
void starting_stop(struct starting *s);

/* child.c: what the child does. Never returns. */
void start_child(const struct start_spec *spec, int sock) __attribute__((noreturn));

#endif
