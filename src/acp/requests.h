/* Requests that wait for their answer: which there are, and what is to be done when it comes. */
#ifndef ACP_REQUESTS_H
#define ACP_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Of one side; whoever asks more is refused. */
#define REQUESTS_MAX 1000

struct agent;
struct session;

enum request_what {
	REQUEST_PASSED,     /* its answer is passed on as it is */
	REQUEST_PROMPT,     /* the same; it ends with the session */
	REQUEST_INITIALIZE, /* Garth's own */
	REQUEST_LOG_IN,     /* Garth's own */
	REQUEST_OPEN,       /* session/new, load or resume */
	REQUEST_CLOSE,      /* session/close, Garth's own */
};

struct request {
	json_t *id; /* as its answer has it */
	enum request_what what;
	struct session *session; /* NULL: none */
	struct agent *agent;     /* who asked, if an agent did */
	json_t *theirs;          /* the id by which that one knows it */
};

struct requests {
	struct request *v;
	size_t n;
};

void requests_release(struct requests *l);
/* Copies *r; its ids get a reference more. False if there are REQUESTS_MAX, or one with this id. */
bool requests_add(struct requests *l, const struct request *r);
/* The request with this id, or NULL. It is valid until one is added or removed. */
struct request *requests_find(const struct requests *l, const json_t *id);
/* The request by the id that an agent knows. */
struct request *requests_find_theirs(const struct requests *l, const struct agent *a, const json_t *theirs);
/* Removes it. */
void requests_drop(struct requests *l, struct request *r);

#endif
