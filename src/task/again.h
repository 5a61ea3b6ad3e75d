/*
 * What a task ran, kept in tasks/<id>/again so that it can go on: the command, how it is resumed, and what it
 * was given. And tasks/<id>/task.yaml, the task file's text, whose part of the configuration holds for all of
 * the task's life.
 */
#ifndef TASK_AGAIN_H
#define TASK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

struct again {
	struct strvec argv;   /* as it was given, with {session} in it */
	struct strvec resume; /* of the task file; empty where it says nothing */
	struct strvec env;    /* as -e has it: NAME, or NAME=VALUE */
	char *agent;          /* NULL for none */
	struct strvec ports;  /* numbers */
	uint64_t timeout;     /* seconds; 0: none */
	bool weaker;          /* --allow-weaker */
	char *push; /* the branch of the remote that it is pushed to when it is done; NULL for none */
};

void again_release(struct again *a);
#define auto_again __attribute__((cleanup(again_release))) struct again

int again_save(int task_dir, const struct again *a, struct err *e);
/* ERR_NOTFOUND where the task never ran. */
int again_load(int task_dir, struct again *ret, struct err *e);

/* The agent that the task is for: what it was run with, or what it was given without being run. On the heap;
 * NULL for none. */
char *again_agent(int task_dir);
int again_keep_agent(int task_dir, const char *name, struct err *e);

/* The words that go on: the task file's, else the agent's (may be NULL), else the command itself. In each,
 * {session} and {answer} are put in; the word {options} stands for the agent's options of the first command.
 */
void again_words(const struct again *a, const struct config_agent *agent, const char *session,
	const char *answer, struct strvec *ret);
/* The command itself, with {session}. */
void again_first(const struct strvec *argv, const char *session, struct strvec *ret);

/* Lays the task file's part of the configuration over c; nothing where there is none (or no directory, -1).
 */
int again_configure(struct config *c, int task_dir, struct err *e);
int again_keep_file(int task_dir, const char *text, size_t len, struct err *e);

/* Whether the command has succeeded and only the push that was to come has not. */
bool again_owes_push(int task_dir);
void again_owe_push(int task_dir, bool owes);

/* The answer that the command was last given; kept, since its run may be cut short. On the heap, NULL for
 * none. */
char *again_answer(int task_dir);
int again_keep_answer(int task_dir, const char *text, struct err *e);

/* Raises a limit of the task's own: key is a name beneath `limits`. ERR_USAGE where key or value are none. */
int again_limit(int task_dir, const char *key, const char *value, struct err *e);

#endif
