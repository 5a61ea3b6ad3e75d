/*
 * The program garth-archive: a directory into a .tar.gz and back. A program of its own, since loading
 * libarchive takes longer than most commands of Garth altogether.
 *
 *	garth-archive pack DIR FILE      everything in DIR; FILE must not be there
 *	garth-archive unpack FILE DIR    into DIR, which is there and empty
 *
 * What is packed may be hostile: it is walked beneath a descriptor, links are kept and not followed, sockets
 * are left out, and what has no permissions is opened up for the moment (its mode is kept). Extended
 * attributes of users, devices that mark what is gone in an overlay, hard links and times are kept. Exit
 * status 1 and one line on stderr where it did not work; then FILE is not there.
 */
#ifndef ARCHIVE_ARCHIVE_H
#define ARCHIVE_ARCHIVE_H

#include "base/err.h"

int archive_pack(const char *dir, const char *file, struct err *e);
int archive_unpack(const char *file, const char *dir, struct err *e);

#endif
