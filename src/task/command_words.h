/*
 * The command lines of a task: the first one, and the one that resumes it. {session} is replaced in each word by the
 * session's id, and {answer} by the user's answer. Uses no files.
 */
#ifndef TASK_COMMAND_WORDS_H
#define TASK_COMMAND_WORDS_H

#include <stdbool.h>

#include "base/strvec.h"
#include "config/config.h"
#include "task/task_command.h"

/* The first command line; only {session} is replaced. */
void command_words_first(const struct strvec *argv, const char *session, struct strvec *ret);
/* How a task is resumed. */
struct resume_how {
	const struct config_agent *agent; /* may be NULL */
	const char *session;
	const char *answer; /* NULL: none, for an agent on a terminal */
	bool terminal; /* the first command ran on a terminal where the user talked to it, and so does this one */
};
/* The command line that resumes the task: from the task file, else from the agent, else the first one. The word
 * {options} is replaced by the agent's options in the first one. */
void command_words_resume(const struct task_command *cmd, const struct resume_how *how, struct strvec *ret);
/* Whether that command line has a place for the answer. If not, the answer is only in GARTH_ANSWER. */
bool command_words_take_answer(const struct task_command *cmd, const struct config_agent *agent);
/* Adds the kept variables that the user does not have now to env. */
void command_words_use_kept(struct task_command *cmd, char *const *environ_now);

#endif
