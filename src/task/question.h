/*
 * Questions (T4): an agent that needs an answer leaves a question and exits. Then the task is blocked, its
 * workspace stays as it is, and `garth answer` resumes it. There are three ways to leave one:
 *
 *	$GARTH_QUESTION_FILE    JSON: {"question": "Which?", "options": ["this", "that"]}, or plain text
 *	question.json           such JSON, in the workspace's top directory, committed or not, unless the file
 *	                        was there before the task
 *	POST /api/v1/question   the same, as a request
 *
 * The open question is stored in tasks/<id>/question, which the inside cannot change. Its text comes from the
 * agent and is not trusted: control characters are removed.
 */
#ifndef TASK_QUESTION_H
#define TASK_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/task.h"

#define QUESTION_NAME "/garth-question.json" /* in tasks/<id>/tmp, which is /tmp inside */
#define QUESTION_MAX  8000                   /* bytes of the question, and of all options together */
#define QUESTION_FILE "question.json"

struct question {
	char *text;
	struct strvec options;
	int64_t asked;
	bool for_tickets; /* nobody is asked: the task waits for its tickets (question_put_wait) */
};

void question_release(struct question *q);
#define auto_question __attribute__((cleanup(question_release))) struct question

/* Whether the text of a question.json is a question: JSON with that key. */
bool question_is_one(const char *text, size_t len);
/* Whether there is a question, stored or left by the agent. */
bool question_is_there(struct task_at *at);
/* Whether the task committed a question.json; a merge refuses it (merge/protected.h). */
bool question_is_committed(struct task_at *at);
/* Stores the question that the agent left, in place of an older one. *ret: there is a question. Call it when
 * nothing of the task is mounted. */
int question_take(struct task_at *at, bool *ret, struct err *e);
/* Stores a question from a request: an object with "question" and perhaps "options". ERR_USAGE if it is
 * malformed. */
int question_put(int task_dir, const json_t *in, struct err *e);
/* Stores a text in place of a question, for a task that ends its run to wait for its tickets. */
int question_put_wait(int task_dir, const char *text, struct err *e);
/* Reads the stored question; ERR_NOTFOUND. */
int question_load(int task_dir, struct question *ret, struct err *e);
/* question_close marks it as answered (*ret: there was one); question_reopen takes that back. */
int question_close(int task_dir, bool *ret, struct err *e);
void question_reopen(int task_dir);

#endif
