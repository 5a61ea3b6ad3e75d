/*
 * A mark in a task's directory (push-owed): its command has succeeded, and only the push after it has not. Then
 * resuming the task pushes and does not run the command again.
 */
#ifndef TASK_PUSH_OWED_H
#define TASK_PUSH_OWED_H

#include <stdbool.h>

bool push_owed(int task_dir);
void push_owed_set(int task_dir, bool owed);

#endif
