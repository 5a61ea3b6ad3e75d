/*
 * Renaming directories in an overlay.
 *
 * The kernel refuses to rename a directory that comes from a lower layer (EXDEV), and many programs do not
 * expect that. So a filter stops rename, renameat and renameat2 (seccomp user notification) until a thread of
 * the jail's first process has looked at them. If the source is such a directory, the thread first makes it
 * movable (copy_up.h), which changes nothing that programs see. Then the call continues in its caller.
 *
 * The thread decides nothing. The kernel carries out the call with the caller's rights, arguments and domain,
 * also if another thread of the caller has changed the arguments meanwhile. The helping threads are behind
 * all walls of the jail and have the rights of the programs inside. They are part of the first process, which
 * nobody inside can signal or inspect. It is an ancestor of all callers, as Yama requires of a process that
 * reads another one's memory. If a caller cannot be inspected, its call simply continues.
 *
 *	after enter_jail, before any command: rename_help(&j)
 *	when the task is paused and resumed: rename_help_pause(true), rename_help_pause(false)
 *
 * A long copy occupies a thread, and others take the next calls. Once a thread has taken a call, only a fatal
 * signal interrupts the caller. Before that, any signal does: then the kernel starts the call again, or, if the
 * signal's handler was installed without SA_RESTART, the caller gets EINTR. A filter tree has one listener: a
 * program inside that installs a filter with its own gets EBUSY.
 */
#ifndef JAIL_OVERLAY_RENAME_H
#define JAIL_OVERLAY_RENAME_H

#include <stdbool.h>

#include "jail/jail.h"

/* Whether the jail has an overlay, so that it needs the help. */
bool rename_helps(const struct jail *j);

/* Starts the help if the jail needs it, and first finishes what a killed jail left. Filters the calling
 * thread permanently: it must not rename afterwards. If the kernel cannot do it, directories of lower layers
 * cannot be renamed. */
void rename_help(const struct jail *j);

/* Interrupts copies that are being made, and lets new calls continue unchanged. */
void rename_help_pause(bool pause);

#endif
