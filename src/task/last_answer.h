/*
 * The last answer that the user gave to a task's command, in tasks/<id>/answer. It is kept because the run that should
 * read it may be interrupted. (The question: question.h.)
 */
#ifndef TASK_LAST_ANSWER_H
#define TASK_LAST_ANSWER_H

#include "base/err.h"

/* On the heap; NULL if there is none. */
char *last_answer_load(int task_dir);
int last_answer_save(int task_dir, const char *text, struct err *e);

#endif
