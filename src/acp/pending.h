/* Requests that wait for an answer, and what is to be done when it comes. */
#ifndef ACP_PENDING_H
#define ACP_PENDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The most requests of one side; more are refused. */
#define PENDING_MAX 1000

struct agent;
struct session;

enum pending_what {
	PENDING_PASSED,     /* the answer is passed on as it is */
	PENDING_PROMPT,     /* the same; it ends with the session */
	PENDING_INITIALIZE, /* Garth's own */
	PENDING_LOG_IN,     /* Garth's own */
	PENDING_OPEN,       /* session/new, load or resume */
	PENDING_CLOSE,      /* session/close, Garth's own */
};

struct pending {
	json_t *id; /* as its answer has it */
	enum pending_what what;
	struct session *session; /* NULL: none */
	struct agent *agent;     /* who asked, if an agent did */
	json_t *theirs;          /* the id by which that one knows it */
};

struct pendings {
	struct pending *v;
	size_t n;
};

void pending_release(struct pendings *l);
/* Copies *r; its ids get a reference more. False if there are PENDING_MAX, or one with this id. */
bool pending_add(struct pendings *l, const struct pending *r);
/* The request with this id, or NULL. It is valid until one is added or removed. */
struct pending *pending_find(const struct pendings *l, const json_t *id);
/* The request with this id among those of the agent. */
struct pending *pending_find_theirs(const struct pendings *l, const struct agent *a, const json_t *theirs);
/* Removes it. */
void pending_drop(struct pendings *l, struct pending *r);

#endif
