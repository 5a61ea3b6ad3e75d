/*
 * A connection to a task's keeper (keeper/wire.h), to the standard streams of the agent inside. Nothing here blocks.
 *
 *	link_open(&l, conn);
 *	link_write(&l, line, len);                      kept in the link until the keeper takes it
 *	poll with link_events(&l), then link_work(&l, revents, &heard)
 *	link_end_input(&l);                             the agent sees the end of its input
 *	link_close(&l);                                 other processes inside go on
 */
#ifndef ACP_LINK_H
#define ACP_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* How much input may wait for an agent. An agent that does not read is ended when there is more. */
#define LINK_INPUT_MAX (32u << 20)

struct agent_link {
	int fd; /* -1: closed */
	struct buf in, rx, tx;
	size_t in_at, tx_at;
	size_t credit;
	bool in_end, told_end;
	bool over; /* the agent has ended: exit_code, or `why` if that is set */
	int exit_code;
	struct err why;
};

/* What the link calls. `note` is a text for the user about the task. */
struct agent_heard {
	void (*output)(const char *data, size_t len, void *arg);
	void (*complaint)(const char *data, size_t len, void *arg); /* the agent's standard error */
	void (*note)(const char *text, void *arg);
	void *arg;
};

void link_open(struct agent_link *l, int conn);
/* False if LINK_INPUT_MAX is reached. */
bool link_write(struct agent_link *l, const char *data, size_t len);
void link_end_input(struct agent_link *l);
void link_signal(struct agent_link *l, int sig);
/* `listens`: the caller can take more output. */
short link_events(const struct agent_link *l, bool listens);
void link_work(struct agent_link *l, short revents, const struct agent_heard *heard);
void link_close(struct agent_link *l);

#endif
