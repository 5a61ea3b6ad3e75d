/* What the files of acp/ share: the state, and the functions that each of them has for the others. */
#ifndef ACP_PARTS_H
#define ACP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "acp/acp.h"
#include "acp/lines.h"
#include "acp/link.h"
#include "acp/paths.h"
#include "acp/pending.h"
#include "acp/rpc.h"
#include "acp/start.h"
#include "base/deadline.h"
#include "sys/output_queue.h"
#include "task/context.h"

/* Sessions that are open at once. */
#define SESSIONS_MAX 64
/* How much may wait for an editor that does not read. Beyond the first, nothing more is read from agents; beyond the
 * second, the connection to the editor is given up. */
#define OUT_PAUSE (4u << 20)
#define OUT_MAX   (96u << 20)
/* The longest id that an agent may give a session. */
#define THEIRS_MAX 512

enum agent_state {
	AGENT_STARTING,  /* a child process makes the task */
	AGENT_BEGINNING, /* it was asked to initialize, or to log in */
	AGENT_READY,     /* it can be asked to open sessions */
	AGENT_CLOSING,   /* it was asked to close its last session */
	AGENT_ENDING,    /* its input is closed; then signals follow */
	AGENT_OVER,      /* it has ended, and so has its run */
};

/* An agent that runs in a task, or is being started. */
struct agent {
	struct acp *acp;
	enum agent_state state;
	struct starting child;
	struct agent_link link;
	struct line_splitter lines;
	struct pendings asked; /* the requests that it has not answered, by the id that it sees */
	struct paths paths;
	int64_t task;
	char *name, *branch, *cwd; /* of the task; cwd is where it starts, inside */
	bool made;                 /* the task was made for it */
	bool used;                 /* it was given a prompt, or a session was loaded */
	bool can_close, wanted;    /* wanted: it was told to end */
	bool flooded;              /* it was ended because it read nothing */
	struct strvec notes;       /* for the user, shown at the beginning of its sessions */
	struct deadline until;     /* the end of each state but STARTING and READY */
	unsigned signals, complaints, told;
	unsigned own_ids;
};

enum session_open { OPEN_NEW, OPEN_OLD };

struct session {
	char id[37];  /* that the editor knows */
	char *theirs; /* that the agent knows; NULL: not yet */
	struct agent *agent;
	enum session_open how;
	char *method;       /* the request that opens it: session/new, load or resume */
	char *cwd;          /* the editor's directory */
	json_t *ask, *with; /* the id and params of that request; NULL: the session is open */
	json_t *close;      /* the id of the request that closes it, or NULL */
	bool starts;        /* the agent was started for this session, in its directory */
	bool passed;        /* the agent was asked to open it */
	bool greeted, titled;
};

struct acp {
	const struct acp_opts *o;
	struct context context;
	const struct config_agent *known; /* NULL: another program */
	char *program;                    /* names the agent in the store */
	struct line_splitter in;
	struct output_queue out, err;
	struct agent *agents[SESSIONS_MAX];
	struct session *sessions[SESSIONS_MAX];
	struct pendings
		asked; /* the requests of agents that the editor has not answered, by the id that it sees */
	json_int_t ids;
	struct starting probe;
	json_t *hello;   /* what agents are told at initialize */
	json_t *ask;     /* the id of the editor's initialize, until it is answered */
	json_t *log_in;  /* the params of authenticate, for each agent; NULL: none */
	json_t *methods; /* the ways to log in */
	int version;     /* of the protocol; 0: not agreed yet */
	bool notices;
	bool leaving; /* the editor has closed its end */
	bool given_up;
	unsigned signals;
	struct deadline
		patience; /* how long it waits, after the editor has gone, for tasks that are being made */
};

/* serve.c */
/* Queues a message for the editor and frees it. */
void acp_say(struct acp *a, json_t *message_new);
void acp_tell(const struct acp *a, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A session by the editor's id, or by the agent's. */
struct session *session_find(const struct acp *a, const char *id);
struct session *session_of(const struct agent *g, const char *theirs);
/* How many sessions an agent has. */
size_t agent_sessions(const struct agent *g);
void session_free(struct acp *a, struct session *s);

/* from_client.c: takes a line of the editor. NULL: it was too long. */
void from_client(char *line, size_t len, void *acp);

/* from_agent.c: takes a line of an agent. */
void from_agent(char *line, size_t len, void *agent);

/* open.c */
void open_session(struct acp *a, const struct rpc *m, enum session_open how);
/* The child process has said something. */
void open_started(struct agent *g);
/* Asks the agent to open those of its sessions that wait. */
void open_waiting(struct agent *g);
/* Its answer to that. */
void open_answered(struct session *s, const struct rpc *m);
/* Refuses a session that is not open, and forgets it. */
void open_refuse(struct session *s, enum rpc_code code, const struct err *why);

/* known.c: the agent's answer to initialize from an earlier time, if the question and the program are the same; on the
 * heap, or NULL. Then the editor need not wait for an agent that is started only to be asked. */
char *known_answer(struct acp *a);
/* Keeps the answer of an agent that runs: the next editor gets this one. */
void known_keep(struct acp *a, const json_t *result);

/* handshake.c */
void handshake_client(struct acp *a, const struct rpc *m); /* the editor's initialize */
void handshake_probed(struct acp *a);                      /* the probe has said something */
void handshake_log_in(struct acp *a, const struct rpc *m); /* the editor's authenticate */
void handshake_begin(struct agent *g);
void handshake_late(struct agent *g);
void handshake_answered(struct agent *g, enum pending_what what, const struct rpc *m);

/* send.c */
/* Sends a request of the editor, or of Garth, to an agent. The session may be NULL. False if it cannot be sent: then there
 * will be no answer. params are consumed. */
bool send_request(struct agent *g, const json_t *id, const char *method, json_t *params_new,
	enum pending_what what, struct session *s);
/* The same, with an id that Garth chooses. */
bool send_own(
	struct agent *g, const char *method, json_t *params_new, enum pending_what what, struct session *s);
/* Sends any message, and frees it. */
void send_message(struct agent *g, json_t *message_new);
/* Sends a text from Garth into a session: as a notice if the editor shows them. `last`: the text that the user should see
 * at the end. */
void send_text(struct session *s, bool last, const char *title, const char *text);

/* close.c */
void close_session(struct acp *a, const struct rpc *m);
/* The agent has answered Garth's session/close. */
void close_answered(struct agent *g);
/* Ends the agent: its input is closed; then the task ends like any other. */
void agent_end(struct agent *g);
/* The time limit of its state is over: goes to the next step. */
void agent_late(struct agent *g);
/* It has ended: tells its sessions, and frees it. */
void agent_over(struct agent *g);
struct agent *agent_new(struct acp *a);
void agent_free(struct agent *g);

/* farewell.c: how an agent's task ended, as a line, and what to do next. */
void farewell(const struct agent *g, struct buf *ret_title, struct buf *ret_text);

/* list.c */
void list_sessions(struct acp *a, const struct rpc *m);
/* Notes a prompt, or a title that the agent gave. */
void list_note(struct session *s, const char *title);

#endif
