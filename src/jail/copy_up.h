/*
 * Makes a directory of an overlay movable.
 *
 * The kernel refuses to rename a directory that is in a lower layer, or partly in one (EXDEV). After copy_up_dir
 * the directory looks as before, but is only in the upper layer, and can be renamed. Nothing is copied in user
 * space: the files get a second name in a new directory (link). For that the kernel copies files of a lower
 * layer up, with all their metadata. So files that are in the upper layer stay the same files, and it also works
 * for sockets and for files that nobody may read. The steps:
 *
 *	1. TOP/.garth-rename-KEY/tree gets the directories, and links to all files. TOP is the top directory of
 *	   the mount. Then the copy is complete.
 *	2. The directory is emptied. What was added to it since step 1 is added to the copy.
 *	3. The copy is renamed to the place of the empty directory.
 *
 * If it fails, everything is as it was. If the process is killed, everything exists once or twice, and
 * copy_up_recover removes an incomplete copy or continues with step 2. `.gitignore` in the copy's directory
 * means that it is incomplete, and keeps git away from it; the link `from` names the directory.
 *
 * Only the directories are new ones: a process whose current directory is in such a tree is in a removed
 * directory afterwards. The calling thread must not be filtered by overlay_rename.h, because these functions rename.
 */
#ifndef JAIL_COPY_UP_H
#define JAIL_COPY_UP_H

#include <stdbool.h>

/* Whether the kernel refuses to rename it, with EXDEV. The first one is fast and can be wrong if it says yes. */
bool copy_up_may_be_needed(int parent, const char *name);
bool copy_up_needed(int parent, const char *name);

/* goes_on(arg) is called before each file of step 1; if it returns false, the copy is cancelled. 0, or -1 and
 * errno (ECANCELED: it was cancelled; EXDEV: there is a mount point in it). */
int copy_up_dir(int parent, const char *name, bool (*goes_on)(void *arg), void *arg);

/* Finishes or undoes what was interrupted in the mount with this top directory. Call it before any other process runs
 * inside. */
void copy_up_recover(const char *top);

/* The top directory of the mount that the directory is in, as an O_PATH descriptor; -1 and errno. If `met` is
 * not NULL, *met tells whether the directory is `below` or beneath it. */
struct stat;
int copy_up_top(int dir, const struct stat *below, bool *met);

#endif
