/*
 * garth-archive packs a directory into a .tar.gz and unpacks it. It is a separate program, because loading
 * libarchive takes longer than most of Garth's commands.
 *
 *	garth-archive pack DIR FILE      everything in DIR; FILE must not exist
 *	garth-archive unpack FILE DIR    into DIR, which exists and is empty
 *
 * The directory may be hostile. It is walked beneath a descriptor, links are stored and not followed, sockets
 * are left out, and entries without permissions are made readable for the moment (their mode is stored). It
 * keeps user extended attributes, an overlay's whiteout devices, hard links and times. On failure the exit
 * status is 1, stderr has one line, and FILE does not exist.
 */
#ifndef ARCHIVE_ARCHIVE_H
#define ARCHIVE_ARCHIVE_H

#include "base/err.h"

int archive_pack(const char *dir, const char *file, struct err *e);
int archive_unpack(const char *file, const char *dir, struct err *e);

#endif
