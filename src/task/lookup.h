/*
 * Finds out which task the user means. Names are unique in their project only, so every command that takes a
 * TASK follows one rule:
 *
 *	NAME            inside a project: that project's task, else a task without a repository (empty.h).
 *	                Elsewhere, or in a project without tasks: the only task of that name
 *	PROJECT/NAME    anywhere. PROJECT is the project's name, or a path to its checkout or git directory;
 *	                a path has a slash, or starts with a dot
 *
 * The project of the current directory is found without running git (here.h). task_find (task.h) does the
 * lookup for commands on existing tasks; commands that look at the past use lookup_all and lookup_projects.
 */
#ifndef TASK_LOOKUP_H
#define TASK_LOOKUP_H

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* Finds the row of the task that the word means, without settling it. ERR_NOTFOUND; ERR_USAGE if it can mean
 * several. */
int lookup_row(struct context *c, const char *word, struct task *ret, struct err *e);

/* All tasks, removed ones too, that the word can mean: those of the current project or, if it has none of that
 * name, of every project. */
int lookup_all(struct context *c, const char *word, struct task_list *ret, struct err *e);

/* Splits PROJECT/NAME. *ret_name points into the word; *ret are the projects that PROJECT can mean, and none
 * if the word is only a NAME. ERR_NOTFOUND if there is no such project. */
int lookup_projects(
	struct context *c, const char *word, const char **ret_name, struct project_list *ret, struct err *e);

/* The shortest word that means this task in the current directory, on the heap. */
char *lookup_word(struct context *c, const struct task *t);
/* A word that means the task in every directory, on the heap: the path of its project, and its name. */
char *lookup_address(const struct task *t);
/* After lookup_row has failed: a word for the first task of another project with that name, on the heap; NULL
 * if there is none. */
char *lookup_elsewhere(struct context *c, const char *word);

#endif
