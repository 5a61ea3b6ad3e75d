/* Shared by scratch.c and scratch_convert.c. */
#ifndef GIT_SCRATCH_PARTS_H
#define GIT_SCRATCH_PARTS_H

#include "git/scratch.h"

/* The repository's info/attributes, under another name: they are in force only while git converts files. */
#define SCRATCH_ATTRIBUTES "info/own-attributes"

/* The settings for running git in it. */
struct git scratch_git(const struct scratch *s);
/* Adds a file that is an object already. */
int scratch_object(struct scratch *s, const char *path, bool executable, const char *oid, struct err *e);
/* Adds a file with these bytes. */
int scratch_bytes(
	struct scratch *s, const char *path, bool executable, const char *data, size_t len, struct err *e);
/* Converts the files that scratch_convert was given, and adds them. */
int scratch_convert_all(struct scratch *s, struct err *e);

#endif
