/*
 * Questions (T4): an agent that needs an answer leaves one and ends; the task is then blocked, its workspace
 * stays as it is, and `garth answer` lets it go on. It can be left in three ways:
 *
 *	$GARTH_QUESTION_FILE    JSON: {"question": "Which?", "options": ["this", "that"]}, or plain text
 *	question.json           such JSON, in the workspace's top directory, committed or not, unless the file
 *	                        was there before the task
 *	POST /api/v1/question   the same, as a request
 *
 * The one that is open is tasks/<id>/question, which the inside cannot change. All text is the agent's: a
 * claim, cleaned.
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
#define QUESTION_MAX  8000                   /* characters of the question and of all options */
#define QUESTION_FILE "question.json"

struct question {
	char *text;
	struct strvec options;
	int64_t asked;
};

void question_release(struct question *q);
#define auto_question __attribute__((cleanup(question_release))) struct question

/* Whether the text of a question.json is a question: JSON with that key. */
bool question_is_one(const char *text, size_t len);
/* Whether there is one, open or left. */
bool question_is_there(struct task_at *at);
/* Whether the task committed a question.json of its own; a merge refuses it (merge/guard.h). */
bool question_is_committed(struct task_at *at);
/* What the agent left becomes the open one; an open one is replaced. *ret: there is one. When nothing is
 * mounted any more. */
int question_take(struct task_at *at, bool *ret, struct err *e);
/* From a request: an object with "question" and perhaps "options". ERR_USAGE where it is none. */
int question_put(int task_dir, const json_t *in, struct err *e);
/* The open one; ERR_NOTFOUND. */
int question_load(int task_dir, struct question *ret, struct err *e);
/* It is answered (*ret: there was one); or not after all. */
int question_close(int task_dir, bool *ret, struct err *e);
void question_reopen(int task_dir);

#endif
