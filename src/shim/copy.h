/*
 * Copies a directory tree, removes it and restores it, for move_up.c. Works beneath descriptors and never
 * follows symbolic links. All functions return 0, or -1 and errno.
 *
 *	copy_tree(parent, "d", "d.garth-1234")      makes a copy beside it
 *	copy_remove(parent, "d")                    removes it, leaves first: a directory of a lower layer
 *	                                            can be removed but not renamed
 *	copy_put_back(parent, "d", "d.garth-1234")  if that fails half way: restores what is missing from the
 *	                                            copy, and removes the copy
 */
#ifndef SHIM_COPY_H
#define SHIM_COPY_H

/* Copies content, modes, times, user attributes, symbolic and hard links. If the new name exists, it fails
 * with EEXIST and changes nothing. After any other error nothing of the copy is left. */
int copy_tree(int parent, const char *name, const char *as);
/* It is no error if it does not exist. */
int copy_remove(int parent, const char *name);
int copy_put_back(int parent, const char *name, const char *copy);

#endif
