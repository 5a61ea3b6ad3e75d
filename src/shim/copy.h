/*
 * A directory tree copied, removed and put back, for move.c. Beneath descriptors; symbolic links are never
 * followed. All give 0, or -1 and errno.
 *
 *	copy_tree(parent, "d", "d.garth-1234")      a copy of it beside it
 *	copy_remove(parent, "d")                    from the leaves up: a directory of a lower layer can be
 *	                                            removed, and cannot be renamed
 *	copy_put_back(parent, "d", "d.garth-1234")  where that fails half way: what is gone comes back from
 *	                                            the copy, of which nothing is left
 */
#ifndef SHIM_COPY_H
#define SHIM_COPY_H

/* Content, modes, times, user's attributes, links, and names of one file for another. What is there under
 * the new name is left alone (EEXIST); otherwise nothing of an unfinished copy stays. */
int copy_tree(int parent, const char *name, const char *as);
/* What is not there is fine. */
int copy_remove(int parent, const char *name);
int copy_put_back(int parent, const char *name, const char *copy);

#endif
